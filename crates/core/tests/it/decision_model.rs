//! Any sequence of commands, on clocks that differ, with steps that are committed late: the real operations against
//! the reference, and what must hold whatever happens.

use crate::{
    decision_commands::{Command, Deed, Speech, deeds},
    decision_reference::{Answering, Fate, Raising, Reference, Run, Saying, Session, Times, Verdict, Yes},
    decision_store::Outcome,
    decision_stream::{Listener, is_yes},
    decision_world::{
        ACTIONS, ALICE, Ask, NOW, Plane, answerer, clarification, claim, confirmation, is_open, reply,
    },
};
use countersign_core::{
    aaep::talk::{AWAITING_INPUT, DECIDING, THINKING},
    decision::{
        answer::{Answer, Given, NotCounted},
        due::QuestionDue,
        extend::Extend,
        outcome::Report,
        reconcile::Reconcile,
        terms::Wishes,
    },
    records::{
        AaepSessionState, AllowanceState, Assurance, Decision, DecisionState, Defaulted, ExecutionState, Point,
        Question,
    },
    refusal::Refusal,
    step::{Effects, Operation as _, Step},
};
use countersign_protocol::{
    aaep::event::{
        CancelledBy, ErrorCategory, OutputStreaming, Payload, ProgressUpdated, ResponseKind, Risk, SessionCancelled,
        SessionCompleted, SessionErrored, StateChanged, Summaries, ToolCompleted, ToolInvoked, ToolStatus, YesNo,
    },
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// AAEP-6.1-03, AAEP-6.3.5-02, AAEP-6.8-02
    #[test]
    fn whatever_happens_in_whatever_order_a_yes_is_given_once_and_spent_once(
        early_reject in proptest::bool::weighted(0.2),
        deeds in deeds(),
    ) {
        let mut runner = Runner::new(early_reject);
        for deed in deeds {
            runner.take(&deed);
            runner.check();
        }
    }
}

/// A step that was decided and waits to be committed.
struct Held {
    matter: Matter,
    node: UnixMillis,
    effects: Effects,
}

/// A command with everything that it was decided upon.
#[derive(Clone, Debug)]
enum Matter {
    Open { principal: String },
    Raise { asked: Raising },
    Answer { index: usize, by: Answering },
    Extend { index: usize, person: RowKey, seconds: i64 },
    Due { index: usize, nobody_there: bool },
    Withdraw { index: usize },
    Claim { index: usize, right: bool, stands: bool },
    Report { index: usize, ran: Option<bool> },
    LeaseDue { index: usize },
    AllowanceDue { index: usize },
    LoseApprover { index: usize },
    Reconcile { index: usize, person: RowKey, ran: bool },
    Revoke { agent: usize, principal: String, open: Vec<usize>, sessions: Vec<RowKey> },
    Say { session: RowKey, speech: Speech },
}

struct Runner {
    plane: Plane,
    reference: Reference,
    listener: Listener,
    /// The decisions by the order of their asking.
    keys: Vec<RowKey>,
    held: Vec<Held>,
    settled: BTreeMap<RowKey, Value>,
    entries: usize,
    /// How often each decision was written as raised and as settled.
    written: BTreeMap<String, (u32, u32)>,
}

impl Runner {
    fn new(early_reject: bool) -> Self {
        let mut document = crate::decision_world::document();
        document.decisions.early_reject = early_reject;
        Self {
            plane: Plane::with(document),
            reference: Reference { early_reject, serving_since: NOW, ..Reference::default() },
            listener: Listener::default(),
            keys: Vec::new(),
            held: Vec::new(),
            settled: BTreeMap::new(),
            entries: 0,
            written: BTreeMap::new(),
        }
    }

