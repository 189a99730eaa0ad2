//! The documents: each link leads somewhere, and the README stays short.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
