//! The hub's own texts around those of agents and requests, in each language.

use crate::mplp::deviation;
use countersign_protocol::{
    question::PlanDeviation,
    request::{DetailPlace, RequestDetail},
};

/// One of the supported languages; English by default.
pub(super) struct Glue {
    german: bool,
}

impl Glue {
    pub(super) fn of(language: &str) -> Self {
        Self { german: language.split('-').next() == Some("de") }
    }

    pub(super) fn say(&self, english: &'static str, german: &'static str) -> &'static str {
        if self.german { german } else { english }
    }

    pub(super) fn language(&self) -> &'static str {
        self.say("en", "de")
    }

    pub(super) fn deviation(&self, deviation: &PlanDeviation) -> String {
        let begins = self.say("This deviates from the approved plan", "Das weicht vom genehmigten Plan ab,");
        let lines = deviation::lines(deviation, self.language()).join("; ");
        format!("{begins} {}: {lines}.", deviation.plan_title)
    }

    pub(super) fn also_sent(&self) -> &'static str {
        self.say("Also sent:", "Ebenfalls gesendet:")
    }

    pub(super) fn agents_words(&self) -> &'static str {
        self.say("In the agent's words:", "In den Worten des Agenten:")
    }

    pub(super) fn consequence(&self) -> &'static str {
        self.say("Consequence, in its words:", "Folge, in seinen Worten:")
    }

    fn agent_of(&self, operator: Option<&str>) -> String {
        match operator {
            Some(operator) => format!("{} {operator}", self.say("an agent of", "einem Agenten von")),
            None => self.say("an agent", "einem Agenten").to_owned(),
        }
    }

    pub(super) fn requested_by(&self, operator: Option<&str>) -> String {
        format!("{} {}.", self.say("Requested by", "Angefragt von"), self.agent_of(operator))
    }

    pub(super) fn asks(&self, operator: Option<&str>) -> String {
        format!("{} {}.", self.say("Approval requested by", "Freigabe erbeten von"), self.agent_of(operator))
    }

    pub(super) fn asks_question(&self, operator: Option<&str>) -> String {
        format!("{} {}:", self.say("Question from", "Frage von"), self.agent_of(operator))
    }

    pub(super) fn runs_with(&self, tool: &str, arguments: &str) -> String {
        format!("{} {tool} {} {arguments}.", self.say("Runs", "Führt aus:"), self.say("with", "mit"))
    }

    pub(super) fn runs_without(&self, tool: &str) -> String {
        format!("{} {tool} {}.", self.say("Runs", "Führt aus:"), self.say("without arguments", "ohne Argumente"))
    }

    /// For a summary without room for all details of the action.
    pub(super) fn in_the_action(&self, count: usize) -> String {
        match count {
            0 => String::new(),
            1 => self.say("1 more member, listed in the action", "1 weiteres Element, in der Aktion aufgeführt").into(),
            n => format!(
                "{n} {}",
                self.say("more members, listed in the action", "weitere Elemente, in der Aktion aufgeführt")
            ),
        }
    }

    /// For agents' words too long to be repeated.
    pub(super) fn words_in_the_action(&self) -> &'static str {
        self.say("Its words are in the action.", "Seine Worte stehen in der Aktion.")
    }

    pub(super) fn words_in_the_question(&self) -> &'static str {
        self.say("it is long and is part of the question itself.", "sie ist lang und steht in der Frage selbst.")
    }

    pub(super) fn label(&self, detail: &RequestDetail) -> String {
        let place = match detail.place {
            DetailPlace::Path => self.say("path", "Pfad"),
            DetailPlace::Query => self.say("query", "Abfrage"),
            DetailPlace::Header => self.say("header", "Kopfzeile"),
            DetailPlace::ContentType => self.say("content type", "Inhaltstyp"),
            DetailPlace::Body if detail.name.is_empty() => self.say("body", "Inhalt"),
            DetailPlace::Argument if detail.name.is_empty() => self.say("arguments", "Argumente"),
            DetailPlace::Tool => self.say("tool", "Werkzeug"),
            DetailPlace::Body | DetailPlace::Argument => return detail.name.clone(),
        };
        if detail.name.is_empty() { place.to_owned() } else { format!("{place} {}", detail.name) }
    }

    /// Values contain no line breaks and cannot close their quotes, so no value can pose as another member.
    pub(super) fn lines(&self, details: &[&RequestDetail]) -> Vec<String> {
        details.iter().map(|detail| format!("{}: {}", self.label(detail), detail.value_text())).collect()
    }

    /// One sentence per plan step.
    pub(super) fn steps(&self, details: &[&RequestDetail]) -> Vec<String> {
        let of_steps = details.chunk_by(|one, next| one.step == next.step);
        of_steps.map(|of_step| self.step(of_step)).collect()
    }

    fn step(&self, details: &[&RequestDetail]) -> String {
        let number = details.first().and_then(|detail| detail.step).unwrap_or_default();
        let (tools, rest): (Vec<&RequestDetail>, Vec<&RequestDetail>) =
            details.iter().copied().partition(|detail| detail.place == DetailPlace::Tool);
        let tool = tools.iter().map(|detail| detail.value.as_str()).collect::<Vec<_>>().join(", ");
        let runs = match rest.as_slice() {
            [] => self.runs_without(&tool),
            rest => self.runs_with(&tool, &self.lines(rest).join("; ")),
        };
        format!("{} {number}: {runs}", self.say("Step", "Schritt"))
    }
}
