//! Two nodes on one store: every interleaving of loading, deciding and committing, with crashes in between and clock
//! skew of one tick. The nodes decide with the real operations.

use crate::{
    decision_store::{Outcome, Store},
    decision_stream::is_yes,
    decision_world::{ALICE, Ask, NOW, Plane, answer, claim, document, reply, reply_token},
    worlds,
};
use countersign_core::{
    decision::{due::QuestionDue, outcome::OutcomeReport, render, terms::Wishes},
    records::{Allowance, AllowanceState, Decision, DecisionState, Defaulted, ExecutionState, Project, Record},
    step::Effects,
};
use countersign_protocol::{aaep::event::YesNo, hash::Digest, ids::RowKey, time::UnixMillis};
use stateright::{Checker as _, Expectation, Model, Property};
use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

/// The timeout of a question, the lifetime of an approval, and the length of a lease.
const TICK_S: i64 = 30;

/// AAEP-6.3.5-01, AAEP-6.3.5-02
#[test]
fn two_nodes_and_a_crash_neither_settle_a_question_twice_nor_lose_an_answer_that_was_acknowledged() {
    let works = &[Work::Raise, Work::Reply(0), Work::Reply(1), Work::Due];
    let model = TwoNodes { ticks: 2, raises: 1, crashes: 1, works, ..TwoNodes::new() };
    model.holds(|name| !name.starts_with("claimed: "));
}

#[test]
fn two_nodes_and_a_crash_never_claim_an_approval_twice() {
    let works = &[Work::Claim, Work::AllowanceDue, Work::LeaseDue, Work::Outcome, Work::Raise];
    let model = TwoNodes { ticks: 2, raises: 2, crashes: 1, works, accepted: true, ..TwoNodes::new() };
    model.holds(|name| !name.starts_with("answered: "));
}

struct TwoNodes {
    project: Arc<Project>,
    ask: Ask,
    works: &'static [Work],
    ticks: i64,
    raises: usize,
    crashes: u8,
    /// Whether the initial state has an approval.
    accepted: bool,
    /// Memoized decisions: an operation is a function of its view and the current time.
    decided: Mutex<HashMap<Asked, Option<Arc<Effects>>>>,
}

/// The complete input of a decision.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    node: usize,
    work: Work,
    now: UnixMillis,
    serving_since: UnixMillis,
    knows: Option<RowKey>,
    rows: Rows,
}

/// The operations of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Work {
    Raise,
    /// The first reply approves, the second rejects.
    Reply(usize),
    Due,
    Claim,
    AllowanceDue,
    LeaseDue,
    Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Tick,
    /// Loads the rows and decides.
    Load(usize, Work),
    Commit(usize),
    Crash(usize),
    /// The node that raised the question delivers it to the person.
    Deliver(usize),
    /// The person connects to any node and gets the pending question; its delivery was lost in a crash.
    Join,
}

#[derive(Clone)]
struct State {
    store: Store,
    nodes: [Node; 2],
    crashes: u8,
    /// The reply token of the question shown to the person.
    knows: Option<(RowKey, String)>,
    replies: [Reply; 2],
    /// The first settlement of each decision.
    first: Vec<(RowKey, Fate)>,
    out_of_time: bool,
}

