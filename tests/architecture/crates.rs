//! The layers of each crate, from the top to the bottom. A layer is a list of files and folders.

pub(crate) const CLIENT: &[&[&str]] = &[
    &["lib"],
    &["client"],
    &["engine"],
    &["scripts"],
    &["transport"],
    &[
        "config",
        "connection_error",
        "error",
        "pagination",
        "field_ranges",
        "types",
        "validate",
        "wire",
    ],
];

pub(crate) const SERVER: &[&[&str]] = &[
    &["main"],
    &["log", "process"],
    &["lib"],
    &["server"],
    &["connections", "http"],
    &["openapi", "readiness", "metrics"],
    &["operation"],
    &["embedded_redis"],
    &["config", "error"],
];
