//! How often Redis has run each command.

use std::collections::BTreeMap;

/// Calls by command, as INFO commandstats counts them: what runs inside a script counts too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandCalls(BTreeMap<String, u64>);

impl CommandCalls {
    pub fn parse(info: &str) -> Self {
        Self(info.lines().filter_map(parse_line).collect())
    }

    /// Calls of one command, in small letters: `evalsha`, `client|list`.
    pub fn of(&self, command: &str) -> u64 {
        self.0.get(command).copied().unwrap_or_default()
    }

    /// Calls of all commands.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// All but those.
    pub fn without(&self, commands: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.0.retain(|command, _| !commands.contains(&command.as_str()));
        rest
    }

    /// What came on top of an earlier count.
    pub fn since(&self, earlier: &Self) -> Self {
        let more =
            |(command, calls): (&String, &u64)| (command.clone(), calls - earlier.of(command));
        Self(self.0.iter().map(more).filter(|(_, calls)| *calls > 0).collect())
    }
}

/// `cmdstat_evalsha:calls=12,usec=300,…`
fn parse_line(line: &str) -> Option<(String, u64)> {
    let (command, counts) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
    let (calls, _) = counts.split_once(',')?;
    Some((command.to_owned(), calls.parse().ok()?))
}
