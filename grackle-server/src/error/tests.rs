use serde_json::json;

use super::*;

fn answer(error: Error) -> (u16, serde_json::Value) {
    let error = ApiError::from(error);
    (error.code.status().as_u16(), serde_json::to_value(&error).unwrap())
}

#[test]
fn every_error_of_the_client_has_its_status_and_code() {
    let invalid = Error::InvalidField { field: "permits", reason: "at least 1".to_owned() };
    let exhausted = Error::ResourceExhausted { limit: "max_leases".to_owned() };
    let gone = Error::Unavailable { reason: "no Redis".to_owned(), source: None };
    let fault = Error::Internal { reason: "odd".to_owned(), source: None };
    for (error, status, code) in [
        (invalid, 400, "InvalidArgument"),
        (Error::VersionMismatch, 400, "InvalidArgument"),
        (Error::WeightExceedsPermits, 400, "InvalidArgument"),
        (Error::PermitsBelowActiveHolds, 400, "InvalidArgument"),
        (Error::NamespaceNotFound, 404, "NotFound"),
        (Error::SemaphoreNotFound, 404, "NotFound"),
        (Error::LeaseNotFound, 404, "NotFound"),
        (Error::NamespaceExists, 409, "AlreadyExists"),
        (Error::SemaphoreExists, 409, "AlreadyExists"),
        (exhausted, 429, "ResourceExhausted"),
        (fault, 500, "Internal"),
        (gone, 503, "Unavailable"),
    ] {
        let message = error.to_string();
        let (actual, body) = answer(error);
        assert_eq!((actual, &body["code"]), (status, &json!(code)));
        assert_eq!(body["message"], json!(message));
    }
}

#[test]
fn details_name_the_field_or_the_limit() {
    let field = Error::InvalidField { field: "permits", reason: "at least 1".to_owned() };
    assert_eq!(answer(field).1["details"], json!({ "field": "permits" }));
    let limit = Error::ResourceExhausted { limit: "max_leases".to_owned() };
    assert_eq!(answer(limit).1["details"], json!({ "limit": "max_leases" }));
    assert_eq!(
        answer(Error::LeaseNotFound).1,
        json!({ "code": "NotFound", "message": "lease not found" })
    );
}

#[test]
fn the_cause_is_for_the_log_alone() {
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let source = Some(Box::from(refused));
    let error = ApiError::from(Error::Unavailable { reason: "no Redis".to_owned(), source });
    assert_eq!(error.cause.as_deref(), Some("connection refused"));
    let shown = serde_json::to_string(&error).unwrap();
    assert!(!shown.contains("refused"), "{shown}");
}
