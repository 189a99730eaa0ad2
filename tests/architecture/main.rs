//! The layers of both crates, as ARCHITECTURE.md draws them: imports go down, and never in a circle.
//!
//! - `crates`: the layers of each crate
//! - `imports`: which file imports which
//! - `rules`: what is wrong with them
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod crates;
mod imports;
mod rules;

use imports::Imports;

#[test]
fn imports_go_down() {
    for (package, layers) in
        [("grackle-client", crates::CLIENT), ("grackle-server", crates::SERVER)]
    {
        let imports = Imports::of(package);
        assert!(imports.len() > 30, "only {} files were read", imports.len());
        assert_eq!(rules::upward(&imports, layers), [""; 0], "{package}");
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for package in ["grackle-client", "grackle-server"] {
        assert_eq!(rules::circle(&Imports::of(package)), None, "{package}");
    }
}

#[test]
fn a_planted_circle_is_found() {
    let imports = Imports::from_sources([
        ("a", "use crate::b::B;"),
        ("b", "use crate::{c::{self, C}, a};"),
        ("c", "fn f() { crate::a::f() }"),
        ("d", "use super::a; #[cfg(test)] mod tests { use crate::d; }"),
    ]);
    assert_eq!(rules::circle(&imports).as_deref(), Some("a -> b -> a"));
    let straight = Imports::from_sources([("a", "use crate::b::B;"), ("b", "struct B;")]);
    assert_eq!(rules::circle(&straight), None);
}

#[test]
fn a_planted_arrow_upwards_is_found() {
    let imports = Imports::from_sources([
        ("top", "use crate::bottom::B;"),
        ("bottom", "use std::fmt;"),
        ("bottom::part", "use crate::top::T;"),
        ("other", ""),
    ]);
    let layers: &[&[&str]] = &[&["top"], &["bottom"]];
    let found = rules::upward(&imports, layers);
    assert_eq!(found, ["bottom::part imports top, a layer above it", "other is in no layer"]);
}

/// `cargo test --test architecture -- --nocapture most_imported` prints them.
#[test]
fn the_most_imported_files_are_of_the_lower_layers() {
    let imports = Imports::of("grackle-client");
    let most = imports.most_imported(8);
    most.iter().for_each(|(file, count)| println!("{count:3} files import {file}"));
    let lower = |file: &str| !file.starts_with("client") && !file.ends_with("parts");
    assert!(most.iter().all(|(file, _)| lower(file)), "{most:?}");
}
