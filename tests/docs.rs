//! The documents: each link leads somewhere, the README stays short, and what stands twice is the same.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use grackle_client::Limits;

/// A stranger reads this much before the first try.
const README_LINES: usize = 150;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    for folder in [".", "docs", "lua", "tests", "grackle-client"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The text outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2).flat_map(str::lines)
}

/// What the links in the prose lead to.
fn links(text: &str) -> Vec<&str> {
    let after = prose(text).flat_map(|line| line.split("](").skip(1));
    after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target)).collect()
}

/// A heading's anchor, as GitHub makes it.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let anchor = |heading: &str| heading.to_lowercase().chars().filter(kept).collect::<String>();
    headings.map(|heading| anchor(heading).replace(' ', "-")).collect()
}

/// Links of a document that lead nowhere.
fn broken(path: &Path, text: &str) -> Vec<String> {
    let leads_somewhere = |link: &&str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = path.parent().unwrap().join(file);
        let target = if file.is_empty() { path } else { target.as_path() };
        let has_anchor = || anchors(&std::fs::read_to_string(target).unwrap()).contains(anchor);
        target.exists() && (anchor.is_empty() || has_anchor())
    };
    let local = links(text).into_iter().filter(|link| !link.contains("://"));
    local.filter(|link| !leads_somewhere(link)).map(str::to_owned).collect()
}

#[test]
fn links_lead_somewhere() {
    let documents = documents();
    assert!(documents.len() >= 12, "{documents:?}");
    for path in documents {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(broken(&path, &text), [""; 0], "{}", path.display());
    }
}

#[test]
fn a_broken_link_is_found() {
    let text = "see [a](docs/nowhere.md), [b](README.md) and [c](README.md#no-such)";
    let found = broken(&root().join("x.md"), text);
    assert_eq!(found, ["docs/nowhere.md", "README.md#no-such"]);
}

#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(lines < README_LINES, "{lines} lines: move what is not for a first reader to docs/");
}

/// The first block of Rust.
fn example(text: &str) -> &str {
    let (_, block) = text.split_once("```rust,no_run\n").expect("a block of Rust");
    block.split_once("```").expect("its end").0
}

/// The block of grackle-client's README is compiled, as one of its doc tests.
#[test]
fn the_readme_has_the_example_that_is_compiled() {
    let [readme, compiled] = ["README.md", "grackle-client/README.md"]
        .map(|name| std::fs::read_to_string(root().join(name)).unwrap());
    assert_eq!(example(&readme), example(&compiled));
}

#[test]
fn the_running_guide_has_the_default_of_each_limit() {
    let guide = std::fs::read_to_string(root().join("docs/running.md")).unwrap();
    // As `Limits { max_leases: 1000000, … }`.
    let limits = format!("{:?}", Limits::default());
    let (_, fields) = limits.split_once("{ ").unwrap();
    for field in fields.trim_end_matches(" }").split(", ") {
        let (name, default) = field.split_once(": ").unwrap();
        let flag = format!("| `--{}` |", name.replace('_', "-"));
        let row = guide.lines().find(|line| line.starts_with(&flag));
        let row = row.unwrap_or_else(|| panic!("docs/running.md has no row {flag}"));
        let written = row.split('|').nth(2).unwrap().trim().replace(',', "");
        assert_eq!(written, default, "{row}");
    }
}