    fn take(&mut self, deed: &Deed) {
        match &deed.command {
            Command::Pass { millis } => self.plane.store.now = self.plane.store.now.plus_millis(*millis),
            Command::Restart => self.reference.serving_since = self.plane.store.now,
            Command::Flush { which } if !self.held.is_empty() => {
                let held = self.held.remove(usize::from(*which) % self.held.len());
                self.commit_late(held);
            }
            Command::Flush { .. } => {}
            command => {
                let node = self.plane.store.now.plus_millis(deed.skew);
                if let Some((matter, decided)) = self.decide(command, node) {
                    self.settle(matter, decided, node, deed.held);
                }
            }
        }
    }

    fn settle(&mut self, matter: Matter, decided: Result<Effects, &'static str>, node: UnixMillis, hold: bool) {
        let times = Times { node, store: self.plane.store.now };
        let expected = self.expected(&matter, times);
        let effects = match decided {
            Ok(effects) if effects.is_empty() => return agree(&matter, expected, Verdict::Nothing),
            Ok(effects) => effects,
            Err(why) => return agree(&matter, expected, Verdict::Refused(why)),
        };
        if hold {
            return self.held.push(Held { matter, node, effects });
        }
        let verdict = match self.plane.store.commit(&effects) {
            Outcome::Committed => Verdict::Done,
            Outcome::Stale => Verdict::Stale,
            Outcome::OutOfTime => Verdict::OutOfTime,
            Outcome::LimitReached(index) => Verdict::Limit(index),
        };
        agree(&matter, expected, verdict);
        if verdict == Verdict::Done {
            self.happened(matter, times);
        }
    }

    /// What is committed late is either still right, by what has become of everything since, or it is not committed.
    fn commit_late(&mut self, held: Held) {
        let Held { matter, node, effects } = held;
        if self.plane.store.commit(&effects) == Outcome::Committed {
            let times = Times { node, store: self.plane.store.now };
            agree(&matter, self.expected(&matter, times), Verdict::Done);
            self.happened(matter, times);
        }
    }

    fn pick(&self, which: u8) -> Option<(usize, RowKey)> {
        let index = usize::from(which).checked_rem(self.keys.len())?;
        Some((index, self.keys[index]))
    }

    fn pick_yes(&self, which: u8) -> Option<(usize, RowKey)> {
        self.pick_where(which, |index| self.reference.questions[index].yes.is_some())
    }

    fn pick_run(&self, which: u8) -> Option<(usize, RowKey)> {
        self.pick_where(which, |index| self.reference.questions[index].run.is_some())
    }

    fn pick_where(&self, which: u8, holds: impl Fn(usize) -> bool) -> Option<(usize, RowKey)> {
        let fitting: Vec<usize> = (0..self.keys.len()).filter(|index| holds(*index)).collect();
        let index = fitting[usize::from(which).checked_rem(fitting.len())?];
        Some((index, self.keys[index]))
    }

    fn pick_session(&self, which: u8, principal: &str) -> Option<RowKey> {
        let own = self.reference.sessions.iter().filter(|(_, session)| session.principal == principal);
        let own: Vec<RowKey> = own.map(|(key, _)| *key).collect();
        own.get(usize::from(which).checked_rem(own.len())?).copied()
    }

