//! Namespaces: records, and the index of their names.

use deadpool_redis::redis;
use futures_util::future::join_all;

use super::arguments::json;
use super::reply::{RecordReply, parse};
use super::runner::{Invocation, Scripts};
use crate::error::Error;
use crate::pagination::{PageReply, PageStart};
use crate::wire::{Metadata, Namespace};

/// Stands for the index where a namespace is asked for: no namespace has this name.
const INDEX: &str = "";

impl Scripts {
    pub async fn create_namespace(
        &self,
        request: &str,
        name: &str,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Namespace, Error> {
        let mut call = self.on(&self.table.create_namespace, name);
        call.arg(request).arg(name).arg(description).arg(json(metadata));
        // Before as well: a process that dies in between leaves a name without a record, which readers
        // remove, but no namespace that is never listed.
        self.index(name).await?;
        let made = self.record(&call).await.and_then(namespace);
        if matches!(made, Ok(_) | Err(Error::NamespaceExists)) {
            self.index(name).await?;
        }
        made
    }

    pub async fn get_namespace(&self, name: &str) -> Result<Namespace, Error> {
        let call = self.on(&self.table.get_namespace, name);
        self.record(&call).await.and_then(namespace)
    }

    pub async fn update_namespace(
        &self,
        request: &str,
        name: &str,
        expected_version: i64,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Namespace, Error> {
        let mut call = self.on(&self.table.update_namespace, name);
        call.arg(request).arg(expected_version).arg(description).arg(json(metadata));
        self.record(&call).await.and_then(namespace)
    }

    pub async fn delete_namespace(&self, name: &str) -> Result<(), Error> {
        let step = |begun: bool| {
            let mut call = self.on(&self.table.delete_namespace, name);
            call.arg(i32::from(begun));
            call
        };
        self.in_steps(step).await?;
        self.unindex(name).await
    }

    /// A page of namespaces. Names in the index without a record are removed from it.
    pub async fn list_namespaces(
        &self,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Namespace>, Error> {
        let mut script = self.table.list_namespaces.script.prepare_invoke();
        script.key(self.keys.index());
        let mut call = Invocation { namespace: INDEX, script };
        call.page(from, limit);
        let names: PageReply<String> = parse(&self.text(&call).await?)?;
        let records = join_all(names.entries.iter().map(|name| self.get_namespace(name))).await;
        let mut entries = Vec::with_capacity(records.len());
        for (name, record) in names.entries.iter().zip(records) {
            match record {
                Ok(namespace) => entries.push(namespace),
                Err(Error::NamespaceNotFound) => self.unindex(name).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(PageReply { entries, order: None, before: names.before, after: names.after })
    }

    /// The number of names in the index.
    pub(crate) async fn count_namespaces(&self) -> Result<u64, Error> {
        let mut count = redis::cmd("ZCARD");
        count.arg(self.keys.index());
        self.command(&count).await
    }

    async fn index(&self, name: &str) -> Result<(), Error> {
        let mut add = redis::cmd("ZADD");
        add.arg(self.keys.index()).arg(0).arg(name);
        self.command(&add).await
    }

    /// Removes a name from the index, and puts it back if such a namespace was created meanwhile: index
    /// and record are in two slots of a cluster, so no single step can do both.
    async fn unindex(&self, name: &str) -> Result<(), Error> {
        let mut remove = redis::cmd("ZREM");
        remove.arg(self.keys.index()).arg(name);
        self.command::<()>(&remove).await?;
        match self.get_namespace(name).await {
            Ok(_) => self.index(name).await,
            Err(Error::NamespaceNotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs a command on the index.
    pub(super) async fn command<T: redis::FromRedisValue>(
        &self,
        command: &redis::Cmd,
    ) -> Result<T, Error> {
        let attempt = |mut connection| async move { command.query_async(&mut connection).await };
        self.router.run(INDEX, attempt).await.map_err(|(error, _)| error)
    }
}

fn namespace(reply: RecordReply) -> Result<Namespace, Error> {
    reply.namespace.ok_or_else(|| Error::internal("a script left the namespace out"))
}
