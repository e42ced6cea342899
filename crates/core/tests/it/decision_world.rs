//! Test fixture: a project with two agents, five people and four actions, driven through the real operations.

use crate::{
    decision_store::{Outcome, Store},
    worlds,
};
use countersign_core::{
    aaep::{
        event_writer::Chosen,
        session::{OpenSession, OpenView, Publish, PublishView, PublishedEvent},
    },
    decision::{
        ProjectRef,
        answer::{Answer, AnswerContent, AnswerView, CountedAnswer, Extra, NotCounted, ProvenPerson},
        cancel::{Live, Withdraw},
        claim::{Claim, ClaimView},
        due::{AllowanceDue, AllowanceDueView, DueView, ExecutionView, LeaseDue, QuestionDue},
        grant::AskedFor,
        raise::{NewQuestion, Raise, RaiseView, Raised},
        revoke::RevokeApproval,
        terms::{self, People, Wishes},
    },
    env::Env,
    mplp::roles::Deciding,
    records::{
        AaepSession, AaepSessionState, Allowance, Assurance, CancelledFor, Clarification, Confirmation, Delegation,
        DelegationState, Execution, Plan, Point, Project, Question, Raiser, Record, RevokeReason, Role, Table, Via,
    },
    refusal::Refusal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    aaep::{
        envelope::Producer,
        event::{Event, Payload, ResponseKind, SessionStarted, Summaries, YesNo},
        extension,
    },
    domain::Domain,
    hash::Digest,
    ids::RowKey,
    mplp::PlanStatus,
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::{cell::Cell, sync::Arc};

pub(crate) const NOW: UnixMillis = worlds::NOW;

/// The person both agents act for.
pub(crate) const ALICE: RowKey = 201;
/// An approver by role.
pub(crate) const BOB: RowKey = 202;
/// An approver named by policy.
pub(crate) const CAROL: RowKey = 203;
/// A person without entitlement.
pub(crate) const DAN: RowKey = 204;
pub(crate) const ADMIN: RowKey = 205;
pub(crate) const PEOPLE: [RowKey; 5] = [ALICE, BOB, CAROL, DAN, ADMIN];

/// The policy for each is in [`document`]; the empty one has none.
pub(crate) const ACTIONS: [&str; 4] = ["lamp.dim", "file.move", "money.pay", ""];

pub(crate) fn document() -> ProjectDocument {
    serde_json::from_value(json!({
        "id": "small",
        "actions": [
            { "name": "lamp.dim", "irreversible": false, "risk": "low", "default_decision": "accept" },
            { "name": "file.move", "irreversible": false, "reversibility": "reversible_with_effort", "risk": "medium",
              "min_timeout_seconds": 20, "max_timeout_seconds": 200, "lease_seconds": 30 },
            { "name": "money.pay", "risk": "high", "approvers": ["role:approver", "user:carol"],
              "assurance": "session", "allowance_seconds": 45 },
        ],
        "decisions": {
            "max_open_per_agent": 3, "max_open_per_person": 5, "max_raised_per_hour": 5, "pause_seconds": 600,
            "max_extension_seconds": 100, "allowance_seconds": 60, "lease_seconds": 20,
        },
    }))
    .unwrap()
}

/// A request of one agent. The number stands for its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) agent: usize,
    pub(crate) action: &'static str,
    pub(crate) number: u8,
    pub(crate) session: Option<RowKey>,
    pub(crate) wishes: Wishes,
    pub(crate) question: Question,
    pub(crate) somebody_there: bool,
}

impl Ask {
    pub(crate) fn of(action: &'static str) -> Self {
        let question = confirmation(action, &[YesNo::Accept, YesNo::Reject]);
        Self { agent: 0, action, number: 0, session: None, wishes: Wishes::default(), question, somebody_there: true }
    }

    pub(crate) fn clarification(asked: Clarification) -> Self {
        Self { question: Question::Clarification(asked), ..Self::of("") }
    }

