//! What a master's replicas have of it.

use std::time::Duration;

use super::eventually::eventually;
use crate::raw_connection::RawConnection;

const WITHIN: Duration = Duration::from_secs(30);

/// Waits until all replicas have what the master has written by now.
///
/// WAIT would look at what this very connection has written.
pub(crate) async fn catch_up(master: &RawConnection, replicas: usize) {
    let written = written(&info(master).await.expect("the master answers"));
    eventually("the replicas catch up", WITHIN, async || {
        let info = info(master).await?;
        (offsets(&info).filter(|offset| *offset >= written).count() >= replicas).then_some(())
    })
    .await;
}

/// Waits until so many replicas follow.
pub(crate) async fn follow(master: &RawConnection, replicas: usize) {
    eventually("the replicas follow", WITHIN, async || {
        (info(master).await?.matches("state=online").count() >= replicas).then_some(())
    })
    .await;
}

async fn info(master: &RawConnection) -> Option<String> {
    master.try_run(&["INFO", "replication"]).await.ok()
}

fn written(info: &str) -> u64 {
    let line = info.lines().find_map(|line| line.strip_prefix("master_repl_offset:"));
    line.and_then(|offset| offset.parse().ok()).expect("an offset")
}

/// `slave0:ip=127.0.0.1,port=7003,state=online,offset=1234,lag=0`
fn offsets(info: &str) -> impl Iterator<Item = u64> {
    let online = info.lines().filter(|line| line.contains("state=online"));
    online.filter_map(|line| {
        let (_, rest) = line.split_once("offset=")?;
        rest.split(',').next()?.parse().ok()
    })
}
