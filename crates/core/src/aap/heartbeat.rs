//! Heartbeats of long tasks (AAP 12.2): the watch that a receipt asks for, its renewal, and a missed heartbeat.

use super::validity::{SKEW_S, check_delegation, check_receipt, receipt_ends_at};
use crate::{
    decision::cancel::Live,
    env::{Env, Mint},
    evidence::DraftEntry,
    people::Actor,
    records::{
        CancelledFor, Delegation, Heartbeat, HeartbeatState, Mode, Project, Receipt, Record, Session, SessionEnd,
        SessionState, Table,
    },
    refusal::Refusal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    aap::heartbeat::{HeartbeatResponse, TaskStatus, WatchedTask},
    project::OnMissed,
    time::UnixMillis,
};

/// How late a heartbeat may be: a tenth of the interval, half a minute at least and five minutes at most.
pub fn tolerance_s(interval_s: i64) -> i64 {
    (interval_s / 10).clamp(30, SKEW_S)
}

fn due_after(at: UnixMillis, interval_s: i64) -> UnixMillis {
    at.plus_secs(interval_s + tolerance_s(interval_s))
}

/// The session's receipts that ask for heartbeats.
fn asking(session: &Session) -> impl Iterator<Item = &Receipt> {
    session.receipts().filter(|receipt| receipt.heartbeat_s.is_some())
}

/// The row of a registered session. Registering is no heartbeat: a session that goes on keeps its row.
pub fn watch(
    session: &Session,
    row: Option<&Heartbeat>,
    goes_on: bool,
    now: UnixMillis,
    mint: &mut Mint,
) -> Vec<Record> {
    let Some(interval_s) = asking(session).filter_map(|receipt| receipt.heartbeat_s).min() else {
        return row.and_then(over).into_iter().collect();
    };
    let until = asking(session).map(receipt_ends_at).max().unwrap_or(now);
    if row.is_some_and(|row| goes_on && !row.is_over() && (row.interval_s, row.until) == (interval_s, until)) {
        return Vec::new();
    }
    let opens = asking(session).filter_map(|receipt| Some(receipt.window?.0)).min();
    let begins = opens.map_or(now, |earliest| earliest.max(now));
    vec![Record::Heartbeat(Heartbeat {
        key: row.map_or_else(|| mint.key(), |row| row.key),
        version: row.map_or(0, |row| row.version) + 1,
        project: session.project,
        session: session.key,
        interval_s,
        last_at: None,
        status: None,
        progress: None,
        state: HeartbeatState::Watched { due: due_after(begins, interval_s) },
        until,
    })]
}

/// The end of a watch, unless it has ended.
pub(super) fn over(row: &Heartbeat) -> Option<Record> {
    (!row.is_over()).then(|| changed(row, |row| row.state = HeartbeatState::Over))
}

fn changed(row: &Heartbeat, change: impl FnOnce(&mut Heartbeat)) -> Record {
    let mut row = Heartbeat { version: row.version + 1, ..row.clone() };
    change(&mut row);
    Record::Heartbeat(row)
}

/// `POST /agent/heartbeat`
pub struct Beat {
    pub actor: Actor,
    pub status: Option<TaskStatus>,
    pub progress: Option<i64>,
}

pub struct BeatView {
    /// The session that the agent names, looked up under its operator.
    pub session: Option<Session>,
    pub delegation: Option<Delegation>,
    pub row: Option<Heartbeat>,
}

impl Operation for Beat {
    type View = BeatView;
    type Answer = HeartbeatResponse;
    type Refusal = Refusal;

    fn decide(self, view: &BeatView, env: &Env) -> Result<Step<HeartbeatResponse>, Refusal> {
        let own = |session: &&Session| matches!(&self.actor, Actor::Agent(own) if own.key == session.key);
        let session = view.session.as_ref().filter(own).ok_or(Refusal::SessionNotFound)?;
        if session.state != SessionState::Open {
            return Err(Refusal::SessionOver);
        }
        view.delegation.as_ref().map_or(Ok(()), |delegation| check_delegation(delegation, env.now))?;
        if self.progress.is_some_and(|percent| !(0..=100).contains(&percent)) {
            return Err(Refusal::invalid("progress must be 0 to 100"));
        }
        let answer = |next_before| HeartbeatResponse { received_at: env.now, next_before, abort: false };
        let Some(row) = view.row.as_ref().filter(|row| !row.is_over()) else { return Ok(Step::answer(answer(None))) };
        let beat = changed(row, |row| {
            row.last_at = Some(env.now);
            (row.status, row.progress) = (self.status, self.progress);
            row.state = HeartbeatState::Watched { due: due_after(env.now, row.interval_s) };
        });
        let guards = guards(session, view.delegation.as_ref());
        let effects = Effects { guards, puts: vec![beat], ..Effects::default() };
        Ok(Step { answer: answer(Some(env.now.plus_secs(row.interval_s))), effects })
    }
}

fn guards(session: &Session, delegation: Option<&Delegation>) -> Vec<Guard> {
    let session = Guard { table: Table::Session, key: session.key, version: session.version };
    let delegation = delegation.map(|d| Guard { table: Table::Delegation, key: d.key, version: d.version });
    [session].into_iter().chain(delegation).collect()
}

/// A heartbeat is due.
pub struct HeartbeatDue {
    /// Start of this node's service: an agent could not be heard before.
    pub serving_since: UnixMillis,
}

pub struct HeartbeatDueView {
    pub project: Project,
    pub row: Heartbeat,
    pub session: Option<Session>,
    /// The delegations of both modes.
    pub delegations: Vec<Delegation>,
    /// Open records of the session, if its end is the project's policy.
    pub live: Live,
}

