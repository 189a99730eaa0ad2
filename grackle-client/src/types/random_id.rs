//! Random ids of nodes and requests.

use nanoid::nanoid;

/// Base 62.
const ALPHABET: [char; 62] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I',
    'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b',
    'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
    'v', 'w', 'x', 'y', 'z',
];

/// Random base-62 characters, for ids.
pub(crate) fn random_id(length: usize) -> String {
    nanoid!(length, &ALPHABET)
}

/// A random number from 0 to 1, for jitter.
pub(crate) fn random_unit() -> f64 {
    f64::from(nanoid::rngs::default(1)[0]) / 255.0
}
