//! A received question. It holds the token for its reply, and discloses it to nobody else.

use super::received::{Ours, shown};
use crate::secret::ClientSecret;
use countersign_protocol::{
    aaep::{
        envelope::{LocalizationHints, Producer},
        event::{
            AwaitingClarification, AwaitingConfirmation, Event, Payload, ResponseKind, Reversibility, Risk, YesNo,
        },
    },
    question::QuestionFacts,
    request::{TextAuthor, WhatRuns},
    time::UnixMillis,
};

/// One pending question. It can only be received, not constructed (AAEP 6.2.3).
#[derive(Clone, Debug)]
pub struct ReceivedQuestion {
    id: String,
    event_id: String,
    session_id: String,
    producer: Producer,
    hints: LocalizationHints,
    operator: Option<String>,
    words: TextSource,
    last_ran_at: Option<UnixMillis>,
    decision_id: Option<String>,
    asked_at: UnixMillis,
    deadline: UnixMillis,
    known_producer: bool,
    asks: Asks,
    token: ClientSecret,
    runs: Option<WhatRuns>,
    facts: QuestionFacts,
}

/// The content of the question, without the reply token.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    Confirmation(Box<AwaitingConfirmation>),
    Clarification(Box<AwaitingClarification>),
}

/// The author of the text that a person reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSource {
    Agent,
    /// Rendered by the service from the request to be sent.
    Owner,
    /// Not declared by the producer. Nobody vouches for the text then.
    Unsaid,
}

impl ReceivedQuestion {
    /// The question of an event, if it has one.
    pub(super) fn of(event: &Event, known_producer: bool) -> Option<Self> {
        let (asks, token, timeout_s) = match event.payload.clone() {
            Payload::AwaitingConfirmation(mut asked) => {
                let token = std::mem::take(&mut asked.reply_token);
                let timeout_s = asked.timeout_seconds;
                (Asks::Confirmation(Box::new(asked)), token, timeout_s)
            }
            Payload::AwaitingClarification(mut asked) => {
                let token = std::mem::take(&mut asked.reply_token);
                let timeout_s = asked.timeout_seconds;
                (Asks::Clarification(Box::new(asked)), token, timeout_s)
            }
            _ => return None,
        };
        let (ours, envelope) = (Ours::of(event), &event.envelope);
        let decision_id = ours.text("decision_id").map(str::to_owned);
        Some(Self {
            id: decision_id.clone().unwrap_or_else(|| envelope.event_id.clone()),
            event_id: envelope.event_id.clone(),
            session_id: envelope.session_id.clone(),
            producer: envelope.producer.clone(),
            hints: envelope.localization_hints.clone(),
            operator: ours.text("operator").map(shown),
            words: ours.read::<TextAuthor>("words").map_or(TextSource::Unsaid, TextSource::from),
            last_ran_at: ours.moment("last_ran_at"),
            decision_id,
            asked_at: envelope.timestamp,
            // The protocol's own deadline; countdown events only repeat it (AAEP 6.4.3). Our service states a later
            // extension.
            deadline: envelope.timestamp.plus_secs(timeout_s).max(ours.moment("deadline").unwrap_or_default()),
            known_producer,
            asks,
            token: ClientSecret::new(token),
            runs: ours.read("runs"),
            facts: ours.facts(),
        })
    }

    /// The id for display: the decision's, or the event's if the producer has none.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn event_id(&self) -> &str {
        &self.event_id
    }

    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Only our own service names one.
    pub fn decision_id(&self) -> Option<&str> {
        self.decision_id.as_deref()
    }

    pub fn request(&self) -> &Asks {
        &self.asks
    }

    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    /// The domain of the agent's operator, as verified by the service.
    pub fn operator(&self) -> Option<&str> {
        self.operator.as_deref()
    }

    pub fn text_source(&self) -> TextSource {
        self.words
    }

    /// The call that an approval covers, if the producer sends it in typed form.
    pub fn runs(&self) -> Option<&WhatRuns> {
        self.runs.as_ref()
    }

    /// The service's own statements about the question; no agent can write them.
    pub fn facts(&self) -> &QuestionFacts {
        &self.facts
    }

    pub fn language(&self) -> Option<&str> {
        self.hints.primary_language.as_deref()
    }

    /// When exactly this call last ran, if it did.
    pub fn last_ran_at(&self) -> Option<UnixMillis> {
        self.last_ran_at
    }

    pub fn asked_at(&self) -> UnixMillis {
        self.asked_at
    }

    /// From here on no answer counts.
    pub fn deadline(&self) -> UnixMillis {
        self.deadline
    }

    pub fn seconds_left(&self, now: UnixMillis) -> i64 {
        self.deadline.millis_since(now).max(0) / 1000
    }

    /// Whether the person knows its producer (AAEP 6.9).
    pub fn is_of_known_producer(&self) -> bool {
        self.known_producer
    }

    /// Either of two members may say so (E-05).
    pub fn is_irreversible(&self) -> bool {
        let Asks::Confirmation(asked) = &self.asks else { return false };
        asked.irreversible == Some(true) || asked.reversibility == Some(Reversibility::Irreversible)
    }

    /// An irreversible action without a stated risk counts as high risk (E-05).
    pub fn risk(&self) -> Option<Risk> {
        let Asks::Confirmation(asked) = &self.asks else { return None };
        asked.risk_level.or(self.is_irreversible().then_some(Risk::High))
    }

    /// The allowed replies of a confirmation.
    pub fn allows(&self, reply: YesNo) -> bool {
        let Asks::Confirmation(asked) = &self.asks else { return false };
        asked.allowed_replies.as_ref().is_none_or(|allowed| allowed.contains(&reply))
    }

    /// The accepted kinds of a clarification; free text by default (S7).
    pub fn kinds(&self) -> &[ResponseKind] {
        match &self.asks {
            Asks::Clarification(asked) => asked.accepted_response_kinds.as_deref().unwrap_or(&[ResponseKind::Freetext]),
            Asks::Confirmation(_) => &[],
        }
    }

    pub(super) fn token(&self) -> &ClientSecret {
        &self.token
    }

    /// Extends the deadline; it is never shortened.
    pub(super) fn extend_to(&mut self, deadline: UnixMillis) {
        self.deadline = self.deadline.max(deadline);
    }
}

impl From<TextAuthor> for TextSource {
    fn from(author: TextAuthor) -> Self {
        match author {
            TextAuthor::Agent => Self::Agent,
            TextAuthor::Owner => Self::Owner,
        }
    }
}
