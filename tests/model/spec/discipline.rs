use std::collections::BTreeSet;

use grackle_client::wire::QueueDiscipline as Discipline;

use super::{GROWING, Name, Queue, Semaphore, Tag, Wait};

impl Semaphore {
    pub(crate) fn set(&mut self, queue: Queue) {
        let Queue { discipline, max_waiters } = queue;
        self.max_waiters = max_waiters.unwrap_or(self.max_waiters);
        if discipline != Discipline::Unspecified && discipline != self.discipline {
            self.reorder(discipline);
        }
    }

    /// The lowest is next. Those who hold already and grow stand first, by arrival, else they would
    /// wait for themselves.
    pub(crate) fn place(&self, lease: Name, wait: &Wait) -> (bool, Tag) {
        let arrival = Tag(f64::from(wait.arrival));
        if self.holds.contains_key(lease) {
            return (false, arrival);
        }
        let place = match self.discipline {
            Discipline::Lifo => Tag(0.0 - f64::from(wait.arrival)),
            Discipline::Weighted => wait.finish(),
            _ => arrival,
        };
        (true, place)
    }

    /// The place as one number, by which it is listed.
    pub(crate) fn score(&self, lease: Name, wait: &Wait) -> Tag {
        let (holds_nothing, tag) = self.place(lease, wait);
        if holds_nothing { tag } else { Tag(tag.0 - GROWING) }
    }

    /// Those that stand before a lease with that wait, which need not stand there.
    pub(crate) fn ahead_of(&self, lease: Name, wait: &Wait) -> Vec<Name> {
        let place = (self.place(lease, wait), lease);
        let mut queue = self.queue();
        queue.retain(|other| {
            *other != lease && (self.place(other, &self.waits[other]), *other) < place
        });
        queue
    }

    /// The waits of a process that listen and hold nothing, by arrival: a process is served in that
    /// order.
    pub(crate) fn flow(&self, process: Name) -> Vec<Name> {
        let here = |(_, wait): &(&Name, &Wait)| wait.process == process && wait.is_in_flow();
        let mut flow: Vec<_> = self.waits.iter().filter(here).collect();
        flow.sort_by_key(|(_, wait)| wait.arrival);
        flow.into_iter().map(|(lease, _)| *lease).collect()
    }

    /// Where a wait starts by its arrival: where the one before it in its flow finishes, and not before
    /// what is granted; at best where it `had` started. The first of its flow takes over from the one
    /// that was, and is ahead of its equals in other flows.
    pub(crate) fn turn(&self, lease: Name, wait: &Wait, had: Option<Tag>) -> Tag {
        let mut flow = self.flow(wait.process);
        flow.retain(|other| *other != lease);
        let at_best = |start: Tag| had.map_or(start, |had| had.min(start));
        let before = flow.iter().rfind(|other| self.waits[**other].arrival < wait.arrival);
        match (before, flow.first()) {
            (Some(before), _) => self.waits[before].finish().max(at_best(self.virtual_time)),
            (None, Some(behind)) => at_best(self.waits[behind].start.expect("it is in a flow")),
            (None, None) => at_best(self.virtual_time.a_hair_before()),
        }
    }

    /// Where a wait starts that stands where the discipline says.
    pub(crate) fn start(&self, lease: Name, wait: &Wait, had: Option<Tag>) -> Option<Tag> {
        let in_flow = self.discipline == Discipline::Weighted && !self.holds.contains_key(lease);
        in_flow.then(|| self.turn(lease, wait, had))
    }

    /// A wait begins to listen: it has its turn by its arrival, and those behind it make room.
    pub(crate) fn enter(&mut self, lease: Name) {
        let Some(wait) = self.waits.get(lease).filter(|wait| wait.is_in_flow()) else { return };
        let start = Some(self.turn(lease, wait, wait.start));
        self.waits.entry(lease).and_modify(|wait| wait.start = start);
        self.push(lease);
    }

    /// Those behind a wait do not start before it finishes.
    pub(crate) fn push(&mut self, lease: Name) {
        let wait = &self.waits[lease];
        if wait.is_in_flow() {
            self.push_behind(&wait.clone());
        }
    }

    fn push_behind(&mut self, wait: &Wait) {
        let (arrival, mut finish) = (wait.arrival, wait.finish());
        for behind in self.flow(wait.process) {
            let behind = self.waits.get_mut(behind).expect("it is in the flow");
            if behind.arrival <= arrival {
                continue;
            }
            if behind.start >= Some(finish) {
                break;
            }
            behind.start = Some(finish);
            finish = behind.finish();
        }
    }

    /// Is it the turn of another of its process, though this one has the lower tag? Then it goes behind.
    pub(crate) fn goes_behind(&mut self, lease: Name) -> bool {
        let wait = &self.waits[lease];
        if !wait.is_in_flow() {
            return false;
        }
        let first = self.flow(wait.process)[0];
        let finish = self.waits[first].finish();
        if first != lease {
            self.waits.entry(lease).and_modify(|wait| wait.start = Some(finish));
        }
        first != lease
    }

    /// The hold is gone that was to grow: its wait stands as any other.
    pub(crate) fn grow_no_more(&mut self, lease: Name) {
        let Some(wait) = self.waits.get(lease) else { return };
        if wait.start.is_none() {
            let start = self.start(lease, wait, None);
            self.waits.entry(lease).and_modify(|wait| wait.start = start);
            self.enter(lease);
        }
        self.keep_flows();
    }

    /// A grant is charged as long as somebody waits: its flow is served up to there.
    pub(crate) fn charge(&mut self, wait: &Wait, was_in_flow: bool) {
        self.virtual_time = self.virtual_time.max(wait.finish());
        if !was_in_flow {
            return self.push_behind(wait);
        }
        if let Some(&first) = self.flow(wait.process).first() {
            self.waits.entry(first).and_modify(|next| next.start = Some(wait.finish()));
            self.served.insert(wait.process, (first, wait.finish()));
        }
    }

    /// After whatever has changed who waits: each flow goes on where it is served to, whoever left
    /// it. Where nobody waits, nothing is remembered.
    pub(crate) fn keep_flows(&mut self) {
        if self.waits.is_empty() {
            self.virtual_time = Tag::default();
        }
        let processes: BTreeSet<_> = self.waits.values().map(|wait| wait.process).collect();
        let was = std::mem::take(&mut self.served);
        for process in processes {
            let Some(&first) = self.flow(process).first() else { continue };
            let wait = self.waits.get_mut(first).expect("it is in the flow");
            let mut start = wait.start.expect("it is in a flow");
            // Another is the first by now: it goes on where the one before it started.
            if let Some((before, served)) = was.get(process)
                && *before != first
            {
                start = start.min(*served);
            }
            wait.start = Some(start);
            self.served.insert(process, (first, start));
        }
    }

    /// All stand as if they had arrived under this discipline.
    pub(crate) fn reorder(&mut self, discipline: Discipline) {
        self.discipline = discipline;
        self.virtual_time = Tag::default();
        self.served.clear();
        self.waits.values_mut().for_each(|wait| wait.start = None);
        let mut all: Vec<_> =
            self.waits.iter().map(|(lease, wait)| (wait.arrival, *lease)).collect();
        all.sort_unstable();
        for (_, lease) in all {
            let start = self.start(lease, &self.waits[lease], None);
            self.waits.entry(lease).and_modify(|wait| wait.start = start);
        }
        self.keep_flows();
    }
}