/// The agent of a session, as far as heartbeats are expected from it.
enum Watch<'v> {
    /// Nobody waits for a heartbeat that would always be refused.
    Over,
    /// It could not send any, and may later: it is judged again at this time.
    Pauses {
        until: UnixMillis,
    },
    Runs {
        session: &'v Session,
        delegation: Option<&'v Delegation>,
    },
}

impl Operation for HeartbeatDue {
    type View = HeartbeatDueView;
    /// Whether it ended the session.
    type Answer = bool;
    type Refusal = Refusal;

    fn decide(self, view: &HeartbeatDueView, env: &Env) -> Result<Step<bool>, Refusal> {
        let Some(due) = view.row.due().filter(|due| env.now >= *due) else { return Ok(Step::answer(false)) };
        let only = |put: Record| Effects { puts: vec![put], not_before: Some(due), ..Effects::default() };
        let becomes = |state| Step { answer: false, effects: only(changed(&view.row, |row| row.state = state)) };
        let (session, delegation) = match view.watch(env.now) {
            Watch::Over => return Ok(becomes(HeartbeatState::Over)),
            Watch::Pauses { until } => return Ok(becomes(HeartbeatState::Paused { due: until })),
            Watch::Runs { .. } if matches!(view.row.state, HeartbeatState::Paused { .. }) => {
                let due = due_after(env.now, view.row.interval_s);
                return Ok(becomes(HeartbeatState::Watched { due }));
            }
            Watch::Runs { session, delegation } => (session, delegation),
        };
        if due < self.serving_since {
            let again = self.serving_since.plus_secs(tolerance_s(view.row.interval_s));
            if env.now < again {
                return Ok(becomes(HeartbeatState::Watched { due: again }));
            }
        }
        let ends = view.project.document.heartbeats.on_missed == OnMissed::EndSession;
        let mut mint = env.mint();
        let state = if ends { HeartbeatState::Over } else { HeartbeatState::Missed { at: due } };
        let mut effects = only(changed(&view.row, |row| row.state = state));
        // A heartbeat of the session on another node, or its end, comes first or makes this step stale.
        effects.guards = guards(session, delegation);
        effects.evidence.push(view.entry((session, delegation), ends, env.now).seal(&mut mint)?);
        if ends {
            effects.guards.retain(|guard| guard.table != Table::Session);
            let state = SessionState::Closed { at: env.now, why: SessionEnd::HeartbeatMissed };
            let closed = Session { state, version: session.version + 1, ..session.clone() };
            effects.puts.push(Record::Session(closed));
            let place = (view.project.key, view.project.id.clone());
            view.live.cancel(&place, CancelledFor::SessionOver, env, &mut mint, &mut effects)?;
        }
        Ok(Step { answer: ends, effects })
    }
}

impl HeartbeatDueView {
    /// By the mode that may go on the longest, of those with a receipt that asks for heartbeats.
    fn watch(&self, now: UnixMillis) -> Watch<'_> {
        let Some(session) = self.session.as_ref().filter(|session| session.state == SessionState::Open) else {
            return Watch::Over;
        };
        let mut pauses: Option<UnixMillis> = None;
        for mode in [Mode::UserDelegated, Mode::ServiceAccount] {
            let Some(receipt) = session.receipt_in(mode).filter(|receipt| receipt.heartbeat_s.is_some()) else {
                continue;
            };
            let delegation = session.delegation_in(mode);
            let delegation = self.delegations.iter().find(|found| Some(found.key) == delegation);
            let granted = delegation.map_or(Ok(()), |delegation| check_delegation(delegation, now));
            let until = match granted.and_then(|()| check_receipt(receipt, now)) {
                Ok(()) => return Watch::Runs { session, delegation },
                Err(Refusal::DelegationSuspended(_)) if check_receipt(receipt, now) != Err(Refusal::ConsentExpired) => {
                    now.plus_secs(tolerance_s(self.row.interval_s))
                }
                Err(Refusal::ConsentWindowNotOpen) => receipt.window.map_or(now, |(earliest, _)| earliest.max(now)),
                Err(_) => continue,
            };
            pauses = Some(pauses.map_or(until, |others| others.min(until)));
        }
        pauses.map_or(Watch::Over, |until| Watch::Pauses { until })
    }

    fn entry(&self, (session, delegation): (&Session, Option<&Delegation>), ends: bool, now: UnixMillis) -> DraftEntry {
        let entry = DraftEntry::new((self.project.key, &self.project.id), "heartbeat_missed", now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "service")
            .open("heartbeat_interval", self.row.interval_s)
            .open_if("last_heartbeat", self.row.last_at.map(UnixMillis::to_rfc3339))
            .open("outcome", if ends { "the session ended" } else { "recorded" })
            .hidden_if("acting_for", session.subject.clone());
        match delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        }
    }
}

/// A running task as its person and the access summary see it.
pub fn watched_task(row: &Heartbeat, session: &Session) -> Option<WatchedTask> {
    let runs = session.state == SessionState::Open && !row.is_over();
    runs.then(|| WatchedTask {
        session_id: session.session_id.clone(),
        heartbeat_interval: row.interval_s,
        last_heartbeat: row.last_at,
        status: row.status,
        progress: row.progress,
        missed_at: match row.state {
            HeartbeatState::Missed { at } => Some(at),
            HeartbeatState::Watched { .. } | HeartbeatState::Paused { .. } | HeartbeatState::Over => None,
        },
    })
}
