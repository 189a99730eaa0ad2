//! Asks a Redis server how it keeps its data: by INFO, and by CONFIG GET where the user may.

use std::collections::HashMap;

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, RedisError};

use crate::transport::warning::RedisWarningKind;

/// What a server reports about itself.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// Fields of INFO.
    info: HashMap<String, String>,
    /// `save`; none where the user may not read the configuration. So with `appendfsync`.
    save_points: Option<String>,
    appendfsync: Option<String>,
}

impl Diagnostics {
    pub(crate) async fn ask(mut connection: MultiplexedConnection) -> Result<Self, RedisError> {
        let mut diagnostics = Self::default();
        // Redis 6.2 takes one section a command.
        for section in ["memory", "persistence", "replication"] {
            let mut info = redis::cmd("INFO");
            let text: String = info.arg(section).query_async(&mut connection).await?;
            diagnostics.read(&text);
        }
        diagnostics.save_points = setting(&mut connection, "save").await?;
        diagnostics.appendfsync = setting(&mut connection, "appendfsync").await?;
        Ok(diagnostics)
    }

    fn read(&mut self, info: &str) {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        self.info.extend(fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())));
    }

    /// The problems that were found. A replica is none where other addresses lead to its master.
    pub(crate) fn problems(&self, replicas_allowed: bool) -> Vec<RedisWarningKind> {
        let replica = self.replica();
        if replica.is_some() && replicas_allowed {
            return Vec::new();
        }
        [replica, self.evicts(), self.not_append_only(), self.never_synced()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn replica(&self) -> Option<RedisWarningKind> {
        if self.info("role") != "slave" {
            return None;
        }
        let of = format!("{}:{}", self.info("master_host"), self.info("master_port"));
        Some(RedisWarningKind::Replica { of, read_only: self.info("slave_read_only") != "0" })
    }

    fn evicts(&self) -> Option<RedisWarningKind> {
        let maxmemory = self.info("maxmemory").parse().unwrap_or(0);
        let policy = self.info("maxmemory_policy");
        let evicts = maxmemory > 0 && policy.starts_with("allkeys");
        evicts.then(|| RedisWarningKind::Evicts { maxmemory, policy: policy.to_owned() })
    }

    fn not_append_only(&self) -> Option<RedisWarningKind> {
        let off = self.info("aof_enabled") == "0";
        off.then(|| RedisWarningKind::NotAppendOnly { save_points: self.save_points.clone() })
    }

    fn never_synced(&self) -> Option<RedisWarningKind> {
        let never = self.info("aof_enabled") == "1" && self.appendfsync.as_deref() == Some("no");
        never.then_some(RedisWarningKind::NeverSynced)
    }

    fn info(&self, field: &str) -> &str {
        self.info.get(field).map_or("", String::as_str)
    }
}

/// None where the user may not read it, or the server has no such setting.
async fn setting(
    connection: &mut MultiplexedConnection,
    name: &str,
) -> Result<Option<String>, RedisError> {
    let mut get = redis::cmd("CONFIG");
    match get.arg("GET").arg(name).query_async::<HashMap<String, String>>(connection).await {
        Ok(mut settings) => Ok(settings.remove(name)),
        Err(error) if error.code().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEALTHY: &str = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\
                           aof_enabled:1\r\nrole:master\r\n";

    fn problems(
        info: &str,
        save_points: Option<&str>,
        appendfsync: Option<&str>,
    ) -> Vec<RedisWarningKind> {
        let mut diagnostics = Diagnostics {
            save_points: save_points.map(str::to_owned),
            appendfsync: appendfsync.map(str::to_owned),
            ..Diagnostics::default()
        };
        diagnostics.read(HEALTHY);
        diagnostics.read(info);
        diagnostics.problems(false)
    }

    #[test]
    fn a_server_with_an_append_only_file_has_no_problem() {
        assert_eq!(problems("", Some(""), Some("everysec")), []);
        assert_eq!(problems("", None, None), []);
    }

    #[test]
    fn only_a_policy_that_evicts_any_key_is_a_problem() {
        for (info, evicts) in [
            ("maxmemory_policy:allkeys-lru\r\n", false),
            ("maxmemory:5\r\n", false),
            ("maxmemory:5\r\nmaxmemory_policy:volatile-lru\r\n", false),
            ("maxmemory:5\r\nmaxmemory_policy:allkeys-random\r\n", true),
        ] {
            assert_eq!(!problems(info, None, None).is_empty(), evicts, "{info}");
        }
    }

    #[test]
    fn the_warning_about_snapshots_says_only_what_is_known() {
        for (save_points, says) in [
            (Some(""), "keeps nothing on disk"),
            (Some("3600 1"), "snapshots only (save 3600 1)"),
            (None, "may not read"),
        ] {
            let found = problems("aof_enabled:0\r\n", save_points, Some("no"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].to_string().contains(says), "{}", found[0]);
        }
    }

    #[test]
    fn an_append_only_file_that_is_never_synced_is_one_problem() {
        assert_eq!(problems("", Some(""), Some("no")), [RedisWarningKind::NeverSynced]);
    }

    #[test]
    fn a_replica_names_its_master_and_is_no_problem_in_a_cluster() {
        let info = "role:slave\r\nmaster_host:h\r\nmaster_port:1\r\nslave_read_only:1\r\n";
        let replica = RedisWarningKind::Replica { of: "h:1".to_owned(), read_only: true };
        assert_eq!(problems(info, None, None), [replica]);
        let mut diagnostics = Diagnostics::default();
        diagnostics.read(info);
        assert_eq!(diagnostics.problems(true), []);
    }
}
