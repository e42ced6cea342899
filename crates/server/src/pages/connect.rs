//! The consent screen: one operator asks to act for one person (AAP 5.1, 13.2, 14.4; R-13).

use super::{Disclosed, EndRules, Frame, OperatorLabel, OwnRules, Prose, ScopeWords, Warning};
use askama::Template;
use countersign_protocol::time::UnixMillis;
use serde::Serialize;

#[derive(Clone, Debug, Template)]
#[template(path = "connect.html")]
pub struct ConnectPage {
    /// Names the service and the person asked for consent.
    pub frame: Frame,
    /// The last path segment of `/connect/{request}`.
    pub request: String,
    pub operator: OperatorLabel,
    pub warnings: Vec<Warning>,
    pub scopes: Vec<ScopeWords>,
    /// The identity the agent acts under, as worded in the disclosure the person agrees to.
    pub mode_disclosure: Prose,
    pub liability: Liability,
    /// The lifetime of the delegation, in seconds from the approval.
    pub lasts_s: i64,
    pub ends: EndRules,
    /// The stricter rules that the person entered.
    pub own_rules: OwnRules,
    /// The host of the callback; without one, the page shows a code to copy.
    pub callback_host: Option<String>,
    /// When the request expires. Not part of the disclosure.
    pub answer_by: UnixMillis,
    pub csrf: String,
    pub disclosure_id: String,
    pub error: Option<ConnectError>,
}

/// The author of the liability text (C-59).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Liability {
    /// From the operator's identity manifest.
    Operator(Prose),
    /// From the project's document, or the service's default.
    Service(Prose),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    NotAcknowledged,
    /// The CSRF token or the disclosure was too old.
    FormExpired,
    /// The current disclosure differs from the one the form was rendered with.
    ChangedSince,
    /// One of the person's own rules cannot be read.
    BadRule {
        field: &'static str,
    },
}

impl ConnectPage {
    /// The canonical text of everything consent-relevant, its digest and language.
    pub fn shown(&self) -> Disclosed {
        let words = ConnectDisclosure {
            v: 2,
            language: self.frame.language.tag(),
            service: self.frame.service.as_str(),
            person: self.frame.person.as_ref().map(|p| p.as_str()),
            operator: self.operator.domain.as_str(),
            operator_unicode: self.operator.unicode(),
            calls_itself: self.operator.name.as_str(),
            warnings: self.warnings.iter().map(|w| w.text(&self.frame)).collect(),
            scopes: self.scopes.iter().map(|s| self.scope_words(s)).collect(),
            mode: self.mode_disclosure.as_str().to_owned(),
            liability: self.liability_text().as_str().to_owned(),
            liability_by: self.liability_by(),
            lasts: self.frame.duration(&self.lasts_s),
            lasts_by: self.lasts_by(),
            ends_also: self.end_lines(),
            ends: self.frame.say("connect-ends"),
            then: self.then(),
        };
        Disclosed::of(self.frame.language, &words)
    }

    pub fn shown_text(&self) -> String {
        self.shown().text
    }

    fn scope_words<'a>(&self, scope: &'a ScopeWords) -> ScopeShown<'a> {
        ScopeShown {
            id: scope.id.as_str(),
            description: scope.description.as_ref().map(|d| d.as_str()),
            allows: scope.allows.iter().map(|a| a.as_str()).collect(),
            never: scope.never.iter().map(|n| n.as_str()).collect(),
            marks: scope.marks(&self.frame).into_iter().map(|m| m.text).collect(),
        }
    }

    fn liability_text(&self) -> Prose {
        match &self.liability {
            Liability::Operator(text) | Liability::Service(text) => text.clone(),
        }
    }

    /// The author of the liability text: a person must not mistake the operator's text for the service's.
    fn liability_by(&self) -> String {
        match &self.liability {
            Liability::Operator(_) => {
                self.frame.say_of("liability-by-operator", "domain", self.operator.domain.as_str())
            }
            Liability::Service(_) => self.frame.say_service("liability-by-service"),
        }
    }

    fn lasts_by(&self) -> String {
        self.ends.duration_by(&self.frame, &self.operator)
    }

    fn end_lines(&self) -> Vec<String> {
        self.ends.lines(&self.frame, &self.operator)
    }

    fn then(&self) -> String {
        match &self.callback_host {
            Some(host) => self.frame.say_of("connect-then-callback", "host", host),
            None => self.frame.say("connect-then-code"),
        }
    }

    fn error_text(&self) -> Option<String> {
        let id = match self.error? {
            ConnectError::NotAcknowledged => "connect-error-not-acknowledged",
            ConnectError::FormExpired => "error-form-expired",
            ConnectError::ChangedSince => "connect-error-changed",
            ConnectError::BadRule { .. } => "own-rules-error",
        };
        Some(self.frame.say(id))
    }

    fn title(&self) -> String {
        self.frame.say_of("connect-title", "domain", self.operator.domain.as_str())
    }

    /// The form field with the error, if any.
    fn error_field(&self) -> &'static str {
        match self.error {
            Some(ConnectError::NotAcknowledged) => "acknowledged",
            Some(ConnectError::BadRule { field }) => field,
            _ => "",
        }
    }

    fn has_bad_rule(&self) -> bool {
        matches!(self.error, Some(ConnectError::BadRule { .. }))
    }

    fn is_bad_rule(&self, name: &str) -> bool {
        matches!(self.error, Some(ConnectError::BadRule { field }) if field == name)
    }

    fn is_unacknowledged(&self) -> bool {
        self.error == Some(ConnectError::NotAcknowledged)
    }
}

/// The canonical text. A new member changes every digest: increment `v` with it.
#[derive(Serialize)]
struct ConnectDisclosure<'a> {
    v: u8,
    language: &'a str,
    service: &'a str,
    person: Option<&'a str>,
    operator: &'a str,
    operator_unicode: Option<String>,
    calls_itself: &'a str,
    warnings: Vec<String>,
    scopes: Vec<ScopeShown<'a>>,
    mode: String,
    liability: String,
    liability_by: String,
    lasts: String,
    lasts_by: String,
    ends_also: Vec<String>,
    ends: String,
    then: String,
}

#[derive(Serialize)]
struct ScopeShown<'a> {
    id: &'a str,
    description: Option<&'a str>,
    allows: Vec<&'a str>,
    never: Vec<&'a str>,
    marks: Vec<String>,
}