#[derive(Clone, Default)]
struct Node {
    /// Clock skew in ticks.
    skew: i64,
    serving_since: UnixMillis,
    pending: Option<(Work, UnixMillis, Arc<Effects>)>,
    /// An undelivered question; lost if the node crashes.
    outbox: Option<(RowKey, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reply {
    Unsent,
    Ignored,
    /// The reply was acknowledged as settling this decision.
    Counted(RowKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Pending,
    Accepted,
    Rejected,
    Expired(bool),
    Other,
}

impl TwoNodes {
    fn new() -> Self {
        let mut document = document();
        document.decisions.allowance_seconds = TICK_S;
        for policy in &mut document.actions {
            policy.default_decision = (policy.name == "file.move").then_some(YesNo::Accept);
        }
        let wishes = Wishes { timeout_s: Some(TICK_S), default: Some(YesNo::Accept), ..Wishes::default() };
        Self {
            project: Arc::new(worlds::project(document)),
            ask: Ask { wishes, ..Ask::of("file.move") },
            works: &[],
            ticks: 0,
            raises: 0,
            crashes: 0,
            accepted: false,
            decided: Mutex::default(),
        }
    }

    /// Checks the properties relevant to this model.
    fn holds(self, concerns: fn(&str) -> bool) {
        let checker = self.checker().threads(2).spawn_bfs().join();
        for property in checker.model().properties().iter().filter(|property| concerns(property.name)) {
            match property.expectation {
                Expectation::Sometimes => drop(checker.assert_any_discovery(property.name)),
                _ => checker.assert_no_discovery(property.name),
            }
        }
        assert!(checker.unique_state_count() > 10_000, "so few states prove little");
    }

    /// The view of a node, with row keys that no other step uses.
    fn plane(&self, state: &State, node: usize) -> Plane {
        let rows =
            state.store.decisions().count() + state.store.allowances().count() + state.store.executions().count();
        Plane::over(state.store.clone(), self.project.clone(), i64::try_from(rows * 10 + node).unwrap() + 1)
    }

    fn decide(&self, state: &State, node: usize, work: Work) -> Option<Arc<Effects>> {
        let asked = Asked {
            node,
            work,
            now: state.now_at(node),
            serving_since: state.nodes[node].serving_since,
            knows: state.knows.as_ref().map(|(key, _)| *key),
            rows: state.rows(|key| key),
        };
        if let Some(known) = self.decided.lock().unwrap().get(&asked) {
            return known.clone();
        }
        let effects = self.decide_anew(state, node, work).filter(|effects| !effects.is_empty()).map(Arc::new);
        self.decided.lock().unwrap().insert(asked, effects.clone());
        effects
    }

    /// Nothing if the operation refuses.
    fn decide_anew(&self, state: &State, node: usize, work: Work) -> Option<Effects> {
        let plane = self.plane(state, node);
        let now = state.now_at(node);
        let last = state.store.decisions().last().map(|decision| decision.key);
        match work {
            Work::Raise => plane.raise(&self.ask, now).map(|step| step.effects).ok(),
            Work::Reply(n) => {
                let (decision, token) = state.knows.as_ref()?;
                assert_eq!(state.store.decision(*decision).reply_hash, Digest::of(token.as_bytes()));
                let said = reply([YesNo::Accept, YesNo::Reject][n]);
                let claimed_at = state.store.decision(*decision).asked_at;
                let answered = plane.answer(*decision, answer(ALICE, said, claimed_at), now);
                answered.map(|step| step.effects).ok()
            }
            Work::Due => {
                let due = QuestionDue { serving_since: state.nodes[node].serving_since, nobody_there: false };
                plane.due(last?, due, now).map(|step| step.effects).ok()
            }
            Work::Claim => {
                let digest = plane.digest(&self.ask);
                plane.claim(last?, claim(digest), true, now).map(|step| step.effects).ok()
            }
            Work::AllowanceDue => {
                let yes = state.store.allowances().find(|yes| yes.is_open())?;
                plane.allowance_due(yes.decision, now).map(|step| step.effects).ok()
            }
            Work::LeaseDue => {
                let run = state.store.executions().last()?;
                plane.lease_due(run.decision, now).map(|step| step.effects).ok()
            }
            Work::Outcome => {
                let run = state.store.executions().last()?;
                plane.on_execution(run.decision, OutcomeReport::Committed, now).map(|step| step.effects).ok()
            }
        }
    }

    fn is_possible(&self, state: &State, work: Work) -> bool {
        match work {
            Work::Raise => state.store.decisions().count() < self.raises,
            Work::Reply(n) => state.knows.is_some() && state.replies[n] == Reply::Unsent,
            _ => true,
        }
    }

    fn load(&self, state: &State, node: usize, work: Work) -> Option<State> {
        let mut next = state.clone();
        match (self.decide(state, node, work), work) {
            (Some(effects), _) => next.nodes[node].pending = Some((work, state.now_at(node), effects)),
            // A refused reply is reported at once, as by the HTTP handler.
            (None, Work::Reply(n)) => next.replies[n] = Reply::Ignored,
            (None, _) => return None,
        }
        Some(next)
    }
}

impl State {
    fn now_at(&self, node: usize) -> UnixMillis {
        self.store.now.plus_secs(self.nodes[node].skew * TICK_S)
    }

    fn commit(&mut self, node: usize) {
        let Some((work, _, effects)) = self.nodes[node].pending.take() else { return };
        let deadlines: Vec<_> = self.store.decisions().map(|decision| (decision.key, deadline(decision))).collect();
        let leases: Vec<_> = self.store.executions().map(|run| (run.key, lease(&run.state))).collect();
        let outcome = self.store.commit(&effects);
        match (outcome, work) {
            (Outcome::Committed, Work::Raise) => {
                let asked = effects.puts.iter().find_map(as_decision).expect("a question was asked");
                self.nodes[node].outbox = Some((asked.key, reply_token(&asked.id)));
            }
            (Outcome::Committed, Work::Reply(n)) => {
                let settled = effects.puts.iter().find_map(as_decision).expect("a question was answered");
                self.replies[n] = Reply::Counted(settled.key);
            }
            (Outcome::OutOfTime, Work::Reply(n)) => self.replies[n] = Reply::Ignored,
            _ => {}
        }
        self.out_of_time |=
            outcome == Outcome::Committed && !leases.iter().all(|(key, at)| self.lapsed_after(*key, *at));
        if self.store.executions().count() > leases.len() {
            let yes = effects.puts.iter().find_map(as_allowance).expect("a yes was spent");
            self.out_of_time |= self.store.now >= yes.until;
        }
        self.remember(&deadlines);
        self.store.said.clear();
        self.store.evidence.clear();
    }

    /// Whether the execution became unknown only after its lease ended.
    fn lapsed_after(&self, key: RowKey, lease: Option<UnixMillis>) -> bool {
        let run = self.store.executions().find(|run| run.key == key).expect("no execution goes away");
        let unknown = matches!(run.state, ExecutionState::Unknown { .. });
        !unknown || lease.is_some_and(|lease| self.store.now >= lease)
    }

    /// Records first settlements, and whether they were on time by the store's clock.
    fn remember(&mut self, deadlines: &[(RowKey, Option<UnixMillis>)]) {
        for decision in self.store.decisions().filter(|decision| !decision.is_pending()) {
            if self.first.iter().any(|(key, _)| *key == decision.key) {
                continue;
            }
            let deadline = deadlines.iter().find(|(key, _)| *key == decision.key).and_then(|(_, at)| *at);
            let deadline = deadline.expect("what is settled was open");
            let fate = fate(decision);
            let (early, on_time) = (self.store.now < deadline, self.store.now <= deadline.plus_secs(5));
            self.out_of_time |= match fate {
                Fate::Accepted | Fate::Rejected => !early,
                Fate::Expired(true) => early || !on_time,
                _ => early,
            };
            self.first.push((decision.key, fate));
        }
    }
}

impl Model for TwoNodes {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut plane = Plane::over(Plane::new().store, self.project.clone(), 0);
        let mut first = Vec::new();
        if self.accepted {
            let asked = plane.commit(plane.raise(&self.ask, NOW).unwrap()).decision;
            plane.commit(plane.answer(asked.key, answer(ALICE, reply(YesNo::Accept), NOW), NOW).unwrap());
            first.push((asked.key, Fate::Accepted));
        }
        let state = |skew: i64| State {
            store: plane.store.clone(),
            nodes: [0, skew].map(|skew| Node { skew, serving_since: NOW.plus_secs(-TICK_S), ..Node::default() }),
            crashes: self.crashes,
            knows: None,
            replies: [Reply::Unsent; 2],
            first: first.clone(),
            out_of_time: false,
        };
        [-1, 0, 1].map(state).to_vec()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.store.now < NOW.plus_secs(self.ticks * TICK_S) {
            actions.push(Action::Tick);
        }
        for node in [0, 1] {
            if state.nodes[node].pending.is_some() {
                actions.push(Action::Commit(node));
            } else {
                let possible = self.works.iter().filter(|work| self.is_possible(state, **work));
                actions.extend(possible.map(|work| Action::Load(node, *work)));
            }
            if state.crashes > 0 && (state.nodes[node].pending.is_some() || state.nodes[node].outbox.is_some()) {
                actions.push(Action::Crash(node));
            }
            if state.nodes[node].outbox.is_some() {
                actions.push(Action::Deliver(node));
            }
        }
        let told =
            |key| state.nodes.iter().filter_map(|node| node.outbox.as_ref()).chain(&state.knows).any(|k| k.0 == key);
        if state.store.decisions().any(|decision| decision.is_pending() && !told(decision.key)) {
            actions.push(Action::Join);
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Tick => next.store.now = next.store.now.plus_secs(TICK_S),
            Action::Load(node, work) => return self.load(state, node, work),
            Action::Commit(node) => next.commit(node),
            Action::Crash(node) => {
                next.crashes -= 1;
                let (skew, serving_since) = (state.nodes[node].skew, state.now_at(node));
                next.nodes[node] = Node { skew, serving_since, ..Node::default() };
            }
            Action::Deliver(node) => next.knows = next.nodes[node].outbox.take(),
            Action::Join => {
                let open = state.store.decisions().find(|decision| decision.is_pending())?;
                let event = render::event(open, state.store.session(open.asked_in), &reply_token(&open.id), "en");
                assert_eq!(event.envelope.event_id, open.event_id);
                next.knows = Some((open.key, reply_token(&open.id)));
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing runs twice under one yes", |_, state: &State| {
                let runs = |key: RowKey| state.store.executions().filter(|run| run.allowance == key).count();
                state.store.allowances().all(|yes| runs(yes.key) <= 1 && is_yes(state.store.decision(yes.decision)))
            }),
            Property::always("nothing runs without a yes", |_, state: &State| {
                state.store.executions().all(|run| state.store.allowance_of(run.decision).is_some())
            }),
            Property::always("the same never runs beside itself", |_, state: &State| {
                state.store.executions().filter(|run| run.is_under_way()).count() <= 1
            }),
            Property::always(
                "every settlement and every claim comes at its time by the store's clock",
                |_, state: &State| !state.out_of_time,
            ),
            Property::always("no acknowledged answer is lost", |_, state: &State| {
                let holds = |(reply, expected): (&Reply, Fate)| match reply {
                    Reply::Counted(key) => fate(state.store.decision(*key)) == expected,
                    _ => true,
                };
                state.replies.iter().zip([Fate::Accepted, Fate::Rejected]).all(holds)
            }),
            Property::always("no settlement changes", |_, state: &State| {
                state.first.iter().all(|(key, first)| fate(state.store.decision(*key)) == *first)
            }),
            Property::always("one open question at a time is the same", |_, state: &State| {
                state.store.decisions().filter(|decision| decision.is_pending()).count() <= 1
            }),
            Property::sometimes("answered: a yes is given", |_, state: &State| state.any(Fate::Accepted)),
            Property::sometimes("answered: a no is given", |_, state: &State| state.any(Fate::Rejected)),
            Property::sometimes("answered: nobody answers, and that is a yes", |_, state: &State| {
                state.any(Fate::Expired(true))
            }),
            Property::sometimes("answered: nobody answers in time, and that is a no", |_, state: &State| {
                state.any(Fate::Expired(false))
            }),
            Property::sometimes("claimed: a yes lapses", |_, state: &State| {
                state.store.allowances().any(|yes| matches!(yes.state, AllowanceState::Lapsed { .. }))
            }),
            Property::sometimes("claimed: something is claimed", |_, state: &State| {
                state.store.executions().next().is_some()
            }),
            Property::sometimes("claimed: a lease lapses into unknown", |_, state: &State| {
                state.store.executions().any(|run| matches!(run.state, ExecutionState::Unknown { .. }))
            }),
            Property::sometimes("claimed: a late outcome is still taken", |_, state: &State| {
                let late = |run: &countersign_core::records::Execution| {
                    // Claimed, unknown, committed.
                    run.version == 3 && matches!(run.state, ExecutionState::Committed { .. })
                };
                state.store.executions().any(late)
            }),
        ]
    }
}

impl State {
    fn any(&self, wanted: Fate) -> bool {
        self.store.decisions().any(|decision| fate(decision) == wanted)
    }