    /// The real operation upon what the store knows now.
    fn decide(&self, command: &Command, node: UnixMillis) -> Option<(Matter, Result<Effects, &'static str>)> {
        let plane = &self.plane;
        Some(match command {
            Command::Pass { .. } | Command::Restart | Command::Flush { .. } => return None,
            Command::Open { agent } => {
                let principal = plane.raiser(*agent).principal;
                (Matter::Open { principal }, effects(plane.open_session(*agent, node)))
            }
            Command::Raise { agent, session, asked } => {
                let principal = plane.raiser(*agent).principal;
                let session = session.and_then(|which| self.pick_session(which, &principal));
                let asked = Raising { principal, session, ..asked.clone() };
                let decided = plane.raise(&ask(*agent, &asked), node);
                (Matter::Raise { asked }, effects(decided))
            }
            Command::Answer { which, by, claimed_s } => {
                let (index, key) = self.pick(*which)?;
                let by = Answering { claimed_at: node.plus_secs(*claimed_s), ..by.clone() };
                let decided = plane.answer(key, answer(&by), node).map(|step| step.effects).map_err(not_counted);
                (Matter::Answer { index, by }, decided)
            }
            Command::Extend { which, person, seconds } => {
                let (index, key) = self.pick(*which)?;
                let extend = Extend { by: answerer(*person, Assurance::Token), seconds: *seconds };
                let decided = extend.decide(&plane.due_view(key), &plane.env(node));
                let decided = decided.map(|step| step.effects).map_err(not_counted);
                (Matter::Extend { index, person: *person, seconds: *seconds }, decided)
            }
            Command::Due { which, nobody_there } => {
                let (index, key) = self.pick(*which)?;
                let serving_since = self.reference.serving_since;
                let due = QuestionDue { serving_since, nobody_there: *nobody_there };
                (Matter::Due { index, nobody_there: *nobody_there }, effects(plane.due(key, due, node)))
            }
            Command::Withdraw { which } => {
                let (index, key) = self.pick(*which)?;
                (Matter::Withdraw { index }, effects(plane.withdraw(key, node)))
            }
            Command::Claim { which, digest, point, stands } => {
                let (index, key) = self.pick(*which)?;
                let right = plane.store.decision(key).digest;
                let mut claim = claim(if *digest { right } else { Digest::of(b"something else") });
                claim.point = if *point { claim.point } else { Point::Gateway };
                let decided = plane.claim(key, claim, *stands, node);
                (Matter::Claim { index, right: *digest && *point, stands: *stands }, effects(decided))
            }
            Command::Report { which, ran } => {
                let (index, key) = self.pick_run(*which)?;
                let report = match ran {
                    None => Report::Running,
                    Some(true) => Report::Committed,
                    Some(false) => Report::Failed { why: Some("no paper".into()) },
                };
                (Matter::Report { index, ran: *ran }, effects(plane.on_execution(key, report, node)))
            }
            Command::LeaseDue { which } => {
                let (index, key) = self.pick_run(*which)?;
                (Matter::LeaseDue { index }, effects(plane.lease_due(key, node)))
            }
            Command::AllowanceDue { which } => {
                let (index, key) = self.pick_yes(*which)?;
                (Matter::AllowanceDue { index }, effects(plane.allowance_due(key, node)))
            }
            Command::LoseApprover { which } => {
                let open = |index: usize| matches!(self.reference.questions[index].yes, Some((Yes::Open, _)));
                let (index, key) = self.pick_where(*which, open)?;
                (Matter::LoseApprover { index }, plane.cancel_allowance(key, node).map_err(refused))
            }
            Command::Reconcile { which, person, ran } => {
                let (index, key) = self.pick_run(*which)?;
                let by = answerer(*person, Assurance::Session);
                let operation = Reconcile { by, ran: *ran, reason: "looked".into(), own_approval: false };
                let decided = plane.on_execution(key, operation, node);
                (Matter::Reconcile { index, person: *person, ran: *ran }, effects(decided))
            }
            Command::Revoke { agent } => {
                let principal = plane.raiser(*agent).principal;
                let of = |index: &usize| self.reference.questions[*index].asked.principal == principal;
                let open = (0..self.keys.len()).filter(of).collect();
                let own = self.reference.sessions.iter().filter(|(_, session)| session.principal == principal);
                let sessions = own.map(|(key, _)| *key).collect();
                let decided = effects(plane.revoke(*agent, node));
                (Matter::Revoke { agent: *agent, principal, open, sessions }, decided)
            }
            Command::Say { which, speech } => {
                let sessions: Vec<RowKey> = self.reference.sessions.keys().copied().collect();
                let session = sessions[usize::from(*which).checked_rem(sessions.len())?];
                let payload = self.payload(session, *speech)?;
                let decided = effects(plane.publish(session, payload, node));
                (Matter::Say { session, speech: *speech }, decided)
            }
        })
    }

