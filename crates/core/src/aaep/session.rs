//! AAEP sessions of agents: from one `session.started` to exactly one terminal event, each event consistent with the
//! ones before it (AAEP 4.5). An inconsistent event is refused with the reason, never corrected silently.

use super::{
    event_writer::{AWAITING_INPUT, Chosen, DECIDING, EventWriter, IDLE, THINKING},
    repeat::SentEvent,
};
use crate::{
    decision::{
        self, ProjectRef,
        cancel::{Live, Withdraw},
        due::DueView,
        terms::{is_irreversible, policy_of},
    },
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{
        AaepSession, AaepSessionState, AgentEventAnswer, CancelledFor, Decision, OpenTool, Project, Question, Raiser,
        Record,
    },
    refusal::Refusal,
    signals::{Audience, Signal},
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::aaep::{
    envelope::Producer,
    event::{OutputStreaming, Payload, SessionStarted, StateChanged, ToolCompleted, ToolInvoked},
};
use countersign_protocol::time::UnixMillis;
use std::sync::Arc;

/// The most unfinished tool calls and outputs of one session.
const MOST_OPEN: usize = 256;

pub struct OpenSession {
    pub by: Raiser,
    pub producer: Producer,
    pub started: SessionStarted,
    pub chosen: Chosen,
    /// When the agent's access expires.
    pub access_until: Option<UnixMillis>,
    pub sent: Option<SentEvent>,
}

pub struct OpenView {
    pub project: Arc<Project>,
    pub guards: Vec<Guard>,
}

impl Operation for OpenSession {
    type View = OpenView;
    type Answer = AaepSession;
    type Refusal = Refusal;

    fn decide(self, view: &OpenView, env: &Env) -> Result<Step<AaepSession>, Refusal> {
        let mut mint = env.mint();
        let language = self.chosen.localization_hints.as_ref().and_then(|hints| hints.primary_language.clone());
        let session = AaepSession {
            key: mint.key(),
            version: 0,
            project: view.project.key,
            id: mint.id("sess"),
            principal: self.by.principal.clone(),
            person: self.by.person,
            operator: self.by.operator.clone(),
            delegation: self.by.delegation,
            api_key: self.by.api_key,
            session: self.by.session,
            producer: self.producer,
            language: language.unwrap_or_else(|| view.project.document.decisions.language.clone()),
            implicit: false,
            opened_at: env.now,
            said: 0,
            last_at: env.now,
            idle_s: view.project.document.decisions.session_idle_seconds,
            access_until: self.access_until,
            state: AaepSessionState::Open {
                at: IDLE.into(),
                waiting: Vec::new(),
                tools: Vec::new(),
                outputs: Vec::new(),
            },
        };
        let mut talk = EventWriter::resume(&session, env.now);
        let to = own_audience(&session);
        talk.publish(&to, &mut mint, Payload::SessionStarted(self.started), self.chosen, None);
        let (session, news) = talk.finish();
        let entry = DraftEntry::new((view.project.key, &view.project.id), "aaep_session_started", env.now)
            .open("aaep_session_id", session.id.as_str())
            .open("principal", session.principal.as_str());
        let answer = AgentEventAnswer::Opened { session: session.key };
        let sent = self.sent.map(|sent| sent.record(view.project.key, answer, env));
        let effects = Effects {
            guards: view.guards.clone(),
            puts: [Record::AaepSession(session.clone())].into_iter().chain(sent).collect(),
            evidence: vec![entry.seal(&mut mint)?],
            news,
            ..Effects::default()
        };
        Ok(Step { answer: session, effects })
    }
}

/// One event of an agent. Questions are raised as decisions instead.
pub struct Publish {
    pub payload: Payload,
    pub chosen: Chosen,
    pub sent: Option<SentEvent>,
}

pub struct PublishView {
    pub project: Arc<Project>,
    pub session: AaepSession,
    /// The pending questions of the session.
    pub waiting: Vec<Decision>,
    pub guards: Vec<Guard>,
}

/// The identifiers of the published event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedEvent {
    pub event_id: String,
    pub sequence_number: i64,
}

impl Operation for Publish {
    type View = PublishView;
    type Answer = PublishedEvent;
    type Refusal = Refusal;