    pub(crate) fn within(self, session: RowKey) -> Self {
        Self { session: Some(session), ..self }
    }
}

pub(crate) fn confirmation(action: &str, allowed: &[YesNo]) -> Question {
    Question::Confirmation(Confirmation {
        action: format!("do {action}"),
        consequence: "it is done".into(),
        summaries: Summaries::normal("something is to be done"),
        extra_context: None,
        allowed_replies: allowed.to_vec(),
        tool: if action.is_empty() { "confirmed_action".into() } else { action.into() },
        details: Some(Vec::new()),
        facts: Box::default(),
    })
}

pub(crate) fn clarification(kinds: &[ResponseKind], default_response: Option<&str>) -> Clarification {
    Clarification {
        question: "which one?".into(),
        summaries: Summaries::default(),
        kinds: kinds.to_vec(),
        choices: Vec::new(),
        context: None,
        default_response: default_response.map(str::to_owned),
    }
}

/// An authenticated person with their roles in the project.
pub(crate) fn answerer(person: RowKey, assurance: Assurance) -> ProvenPerson {
    let roles = match person {
        BOB => vec![Role::User, Role::Approver],
        ADMIN => vec![Role::Admin],
        _ => vec![Role::User],
    };
    ProvenPerson {
        person,
        subject: format!("person-{person}"),
        deciding: Deciding::approver("approver"),
        roles,
        assurance,
        presence: None,
        may_answer: true,
        approves_high_risk: false,
        via: Via::Page,
        guards: vec![Guard { table: Table::Membership, key: person, version: 1 }],
    }
}

pub(crate) fn reply(decision: YesNo) -> AnswerContent {
    AnswerContent::Reply { decision, rationale: None, modified_action: None }
}

/// The project, its store, and a sequence of ids.
pub(crate) struct Plane {
    pub(crate) store: Store,
    pub(crate) project: Arc<Project>,
    /// How often each agent was revoked: it reconnects with a new delegation.
    pub(crate) lives: [i64; 2],
    drawn: Cell<i64>,
}

impl Plane {
    pub(crate) fn new() -> Self {
        Self::with(document())
    }

    pub(crate) fn with(document: ProjectDocument) -> Self {
        let mut store = Store::at(NOW);
        store.standing.extend(PEOPLE.map(|person| ((Table::Membership, person), 1)));
        for agent in 0..2 {
            store.standing.insert((Table::Delegation, delegation_key(agent, 0)), 5);
        }
        Self { store, project: Arc::new(worlds::project(document)), lives: [0, 0], drawn: Cell::new(1) }
    }

    /// A view of an existing store; `draw` keeps its ids distinct from those of other views.
    pub(crate) fn over(store: Store, project: Arc<Project>, draw: i64) -> Self {
        Self { store, project, lives: [0, 0], drawn: Cell::new(draw) }
    }

    pub(crate) fn place(&self) -> ProjectRef {
        (self.project.key, self.project.id.clone())
    }

    pub(crate) fn env(&self, now: UnixMillis) -> Env {
        self.drawn.set(self.drawn.get() + 1);
        Env { now, entropy: Digest::of(&self.drawn.get().to_be_bytes()).0, first_key: self.drawn.get() * 1000 }
    }

    /// Commits the step and asserts success.
    pub(crate) fn commit<A>(&mut self, step: Step<A>) -> A {
        assert_eq!(self.store.commit(&step.effects), Outcome::Committed);
        step.answer
    }

    pub(crate) fn open_session(&self, agent: usize, now: UnixMillis) -> Result<Step<AaepSession>, Refusal> {
        let started = SessionStarted { summaries: Summaries::normal("at work"), ..SessionStarted::default() };
        let open = OpenSession {
            by: self.raiser(agent),
            producer: producer(agent),
            started,
            chosen: Chosen::default(),
            access_until: None,
            sent: None,
        };
        let view = OpenView { project: self.project.clone(), guards: self.guards(agent) };
        open.decide(&view, &self.env(now))
    }

