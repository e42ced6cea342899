//! Runs the real operations and the reference side by side.

use crate::{
    decision_commands::{Command, Deed, ENTITLED, Speech},
    decision_reference::{Answering, Fate, Question, Raising, Reference, Run, Saying, Session, Times, Verdict, Yes},
    decision_store::Outcome,
    decision_stream::Listener,
    decision_world::{
        ACTIONS, ALICE, Ask, BOB, NOW, Plane, answerer, claim, clarification, confirmation, document, reply,
    },
};
use countersign_core::{
    decision::{
        answer::{Answer, AnswerContent, Extra, NotCounted},
        due::QuestionDue,
        extend::Extend,
        outcome::OutcomeReport,
        reconcile::Reconcile,
        terms::Wishes,
    },
    records::{self, Assurance, Point},
    refusal::Refusal,
    step::{Effects, Operation as _, Step},
};
use countersign_protocol::{
    aaep::event::{ResponseKind, YesNo},
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A decided step that is not committed yet.
struct Held {
    matter: Matter,
    node: UnixMillis,
    effects: Effects,
}

/// A command with its resolved inputs.
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

pub(crate) struct Runner {
    pub(crate) plane: Plane,
    pub(crate) reference: Reference,
    pub(crate) listener: Listener,
    /// Decisions in the order they were raised.
    pub(crate) keys: Vec<RowKey>,
    held: Vec<Held>,
    pub(crate) settled: BTreeMap<RowKey, Value>,
    /// The number of evidence entries already checked.
    pub(crate) entries: usize,
    /// How often each decision was recorded as raised and as settled.
    pub(crate) written: BTreeMap<String, (u32, u32)>,
    /// The combinations of command and result reached so far.
    pub(crate) seen: BTreeSet<String>,
}

impl Runner {
    pub(crate) fn new(early_reject: bool) -> Self {
        let mut document = document();
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
            seen: BTreeSet::new(),
        }
    }

    pub(crate) fn take(&mut self, deed: &Deed) {
        match &deed.command {
            Command::Pass { millis } => self.plane.store.now = self.plane.store.now.plus_millis(*millis),
            Command::PassTo { which, millis } => self.pass_to(*which, *millis),
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
            Ok(effects) if effects.is_empty() => return self.agree(&matter, expected, Verdict::Nothing),
            Ok(effects) => effects,
            Err(why) => return self.agree(&matter, expected, Verdict::Refused(why)),
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
        self.agree(&matter, expected, verdict);
        if verdict == Verdict::Done {
            self.happened(matter, times);
        }
    }

    /// A late step is either refused by the store or still legal by the current reference.
    fn commit_late(&mut self, held: Held) {
        let Held { matter, node, effects } = held;
        let outcome = self.plane.store.commit(&effects);
        self.saw(&matter, &format!("late {outcome:?}"));
        if outcome == Outcome::Committed {
            let times = Times { node, store: self.plane.store.now };
            let expected = match &matter {
                Matter::Raise { asked } => Some(self.reference.raise_late(asked, times)),
                matter => self.expected(matter, times),
            };
            self.agree(&matter, expected, Verdict::Done);
            self.happened(matter, times);
        }
    }

    fn agree(&mut self, matter: &Matter, expected: Option<Verdict>, real: Verdict) {
        assert!(expected.is_none_or(|expected| expected == real), "{matter:?} was {real:?} and not {expected:?}");
        self.saw(matter, &format!("{real:?}"));
    }

    fn saw(&mut self, matter: &Matter, what: &str) {
        let name = format!("{matter:?}");
        self.seen.insert(format!("{} {what}", name.split(' ').next().unwrap()));
    }

    fn pass_to(&mut self, which: u8, millis: i64) {
        let moments = self.reference.questions.iter().flat_map(Question::moments);
        let now = self.plane.store.now;
        let ahead: BTreeSet<UnixMillis> = moments.map(|at| at.plus_millis(millis)).filter(|at| *at > now).collect();
        if let Some(index) = usize::from(which / 8).checked_rem(ahead.len()) {
            self.plane.store.now = *ahead.iter().nth(index).unwrap();
        }
    }

    /// Mostly a pending question.
    fn pick(&self, which: u8) -> Option<(usize, RowKey)> {
        self.pick_mostly(which, |question| question.fate == Fate::Open)
    }

    fn pick_yes(&self, which: u8) -> Option<(usize, RowKey)> {
        self.pick_mostly(which, |question| matches!(question.yes, Some((Yes::Open, _))))
            .filter(|(index, _)| self.reference.questions[*index].yes.is_some())
    }

    fn pick_run(&self, which: u8) -> Option<(usize, RowKey)> {
        self.pick_where(which, |question| question.run.is_some())
    }

    fn pick_mostly(&self, which: u8, holds: impl Fn(&Question) -> bool) -> Option<(usize, RowKey)> {
        let fitting = (!which.is_multiple_of(8)).then(|| self.pick_where(which / 8, holds)).flatten();
        fitting.or_else(|| self.pick_where(which / 8, |_| true))
    }

    fn pick_where(&self, which: u8, holds: impl Fn(&Question) -> bool) -> Option<(usize, RowKey)> {
        let questions = &self.reference.questions;
        let fitting: Vec<usize> = (0..questions.len()).filter(|index| holds(&questions[*index])).collect();
        let back = usize::from(which).checked_rem(fitting.len())?;
        let index = fitting[fitting.len() - 1 - back];
        Some((index, self.keys[index]))
    }

    fn person(&self, index: usize, person: RowKey) -> RowKey {
        match person {
            ENTITLED if self.reference.questions[index].asked.is_payment() => BOB,
            ENTITLED => ALICE,
            person => person,
        }
    }

    fn pick_session(&self, which: u8, principal: &str) -> Option<RowKey> {
        let own = self.reference.sessions.iter().filter(|(_, session)| session.principal == principal);
        let own: Vec<RowKey> = own.map(|(key, _)| *key).collect();
        own.get(usize::from(which).checked_rem(own.len())?).copied()
    }

    /// Runs the real operation on the current rows.
    fn decide(&self, command: &Command, node: UnixMillis) -> Option<(Matter, Result<Effects, &'static str>)> {
        let plane = &self.plane;
        Some(match command {
            Command::Pass { .. } | Command::PassTo { .. } | Command::Restart | Command::Flush { .. } => return None,
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
                let person = self.person(index, by.person);
                let by = Answering { person, claimed_at: node.plus_secs(*claimed_s), ..by.clone() };
                let decided = plane.answer(key, answer(&by), node).map(|step| step.effects).map_err(not_counted);
                (Matter::Answer { index, by }, decided)
            }
            Command::Extend { which, person, seconds } => {
                let (index, key) = self.pick(*which)?;
                let person = self.person(index, *person);
                let extend = Extend { by: answerer(person, Assurance::Token), seconds: *seconds };
                let decided = extend.decide(&plane.due_view(key), &plane.env(node));
                let decided = decided.map(|step| step.effects).map_err(not_counted);
                (Matter::Extend { index, person, seconds: *seconds }, decided)
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
                let open = |question: &Question| matches!(question.yes, Some((Yes::Open, _)));
                let (index, key) = self.pick_mostly(*which, open)?;
                let right = plane.store.decision(key).digest;
                let mut claim = claim(if *digest { right } else { Digest::of(b"something else") });
                claim.point = if *point { claim.point } else { Point::Gateway };
                let decided = plane.claim(key, claim, *stands, node);
                (Matter::Claim { index, right: *digest && *point, stands: *stands }, effects(decided))
            }
            Command::Report { which, ran } => {
                let (index, key) = self.pick_run(*which)?;
                let report = match ran {
                    None => OutcomeReport::Running,
                    Some(true) => OutcomeReport::Committed,
                    Some(false) => OutcomeReport::Failed { why: Some("no paper".into()), refused: false },
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
                let open = |question: &Question| matches!(question.yes, Some((Yes::Open, _)));
                let (index, key) = self.pick_where(*which, open)?;
                (Matter::LoseApprover { index }, plane.take_back(key, node).map_err(refused))
            }
            Command::Reconcile { which, person, ran } => {
                let (index, key) = self.pick_run(*which)?;
                let person = self.person(index, *person);
                let by = answerer(person, Assurance::Session);
                let operation = Reconcile { by, ran: *ran, reason: "looked".into(), own_approval: false };
                let decided = plane.on_execution(key, operation, node);
                (Matter::Reconcile { index, person, ran: *ran }, effects(decided))
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
                let payload = speech.payload(&self.plane.store.session(session).state)?;
                let decided = effects(plane.publish(session, payload, node));
                (Matter::Say { session, speech: *speech }, decided)
            }
        })
    }

    /// `None` where the reference makes no prediction; the event listener checks those events.
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

    /// Applies the committed step to the reference.
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
                reference.questions[index].reconciled = Some(false);
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
}

fn effects<A>(decided: Result<Step<A>, Refusal>) -> Result<Effects, &'static str> {
    decided.map(|step| step.effects).map_err(refused)
}

fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Conflict(_) | Refusal::ApprovalGone(_) => "conflict",
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
        NotCounted::TooWeak(_) | NotCounted::TokenNotAllowed => "too weak",
        NotCounted::NotAllowed => "not allowed",
        other => panic!("{other:?}"),
    }
}

fn ask(agent: usize, asked: &Raising) -> Ask {
    let action = ACTIONS[asked.action];
    let allowed: &[YesNo] = if asked.only_reject { &[YesNo::Reject] } else { &[YesNo::Accept, YesNo::Reject] };
    let question = match asked.clarifies {
        Some(default) => {
            records::Question::Clarification(clarification(&[ResponseKind::Freetext], default.then_some("the first")))
        }
        None => confirmation(action, allowed),
    };
    let wishes = Wishes { timeout_s: asked.timeout, default: asked.default, risk: asked.risk, ..Wishes::default() };
    let somebody_there = asked.somebody;
    Ask { agent, number: asked.number, session: asked.session, wishes, question, somebody_there, ..Ask::of(action) }
}

fn answer(by: &Answering) -> Answer {
    let given = match by.saying {
        Saying::Accept => reply(YesNo::Accept),
        Saying::Reject => reply(YesNo::Reject),
        Saying::Modified => AnswerContent::Reply {
            decision: YesNo::Accept,
            rationale: None,
            modified_action: Some(json!({ "amount": 3 })),
        },
        Saying::Text => AnswerContent::Response { response: json!("the second"), confidence: None },
        Saying::Number => AnswerContent::Response { response: json!(2), confidence: None },
    };
    let mut answerer = answerer(by.person, by.assurance);
    answerer.may_answer = by.may_answer;
    let decided_by = by.by_software.then(|| "auto:policy".to_owned());
    Answer { by: answerer, given, claimed_at: by.claimed_at, decided_by, correlation_id: None, extra: Extra::default() }
}
