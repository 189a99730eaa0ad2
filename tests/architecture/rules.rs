//! What imports must not do: go up, or in a circle.

use std::collections::HashSet;

use crate::imports::Imports;

/// The imports from a lower layer to an upper one, and the files that no layer has.
pub(crate) fn upward(imports: &Imports, layers: &[&[&str]]) -> Vec<String> {
    let layer_of = |file: &str| {
        let within = |part: &&str| file == *part || file.starts_with(&format!("{part}::"));
        layers.iter().position(|layer| layer.iter().any(within))
    };
    let mut found = Vec::new();
    for (file, imported) in imports.files() {
        let Some(layer) = layer_of(file) else {
            found.push(format!("{file} is in no layer"));
            continue;
        };
        let above = |other: &&String| layer_of(other).is_some_and(|other| other < layer);
        let above = imported.iter().filter(above);
        found.extend(above.map(|other| format!("{file} imports {other}, a layer above it")));
    }
    found
}

/// A circle of imports, as `a -> b -> a`. That a folder's `mod.rs` re-exports its files is none.
pub(crate) fn circle(imports: &Imports) -> Option<String> {
    let mut done = HashSet::new();
    imports.files().find_map(|(file, _)| search(imports, file, &mut Vec::new(), &mut done))
}

fn search<'a>(
    imports: &'a Imports,
    file: &'a str,
    path: &mut Vec<&'a str>,
    done: &mut HashSet<&'a str>,
) -> Option<String> {
    if let Some(start) = path.iter().position(|other| *other == file) {
        return Some([&path[start..], &[file]].concat().join(" -> "));
    }
    if !done.insert(file) {
        return None;
    }
    path.push(file);
    let found = imports.imported_by(file).find_map(|next| search(imports, next, path, done));
    path.pop();
    found
}
