//! A network between a node and its Redis that a test can break.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::test_redis::TestRedis;

/// What the link does with what passes through; nothing closes.
#[derive(Clone, Copy)]
struct State {
    requests_pass: bool,
    replies_pass: bool,
    /// How long each piece is under way.
    delay: Duration,
}

const OPEN: State = State { requests_pass: true, replies_pass: true, delay: Duration::ZERO };

/// A TCP proxy before a Redis. Dropped, it closes everything.
pub struct Link {
    address: SocketAddr,
    state: watch::Sender<State>,
    cut: watch::Sender<()>,
    _acceptor: JoinSet<()>,
}

impl Link {
    /// A link to that Redis, open.
    pub async fn to(redis: &TestRedis) -> Self {
        let info = redis.raw().client().get_connection_info().clone();
        let target = info.addr().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (state, cut) = (watch::Sender::new(OPEN), watch::Sender::new(()));
        let mut acceptor = JoinSet::new();
        acceptor.spawn(accept(listener, target, state.clone(), cut.clone()));
        Self { address, state, cut, _acceptor: acceptor }
    }

    /// The address for the node's configuration.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// From now on nothing arrives on either side, though every connection stays open: a pulled cable.
    pub fn go_silent(&self) {
        self.state.send_replace(State { requests_pass: false, replies_pass: false, ..OPEN });
    }

    /// From now on Redis hears the node, and the node hears nothing.
    pub fn hold_replies(&self) {
        self.state.send_replace(State { replies_pass: false, ..OPEN });
    }

    /// From now on the node hears Redis, and Redis hears nothing.
    pub fn hold_requests(&self) {
        self.state.send_replace(State { requests_pass: false, ..OPEN });
    }

    /// From now on everything takes that long, each way.
    pub fn delay(&self, delay: Duration) {
        self.state.send_replace(State { delay, ..OPEN });
    }

    /// What was held up arrives.
    pub fn recover(&self) {
        self.state.send_replace(OPEN);
    }

    /// Closes every connection; new ones are served.
    pub fn cut(&self) {
        self.cut.send_replace(());
    }
}

async fn accept(
    listener: TcpListener,
    target: String,
    state: watch::Sender<State>,
    cut: watch::Sender<()>,
) {
    let mut connections = JoinSet::new();
    while let Ok((node, _)) = listener.accept().await {
        let (state, mut cut) = (state.subscribe(), cut.subscribe());
        let target = target.clone();
        connections.spawn(async move {
            tokio::select! {
                biased;
                _ = cut.changed() => {}
                () = join(node, target, state) => {}
            }
        });
    }
}

async fn join(node: TcpStream, target: String, mut state: watch::Receiver<State>) {
    let _ = state.wait_for(|state| state.requests_pass).await;
    let Ok(redis) = TcpStream::connect(target).await else {
        return;
    };
    // A reply in small pieces must not wait for an acknowledgement.
    let _ = (node.set_nodelay(true), redis.set_nodelay(true));
    let ((from_node, to_node), (from_redis, to_redis)) = (node.into_split(), redis.into_split());
    tokio::select! {
        () = pass(from_node, to_redis, state.clone(), |state| state.requests_pass) => {}
        () = pass(from_redis, to_node, state, |state| state.replies_pass) => {}
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    passes: fn(&State) -> bool,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await;
        let delay = state.wait_for(passes).await.map_or(Duration::ZERO, |state| state.delay);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let Ok(count @ 1..) = read else { return };
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
