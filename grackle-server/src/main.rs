//! The binary: arguments, log, signals.

mod log;
mod process;

use std::process::ExitCode;

use clap::Parser;
use grackle_server::{Config, run};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    let config = Config::parse();
    log::start(config.log_format, config.log_level);
    match serve(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(config: Config) -> Result<(), Box<dyn std::error::Error>> {
    process::raise_file_limit();
    let shutdown = process::shutdown_signal()?;
    let listener = TcpListener::bind(&config.listen).await.map_err(|error| {
        format!("cannot listen on {}: {error}; give another --listen address", config.listen)
    })?;
    run(config, listener, shutdown).await?;
    Ok(())
}
