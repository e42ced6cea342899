//! The admin's page for a service account: the proposal, and everything that it would grant (AAP 11.2).

use super::{EndRules, Frame, OperatorLabel, PlainLine, Prose, ScopeWords, Warning};
use askama::Template;
use countersign_protocol::time::UnixMillis;

#[derive(Clone, Debug, Template)]
#[template(path = "service_account.html")]
pub struct ServiceAccountPage {
    pub frame: Frame,
    /// The last path segment of `/connect/{request}`.
    pub request: String,
    pub operator: OperatorLabel,
    pub warnings: Vec<Warning>,
    pub proposed: ProposedGrant,
    /// None until the proposal can be granted.
    pub review: Option<GrantReview>,
    /// The host of the callback; without one, the page shows a code to copy.
    pub callback_host: Option<String>,
    pub answer_by: UnixMillis,
    pub csrf: String,
    pub error: Option<GrantError>,
}

/// The fields of the proposal, as typed.
#[derive(Clone, Debug, Default)]
pub struct ProposedGrant {
    pub account_id: String,
    pub org_id: String,
    pub description: String,
    /// One in each line.
    pub resources: String,
    /// The scopes that the operator requested.
    pub scopes: Vec<ProposedScope>,
}

#[derive(Clone, Debug)]
pub struct ProposedScope {
    pub id: String,
    pub words: ScopeWords,
    pub chosen: bool,
}

/// Everything that the token will state, as the engine resolved it.
#[derive(Clone, Debug)]
pub struct GrantReview {
    pub account_id: PlainLine,
    pub org_id: PlainLine,
    pub description: PlainLine,
    /// The address of the admin in the token.
    pub authorized_by: PlainLine,
    pub scopes: Vec<ScopeWords>,
    pub resources: Vec<PlainLine>,
    /// Methods and paths that no resource bounds.
    pub routes_without_resource: Vec<PlainLine>,
    pub crosses_users: bool,
    pub mode_disclosure: Prose,
    pub lasts_s: i64,
    pub ends: EndRules,
    pub disclosure_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantError {
    NotAcknowledged,
    FormExpired,
    /// What would be granted now is not what was shown.
    ChangedSince,
    /// The proposal cannot be granted, with the member and the reason.
    Proposal(PlainLine),
}

impl ProposedScope {
    /// The name of its field.
    fn field(&self) -> String {
        ProposedGrant::scope_field(&self.id)
    }
}

impl ProposedGrant {
    pub fn scope_field(scope: &str) -> String {
        format!("scope_{scope}")
    }
}

impl ServiceAccountPage {
    fn title(&self) -> String {
        self.frame.say_of("grant-title", "domain", self.operator.domain.as_str())
    }

    fn error_text(&self) -> Option<String> {
        Some(match self.error.as_ref()? {
            GrantError::NotAcknowledged => self.frame.say("grant-error-not-acknowledged"),
            GrantError::FormExpired => self.frame.say("error-form-expired"),
            GrantError::ChangedSince => self.frame.say("connect-error-changed"),
            GrantError::Proposal(why) => self.frame.say_of("grant-error-proposal", "why", why.as_str()),
        })
    }

    /// The form field with the error, if any.
    fn error_field(&self) -> &'static str {
        match self.error {
            Some(GrantError::NotAcknowledged) if self.review.is_some() => "acknowledged",
            _ => "",
        }
    }

    fn is_unacknowledged(&self) -> bool {
        self.error == Some(GrantError::NotAcknowledged)
    }

    fn granted_scopes(&self) -> &[ScopeWords] {
        self.review.as_ref().map_or(&[], |review| &review.scopes)
    }

    fn end_lines(&self, review: &GrantReview) -> Vec<String> {
        review.ends.lines(&self.frame, &self.operator)
    }

    fn then(&self) -> String {
        match &self.callback_host {
            Some(host) => self.frame.say_of("connect-then-callback", "host", host),
            None => self.frame.say("connect-then-code"),
        }
    }
}
