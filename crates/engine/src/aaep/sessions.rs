//! `POST /aaep/v1/sessions`, `POST /aaep/v1/sessions/{id}/events`: agents that publish their own events.

use super::Listener;
use crate::{
    decisions::{AgentPrincipal, RaisedDecision},
    projects::ProjectAt,
    services::Events,
    store::{self, AaepSessionById, AaepSessionsOpenOfPerson},
};
use countersign_core::{
    aaep::{
        event_writer::Chosen,
        repeat::SentEvent,
        session::{OpenSession, OpenView, Publish, PublishView},
    },
    records::{AaepSession, AaepSessionState, Decision},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aaep::{
        event::{AwaitingClarification, AwaitingConfirmation, Payload, SessionStarted},
        ingest::IngestedEvent,
    },
    decisions::{ClarificationRequest, ConfirmationRequest},
};
use std::sync::Arc;

/// The result of a published event.
#[derive(Clone, Debug)]
pub enum Spoke {
    Said {
        event_id: String,
        sequence_number: i64,
    },
    /// The event raised a question: a decision is pending.
    Asked(Box<RaisedDecision>),
}

impl Events<'_> {
    /// Opens a session with its first event.
    pub async fn open_aaep_session(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        published: IngestedEvent,
    ) -> Result<AaepSession, Refusal> {
        let sent = published.sent.as_ref().map(|sent| SentEvent::of(sent, agent.principal(), ""));
        let (payload, chosen) = split(published);
        let Payload::SessionStarted(started) = payload else {
            return Err(Refusal::invalid("a session begins with aaep:agent.session.started"));
        };
        self.open_session(at, agent, started, chosen, sent).await
    }

    async fn open_session(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        started: SessionStarted,
        chosen: Chosen,
        sent: Option<SentEvent>,
    ) -> Result<AaepSession, Refusal> {
        let view = OpenView { project: Arc::new(at.project.clone()), guards: agent.guards.clone() };
        self.run(|| async {
            if let Some(opened) = self.opened_before(at, sent.as_ref()).await? {
                return Ok(Step::answer(opened));
            }
            let open = OpenSession {
                by: agent.raiser.clone(),
                producer: agent.producer.clone(),
                started: started.clone(),
                chosen: chosen.clone(),
                access_until: agent.until,
                sent,
            };
            open.decide(&view, &self.env()?)
        })
        .await
    }

    /// Publishes an event in a session of the agent. A question raises a decision.
    pub async fn publish(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session_id: &str,
        published: IngestedEvent,
    ) -> Result<Spoke, Refusal> {
        // The ownership check comes first: another agent's session must not be disclosed.
        self.session_of_agent(at, agent, session_id).await?;
        let sent = published.sent.as_ref().map(|sent| SentEvent::of(sent, agent.principal(), session_id));
        if let Some(spoke) = self.published_before(at, sent.as_ref()).await? {
            return Ok(spoke);
        }
        let (payload, chosen) = split(published);
        let (language, correlation_id) = (
            chosen.localization_hints.as_ref().and_then(|hints| hints.primary_language.clone()),
            chosen.correlation_id.clone(),
        );
        let asked = match payload {
            Payload::AwaitingConfirmation(asked) => {
                let body = confirmation(asked, session_id, language, correlation_id);
                self.decisions().raise_confirmation_sent(at, agent, &body, sent).await?
            }
            Payload::AwaitingClarification(asked) => {
                let body = clarification(asked, session_id, language, correlation_id);
                self.decisions().raise_clarification_sent(at, agent, &body, sent).await?
            }
            payload => {
                let said = |sent| Publish { payload: payload.clone(), chosen: chosen.clone(), sent };
                return self.say(at, agent, session_id, sent, said).await;
            }
        };
        Ok(Spoke::Asked(Box::new(asked)))
    }

    async fn say(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        session_id: &str,
        sent: Option<SentEvent>,
        publish: impl Fn(Option<SentEvent>) -> Publish,
    ) -> Result<Spoke, Refusal> {
        let project = Arc::new(at.project.clone());
        let found = self.session_of_agent(at, agent, session_id).await?;
        let _lock = self.session_locks.lock(found.key).await;
        self.run(|| async {
            if let Some(spoke) = self.published_before(at, sent.as_ref()).await? {
                return Ok(Step::answer(spoke));
            }
            let session = self.session_of_agent(at, agent, session_id).await?;
            let waiting = self.waiting_in(&session).await?;
            let view = PublishView { project: Arc::clone(&project), session, waiting, guards: agent.guards.clone() };
            let step = publish(sent).decide(&view, &self.env()?)?;
            Ok(step.map(|said| Spoke::Said { event_id: said.event_id, sequence_number: said.sequence_number }))
        })
        .await
    }

    /// A session that this agent opened; another agent's is reported as not found.
    pub(crate) async fn session_of_agent(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
    ) -> Result<AaepSession, Refusal> {
        let lookup = AaepSessionById { project: at.project.key, id: id.to_owned() };
        let session = store::find_one(&*self.store, lookup).await?;
        let own = session.filter(|session| session.principal == agent.raiser.principal);
        own.ok_or_else(|| Refusal::NotFound("there is no such AAEP session".into()))
    }

    /// The session in which an agent of this subscriber's person last published. Without one, a fresh session id that
    /// is never used.
    pub async fn session_heard_by(self, at: &ProjectAt, listener: &Listener) -> Result<String, Refusal> {
        let lookup = AaepSessionsOpenOfPerson { project: at.project.key, person: listener.person_key() };
        let open = store::find_all(&*self.store, lookup).await?;
        let last = open.into_iter().filter(|session| !session.implicit).max_by_key(|session| session.last_at);
        Ok(match last {
            Some(session) => session.id,
            None => self.env()?.mint().id("sess"),
        })
    }

    async fn waiting_in(self, session: &AaepSession) -> Result<Vec<Decision>, Refusal> {
        let AaepSessionState::Open { waiting, .. } = &session.state else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for key in waiting {
            found.extend(store::get::<Decision>(&*self.store, *key).await?);
        }
        Ok(found)
    }
}

