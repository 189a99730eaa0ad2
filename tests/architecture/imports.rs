//! Which file of a crate imports which: from its `use` lines, and from paths in its code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The files that each file imports. A file goes by its module's path, such as `engine::waiters`.
pub(crate) struct Imports(BTreeMap<String, BTreeSet<String>>);

impl Imports {
    pub(crate) fn of(package: &str) -> Self {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(package).join("src");
        let mut sources = Vec::new();
        read(&src, "", &mut sources);
        Self::from_sources(sources.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    pub(crate) fn from_sources<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let sources: Vec<_> = sources.into_iter().collect();
        let names: BTreeSet<&str> = sources.iter().map(|(name, _)| *name).collect();
        let imports = sources.iter().map(|(name, text)| {
            let paths = paths(text, name);
            let files = paths.iter().filter_map(|path| file_of(path, &names));
            ((*name).to_owned(), files.filter(|file| file != name).collect())
        });
        Self(imports.collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(file, imported)| (file.as_str(), imported))
    }

    pub(crate) fn imported_by(&self, file: &str) -> impl Iterator<Item = &str> {
        self.0.get(file).into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn most_imported(&self, most: usize) -> Vec<(&str, usize)> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for imported in self.0.values().flatten() {
            *counts.entry(imported).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(file, count)| (std::cmp::Reverse(*count), *file));
        counts.truncate(most);
        counts
    }
}

/// `engine/waiters.rs` is `engine::waiters`, and so is `engine/waiters/mod.rs`.
fn read(folder: &Path, prefix: &str, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            read(&path, &format!("{prefix}{name}::"), sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
            let module = match name {
                "mod" => prefix.trim_end_matches("::").to_owned(),
                name => format!("{prefix}{name}"),
            };
            sources.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The file that a path leads to: the longest beginning of it that is one.
fn file_of(path: &[String], files: &BTreeSet<&str>) -> Option<String> {
    let beginnings = (1..=path.len()).rev().map(|length| path[..length].join("::"));
    beginnings.into_iter().find(|beginning| files.contains(beginning.as_str()))
}

/// The paths into the crate that a file names, but for its tests.
fn paths(source: &str, module: &str) -> Vec<Vec<String>> {
    // The children of `lib` have no name before theirs.
    let names = module.split("::").filter(|name| *name != "lib");
    let mut found = Found { module: names.map(str::to_owned).collect(), paths: vec![] };
    found.visit_file(&syn::parse_file(source).unwrap());
    found.paths
}

struct Found {
    module: Vec<String>,
    paths: Vec<Vec<String>>,
}

impl Found {
    fn tree(&mut self, tree: &UseTree, mut before: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(tree, before.clone()));
            }
            UseTree::Name(name) => {
                before.push(name.ident.to_string());
                self.path(before);
            }
            UseTree::Rename(name) => {
                before.push(name.ident.to_string());
                self.path(before);
            }
            UseTree::Glob(_) => self.path(before),
        }
    }

    fn path(&mut self, path: Vec<String>) {
        let rest = path[1..].iter().filter(|name| *name != "self").cloned();
        match path[0].as_str() {
            "crate" => self.paths.push(rest.collect()),
            "super" => {
                let parent = self.module[..self.module.len() - 1].iter().cloned();
                self.paths.push(parent.chain(rest).collect());
            }
            "self" => self.paths.push(self.module.iter().cloned().chain(rest).collect()),
            // A child that `mod` declares, or another crate.
            child => {
                let own = self.module.iter().cloned().chain([child.to_owned()]);
                self.paths.push(own.chain(rest).collect());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_test(&module.attrs) => {}
            Item::Use(import) if is_test(&import.attrs) => {}
            Item::Use(import) => self.tree(&import.tree, Vec::new()),
            item => visit::visit_item(self, item),
        }
    }

    /// `pub(in crate::a)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if names.len() > 1 && ["crate", "super"].contains(&names[0].as_str()) {
            self.path(names);
        }
        visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let test = |text: syn::Ident| text == "test";
        attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(test)
    })
}
