//! Raising a question: one per action, on the project's terms, within the limits per agent and person.

use super::{
    OPEN_OF_AGENT, OPEN_OF_PERSON, RAISED_PER_HOUR, REJECTED, audience, due, entry, open_counts, push_entry,
    rejections_key_of, render, runs::Composition, terms,
};
use crate::{
    aaep::{
        event_writer::{AWAITING_INPUT, EventWriter, IDLE},
        repeat::SentEvent,
        texts::Notice,
    },
    aap::scope_expansion,
    decision::terms::{PartOf, People, Wishes},
    env::Env,
    mplp::progress::PlanTransition,
    records::{
        AaepSession, AaepSessionState, AgentEventAnswer, Decision, DecisionState, DecisionTarget, DecisionTerms,
        Execution, ExecutionState, HeldRequest, OfGap, Plan, Point, Project, Question, Raiser, Record,
        RequestedExpansion, TextAuthor,
    },
    refusal::Refusal,
    step::{Count, Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    aaep::{envelope::Producer, event::YesNo},
    hash::Digest,
    ids::RowKey,
    mplp::Governance,
    time::UnixMillis,
};
use serde_json::json;
use std::sync::Arc;

/// Rejections of one action before it is paused.
const REJECTIONS: i64 = 3;

pub struct Raise {
    pub id: String,
    /// A MAC of `id`: sent with the event, never stored.
    pub reply_token: String,
    pub by: Raiser,
    /// The event's producer, set from the authenticated caller.
    pub producer: Producer,
    pub asked: NewQuestion,
}

/// A question, independent of its channel.
#[derive(Clone, Debug)]
pub struct NewQuestion {
    pub point: Point,
    pub words: TextAuthor,
    pub digest: Digest,
    /// Digest that identifies a repeated question (E-07).
    pub same: Digest,
    /// Idempotency digest: the same effect runs once, even across different requests.
    pub effect: Option<Digest>,
    /// The action's name in the policy; may be empty.
    pub action: String,
    /// The gateway route of the request. Its terms apply.
    pub route: Option<String>,
    pub question: Question,
    pub wishes: Wishes,
    pub language: Option<String>,
    pub correlation_id: Option<String>,
    /// Further counters, checked after those of every question: limits that would refuse the call after its approval.
    pub room: Vec<Count>,
    /// The sealed request, stored until the question is settled.
    pub keep: Option<String>,
    /// The target of an approval of more than one action (MPLP 2.3).
    pub target: Option<DecisionTarget>,
    pub governance: Option<Governance>,
    /// The gap behind a clarification request (W-31).
    pub gap: Option<OfGap>,
    /// The scopes requested beyond a consent receipt.
    pub expansion: Option<Box<RequestedExpansion>>,
    /// The agent's own event for this question, with its id.
    pub sent: Option<SentEvent>,
}

impl NewQuestion {
    /// A question in an agent's own words, about an action of its own.
    pub fn by_agent(digest: Digest, same: Digest, action: String, question: Question) -> Self {
        Self {
            point: Point::AgentClaimed,
            words: TextAuthor::Agent,
            digest,
            same,
            effect: None,
            action,
            route: None,
            question,
            wishes: Wishes::default(),
            language: None,
            correlation_id: None,
            room: Vec::new(),
            keep: None,
            target: None,
            governance: None,
            gap: None,
            expansion: None,
            sent: None,
        }
    }
}

pub struct RaiseView {
    pub project: Arc<Project>,
    /// The AAEP session of the question; without one the question gets its own.
    pub session: Option<AaepSession>,
    /// The same question, if it is pending.
    pub pending: Option<Decision>,
    /// A running or unknown execution of the same action, and its decision's id.
    pub under_way: Option<(Execution, String)>,
    /// An execution with the same effect, running, committed or unknown, and its decision's id.
    pub same_effect: Option<(Execution, String)>,
    /// Time of the last execution of the same digest.
    pub last_ran_at: Option<UnixMillis>,
    pub people: People,
    /// The proposed plan, and the people named by the policy of each step, in step order.
    pub plan: Option<(Plan, Vec<Vec<RowKey>>)>,
    /// Rows behind the caller's rights. They must be unchanged at commit.
    pub guards: Vec<Guard>,
    /// Whether an approver is present.
    pub somebody_there: bool,
}

pub struct Raised {
    pub decision: Decision,
    pub session: AaepSession,
    /// False if the same question was pending already; no approver was asked again.
    pub fresh: bool,
}

/// The refusal for an exhausted counter of a raise.
pub fn limit_reached(counter: &str, project: &Project, now: UnixMillis) -> Refusal {
    let policy = &project.document.decisions;
    let (why, retry_after_s) = match counter {
        OPEN_OF_AGENT => ("too many questions of this agent are pending", 30),
        OPEN_OF_PERSON => ("too many questions are pending for this person", 30),
        RAISED_PER_HOUR => ("this agent has asked too often within the hour", 3600 - now.secs().rem_euclid(3600)),
        _ => ("this action was rejected three times; it may be asked for again later", policy.pause_seconds),
    };
    Refusal::TooManyQuestions { why, retry_after_s }
}

/// The same action is neither asked for nor run concurrently.
pub fn action_in_progress(decision: &str) -> Refusal {
    Refusal::Conflict(format!("exactly this call is already in progress: see decision {decision}"))
}

/// The same effect runs once, even across different requests; a failed one may be tried again.
pub fn effect_claimed(execution: &Execution, decision: &str) -> Refusal {
    let became = match execution.state {
        ExecutionState::Committed { at, .. } => format!("was carried out at {}", at.to_rfc3339()),
        _ => "is in progress, or may have been carried out".into(),
    };
    Refusal::Conflict(format!("the same effect {became}: see decision {decision}"))
}

impl Operation for Raise {
    type View = RaiseView;
    type Answer = Raised;
    type Refusal = Refusal;

    fn decide(self, view: &RaiseView, env: &Env) -> Result<Step<Raised>, Refusal> {
        if view.pending.as_ref().is_some_and(|pending| pending.raised_by.principal != self.by.principal) {
            // Another principal's question is not disclosed.
            return Err(Refusal::Conflict("another agent has a pending question about the same action".into()));
        }
        if let (Some(pending), Some(session)) = (&view.pending, &view.session) {
            let decision = pending.clone();
            let mut step = Step::answer(Raised { decision, session: session.clone(), fresh: false });
            step.effects.puts.extend(sent_record(self.asked.sent, pending.key, view, env));
            return Ok(step);
        }
        if let Some((_, decision)) = &view.under_way {
            return Err(action_in_progress(decision));
        }
        if let Some((execution, decision)) = &view.same_effect {
            return Err(effect_claimed(execution, decision));
        }
        if let Some(session) = &view.session {
            check_session(session)?;
        }
        let terms = self.terms(view, env)?;
        self.check_default(&terms)?;
        let sent = self.asked.sent;
        let mut step = self.raise(view, terms, env)?;
        step.effects.puts.extend(sent_record(sent, step.answer.decision.key, view, env));
        Ok(step)
    }
}

fn sent_record(sent: Option<SentEvent>, decision: RowKey, view: &RaiseView, env: &Env) -> Option<Record> {
    sent.map(|sent| sent.record(view.project.key, AgentEventAnswer::Asked { decision }, env))
}

/// An implicit session ends with its one question, which would cut off a second question.
fn check_session(session: &AaepSession) -> Result<(), Refusal> {
    let why = match session.state {
        AaepSessionState::Over { .. } => "the AAEP session is over",
        AaepSessionState::Open { .. } if session.implicit => {
            "the AAEP session belongs to one question: open another one, or leave session_id out"
        }
        AaepSessionState::Open { .. } => return Ok(()),
    };
    Err(Refusal::Conflict(why.into()))
}

impl Raise {
    fn terms(&self, view: &RaiseView, env: &Env) -> Result<DecisionTerms, Refusal> {
        let document = &view.project.document;
        match &self.asked.question {
            Question::Confirmation(_) if view.plan.is_some() => self.terms_of_plan(view, env),
            Question::Confirmation(_) if let Some(asked) = &self.asked.expansion => {
                terms::of_scope_expansion(document, asked.until, &view.people, env.now)
            }
            Question::Confirmation(_) => {
                let policy = terms::policy_for(document, &self.asked.action, self.asked.route.as_deref());
                terms::of_policy(document, policy.as_deref(), &self.asked.wishes, &view.people, env.now)
            }
            Question::Clarification(_) => {
                terms::of_clarification(document, self.asked.wishes.timeout_s, &view.people, env.now)
            }
        }
    }

    /// The strictest terms of all actions in the plan.
    fn terms_of_plan(&self, view: &RaiseView, env: &Env) -> Result<DecisionTerms, Refusal> {
        let document = &view.project.document;
        let Some((plan, named)) = &view.plan else { return Err(Refusal::Internal) };
        let parts: Vec<PartOf<'_>> = plan
            .actions
            .values()
            .zip(named)
            .map(|(planned, named)| PartOf {
                policy: terms::policy_for(document, &planned.tool, planned.action.route.as_deref()),
                named: named.clone(),
            })
            .collect();
        terms::of_plan(document, &parts, self.asked.wishes.timeout_s, &view.people, env.now)
    }

    /// The default must be one of the question's allowed answers (E-04).
    fn check_default(&self, terms: &DecisionTerms) -> Result<(), Refusal> {
        match &self.asked.question {
            Question::Confirmation(asked) if !asked.allowed_replies.contains(&terms.default) => {
                Err(Refusal::invalid("default_decision must be one of allowed_replies"))
            }
            _ => Ok(()),
        }
    }

    fn raise(self, view: &RaiseView, terms: DecisionTerms, env: &Env) -> Result<Step<Raised>, Refusal> {
        let mut mint = env.mint();
        let key = mint.key();
        let own_session = view.session.is_none().then(|| self.own_session(view, mint.key(), mint.id("sess"), env));
        let asked_in = view.session.as_ref().or(own_session.as_ref()).ok_or(Refusal::Internal)?;
        let asked_at = env.now.max(asked_in.last_at);
        let deadline = asked_at.plus_secs(terms.timeout_s);
        let reject_at_once = view.project.document.decisions.early_reject && !view.somebody_there;
        let pending =
            DecisionState::Pending { deadline, due: due::next(asked_at, deadline, asked_at), ballots: Vec::new() };
        let language = self.asked.language.clone().unwrap_or_else(|| view.project.document.decisions.language.clone());
        let mut decision = Decision {
            key,
            version: 1,
            project: view.project.key,
            id: self.id.clone(),
            project_version: view.project.version,
            raised_by: self.by.clone(),
            point: self.asked.point,
            asked_in: asked_in.key,
            digest: self.asked.digest,
            same: self.asked.same,
            effect: self.asked.effect,
            action: self.asked.action.clone(),
            question: self.asked.question.clone(),
            words: self.asked.words,
            terms,
            language,
            event_id: mint.id("evt"),
            asked_at,
            last_ran_at: view.last_ran_at,
            reply_hash: Digest::of(self.reply_token.as_bytes()),
            rules: self.rules(view),
            target: self.asked.target.clone(),
            governance: self.asked.governance.clone(),
            gap: self.asked.gap.clone(),
            expansion: self.asked.expansion.clone(),
            state: pending,
        };
        if let Question::Confirmation(asked) = &decision.question {
            Composition::new(&decision, asked).fits().map_err(|why| Refusal::invalid(why.to_string()))?;
        }
        let to = audience(&decision);
        let mut talk = match own_session {
            Some(session) => EventWriter::open(session, env.now, &to, &mut mint),
            None => EventWriter::resume(asked_in, env.now),
        };
        talk.set_state(&to, &mut mint, AWAITING_INPUT, &Notice::Waiting, render::extension(&decision));
        talk.add_pending(key);
        talk.publish_question(&to, &decision, &self.reply_token, self.asked.correlation_id.as_ref());
        let mut effects =
            Effects { guards: view.guards.clone(), counts: self.limit_counts(view, env), ..Effects::default() };
        let place = (view.project.key, view.project.id.clone());
        effects.evidence.push(self.entry(&place, &decision, env).seal(&mut mint)?);
        push_entry(&mut effects, scope_expansion::record(&place, &decision, env.now), &mut mint)?;
        let mut moving = view.plan.as_ref().map(|(plan, _)| PlanTransition::of(plan, env.now));
        if let Some(moving) = &mut moving {
            moving.propose(&decision)?;
        }
        if reject_at_once {
            // An unattended question is counted too; otherwise an agent could ask without limit.
            let (as_if, notice) = due::default_without_approver(&decision, deadline, env.now);
            decision.state = DecisionState::Expired { at: env.now, as_if: as_if.clone() };
            super::settle::announce_settlement(&mut talk, &decision, &notice, false, &mut mint);
            effects.counts.extend(open_counts(&self.by, place.0, -1, (0, 0), env.now));
            let settled = entry(&place, &decision, "decision_settled", env.now);
            effects.evidence.push(due::record_default(settled, &as_if).seal(&mut mint)?);
            push_entry(&mut effects, scope_expansion::record(&place, &decision, env.now), &mut mint)?;
            if let Some(moving) = &mut moving {
                moving.apply_decision(&decision, &super::settle::ApprovedExtent::Once)?;
            }
        }
        let (session, news) = talk.finish();
        effects.puts = vec![Record::Decision(decision.clone()), Record::AaepSession(session.clone())];
        if let Some(sealed) = self.asked.keep.clone().filter(|_| decision.is_pending()) {
            effects.puts.push(Record::HeldRequest(HeldRequest { key, version: 1, project: place.0, sealed }));
        }
        effects.news = news;
        if let Some(moving) = moving {
            moving.finish(&place, &mut mint, &mut effects)?;
        }
        Ok(Step { answer: Raised { decision, session, fresh: true }, effects })
    }

    fn limit_counts(&self, view: &RaiseView, env: &Env) -> Vec<Count> {
        let policy = &view.project.document.decisions;
        let project = view.project.key;
        let limits = (policy.max_open_per_agent, policy.max_open_per_person);
        let mut counts = open_counts(&self.by, project, 1, limits, env.now);
        let hour = env.now.secs().div_euclid(3600);
        counts.push(Count {
            name: RAISED_PER_HOUR,
            key: format!("{project}:raised:{}:{hour}", self.by.principal),
            by: 1,
            limit: policy.max_raised_per_hour,
            // The same for the whole hour: a raised counter keeps its expiry.
            until: UnixMillis((hour + 3) * 3_600_000),
        });
        let NewQuestion { action, question, expansion, .. } = &self.asked;
        let key = rejections_key_of(&self.by, project, action, question, expansion.as_deref());
        counts.push(Count { name: REJECTED, key, by: 0, limit: REJECTIONS - 1, until: env.now });
        counts.extend(self.asked.room.iter().cloned());
        counts
    }

    /// The rules to compare at the claim of a standing approval or a stored request. An agent's own claim of an action named
    /// by itself rests on the terms alone.
    fn rules(&self, view: &RaiseView) -> Option<Digest> {
        let one_action = self.asked.target.is_none() && matches!(self.asked.question, Question::Confirmation(_));
        let known = self.asked.route.is_some() || !self.asked.action.is_empty();
        (one_action && known)
            .then(|| terms::rules(&view.project.document, &self.asked.action, self.asked.route.as_deref()))
    }

    fn entry(&self, place: &super::ProjectRef, decision: &Decision, env: &Env) -> crate::evidence::DraftEntry {
        let words = match self.asked.words {
            TextAuthor::Agent => "agent",
            TextAuthor::Owner => "owner",
        };
        let entry = entry(place, decision, "decision_raised", env.now)
            .open("words", words)
            .open("document_version", decision.project_version)
            .open("irreversible", decision.terms.irreversible)
            .open("default", if decision.terms.default == YesNo::Accept { "accept" } else { "reject" })
            .open("timeout_seconds", decision.terms.timeout_s)
            .open("assurance_floor", decision.terms.floor.as_str())
            .hidden_if("question_sha256", render::document(decision).ok().map(|bytes| Digest::of(&bytes).hex()))
            .hidden_if("correlation_id", self.asked.correlation_id.clone());
        match &self.asked.question {
            Question::Confirmation(asked) => entry
                .open("kind", kind(decision))
                .hidden("tool", self.asked.action.as_str())
                .hidden("action", asked.action.as_str())
                .hidden("consequence", asked.consequence.as_str())
                .hidden_if("clarification", asked.facts.clarification.as_ref().map(|clarified| json!(clarified))),
            Question::Clarification(asked) => {
                entry.open("kind", "clarification").hidden("question", asked.question.as_str())
            }
        }
    }

    /// An implicit session for a single question.
    fn own_session(&self, view: &RaiseView, key: i64, id: String, env: &Env) -> AaepSession {
        AaepSession {
            key,
            version: 1,
            project: view.project.key,
            id,
            principal: self.by.principal.clone(),
            person: self.by.person,
            operator: self.by.operator.clone(),
            delegation: self.by.delegation,
            api_key: self.by.api_key,
            session: self.by.session,
            producer: self.producer.clone(),
            language: view.project.document.decisions.language.clone(),
            implicit: true,
            opened_at: env.now,
            said: 0,
            last_at: env.now,
            idle_s: view.project.document.decisions.session_idle_seconds,
            access_until: None,
            state: AaepSessionState::Open {
                at: IDLE.into(),
                waiting: Vec::new(),
                tools: Vec::new(),
                outputs: Vec::new(),
            },
        }
    }
}

fn kind(decision: &Decision) -> &'static str {
    match (decision.plan(), &decision.expansion) {
        (Some(_), _) => "plan_approval",
        (None, Some(_)) => "scope_expansion",
        (None, None) => "confirmation",
    }
}
