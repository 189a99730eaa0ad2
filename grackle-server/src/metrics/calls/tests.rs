use super::*;

#[test]
fn the_families_are_there_before_the_first_call() {
    let text = Metrics::new().render();
    for line in [
        r#"grackle_http_requests_total{operation="AcquireSemaphore",code="OK"} 0"#,
        r#"grackle_acquire_outcomes_total{outcome="timed_out"} 0"#,
        "grackle_http_requests_in_flight 0",
        "grackle_acquires_waiting 0",
        "# TYPE grackle_build_info gauge",
        "# HELP grackle_http_requests_total ",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_call_is_counted_by_how_it_ended() {
    let metrics = Metrics::new();
    let acquired =
        AcquireSemaphoreResponse { outcome: AcquireOutcome::Acquired, ..Default::default() };
    let mut call = metrics.begin(Operation::AcquireSemaphore);
    call.acquire_ended(&acquired);
    call.answered();
    let acked = AcquireSemaphoreResponse { acked_replicas: Some(0), ..acquired };
    let mut call = metrics.begin(Operation::AcquireSemaphore);
    call.acquire_ended(&acked);
    call.answered();
    metrics.begin(Operation::GetNamespace).failed(Code::NotFound);
    drop(metrics.begin(Operation::AcquireSemaphore));
    let text = metrics.render();
    for line in [
        r#"grackle_http_requests_total{operation="AcquireSemaphore",code="OK"} 2"#,
        r#"grackle_http_requests_total{operation="AcquireSemaphore",code="Cancelled"} 1"#,
        r#"grackle_http_requests_total{operation="GetNamespace",code="NotFound"} 1"#,
        r#"grackle_acquire_outcomes_total{outcome="acquired"} 2"#,
        r#"grackle_acquire_acked_replicas_total{replicas="0"} 1"#,
        r#"grackle_http_request_duration_seconds_count{operation="AcquireSemaphore"} 3"#,
        r#"grackle_http_request_duration_seconds_bucket{operation="GetNamespace",le="3600"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn gauges_follow_the_calls_in_flight() {
    let metrics = Metrics::new();
    let (waits, other) =
        (metrics.begin(Operation::AcquireSemaphore), metrics.begin(Operation::GetNamespace));
    let text = metrics.render();
    assert!(text.contains("grackle_http_requests_in_flight 2"), "{text}");
    assert!(text.contains("grackle_acquires_waiting 1"), "{text}");
    drop((waits, other));
    let text = metrics.render();
    assert!(text.contains("grackle_http_requests_in_flight 0"), "{text}");
    assert!(text.contains("grackle_acquires_waiting 0"), "{text}");
}

#[test]
fn two_servers_do_not_count_together() {
    let (one, other) = (Metrics::new(), Metrics::new());
    one.begin(Operation::GetNamespace).failed(Code::NotFound);
    let (one, other) = (one.render(), other.render());
    assert!(one.contains("NotFound"), "{one}");
    assert!(!other.contains("NotFound"), "{other}");
}
