//! A server inside this process, on a private Redis of its own.

use std::path::PathBuf;

use grackle_server::{Config, StartError, run};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) struct Server {
    pub(crate) address: String,
    folder: TempDir,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), StartError>>,
}

impl Server {
    pub(crate) async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = Config::default();
        config.data_dir = folder.path().to_owned();
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, told) = oneshot::channel();
        let told = async { told.await.unwrap_or(()) };
        let running = tokio::spawn(run(config, listener, told));
        Self { address, folder, stop, running }
    }

    /// As SIGTERM does; returns once it has ended.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap().unwrap();
    }

    /// Without a word to it.
    pub(crate) async fn drop(self) {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }

    pub(crate) async fn redis_pid(&self) -> rustix::process::Pid {
        let socket: PathBuf = self.folder.path().join("redis.sock");
        let pid = UnixStream::connect(socket).await.unwrap().peer_cred().unwrap().pid();
        rustix::process::Pid::from_raw(pid.unwrap()).unwrap()
    }
}