    /// None where the reference has no opinion: the listener judges what is said.
    fn expected(&self, matter: &Matter, times: Times) -> Option<Verdict> {
        let reference = &self.reference;
        Some(match matter {
            Matter::Open { .. } | Matter::LoseApprover { .. } | Matter::Revoke { .. } => Verdict::Done,
            Matter::Raise { asked } => reference.raise(asked, times),
            Matter::Answer { index, by } => reference.answer(*index, by, times),
            Matter::Extend { index, person, seconds } => reference.extend(*index, *person, *seconds, times),
            Matter::Due { index, nobody_there } => reference.due(*index, *nobody_there, times),
            Matter::Withdraw { index } => reference.withdraw(*index),
            Matter::Claim { index, right, stands } => reference.claim(*index, *right, *stands, times),
            Matter::Report { index, ran } => reference.report(*index, *ran, times),
            Matter::LeaseDue { index } => reference.lease_due(*index, times),
            Matter::AllowanceDue { index } => reference.allowance_due(*index, times),
            Matter::Reconcile { index, person, .. } => reference.reconcile(*index, *person),
            Matter::Say { session, speech } => {
                let waiting = reference.waiting_in(*session).len();
                match speech {
                    _ if reference.sessions[session].over || reference.sessions[session].implicit => {
                        Verdict::Refused("conflict")
                    }
                    Speech::FromNowhere => Verdict::Refused("conflict"),
                    Speech::Think | Speech::Decide if waiting <= 1 => Verdict::Done,
                    Speech::Write if waiting == 0 => Verdict::Done,
                    Speech::Think | Speech::Decide | Speech::Write => Verdict::Refused("conflict"),
                    Speech::Fail | Speech::Cancel | Speech::Progress => Verdict::Done,
                    _ => return None,
                }
            }
        })
    }

    /// Carries what happened over into the reference.
    fn happened(&mut self, matter: Matter, times: Times) {
        let reference = &mut self.reference;
        match matter {
            Matter::Open { principal } => {
                let known = &reference.sessions;
                let key = self.plane.store.sessions().map(|s| s.key).find(|key| !known.contains_key(key)).unwrap();
                reference.sessions.insert(key, Session { principal, implicit: false, over: false });
            }
            Matter::Raise { asked } => {
                let fresh = self.plane.store.decisions().find(|d| !self.keys.contains(&d.key)).unwrap();
                let spoken = asked.session.map_or(UnixMillis(0), |session| self.listener.last(session));
                let asked_at = times.node.max(spoken);
                reference.raised(&asked, fresh.asked_in, asked_at, times);
                self.keys.push(fresh.key);
            }
            Matter::Answer { index, by } => reference.answered(index, by.saying, times),
            Matter::Extend { index, seconds, .. } => reference.extended(index, seconds, times),
            Matter::Due { index, nobody_there } => reference.fell_due(index, nobody_there, times),
            Matter::Withdraw { index } => reference.settle(index, Fate::Cancelled, times),
            Matter::Claim { index, .. } => reference.claimed(index, times),
            Matter::Report { index, ran } => reference.reported(index, ran, times),
            Matter::LeaseDue { index } => reference.runs(index, Run::Unknown),
            Matter::AllowanceDue { index } => reference.ends_yes(index, Yes::Lapsed),
            Matter::LoseApprover { index } => reference.ends_yes(index, Yes::Cancelled),
            Matter::Reconcile { index, ran, .. } => {
                reference.runs(index, if ran { Run::Committed } else { Run::Failed });
            }
            Matter::Revoke { agent, principal, open, sessions } => {
                reference.revoke(&principal, &open, &sessions);
                self.plane.reconnect(agent);
            }
            Matter::Say { session, speech } => match (speech, reference.waiting_in(session).as_slice()) {
                (Speech::Complete | Speech::Fail | Speech::Cancel, waiting) => {
                    waiting.iter().for_each(|index| reference.settle(*index, Fate::Cancelled, times));
                    reference.end_session(session);
                }
                (Speech::Think | Speech::Decide, [index]) => reference.settle(*index, Fate::Cancelled, times),
                _ => {}
            },
        }
    }