    /// The rows, with their keys mapped by `named`.
    fn rows(&self, named: impl Fn(RowKey) -> RowKey) -> Rows {
        let store = &self.store;
        Rows {
            decisions: store.decisions().map(|d| (named(d.key), d.version, fate(d), [deadline(d), d.due()])).collect(),
            allowances: store.allowances().map(|a| (named(a.key), a.version, a.until, a.is_open())).collect(),
            executions: store.executions().map(|e| (named(e.key), e.version, lease(&e.state))).collect(),
            sessions: store.sessions().map(|s| (named(s.key), s.version)).collect(),
        }
    }

    /// The part of the state that determines all next states: rows by position instead of key, no texts.
    fn compact(&self) -> Compact {
        let place = |key: RowKey| self.store.decisions().position(|decision| decision.key == key);
        let node = |node: &Node| {
            let pending = node.pending.as_ref().map(|(work, at, effects)| {
                (*work, *at, effects.puts.iter().map(|put| (put.table() as u8, put.version())).collect())
            });
            (node.skew, node.serving_since, pending, node.outbox.as_ref().and_then(|(key, _)| place(*key)))
        };
        let reply = |reply: Reply| match reply {
            Reply::Unsent => None,
            Reply::Ignored => Some(None),
            Reply::Counted(key) => Some(place(key)),
        };
        Compact {
            now: self.store.now,
            flags: (self.crashes, self.out_of_time),
            rows: self.rows(|_| 0),
            nodes: [node(&self.nodes[0]), node(&self.nodes[1])],
            knows: self.knows.as_ref().and_then(|(key, _)| place(*key)),
            replies: self.replies.map(reply),
        }
    }
}

type NodePrint = (i64, UnixMillis, Option<(Work, UnixMillis, Vec<(u8, i64)>)>, Option<usize>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Rows {
    decisions: Vec<(RowKey, i64, Fate, [Option<UnixMillis>; 2])>,
    allowances: Vec<(RowKey, i64, UnixMillis, bool)>,
    executions: Vec<(RowKey, i64, Option<UnixMillis>)>,
    sessions: Vec<(RowKey, i64)>,
}

#[derive(Debug, PartialEq, Hash)]
struct Compact {
    now: UnixMillis,
    flags: (u8, bool),
    rows: Rows,
    nodes: [NodePrint; 2],
    knows: Option<usize>,
    replies: [Option<Option<usize>>; 2],
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.compact().hash(hasher);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.compact().fmt(f)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.compact() == other.compact()
    }
}

fn as_decision(record: &Record) -> Option<&Decision> {
    match record {
        Record::Decision(decision) => Some(decision),
        _ => None,
    }
}

fn as_allowance(record: &Record) -> Option<&Allowance> {
    match record {
        Record::Allowance(allowance) => Some(allowance),
        _ => None,
    }
}

fn deadline(decision: &Decision) -> Option<UnixMillis> {
    match decision.state {
        DecisionState::Pending { deadline, .. } => Some(deadline),
        _ => None,
    }
}

/// The end of the lease while claimed; afterwards the row version identifies the outcome.
fn lease(state: &ExecutionState) -> Option<UnixMillis> {
    match state {
        ExecutionState::Claimed { lease_until } => Some(*lease_until),
        ExecutionState::Unknown { .. } => Some(UnixMillis(0)),
        _ => None,
    }
}

fn fate(decision: &Decision) -> Fate {
    match &decision.state {
        DecisionState::Pending { .. } => Fate::Pending,
        DecisionState::Accepted { .. } => Fate::Accepted,
        DecisionState::Rejected { .. } => Fate::Rejected,
        DecisionState::Expired { as_if, .. } => Fate::Expired(*as_if == Defaulted::Accept),
        _ => Fate::Other,
    }
}