    fn decide(self, view: &PublishView, env: &Env) -> Result<Step<PublishedEvent>, Refusal> {
        let sent = self.sent;
        let mut step = self.publish(view, env)?;
        let PublishedEvent { event_id, sequence_number } = step.answer.clone();
        let answer = AgentEventAnswer::Said { event_id, sequence_number };
        step.effects.puts.extend(sent.map(|sent| sent.record(view.project.key, answer, env)));
        Ok(step)
    }
}

impl Publish {
    fn publish(self, view: &PublishView, env: &Env) -> Result<Step<PublishedEvent>, Refusal> {
        let AaepSessionState::Open { .. } = view.session.state else {
            return Err(Refusal::Conflict("the session is over: no event may follow its terminal event".into()));
        };
        if view.session.implicit {
            return Err(Refusal::Conflict(
                "the session belongs to one question and ends with it: open another one".into(),
            ));
        }
        if let Some(question) = self.withdrawn_question(view)? {
            return self.withdraw(view, question, env);
        }
        check_payload(&self.payload, view)?;
        let mut mint = env.mint();
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        let mut talk = EventWriter::resume(&view.session, env.now);
        if self.payload.is_terminal() {
            end_questions(view, &mut talk, env, &mut mint, &mut effects)?;
        }
        let event_id = mint.id("evt");
        let answer = PublishedEvent { event_id: event_id.clone(), sequence_number: talk.session().said };
        let to = self.audience(view);
        talk.publish(&to, &mut mint, self.payload, self.chosen, Some(event_id));
        let (session, said) = talk.finish();
        effects.puts.push(Record::AaepSession(session));
        effects.news.extend(said);
        Ok(Step { answer, effects })
    }

    /// The end of a session also ends its questions, so everybody entitled to answer them hears it (AAEP 6.8).
    fn audience(&self, view: &PublishView) -> Audience {
        let mut to = own_audience(&view.session);
        for question in view.waiting.iter().filter(|_| self.payload.is_terminal()) {
            let asked = decision::audience(question);
            to.people.extend(asked.people);
            to.roles.extend(asked.roles);
        }
        to.people.sort_unstable();
        to.people.dedup();
        to.roles.sort_unstable();
        to.roles.dedup();
        to
    }

    /// Returning to thinking withdraws the one pending question (AAEP 6.8); with several it would be ambiguous.
    fn withdrawn_question<'a>(&self, view: &'a PublishView) -> Result<Option<&'a Decision>, Refusal> {
        let Payload::StateChanged(changed) = &self.payload else { return Ok(None) };
        if view.waiting.is_empty() || changed.from_state != AWAITING_INPUT {
            return Ok(None);
        }
        let back = matches!(changed.to_state.as_str(), THINKING | DECIDING);
        match view.waiting.as_slice() {
            [question] if back => Ok(Some(question)),
            [_] => Err(Refusal::Conflict(
                "a question is pending: the state stays awaiting_input until it is settled, or goes back to thinking \
                 or deciding, which withdraws it"
                    .into(),
            )),
            _ => Err(Refusal::Conflict(
                "several questions are pending: withdraw one of them at /v1/decisions/{id}/withdraw".into(),
            )),
        }
    }

    fn withdraw(self, view: &PublishView, question: &Decision, env: &Env) -> Result<Step<PublishedEvent>, Refusal> {
        let Payload::StateChanged(changed) = self.payload else { return Err(Refusal::Internal) };
        let due = DueView {
            place: (view.project.key, view.project.id.clone()),
            decision: question.clone(),
            session: view.session.clone(),
            // A plan is confirmed in its own session.
            plan: None,
        };
        let mut step = Withdraw { reason: changed.summaries.normal.clone() }.decide(&due, env)?;
        step.effects.guards.extend(view.guards.iter().copied());
        let said = step.effects.news.iter().find_map(|news| match news {
            Signal::Said(said) => Some(said),
            _ => None,
        });
        let said = said.ok_or(Refusal::Internal)?;
        let answer = PublishedEvent { event_id: said.event.envelope.event_id.clone(), sequence_number: said.seq };
        Ok(Step { answer, effects: step.effects })
    }
}

/// The end of a session ends its questions in the same step; no default is applied later (AAEP 6.8).
fn end_questions(
    view: &PublishView,
    talk: &mut EventWriter,
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    let place: ProjectRef = (view.project.key, view.project.id.clone());
    let live = Live { decisions: view.waiting.clone(), ..Live::default() };
    live.cancel(&place, CancelledFor::SessionOver, env, mint, effects)?;
    for decision in &view.waiting {
        talk.remove_pending(decision.key);
    }
    Ok(())
}

