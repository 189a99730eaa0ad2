use std::collections::BTreeMap;

use grackle_client::types::QueueDiscipline as Discipline;

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

    /// The waits of each process that listen and hold nothing, in their order.
    fn flows(&self) -> BTreeMap<Name, Vec<(Tag, Name)>> {
        let mut flows = BTreeMap::<_, Vec<_>>::new();
        for (lease, wait) in self.waits.iter().filter(|(_, wait)| wait.listens()) {
            if let Some(start) = wait.start {
                flows.entry(wait.process).or_default().push((start, *lease));
            }
        }
        flows.values_mut().for_each(|flow| flow.sort());
        flows
    }

    fn last(&self, process: Name) -> Option<Name> {
        Some(self.flows().get(process)?.last()?.1)
    }

    /// Where one that joins the flow starts: behind the last there, and not before what is granted,
    /// but ahead of its equals where it is the first.
    fn tail(&self, process: Name) -> Tag {
        let last = self.last(process).map(|last| self.waits[last].finish());
        last.map_or(self.virtual_time.a_hair_before(), |last| last.max(self.virtual_time))
    }

    /// Where a wait starts that stands where the discipline says; at best where it did once.
    pub(crate) fn start(&self, lease: Name, process: Name, had: Option<Tag>) -> Option<Tag> {
        let in_flow = self.discipline == Discipline::Weighted && !self.holds.contains_key(lease);
        in_flow.then(|| had.map_or(self.tail(process), |had| had.min(self.tail(process))))
    }

    /// A wait asks for something else: what gets dearer goes behind the others of its flow.
    pub(crate) fn reweigh(&self, lease: Name, wait: &mut Wait, weight: i64, share: i64) {
        let dearer = Tag(0.0).plus(weight, share) > Tag(0.0).plus(wait.weight, wait.share);
        if wait.start.is_some()
            && wait.listens()
            && dearer
            && self.last(wait.process) != Some(lease)
        {
            wait.start = Some(self.tail(wait.process));
        }
        (wait.weight, wait.share) = (weight, share);
    }

    /// The hold is gone that was to grow: its wait stands as any other.
    pub(crate) fn grow_no_more(&mut self, lease: Name) {
        let Some(wait) = self.waits.get(lease) else { return };
        if wait.start.is_none() {
            let start = self.start(lease, wait.process, None);
            self.waits.entry(lease).and_modify(|wait| wait.start = start);
        }
        self.keep_flows();
    }

    /// A grant is charged as long as somebody waits.
    pub(crate) fn charge(&mut self, wait: &Wait, was_in_flow: bool) {
        self.virtual_time = self.virtual_time.max(wait.finish());
        if was_in_flow {
            self.served.insert(wait.process, wait.finish());
        }
    }

    /// After whatever has changed who waits: each flow goes on where it is served to, whoever left
    /// it. Where nobody waits, nothing is remembered.
    pub(crate) fn keep_flows(&mut self) {
        if self.waits.is_empty() {
            self.virtual_time = Tag::default();
        }
        let flows = self.flows();
        self.served.retain(|process, _| flows.contains_key(process));
        for (process, flow) in flows {
            let (start, first) = flow[0];
            let served = self.served.get(process).map_or(start, |served| start.min(*served));
            self.served.insert(process, served);
            self.waits.entry(first).and_modify(|wait| wait.start = Some(served));
        }
    }

    /// All stand as if they had arrived under this discipline.
    pub(crate) fn reorder(&mut self, discipline: Discipline) {
        self.discipline = discipline;
        self.virtual_time = Tag::default();
        self.served.clear();
        self.waits.values_mut().for_each(|wait| wait.start = None);
        let mut all: Vec<_> =
            self.waits.iter().map(|(lease, wait)| (wait.arrival, *lease, wait.process)).collect();
        all.sort_unstable();
        for (_, lease, process) in all {
            let start = self.start(lease, process, None);
            self.waits.entry(lease).and_modify(|wait| wait.start = start);
        }
        self.keep_flows();
    }
}
