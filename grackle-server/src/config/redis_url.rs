//! Redis URLs: how one is made for a socket, and how one may be shown.

use std::path::Path;

/// The URL of a Unix socket, whose path may hold what a URL's may not.
pub(crate) fn of_socket(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("redis+unix://{path}")
}

/// `url` with user, password and query left out.
///
/// Cuts at the last `@`, since an unescaped password may hold any character before it.
pub(crate) fn masked(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("redis", url));
    if rest.contains("pass=") {
        return format!("{scheme}://***");
    }
    let (secret, place) = match rest.rsplit_once('@') {
        Some((_, place)) if !scheme.ends_with("unix") => ("***@", place),
        _ => ("", rest),
    };
    let place = place.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{secret}{place}")
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn the_password_is_never_shown() {
        for (url, shown) in [
            ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
            ("rediss://me:secret@host:6380", "rediss://***@host:6380"),
            ("redis://:sec/ret@x?y@host/1?protocol=3", "redis://***@host/1"),
            ("redis+unix:///run/redis.sock", "redis+unix:///run/redis.sock"),
            ("redis+unix:///me@work/r.sock?db=1", "redis+unix:///me@work/r.sock"),
            ("redis+unix:///run/r.sock?db=1&pass=sec@ret", "redis+unix://***"),
            ("me:secret@host", "redis://***@host"),
        ] {
            assert_eq!(masked(url), shown);
        }
    }
}