    fn payload(&self, session: RowKey, speech: Speech) -> Option<Payload> {
        let at = match &self.plane.store.session(session).state {
            AaepSessionState::Open { at, .. } => at.clone(),
            AaepSessionState::Over { .. } => "thinking".into(),
        };
        let state = |from_state: String, to: &str| {
            let summaries = Summaries::normal("going on");
            let changed = StateChanged { from_state, to_state: to.into(), summaries, expected_duration_ms: None };
            (changed.from_state != changed.to_state).then_some(Payload::StateChanged(changed))
        };
        let summaries = Summaries::normal("so it is");
        Some(match speech {
            Speech::Think => return state(at, THINKING),
            Speech::Decide => return state(at, DECIDING),
            Speech::Write => return state(at, "writing_output"),
            Speech::FromNowhere => return state("nowhere".into(), THINKING),
            Speech::Invoke(n) => Payload::ToolInvoked(ToolInvoked {
                tool: if n == 3 { "money.pay".into() } else { "look.up".into() },
                summaries,
                tool_call_id: (n > 0).then(|| format!("call_{n}")),
                ..ToolInvoked::default()
            }),
            Speech::Done(n) => Payload::ToolCompleted(ToolCompleted {
                tool: if n == 3 { "money.pay".into() } else { "look.up".into() },
                status: ToolStatus::Success,
                summaries,
                tool_call_id: (n > 0).then(|| format!("call_{n}")),
                duration_ms: None,
                error_message: None,
            }),
            Speech::Output { position, complete } => Payload::OutputStreaming(OutputStreaming {
                chunk: "é".into(),
                position: position.into(),
                complete,
                output_id: Some("out_1".into()),
                ..OutputStreaming::default()
            }),
            Speech::Progress => {
                let progress = serde_json::from_value(json!({ "percent": 3 })).unwrap();
                Payload::ProgressUpdated(ProgressUpdated { progress, summaries, eta_ms: None })
            }
            Speech::Complete => {
                Payload::SessionCompleted(SessionCompleted { summaries, ..SessionCompleted::default() })
            }
            Speech::Fail => Payload::SessionErrored(SessionErrored {
                summaries,
                error_category: ErrorCategory::Unknown,
                error_code: None,
                error_uri: None,
                recoverable: None,
                remediation_hint: None,
            }),
            Speech::Cancel => Payload::SessionCancelled(SessionCancelled {
                summaries,
                cancelled_by: CancelledBy::User,
                cancellation_reason: None,
                partial_result: None,
            }),
        })
    }
}

fn agree(matter: &Matter, expected: Option<Verdict>, real: Verdict) {
    assert!(expected.is_none_or(|expected| expected == real), "{matter:?} was {real:?} and not {expected:?}");
}

fn effects<A>(decided: Result<Step<A>, Refusal>) -> Result<Effects, &'static str> {
    decided.map(|step| step.effects).map_err(refused)
}

fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Conflict(_) => "conflict",
        Refusal::InvalidRequest(_) => "invalid",
        Refusal::ConfirmationInvalid(_) => "elsewhere",
        Refusal::NotAuthorized(_) => "not authorized",
        other => panic!("{other:?}"),
    }
}

fn not_counted(why: NotCounted) -> &'static str {
    match why {
        NotCounted::Settled => "settled",
        NotCounted::TooLate => "too late",
        NotCounted::TooEarly => "too early",
        NotCounted::BySoftware => "by software",
        NotCounted::NotEntitled => "not entitled",
        NotCounted::TooWeak(_) => "too weak",
        NotCounted::NotAllowed => "not allowed",
        other => panic!("{other:?}"),
    }
}

fn ask(agent: usize, asked: &Raising) -> Ask {
    let action = ACTIONS[asked.action];
    let allowed: &[YesNo] = if asked.only_reject { &[YesNo::Reject] } else { &[YesNo::Accept, YesNo::Reject] };
    let question = match asked.clarifies {
        Some(default) => {
            Question::Clarification(clarification(&[ResponseKind::Freetext], default.then_some("the first")))
        }
        None => confirmation(action, allowed),
    };
    let wishes =
        Wishes { timeout_s: asked.timeout, default: asked.default, risk: asked.risk, ..Wishes::default() };
    let somebody_there = asked.somebody;
    Ask { agent, number: asked.number, session: asked.session, wishes, question, somebody_there, ..Ask::of(action) }
}