    pub(crate) fn publish(
        &self,
        session: RowKey,
        payload: Payload,
        now: UnixMillis,
    ) -> Result<Step<PublishedEvent>, Refusal> {
        let session = self.store.session(session).clone();
        let waiting = match &session.state {
            AaepSessionState::Open { waiting, .. } => waiting.iter().map(|k| self.store.decision(*k).clone()).collect(),
            AaepSessionState::Over { .. } => Vec::new(),
        };
        let view = PublishView { project: self.project.clone(), session, waiting, guards: Vec::new() };
        Publish { payload, chosen: Chosen::default(), sent: None }.decide(&view, &self.env(now))
    }

    pub(crate) fn raise(&self, ask: &Ask, now: UnixMillis) -> Result<Step<Raised>, Refusal> {
        let digest = self.digest(ask);
        let pending = self.store.pending_same(digest).cloned();
        let asked_in = pending.as_ref().map(|pending| pending.asked_in).or(ask.session);
        let under_way = self.store.under_way(digest).cloned();
        let named = if ask.action == "money.pay" { vec![CAROL] } else { Vec::new() };
        let view = RaiseView {
            project: self.project.clone(),
            session: asked_in.map(|key| self.store.session(key).clone()),
            pending,
            under_way: under_way
                .map(|execution| (execution.clone(), self.store.decision(execution.decision).id.clone())),
            same_effect: None,
            last_ran_at: None,
            people: People { own: ALICE, named, asks: Vec::new(), needs_s: None },
            plan: None,
            guards: self.guards(ask.agent),
            somebody_there: ask.somebody_there,
        };
        let env = self.env(now);
        self.asking(ask, digest, &env).decide(&view, &env)
    }

    pub(crate) fn asking(&self, ask: &Ask, digest: Digest, env: &Env) -> Raise {
        let id = env.mint().id("dec");
        let asked = NewQuestion {
            wishes: ask.wishes.clone(),
            ..NewQuestion::by_agent(digest, digest, ask.action.into(), ask.question.clone())
        };
        Raise { reply_token: reply_token(&id), id, by: self.raiser(ask.agent), producer: producer(ask.agent), asked }
    }

    pub(crate) fn digest(&self, ask: &Ask) -> Digest {
        let kind = matches!(ask.question, Question::Confirmation(_));
        let principal = self.raiser(ask.agent).principal;
        Digest::of(format!("{principal} {kind} {} {}", ask.action, ask.number).as_bytes())
    }

    pub(crate) fn answer(
        &self,
        decision: RowKey,
        answer: Answer,
        now: UnixMillis,
    ) -> Result<Step<CountedAnswer>, NotCounted> {
        self.answer_about(decision, None, answer, now)
    }

    /// An answer to a question with its stored request, so that a standing approval is possible.
    pub(crate) fn answer_about(
        &self,
        decision: RowKey,
        asked_for: Option<AskedFor>,
        answer: Answer,
        now: UnixMillis,
    ) -> Result<Step<CountedAnswer>, NotCounted> {
        let DueView { place, decision, session, plan } = self.due_view(decision);
        let pause_s = self.project.document.decisions.pause_seconds;
        let policy = self.project.document.plans.clone();
        let view = AnswerView {
            place,
            pause_s,
            decision,
            session,
            plan,
            asked_for,
            boundary: None,
            policy,
            gap: None,
            widening: None,
        };
        answer.decide(&view, &self.env(now))
    }

    pub(crate) fn due(&self, decision: RowKey, due: QuestionDue, now: UnixMillis) -> Result<Step<()>, Refusal> {
        due.decide(&self.due_view(decision), &self.env(now))
    }

    pub(crate) fn withdraw(&self, decision: RowKey, now: UnixMillis) -> Result<Step<()>, Refusal> {
        Withdraw { reason: Some("not needed".into()) }.decide(&self.due_view(decision), &self.env(now))
    }

