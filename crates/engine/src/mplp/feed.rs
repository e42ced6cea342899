//! `/mplp/v1/events` and `/mplp/v1/learning-samples`: rendered from the evidence log, in the order of its commits.

use super::callers::ProjectReader;
use crate::{
    projects::ProjectAt,
    services::Plans,
    store::{AuditRow, FeedPage, FeedQuery},
};
use countersign_core::{
    mplp::{bus, samples},
    records::Plan,
    refusal::Refusal,
};
use countersign_protocol::{
    ids::RowKey,
    mplp::{BusEvent, LearningSample},
};
use serde_json::{Map, Value};
use std::{fmt, time::Duration};

/// Number of entries read at once.
const LOOK: usize = 500;
/// Polling interval of a stream: a signal from another node may be lost.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A reader's position: the last position of each lane, `lane.pos` joined by `_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor(Vec<(i64, i64)>);

impl Cursor {
    pub(crate) fn of(positions: Vec<(i64, i64)>) -> Self {
        Self(positions)
    }

    pub(crate) fn positions(&self) -> Vec<(i64, i64)> {
        self.0.clone()
    }

    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let place = |part: &str| {
            let (lane, pos) = part.split_once('.')?;
            Some((lane.parse().ok()?, pos.parse().ok()?))
        };
        text.split('_').map(place).collect::<Option<Vec<_>>>().map(Self)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(lane, pos)| format!("{lane}.{pos}")).collect();
        f.write_str(&parts.join("_"))
    }
}

/// An event and the cursor after it.
#[derive(Clone, Debug)]
pub struct EventsAfter {
    pub event: BusEvent,
    /// Set only after the last event of an entry: a reader cannot resume in between.
    pub cursor: Option<Cursor>,
}

#[derive(Clone, Debug)]
pub struct BusPage {
    pub events: Vec<EventsAfter>,
    pub next: Cursor,
    pub more: bool,
    /// Entries that do not fit what was written, counted for those who see all of the project.
    pub unreadable: usize,
}

#[derive(Clone, Debug)]
pub struct SamplePage {
    pub samples: Vec<LearningSample>,
    pub next: Cursor,
    pub more: bool,
}

impl Plans<'_> {
    /// The events after `after` that the reader may see.
    pub async fn bus_events(
        self,
        at: &ProjectAt,
        reader: &ProjectReader,
        after: &Cursor,
        limit: usize,
    ) -> Result<BusPage, Refusal> {
        match reader {
            ProjectReader::Agent(_) => {}
            ProjectReader::Person(_) | ProjectReader::Admin => require_overseer(reader)?,
        }
        let page = self.read_feed(at, after, limit).await?;
        let mut cursor = after.clone();
        let (mut events, mut unreadable) = (Vec::new(), 0);
        for row in &page.rows {
            cursor.advance(row);
            let Some(members) = self.evidence_health.members(row) else {
                unreadable += usize::from(reader.sees_all());
                continue;
            };
            if !sees_entry(reader, row, &members) {
                continue;
            }
            let entry = bus::OpenedEntry { members: &members, hash: &row.hash, project: &at.project.document };
            let told = bus::events(&entry);
            let last = told.len().saturating_sub(1);
            let place = |n: usize| (n == last).then(|| cursor.clone());
            events.extend(told.into_iter().enumerate().map(|(n, event)| EventsAfter { event, cursor: place(n) }));
        }
        Ok(BusPage { events, next: cursor, more: page.more, unreadable })
    }

    /// Waits until there may be new entries.
    pub async fn wait_for_events(self) {
        let waiting = self.waiters.register(FEED);
        tokio::select! {
            () = waiting.changed() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }

    /// Learning samples from the decisions after `after`. For admins and auditors of the project.
    pub async fn learning_samples(
        self,
        at: &ProjectAt,
        reader: &ProjectReader,
        after: &Cursor,
        limit: usize,
    ) -> Result<SamplePage, Refusal> {
        require_overseer(reader)?;
        let page = self.read_feed(at, after, limit).await?;
        let mut cursor = after.clone();
        let mut found = Vec::new();
        for row in &page.rows {
            cursor.advance(row);
            if row.event_type != "decision_settled" {
                continue;
            }
            let Some(members) = self.evidence_health.members(row) else { continue };
            found.extend(self.samples_of(at, row, &members).await?);
        }
        Ok(SamplePage { samples: found, next: cursor, more: page.more })
    }

    async fn samples_of(
        self,
        at: &ProjectAt,
        row: &AuditRow,
        members: &Map<String, Value>,
    ) -> Result<Vec<LearningSample>, Refusal> {
        let id = members.get("decision_id").and_then(Value::as_str).unwrap_or_default();
        let Some(decision) = self.decisions().decision_at(at.project.key, id).await? else { return Ok(Vec::new()) };
        let plan: Option<Plan> = self.decisions().plan_of(decision.plan()).await?;
        Ok(samples::samples(&decision, plan.as_ref(), &at.project.document, &row.hash))
    }

    async fn read_feed(self, at: &ProjectAt, after: &Cursor, limit: usize) -> Result<FeedPage, Refusal> {
        let query = FeedQuery { project: at.project.key, after: after.0.clone(), limit: limit.clamp(1, LOOK) };
        Ok(self.store.feed(query).await?)
    }
}

/// Woken whenever a decision, a plan or an execution changed.
pub(crate) const FEED: RowKey = 0;

impl Cursor {
    fn advance(&mut self, row: &AuditRow) {
        let (lane, pos) = (row.place.lane, row.pos);
        match self.0.iter_mut().find(|(known, _)| *known == lane) {
            Some(known) => known.1 = known.1.max(pos),
            None => self.0.push((lane, pos)),
        }
    }
}

/// Requires an admin or auditor of the project.
fn require_overseer(reader: &ProjectReader) -> Result<(), Refusal> {
    let why = "only for an admin key, and for people who administer the project or audit it";
    if reader.sees_all() { Ok(()) } else { Err(Refusal::NotAuthorized(why.into())) }
}

/// An agent sees the events of its own requests; admins and auditors see all.
fn sees_entry(reader: &ProjectReader, row: &AuditRow, members: &Map<String, Value>) -> bool {
    let ProjectReader::Agent(agent) = reader else { return true };
    match agent.raiser.delegation {
        Some(delegation) => row.delegation == Some(delegation),
        None => members.get("principal").and_then(Value::as_str) == Some(agent.raiser.principal.as_str()),
    }
}