fn answer(by: &Answering) -> Answer {
    let given = match by.saying {
        Saying::Accept => reply(YesNo::Accept),
        Saying::Reject => reply(YesNo::Reject),
        Saying::Modified => Given::Reply {
            decision: YesNo::Accept,
            rationale: None,
            modified_action: Some(json!({ "amount": 3 })),
        },
        Saying::Text => Given::Response { response: json!("the second"), confidence: None },
        Saying::Number => Given::Response { response: json!(2), confidence: None },
    };
    let mut answerer = answerer(by.person, by.assurance);
    answerer.may_answer = by.may_answer;
    let decided_by = by.by_software.then(|| "auto:policy".to_owned());
    Answer { by: answerer, given, claimed_at: by.claimed_at, decided_by, correlation_id: None }
}

/// What must hold after every step.
impl Runner {
    fn check(&mut self) {
        self.listener.listen(&self.plane.store);
        self.rows_are_as_the_reference_says();
        self.settlements_stay();
        self.what_ran_was_allowed();
        self.counters_are_true();
        self.sessions_are_true();
        self.evidence_is_true();
    }

    fn rows_are_as_the_reference_says(&self) {
        let store = &self.plane.store;
        assert_eq!(store.decisions().count(), self.keys.len());
        for (key, question) in self.keys.iter().zip(&self.reference.questions) {
            let decision = store.decision(*key);
            assert_eq!(fate(&decision.state), question.fate, "{}", decision.id);
            if let DecisionState::Pending { deadline, due, .. } = decision.state {
                assert_eq!((deadline, due), (question.deadline, question.due));
            }
            assert_eq!(store.allowance_of(*key).map(|a| (yes(a.state), a.until)), question.yes);
            assert_eq!(store.execution_of(*key).map(|e| run(&e.state)), question.run);
        }
    }

    /// Settled once, and never otherwise; and whoever was asked is told.
    fn settlements_stay(&mut self) {
        for decision in self.plane.store.decisions().filter(|decision| !decision.is_pending()) {
            let state = serde_json::to_value(&decision.state).unwrap();
            let first = self.settled.entry(decision.key).or_insert_with(|| state.clone());
            assert_eq!(*first, state, "{} was settled twice", decision.id);
            assert!(self.listener.told.contains(&decision.id), "nobody was told what became of {}", decision.id);
        }
    }

    /// No execution without a yes, none too many, and none of anything else than was asked.
    fn what_ran_was_allowed(&self) {
        let store = &self.plane.store;
        for allowance in store.allowances() {
            let decision = store.decision(allowance.decision);
            let runs = store.executions().filter(|run| run.allowance == allowance.key);
            let runs: Vec<_> = runs.inspect(|run| assert_eq!(run.digest, decision.digest)).collect();
            assert!(is_yes(decision) && runs.len() <= 1 && allowance.used == i64::try_from(runs.len()).unwrap());
            assert!(runs.iter().all(|run| run.claimed_at < allowance.until), "claimed after its time");
            if matches!(decision.state, DecisionState::Expired { .. }) {
                default_yes_was_permitted(decision);
            }
        }
        assert!(store.executions().all(|run| store.allowance_of(run.decision).map(|a| a.key) == Some(run.allowance)));
    }

    fn counters_are_true(&self) {
        let store = &self.plane.store;
        let asked = store.count(&format!("1:asked:{ALICE}"));
        assert_eq!(asked, self.reference.open_of(None), "open questions of the person");
        for agent in [0, 1] {
            let principal = self.plane.raiser(agent).principal;
            let open = store.count(&format!("1:open-questions:{principal}"));
            assert_eq!(open, self.reference.open_of(Some(&principal)), "open questions of the agent");
        }
    }

