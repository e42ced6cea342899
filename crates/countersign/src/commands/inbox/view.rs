//! A question as it is read out, line by line. Every line can be understood without the one before it.

use super::{
    clarification,
    plan_steps::Steps,
    runs::{self, ListedQuestion},
    scopes,
};
use crate::{
    span::in_words as duration,
    table::{printable, quoted, rendered},
};
use countersign_client::aaep::{Asks, ReceivedQuestion, TextSource, expected_form};
use countersign_protocol::{
    aaep::{
        event::{Choice, ResponseKind, Risk, YesNo},
        questions::OpenQuestion,
    },
    decisions::DecisionKind,
    question::QuestionFacts,
    request::WhatRuns,
    time::UnixMillis,
};
use serde_json::{Value, json};

/// The displayed data of a question, from a list or an event.
pub(super) struct View {
    pub(super) id: String,
    kind: DecisionKind,
    /// The action, or the question.
    what: String,
    consequence: Option<String>,
    context: Option<String>,
    kinds: Vec<ResponseKind>,
    choices: Vec<Choice>,
    agent_id: String,
    operator: Option<String>,
    known_producer: bool,
    words: TextSource,
    risk: Option<Risk>,
    irreversible: bool,
    default: Option<YesNo>,
    last_ran_at: Option<UnixMillis>,
    deadline: UnixMillis,
    /// The service's own statements.
    facts: QuestionFacts,
    /// The steps of a plan.
    steps: Option<Steps>,
    /// The call that an approval permits; `None` if the service does not send it.
    runs: Option<WhatRuns>,
    /// The differences from others in the list with the same text.
    alike: Option<String>,
}

/// Adds to questions that read the same the values in which they differ.
pub(super) fn tell_apart(named: &mut [(String, View)]) {
    let of = |(name, view): &(String, View)| ListedQuestion {
        name: name.clone(),
        text: view.reads(),
        runs: view.runs.clone().unwrap_or_default(),
    };
    let all: Vec<ListedQuestion> = named.iter().map(of).collect();
    for (at, (_, view)) in named.iter_mut().enumerate() {
        view.alike = runs::alike(at, &all);
    }
}

impl From<&ReceivedQuestion> for View {
    fn from(question: &ReceivedQuestion) -> Self {
        let (kind, what, consequence, context, choices, default) = match question.request() {
            Asks::Confirmation(asked) => {
                let consequence = Some(asked.consequence.clone());
                let default = Some(asked.default_decision);
                let kind = match question.facts().scope_expansion {
                    Some(_) => DecisionKind::ScopeExpansion,
                    None => DecisionKind::Confirmation,
                };
                (kind, asked.action.clone(), consequence, None, Vec::new(), default)
            }
            Asks::Clarification(asked) => {
                let choices = asked.choices.clone().unwrap_or_default();
                (DecisionKind::Clarification, asked.question.clone(), None, asked.context.clone(), choices, None)
            }
        };
        Self {
            id: question.id().to_owned(),
            kind,
            what,
            consequence,
            context,
            kinds: question.kinds().to_vec(),
            choices,
            agent_id: question.producer().agent_id.clone(),
            operator: question.operator().map(str::to_owned),
            known_producer: question.is_of_known_producer(),
            words: question.text_source(),
            risk: question.risk(),
            irreversible: question.is_irreversible(),
            default,
            last_ran_at: question.last_ran_at(),
            deadline: question.deadline(),
            facts: question.facts().clone(),
            steps: None,
            runs: question.runs().cloned(),
            alike: None,
        }
        .by_what_runs()
    }
}

impl From<&OpenQuestion> for View {
    fn from(open: &OpenQuestion) -> Self {
        Self {
            id: open.decision_id.clone(),
            kind: open.kind,
            what: open.action.clone().or_else(|| open.question.clone()).unwrap_or_default(),
            consequence: open.consequence.clone(),
            context: open.context.clone(),
            kinds: open.accepted_response_kinds.clone(),
            choices: open.choices.clone(),
            agent_id: open.agent_id.clone(),
            operator: open.operator.clone(),
            known_producer: true,
            words: open.words.into(),
            risk: open.risk_level,
            irreversible: open.irreversible.unwrap_or(false),
            default: open.default_decision,
            last_ran_at: open.last_ran_at,
            deadline: open.deadline,
            facts: open.facts.clone(),
            steps: None,
            runs: open.runs.clone(),
            alike: None,
        }
        .by_what_runs()
    }
}

impl View {
    /// Reduces the text to the sentence and its consequence, if the call itself can be listed.
    fn by_what_runs(mut self) -> Self {
        if let Some(runs) = &self.runs {
            (self.what, self.consequence) = (runs.sentence.clone(), Some(runs.consequence.clone()));
        }
        self
    }

    /// Adds the steps of the plan that the question is about.
    pub(super) fn of_plan(self, steps: Option<Steps>) -> Self {
        Self { steps, ..self }
    }

