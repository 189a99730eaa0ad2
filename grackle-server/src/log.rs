//! The log on standard error.

use std::io::{IsTerminal, stderr};

use grackle_server::LogFormat;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt;

pub(crate) fn start(format: LogFormat, level: LevelFilter) {
    let ours = ["grackle_server", "grackle_client"].map(|target| (target, level));
    let filter = Targets::new().with_default(level.min(LevelFilter::WARN)).with_targets(ours);
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    match format {
        LogFormat::Text => registry().with(lines.with_filter(filter)).init(),
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true);
            registry().with(lines.with_filter(filter)).init();
        }
    }
}