    /// A session waits exactly for its open questions, and says so.
    fn sessions_are_true(&self) {
        let store = &self.plane.store;
        for session in store.sessions() {
            assert_eq!(is_open(session), !self.reference.sessions[&session.key].over, "{}", session.id);
            let mut open: Vec<RowKey> =
                store.decisions().filter(|d| d.is_pending() && d.asked_in == session.key).map(|d| d.key).collect();
            if let AaepSessionState::Open { at, waiting, .. } = &session.state {
                let mut waiting = waiting.clone();
                waiting.sort_unstable();
                open.sort_unstable();
                assert_eq!(waiting, open);
                assert!(waiting.is_empty() || at == AWAITING_INPUT);
            } else {
                assert_eq!(open, [] as [RowKey; 0], "a question outlives its session");
            }
        }
    }

    /// Each raised and each settled decision is written once, and no expired one as rejected.
    fn evidence_is_true(&mut self) {
        let store = &self.plane.store;
        for draft in &store.evidence[self.entries..] {
            let entry: Value = serde_json::from_slice(&draft.leaf.bytes).unwrap();
            let Some(id) = entry["decision_id"].as_str() else { continue };
            let written = self.written.entry(id.to_owned()).or_default();
            match draft.event_type {
                "decision_raised" => written.0 += 1,
                "decision_settled" => {
                    written.1 += 1;
                    let decision = store.decisions().find(|decision| decision.id == id).unwrap();
                    let state = serde_json::to_value(&decision.state).unwrap();
                    assert_eq!(entry["state"], state["is"], "{entry}");
                    let as_if = ["accept", "reject", "default_response", "unavailable"];
                    let expired = as_if.iter().any(|word| entry["expired_as"] == *word);
                    assert_eq!(entry["state"] == "expired", expired, "{entry}");
                }
                _ => {}
            }
        }
        self.entries = store.evidence.len();
        for decision in store.decisions() {
            let expected = (1, u32::from(!decision.is_pending()));
            assert_eq!(self.written.get(&decision.id), Some(&expected), "entries of {}", decision.id);
        }
    }
}

/// reversible, not high, thirty seconds at least.
fn default_yes_was_permitted(decision: &Decision) {
    let terms = &decision.terms;
    assert!(!terms.irreversible && terms.risk < Risk::High && terms.timeout_s >= 30, "{terms:?}");
    assert_eq!(terms.default, YesNo::Accept);
    let DecisionState::Expired { at, .. } = decision.state else { return };
    assert!(at >= decision.asked_at.plus_secs(terms.timeout_s), "a default yes before its time");
}

fn fate(state: &DecisionState) -> Fate {
    match state {
        DecisionState::Pending { .. } => Fate::Open,
        DecisionState::Accepted { .. } => Fate::Accepted,
        DecisionState::Rejected { .. } => Fate::Rejected,
        DecisionState::Answered { .. } => Fate::Answered,
        DecisionState::Cancelled { .. } => Fate::Cancelled,
        DecisionState::Expired { as_if, .. } => match as_if {
            Defaulted::Accept => Fate::ExpiredAccept,
            Defaulted::Reject => Fate::ExpiredReject,
            Defaulted::Response { .. } => Fate::ExpiredResponse,
            Defaulted::Unavailable => Fate::ExpiredUnavailable,
        },
    }
}

fn yes(state: AllowanceState) -> Yes {
    match state {
        AllowanceState::Open => Yes::Open,
        AllowanceState::Spent => Yes::Spent,
        AllowanceState::Lapsed { .. } => Yes::Lapsed,
        AllowanceState::Cancelled { .. } => Yes::Cancelled,
    }
}

fn run(state: &ExecutionState) -> Run {
    match state {
        ExecutionState::Claimed { lease_until } => Run::Claimed(*lease_until),
        ExecutionState::Committed { .. } => Run::Committed,
        ExecutionState::Failed { .. } => Run::Failed,
        ExecutionState::Unknown { .. } => Run::Unknown,
        ExecutionState::Released { .. } => panic!("nothing here releases"),
    }
}