/// The audience of an agent's own events: the person that it acts for.
pub fn own_audience(session: &AaepSession) -> Audience {
    Audience { people: vec![session.person], roles: Vec::new() }
}

fn check_payload(payload: &Payload, view: &PublishView) -> Result<(), Refusal> {
    let AaepSessionState::Open { at, tools, outputs, .. } = &view.session.state else { return Err(Refusal::Internal) };
    match payload {
        Payload::SessionStarted(_) => Err(Refusal::Conflict("the session was started already".into())),
        Payload::AwaitingConfirmation(_) | Payload::AwaitingClarification(_) => Err(Refusal::Internal),
        Payload::StateChanged(changed) => check_state(changed, at),
        Payload::ToolInvoked(invoked) => check_invoked(invoked, tools, view),
        Payload::ToolCompleted(done) => check_completed(done, tools),
        Payload::OutputStreaming(chunk) => {
            let open = outputs.iter().find(|open| open.id == chunk.output_id);
            check_output(chunk, open.map(|open| (open.next, open.complete)), outputs.len())
        }
        Payload::SessionCompleted(_) if !tools.is_empty() => Err(Refusal::Conflict(
            "a tool was invoked and not completed: send tool.completed first, with status timeout if its result is \
             unknown"
                .into(),
        )),
        _ => Ok(()),
    }
}

fn check_state(changed: &StateChanged, at: &str) -> Result<(), Refusal> {
    if changed.from_state != at {
        return Err(Refusal::Conflict(format!("from_state must be {at:?}, the current state of the session")));
    }
    Ok(())
}

/// The hub itself announces an irreversible call, after its approval was claimed (AAEP 4.3.1).
fn check_invoked(invoked: &ToolInvoked, tools: &[OpenTool], view: &PublishView) -> Result<(), Refusal> {
    let by_policy = policy_of(&view.project.document, &invoked.tool).is_some_and(is_irreversible);
    if invoked.irreversible == Some(true) || by_policy {
        return Err(Refusal::Conflict(
            "an irreversible tool is announced when its approval is claimed: request it at /v1/confirmations, then \
             claim it"
                .into(),
        ));
    }
    let asks = |question: &Question| matches!(question, Question::Confirmation(asked) if asked.tool == invoked.tool);
    if view.waiting.iter().any(|decision| decision.is_pending() && asks(&decision.question)) {
        return Err(Refusal::Conflict(
            "a confirmation request for this tool is pending: it cannot be announced before the answer".into(),
        ));
    }
    if tools.len() >= MOST_OPEN {
        return Err(Refusal::Conflict("too many tools were invoked and not completed".into()));
    }
    let taken = |open: &OpenTool| invoked.tool_call_id.is_some() && open.call_id == invoked.tool_call_id;
    if tools.iter().any(taken) {
        return Err(Refusal::Conflict("this tool_call_id is in use".into()));
    }
    Ok(())
}

fn check_completed(done: &ToolCompleted, tools: &[OpenTool]) -> Result<(), Refusal> {
    let open = tools.iter().find(|open| match &done.tool_call_id {
        Some(id) => open.call_id.as_ref() == Some(id) && open.tool == done.tool,
        None => open.tool == done.tool,
    });
    match open {
        None => Err(Refusal::Conflict("no such tool was invoked, or it is completed already".into())),
        Some(open) if open.claimed => Err(Refusal::Conflict(
            "this call was claimed: report its outcome at /v1/decisions/{id}/outcome, and it is announced".into(),
        )),
        Some(_) => Ok(()),
    }
}

fn check_output(chunk: &OutputStreaming, open: Option<(i64, bool)>, outputs: usize) -> Result<(), Refusal> {
    match open {
        Some((_, true)) => Err(Refusal::Conflict("this output is complete already".into())),
        Some((next, false)) if chunk.position != next => {
            Err(Refusal::Conflict(format!("position must be {next}, counted in code points")))
        }
        None if chunk.position != 0 => Err(Refusal::Conflict("an output begins at position 0".into())),
        None if outputs >= MOST_OPEN => Err(Refusal::Conflict("too many outputs in one session".into())),
        _ => Ok(()),
    }
}
