//! The image of a Redis in a container: made of the local binary, for a registry may be out of reach.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::docker::docker;
use super::redis_server::RedisServer;

const REGISTRY: (&str, &str) = ("redis", "7-alpine");
const OUR_OWN: &str = "grackle-test-redis";
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// An image that Docker has.
pub(crate) struct RedisImage {
    name: String,
    tag: String,
}

impl RedisImage {
    /// That of the local binary, where there is one for Linux, else the registry's.
    pub(crate) async fn get() -> Result<Self, String> {
        match RedisServer::binary() {
            Some(binary) if cfg!(target_os = "linux") => Self::of_binary(binary).await,
            _ => Self::of_registry(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    fn new(name: &str, tag: &str) -> Self {
        Self { name: name.to_owned(), tag: tag.to_owned() }
    }

    fn of_registry() -> Result<Self, String> {
        let image = Self::new(REGISTRY.0, REGISTRY.1);
        if !image.is_there() {
            docker(&["pull", &image.to_string()])?;
        }
        Ok(image)
    }

    /// The binary may be a script that sets a library path first: only the process shows what it is.
    async fn of_binary(binary: PathBuf) -> Result<Self, String> {
        let mut server = RedisServer::start(binary, &[]).await;
        let info: String = server.raw().run(&["INFO", "server"]).await;
        let image = Self::new(OUR_OWN, field(&info, "redis_build_id"));
        if !image.is_there() {
            image.import(&PathBuf::from(format!("/proc/{}", server.process().id())))?;
        }
        Ok(image)
    }

    fn is_there(&self) -> bool {
        docker(&["image", "inspect", &self.to_string()]).is_ok()
    }

    /// Makes it of what that process runs.
    fn import(&self, process: &Path) -> Result<(), String> {
        let folder = TempDir::with_prefix("grackle-image-").expect("a temporary folder");
        let (root, archive) = (folder.path().join("root"), folder.path().join("root.tar"));
        let library_path = library_path(process);
        // Under its own name, by which it knows what to do; Debian's is a link to redis-check-rdb.
        copy(&process.join("exe"), &root.join("redis-server"));
        for library in libraries(process, &library_path) {
            copy(&library, &root.join(library.strip_prefix("/").expect("an absolute path")));
        }
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".");
        assert!(tar.status().expect("tar starts").success(), "{tar:?}");
        let entry_point = r#"ENTRYPOINT ["/redis-server"]"#;
        let library_path = format!(r#"ENV {LIBRARY_PATH}="{library_path}""#);
        let archive = archive.to_str().expect("UTF-8");
        let changes = ["--change", entry_point, "--change", &library_path];
        docker(&[&["import"], &changes[..], &[archive, &self.to_string()]].concat())?;
        Ok(())
    }
}

impl Display for RedisImage {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.name, self.tag)
    }
}

fn field<'a>(info: &'a str, name: &str) -> &'a str {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("INFO has no {name}:\n{info}"))
}

/// The folders of the libraries it has mapped; it has written over its environment by now.
fn library_path(process: &Path) -> String {
    let maps = std::fs::read_to_string(process.join("maps")).expect("it is our child");
    let libraries = maps.lines().filter(|line| line.contains(".so"));
    let paths = libraries.filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let folders: BTreeSet<&str> = paths.filter_map(|path| path.parent()?.to_str()).collect();
    folders.into_iter().collect::<Vec<_>>().join(":")
}

/// The shared libraries and the loader; none where the binary has all in itself.
fn libraries(process: &Path, library_path: &str) -> Vec<PathBuf> {
    let mut ldd = Command::new("ldd");
    ldd.arg(process.join("exe")).env(LIBRARY_PATH, library_path);
    let output = ldd.output().expect("ldd starts");
    let said = String::from_utf8_lossy(&output.stdout);
    said.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
    std::fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}
