//! The busiest semaphores, up to a fixed number.
//!
//! They are written anew for each scrape, and not recorded: a recorded label would stay for ever.

use std::fmt::Write as _;

use grackle_client::types::SemaphoreLoad;

type Family = (&'static str, &'static str, fn(&SemaphoreLoad) -> f64);

const FAMILIES: [Family; 5] = [
    ("grackle_semaphore_waiting", "Waiters of a semaphore, as last seen by this server", |load| {
        load.waiting_count as f64
    }),
    (
        "grackle_semaphore_wait_seconds",
        "The longest wait of a caller of this server in the last 20 s",
        |load| load.wait.as_secs_f64(),
    ),
    (
        "grackle_semaphore_drained_permits_per_second",
        "Permits granted in the last minute to callers of this server that had waited",
        |load| load.drained_per_second,
    ),
    (
        "grackle_semaphore_occupancy_ratio",
        "The share of the permits that is held, as last seen by this server",
        |load| load.occupancy,
    ),
    (
        "grackle_semaphore_convoy",
        "1 where the queue was not empty and waits grew for a minute, as this server sees it",
        |load| f64::from(u8::from(load.convoy.is_some())),
    ),
];

/// In the text form of Prometheus.
pub(crate) fn render(loads: &[SemaphoreLoad]) -> String {
    let mut text = String::new();
    for (family, about, value) in FAMILIES {
        let _ = write!(text, "\n# HELP {family} {about}\n# TYPE {family} gauge\n");
        for load in loads {
            let (namespace, semaphore) = (&load.namespace_name, &load.semaphore_name);
            // Names need no escaping.
            let labels = format!(r#"namespace="{namespace}",semaphore="{semaphore}""#);
            let _ = writeln!(text, "{family}{{{labels}}} {}", value(load));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_a_line_for_each_load() {
        let mut load = SemaphoreLoad::default();
        load.namespace_name = "n".to_owned();
        load.semaphore_name = "s".to_owned();
        load.waiting_count = 7;
        load.drained_per_second = 0.5;
        let text = render(&[load]);
        for line in [
            "# TYPE grackle_semaphore_convoy gauge",
            r#"grackle_semaphore_waiting{namespace="n",semaphore="s"} 7"#,
            r#"grackle_semaphore_drained_permits_per_second{namespace="n",semaphore="s"} 0.5"#,
            r#"grackle_semaphore_convoy{namespace="n",semaphore="s"} 0"#,
        ] {
            assert!(text.lines().any(|this| this == line), "{line} is not in\n{text}");
        }
        assert!(render(&[]).lines().all(|line| line.is_empty() || line.starts_with('#')));
    }
}