    pub(crate) fn claim(
        &self,
        decision: RowKey,
        claim: Claim,
        approver_stands: bool,
        now: UnixMillis,
    ) -> Result<Step<Execution>, Refusal> {
        self.claim_after(0, decision, claim, approver_stands, now)
    }

    /// With the highest fence number of earlier claims of the same.
    pub(crate) fn claim_after(
        &self,
        fence: i64,
        decision: RowKey,
        claim: Claim,
        approver_stands: bool,
        now: UnixMillis,
    ) -> Result<Step<Execution>, Refusal> {
        let view = self.claim_view(fence, decision, approver_stands);
        let rules = Some(terms::rules(&self.project.document, &view.decision.action, None));
        let claim = Claim { rules: claim.rules.or(rules), ..claim };
        claim.decide(&view, &self.env(now))
    }

    fn claim_view(&self, fence: i64, decision: RowKey, approver_stands: bool) -> ClaimView {
        let DueView { place, decision, session, plan } = self.due_view(decision);
        let guards = match decision.raised_by.delegation {
            Some(key) => vec![Guard { table: Table::Delegation, key, version: 5 }],
            None => Vec::new(),
        };
        let allowance = self.store.allowance_of(decision.key).cloned();
        // The fixture leaves these checks to the store's unique columns.
        let under_way = None;
        let same_effect = None;
        ClaimView { place, decision, allowance, session, guards, approver_stands, under_way, same_effect, fence, plan }
    }

    /// Runs an operation on the approval of a decision, beside its claim.
    pub(crate) fn on_claim<O: Operation<View = ClaimView>>(
        &self,
        decision: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        operation.decide(&self.claim_view(0, decision, true), &self.env(now))
    }

    pub(crate) fn on_approval<O: Operation<View = AllowanceDueView>>(
        &self,
        decision: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        operation.decide(&self.allowance_view(decision), &self.env(now))
    }

    pub(crate) fn on_queued<O: Operation<View = Allowance>>(
        &self,
        decision: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        operation.decide(self.store.allowance_of(decision).expect("there was a yes"), &self.env(now))
    }

    /// Runs an operation on the execution of a decision.
    pub(crate) fn on_execution<O: Operation<View = ExecutionView>>(
        &self,
        decision: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        let execution = self.store.execution_of(decision).cloned().expect("something was claimed");
        let allowance = self.store.allowance_of(decision).cloned();
        let DueView { place, decision, session, plan } = self.due_view(decision);
        operation.decide(&ExecutionView { place, decision, session, execution, allowance, plan }, &self.env(now))
    }

    pub(crate) fn lease_due(&self, decision: RowKey, now: UnixMillis) -> Result<Step<()>, Refusal> {
        self.on_execution(decision, LeaseDue, now)
    }

    pub(crate) fn allowance_due(&self, decision: RowKey, now: UnixMillis) -> Result<Step<()>, Refusal> {
        AllowanceDue.decide(&self.allowance_view(decision), &self.env(now))
    }

    fn allowance_view(&self, decision: RowKey) -> AllowanceDueView {
        let allowance = self.store.allowance_of(decision).cloned().expect("there was a yes");
        let DueView { place, decision, session, plan } = self.due_view(decision);
        AllowanceDueView { place, decision, session, allowance, plan }
    }

    /// A person revokes the approval.
    pub(crate) fn take_back(&self, decision: RowKey, now: UnixMillis) -> Result<Effects, Refusal> {
        let take_back = RevokeApproval { by: answerer(ADMIN, Assurance::Fresh), reason: None };
        take_back.decide(&self.allowance_view(decision), &self.env(now)).map(|step| step.effects)
    }

