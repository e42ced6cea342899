//! The HTML pages: view structs in, HTML out.
//!
//! This module makes no decisions, does no I/O and reads no clock. Every page works without a script and carries
//! neither inline script nor inline style, so the policy of [`content_security_policy`] can be strict. Texts come from
//! `locales/*.ftl`; names that strangers chose become a [`PlainLine`] or [`Prose`] before they are shown.

mod account;
mod agents;
mod allowances;
mod assets;
mod audit;
mod bounds;
mod call;
mod catalogue;
mod clarification;
mod connect;
mod connect_ended;
mod connect_ends;
mod disclosure;
mod error;
mod frame;
mod home;
mod inbox;
mod language;
mod lookalike;
mod operator;
mod outcome;
mod plain;
mod plan;
mod plan_steps;
mod policy;
mod question;
mod question_summary;
mod scope;
mod service_account;
mod sign_in;
mod subscribers;

#[cfg(test)]
mod tests;

pub use account::{AccountError, AccountPage};
pub use agents::{
    AgentConnection, AgentPage, AgentsNotice, AgentsPage, AuditRow, ConnectionState, EndReason, RevokePage,
    SuspendedBy, TaskRow, TaskScope,
};
pub use allowances::{AllowancesError, AllowancesPage, OpenGroup, OpenStandingApproval, SumLeft};
pub use assets::{Asset, assets};
pub use audit::{ProjectAuditEntry, ProjectAuditPage, SoughtEntries};
pub use bounds::{AllowMore, AmountUnit, Bounded, MoreError, Releasable, UnitChoice};
pub use call::CallShown;
pub use clarification::{ClarificationBox, ClarifiedAnswer, GapAsked, RefusedAnswer};
pub use connect::{ConnectError, ConnectPage, Liability};
pub use connect_ended::{ConnectEnd, ConnectEndedPage, ConnectedPage};
pub use connect_ends::{EndRules, OwnRules};
pub use disclosure::Disclosed;
pub use error::{ErrorKind, ErrorPage};
pub use frame::Frame;
pub use home::HomePage;
pub use inbox::{HELD, InboxError, InboxPage, ListenAt, Listening, Typed, Undoable, Unreported};
pub use language::{Language, pick_language};
pub use lookalike::{Warning, examine};
pub use operator::OperatorLabel;
pub use outcome::{CallUndo, DecidedBy, OutcomeText, RunBy, Runs, ToldBy};
pub use plain::{Piece, PlainLine, Prose};
pub use plan::{PlanChangeMark, PlanError, PlanEvent, PlanPage, StepProgress};
pub use plan_steps::{PlanAsked, StepAsked, StepRuns};
pub use policy::{content_security_policy, listening_policy, local_path};
pub use question::{
    Choosable, DeviationLines, Field, PersonOffer, QuestionError, QuestionNotice, QuestionPage, WiderAccess,
};
pub use question_summary::{ActionText, AskedBy, Author, Detail, QuestionSummary, Unanswered};
pub use scope::ScopeWords;
pub use service_account::{GrantError, GrantReview, ProposedGrant, ProposedScope, ServiceAccountPage};
pub use sign_in::{SignInError, SignInNotice, SignInPage, SignInPurpose};
pub use subscribers::{NewSubscriber, SubscriberMadePage, SubscriberRow, SubscribersError};

/// A page that can be rendered.
pub trait Page: askama::Template {
    /// The whole document. If rendering fails, a fixed error page without any form is sent.
    fn html(&self) -> String {
        self.render().unwrap_or_else(|_| UNDRAWABLE.to_owned())
    }
}

impl<T: askama::Template> Page for T {}

const UNDRAWABLE: &str = "<!doctype html><html lang=\"en\"><title>Error</title><h1>This page could not be drawn</h1>\
    <p>Nothing was changed. Please try again.</p></html>";