    /// The name first, and then everything a person must know to decide.
    pub(super) fn lines(&self, name: &str, now: UnixMillis) -> Vec<String> {
        let asks = if self.is_clarification() { "asks" } else { "needs your approval" };
        let mut lines = vec![format!("{name} {asks}: {}", self.said(&self.what))];
        lines.push(format!("Requested by: {}", self.requested_by()));
        lines.extend(self.consequence.as_ref().map(|text| format!("Consequence: {}", self.said(text))));
        lines.extend(self.risk_line().filter(|_| self.facts.scope_expansion.is_none()));
        lines.extend(self.facts.scope_expansion.as_ref().map(scopes::lines).unwrap_or_default());
        lines.extend(self.steps.as_ref().map(Steps::lines).unwrap_or_default());
        lines.extend(self.runs.as_ref().map(runs::lines).unwrap_or_default());
        lines.extend(self.alike.clone());
        lines.extend(self.facts.clarification.as_ref().map(clarification::lines).unwrap_or_default());
        lines.extend(self.deviations().iter().map(|line| format!("Deviation from the plan: {}", rendered(line))));
        lines.extend(self.context.as_ref().map(|text| format!("Context: {}", self.said(text))));
        lines.push(format!("Text: {}", self.whose_words()));
        let ran = |at: UnixMillis| format!("Ran before: exactly this last ran at {}", at.to_rfc3339());
        lines.extend(self.last_ran_at.map(ran));
        let choices = self.choices.iter().enumerate();
        lines.extend(choices.map(|(n, choice)| format!("Choice {}: {}", n + 1, quoted(&choice.label))));
        lines.push(format!("Time left: {}. {}", duration(self.seconds_left(now)), self.without_an_answer()));
        lines
    }

    /// The possible answers, as typed.
    pub(super) fn how(&self, name: &str) -> String {
        match self.kind {
            DecisionKind::Confirmation | DecisionKind::ScopeExpansion => {
                format!("To answer: {name} approve, or {name} reject and your reason. For more time: {name} more")
            }
            DecisionKind::Clarification => {
                let kinds: Vec<&str> = self.kinds.iter().map(expected_form).collect();
                format!("To answer: {name} and {}. For more time: {name} more", kinds.join(", or "))
            }
        }
    }

    pub(super) fn json(&self, now: UnixMillis) -> Value {
        let confirmation = !self.is_clarification();
        json!({
            "id": self.id,
            "kind": self.kind,
            "action": confirmation.then_some(&self.what),
            "question": (!confirmation).then_some(&self.what),
            "consequence": self.consequence,
            "context": self.context,
            "accepted_response_kinds": self.kinds,
            "choices": self.choices,
            "agent_id": self.agent_id,
            "operator": self.operator,
            "known_producer": self.known_producer,
            "words": match self.words { TextSource::Agent => "agent", TextSource::Owner => "owner", TextSource::Unsaid => "unsaid" },
            "risk_level": self.risk,
            "irreversible": self.irreversible,
            "default_decision": self.default,
            "last_ran_at": self.last_ran_at.map(UnixMillis::to_rfc3339),
            "deadline": self.deadline.to_rfc3339(),
            "seconds_left": self.seconds_left(now),
            "plan_difference": self.deviations(),
            "clarification": self.facts.clarification,
            "scope_expansion": self.facts.scope_expansion,
            "plan": self.steps.as_ref().map(Steps::actions),
            "runs": self.runs,
        })
    }

    /// The deviations of the call from a plan.
    fn deviations(&self) -> Vec<String> {
        self.facts.deviation.as_ref().map(|deviation| deviation.lines("en")).unwrap_or_default()
    }

    /// The owner's text as it is, with its quotes; any other text in quotes that it cannot end.
    fn said(&self, text: &str) -> String {
        match self.words {
            _ if self.is_plan() => rendered(text),
            TextSource::Owner => rendered(text),
            TextSource::Agent | TextSource::Unsaid => quoted(text),
        }
    }

    fn is_clarification(&self) -> bool {
        self.kind == DecisionKind::Clarification
    }

    /// Whether the service wrote it about an agent's plan.
    fn is_plan(&self) -> bool {
        self.facts.plan.is_some()
    }

    /// The text by which a person would take two questions for the same.
    fn reads(&self) -> String {
        format!("{} {}", self.requested_by(), self.what)
    }

    /// The operator's domain, which the service has verified; the name of an agent with an API key otherwise.
    fn requested_by(&self) -> String {
        let who = match &self.operator {
            Some(operator) => format!("{} (verified domain)", printable(operator)),
            None => format!("the agent {}", printable(&self.agent_id)),
        };
        if self.known_producer { who } else { format!("{who}, not known to you") }
    }

    fn whose_words(&self) -> &'static str {
        match self.words {
            _ if self.is_plan() => "the service's, about the agent's plan; the agent's own words are in quotes",
            TextSource::Owner if self.kind == DecisionKind::ScopeExpansion => {
                "the service's, about its own permissions"
            }
            TextSource::Agent => "the agent's own words, which nobody has checked",
            TextSource::Owner => "rendered by the service from the request; values of the request are in quotes",
            TextSource::Unsaid => "of unknown author: the producer does not name one",
        }
    }

    fn risk_line(&self) -> Option<String> {
        let risk = match self.risk? {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        };
        let undo = if self.irreversible { "This cannot be undone" } else { "This can be undone" };
        Some(format!("Risk: {risk}. {undo}"))
    }

    fn without_an_answer(&self) -> &'static str {
        match (self.kind, self.default) {
            (DecisionKind::Clarification, _) => "Without an answer the agent continues without it",
            (DecisionKind::ScopeExpansion, _) => "Without an answer nothing more is allowed",
            (DecisionKind::Confirmation, Some(YesNo::Accept)) => "Without an answer it may run",
            (DecisionKind::Confirmation, _) => "Without an answer it does not run",
        }
    }

    fn seconds_left(&self, now: UnixMillis) -> i64 {
        self.deadline.millis_since(now).max(0) / 1000
    }
}

#[cfg(test)]
mod tests;