    /// Revokes an agent with everything it has open.
    pub(crate) fn revoke(&self, agent: usize, now: UnixMillis) -> Result<Step<()>, Refusal> {
        let key = delegation_key(agent, self.lives[agent]);
        let of = |raiser: &Raiser| raiser.delegation == Some(key);
        let live = Live {
            decisions: self.store.decisions().filter(|row| row.is_pending() && of(&row.raised_by)).cloned().collect(),
            allowances: self.store.allowances().filter(|row| row.is_open() && of(&row.raised_by)).cloned().collect(),
            sessions: self
                .store
                .sessions()
                .filter(|row| is_open(row) && row.delegation == Some(key))
                .cloned()
                .collect(),
            plans: self.store.plans().filter(|row| is_live(row) && of(&row.by)).cloned().collect(),
            notifies_operator: false,
        };
        let env = self.env(now);
        let state = DelegationState::Revoked { at: now, reason: RevokeReason::ManualRevoke };
        let revoked = Delegation { key, version: 6, state, ..worlds::delegation(now, now) };
        let mut effects = Effects { puts: vec![Record::Delegation(revoked)], ..Effects::default() };
        live.cancel(&self.place(), CancelledFor::Revoked, &env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer: (), effects })
    }

    /// Reconnects the agent.
    pub(crate) fn reconnect(&mut self, agent: usize) {
        self.lives[agent] += 1;
        self.store.standing.insert((Table::Delegation, delegation_key(agent, self.lives[agent])), 5);
    }

    pub(crate) fn due_view(&self, decision: RowKey) -> DueView {
        let decision = self.store.decision(decision).clone();
        let session = self.store.session(decision.asked_in).clone();
        let plan = decision.plan().map(|key| self.store.plan(key).clone());
        DueView { place: self.place(), decision, session, plan }
    }

    pub(crate) fn raiser(&self, agent: usize) -> Raiser {
        let key = delegation_key(agent, self.lives[agent]);
        Raiser {
            principal: format!("del_{key}"),
            person: ALICE,
            delegation: Some(key),
            session: None,
            api_key: None,
            operator: Domain::parse("acme.test").ok(),
        }
    }

    pub(crate) fn guards(&self, agent: usize) -> Vec<Guard> {
        vec![Guard { table: Table::Delegation, key: delegation_key(agent, self.lives[agent]), version: 5 }]
    }
}

/// An answer given by a person now, without any extras.
pub(crate) fn answer(person: RowKey, given: AnswerContent, now: UnixMillis) -> Answer {
    let by = answerer(person, Assurance::Fresh);
    Answer { by, given, claimed_at: now, decided_by: None, correlation_id: None, extra: Extra::default() }
}

pub(crate) fn claim(digest: Digest) -> Claim {
    Claim {
        digest,
        effect: None,
        point: Point::AgentClaimed,
        node: 1,
        call: None,
        rules: None,
        probe: None,
        cancel: None,
        undo: None,
        window_closed: false,
    }
}

pub(crate) fn at_deadline() -> QuestionDue {
    QuestionDue { serving_since: NOW, nobody_there: false }
}

pub(crate) fn is_open(session: &AaepSession) -> bool {
    matches!(session.state, AaepSessionState::Open { .. })
}

/// A text member of our extension in an event.
pub(crate) fn beside<'e>(event: &'e Event, member: &str) -> Option<&'e str> {
    event.envelope.extensions.get(extension::PREFIX)?.get(member).and_then(Value::as_str)
}

pub(crate) fn reply_token(decision_id: &str) -> String {
    format!("rpl_{}", &Digest::of(decision_id.as_bytes()).hex()[..32])
}

/// Whether a plan is pending or running, so that it ends with its agent.
fn is_live(plan: &Plan) -> bool {
    matches!(plan.document.status, PlanStatus::Proposed | PlanStatus::Approved | PlanStatus::InProgress)
}

fn delegation_key(agent: usize, life: i64) -> RowKey {
    10 + i64::try_from(agent).unwrap() + life * 10
}

fn producer(agent: usize) -> Producer {
    let agent_id = format!("agent-{agent}.acme.test");
    Producer { agent_id, agent_version: None, agent_name: None, model: None, manifest_uri: None }
}