fn split(published: IngestedEvent) -> (Payload, Chosen) {
    let IngestedEvent { payload, verbosity, urgency, localization_hints, correlation_id, extensions, context, .. } =
        published;
    let contexts = match context {
        Some(serde_json::Value::Array(all)) => all.into_iter().skip(1).collect(),
        _ => Vec::new(),
    };
    (payload, Chosen { urgency, verbosity, localization_hints, correlation_id, extensions, contexts })
}

fn confirmation(
    asked: AwaitingConfirmation,
    session_id: &str,
    language: Option<String>,
    correlation_id: Option<String>,
) -> ConfirmationRequest {
    ConfirmationRequest {
        action: asked.action,
        consequence: asked.consequence,
        summary_terse: asked.summaries.terse,
        summary_normal: asked.summaries.normal,
        summary_detailed: asked.summaries.detailed,
        extra_context: asked.extra_context,
        risk_level: asked.risk_level,
        irreversible: asked.irreversible,
        reversibility: asked.reversibility,
        timeout_seconds: Some(asked.timeout_seconds),
        default_decision: Some(asked.default_decision),
        allowed_replies: asked.allowed_replies,
        language,
        session_id: Some(session_id.to_owned()),
        correlation_id,
        ..ConfirmationRequest::default()
    }
}

fn clarification(
    asked: AwaitingClarification,
    session_id: &str,
    language: Option<String>,
    correlation_id: Option<String>,
) -> ClarificationRequest {
    ClarificationRequest {
        question: asked.question,
        accepted_response_kinds: asked.accepted_response_kinds,
        choices: asked.choices,
        context: asked.context,
        default_response: asked.default_response,
        summary_terse: asked.summaries.terse,
        summary_normal: asked.summaries.normal,
        summary_detailed: asked.summaries.detailed,
        timeout_seconds: Some(asked.timeout_seconds),
        language,
        session_id: Some(session_id.to_owned()),
        correlation_id,
        ..ClarificationRequest::default()
    }
}
