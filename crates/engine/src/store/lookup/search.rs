//! The columns and the order of each look-up.

use super::Lookup;
use crate::store::{sql::SqlValue, tables};
use countersign_core::records::Table;
use countersign_protocol::{ids::RowKey, time::UnixMillis};

/// Columns and their required values.
type Wanted = Vec<(&'static str, SqlValue)>;

pub(super) enum Search {
    /// The rows of a table with these column values, in the order of their keys.
    Match(Table, Wanted),
    /// The last of those rows.
    Newest(Table, Wanted),
    /// The one of those rows with the highest value in a column.
    Highest(Table, Wanted, &'static str),
    /// Those rows from the last one on, or from the one before `before`.
    Page { table: Table, wanted: Wanted, before: Option<RowKey>, limit: i64 },
    /// The rows of a table that are due at a moment, the most overdue first.
    Due { table: Table, by: UnixMillis, limit: i64 },
    /// The same by another column.
    DueBy { table: Table, column: &'static str, by: UnixMillis, limit: i64 },
}

use Search::{Due, DueBy, Highest, Match, Newest, Page};

impl Search {
    pub(super) fn table(&self) -> Table {
        match self {
            Match(table, _) | Newest(table, _) | Highest(table, ..) => *table,
            Page { table, .. } | Due { table, .. } | DueBy { table, .. } => *table,
        }
    }

    pub(super) fn statement(self) -> (String, Vec<SqlValue>) {
        match self {
            Match(table, wanted) => matching(table, wanted, "ORDER BY key"),
            Newest(table, wanted) => matching(table, wanted, "ORDER BY key DESC LIMIT 1"),
            Highest(table, wanted, by) => matching(table, wanted, &format!("ORDER BY {by} DESC LIMIT 1")),
            Page { table, wanted, before, limit } => page(table, wanted, before, limit),
            Due { table, by, limit } => due(table, "due", by, limit),
            DueBy { table, column, by, limit } => due(table, column, by, limit),
        }
    }
}

fn matching(table: Table, wanted: Wanted, order: &str) -> (String, Vec<SqlValue>) {
    let (conditions, params): (Vec<String>, Vec<SqlValue>) = conditions(wanted).unzip();
    let filter = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    (format!("SELECT doc FROM {} {filter} {order}", tables::shape(table).name), params)
}

fn page(table: Table, wanted: Wanted, before: Option<RowKey>, limit: i64) -> (String, Vec<SqlValue>) {
    let (mut conditions, mut params): (Vec<String>, Vec<SqlValue>) = conditions(wanted).unzip();
    if let Some(before) = before {
        params.push(before.into());
        conditions.push(format!("key < ${}", params.len()));
    }
    params.push(limit.max(0).into());
    let (name, filter, n) = (tables::shape(table).name, conditions.join(" AND "), params.len());
    (format!("SELECT doc FROM {name} WHERE {filter} ORDER BY key DESC LIMIT ${n}"), params)
}

fn conditions(wanted: Wanted) -> impl Iterator<Item = (String, SqlValue)> {
    wanted.into_iter().zip(1..).map(|((column, value), n)| (format!("{column} = ${n}"), value))
}

fn due(table: Table, column: &str, by: UnixMillis, limit: i64) -> (String, Vec<SqlValue>) {
    let name = tables::shape(table).name;
    let text = format!("SELECT doc FROM {name} WHERE {column} <= $1 ORDER BY {column}, key LIMIT $2");
    (text, vec![by.0.into(), limit.max(0).into()])
}

impl Lookup {
    pub(super) fn search(&self) -> Search {
        match self {
            Self::Key(table, key) => Match(*table, vec![("key", (*key).into())]),
            Self::ProjectById(id) => Match(Table::Project, vec![("id", id.as_str().into())]),
            Self::AllProjects => Match(Table::Project, vec![]),
            Self::PersonBySubject { issuer, subject } => {
                Match(Table::Person, vec![("issuer", issuer.as_str().into()), ("subject", subject.as_str().into())])
            }
            Self::AllPeople => Match(Table::Person, vec![]),
            Self::MembershipOf { project, person } => {
                Match(Table::Membership, vec![("project", (*project).into()), ("person", (*person).into())])
            }
            Self::MembershipsOfPerson(person) => Match(Table::Membership, vec![("person", (*person).into())]),
            Self::MembershipsOfProject(project) => Match(Table::Membership, vec![("project", (*project).into())]),
            Self::WebSessionByToken(hash) => Match(Table::WebSession, vec![("token_hash", (&hash.0).into())]),
            Self::WebSessionsOfPerson(person) => Match(Table::WebSession, vec![("person", (*person).into())]),
            Self::ConnectRequestById(id) => Match(Table::ConnectRequest, vec![("id", id.as_str().into())]),
            Self::ConnectRequestByCode(hash) => Match(Table::ConnectRequest, vec![("code_hash", (&hash.0).into())]),
            Self::DisclosureById { project, id } => Match(Table::Disclosure, of_project(*project, "id", id.as_str())),
            Self::DelegationById { project, id } => Match(Table::Delegation, of_project(*project, "id", id.as_str())),
            Self::DelegationsOfPerson { project, person } => {
                Match(Table::Delegation, of_project(*project, "person", *person))
            }
            Self::DelegationsOfOperator { project, operator } => {
                Match(Table::Delegation, of_project(*project, "operator", operator.as_str()))
            }
            Self::DelegationsOfProject(project) => Match(Table::Delegation, vec![("project", (*project).into())]),
            Self::DelegationsDue { by, limit } => Due { table: Table::Delegation, by: *by, limit: *limit },
            Self::SessionById { project, operator, session_id } => {
                let mut found = of_project(*project, "operator", operator.as_str());
                found.push(("session_id", session_id.as_str().into()));
                Match(Table::Session, found)
            }
            Self::SessionsBySessionId { project, session_id } => {
                Match(Table::Session, of_project(*project, "session_id", session_id.as_str()))
            }
            Self::SessionsOfDelegation { project, delegation } => {
                Match(Table::Session, of_project(*project, "delegation", *delegation))
            }
            Self::SessionKeyByJkt { project, jkt } => Match(Table::SessionKey, of_project(*project, "jkt", &jkt.0)),
            Self::AccessTokenByHash(hash) => Match(Table::AccessToken, vec![("hash", (&hash.0).into())]),
            Self::AllAccessTokens => Match(Table::AccessToken, vec![]),
            Self::RevokedReceipt { project, sha256 } => {
                Match(Table::RevokedReceipt, of_project(*project, "sha256", &sha256.0))
            }
            Self::ApiKeyByHash(hash) => Match(Table::ApiKey, vec![("hash", (&hash.0).into())]),
            Self::ApiKeyById { project, id } => Match(Table::ApiKey, of_project(*project, "id", id.as_str())),
            Self::ApiKeysOfProject(project) => Match(Table::ApiKey, vec![("project", (*project).into())]),
            Self::SigningKeys => Match(Table::SigningKey, vec![]),
            Self::SecretByName(name) => Match(Table::Secret, vec![("name", name.as_str().into())]),
            Self::DecisionById { project, id } => Match(Table::Decision, of_project(*project, "id", id.as_str())),
            Self::DecisionByReply(hash) => Match(Table::Decision, vec![("reply_hash", (&hash.0).into())]),
            Self::DecisionPendingSame { project, same } => {
                Match(Table::Decision, of_project(*project, "open_same", &same.0))
            }
            Self::DecisionsOpenOfEffect { project, effect } => {
                Match(Table::Decision, of_project(*project, "open_effect", &effect.0))
            }
            Self::DecisionsAsking { project, asks } => {
                Match(Table::Decision, of_project(*project, "asks", asks.as_str()))
            }
            Self::DecisionsDue { by, limit } => Due { table: Table::Decision, by: *by, limit: *limit },
            Self::DecisionsLiveOfDelegation(key) => live(Table::Decision, "live_delegation", *key),
            Self::DecisionsLiveOfSession(key) => live(Table::Decision, "live_session", *key),
            Self::DecisionsOfPrincipal { project, principal, before, limit } => {
                let wanted = of_project(*project, "principal", principal.as_str());
                Page { table: Table::Decision, wanted, before: *before, limit: *limit }
            }
            Self::DecisionsOfProject { project, before, limit } => {
                let wanted = vec![("project", (*project).into())];
                Page { table: Table::Decision, wanted, before: *before, limit: *limit }
            }
            Self::AllowancesOfDecision(key) => Match(Table::Allowance, vec![("decision", (*key).into())]),
            Self::AllowancesDue { by, limit } => Due { table: Table::Allowance, by: *by, limit: *limit },
            Self::AllowancesLiveOfDelegation(key) => live(Table::Allowance, "live_delegation", *key),
            Self::AllowancesLiveOfSession(key) => live(Table::Allowance, "live_session", *key),
            Self::AllowancesOpenByDigest { project, digest } => {
                Match(Table::Allowance, of_project(*project, "open_digest", &digest.0))
            }
            Self::AllowancesOpenOfHolder { project, holder } => {
                Match(Table::Allowance, of_project(*project, "open_holder", *holder))
            }
            Self::AllowancesOpenOfPerson { project, person } => {
                Match(Table::Allowance, of_project(*project, "open_person", *person))
            }
            Self::AllowancesOpenOfDecider { project, person } => {
                Match(Table::Allowance, of_project(*project, "open_decider", *person))
            }
            Self::AllowancesOpenIn(project) => Match(Table::Allowance, vec![("open_in", (*project).into())]),
            Self::ExecutionById { project, id } => Match(Table::Execution, of_project(*project, "id", id.as_str())),
            Self::ExecutionsOfDecision(key) => Match(Table::Execution, vec![("decision", (*key).into())]),
            Self::ExecutionUnderWay { project, digest } => {
                Match(Table::Execution, of_project(*project, "open_digest", &digest.0))
            }
            Self::ExecutionsDone { project, digest } => {
                Match(Table::Execution, of_project(*project, "done_digest", &digest.0))
            }
            Self::ExecutionOfEffect { project, effect } => {
                Match(Table::Execution, of_project(*project, "live_effect", &effect.0))
            }
            Self::ExecutionFenced { project, fence_of } => {
                Highest(Table::Execution, of_project(*project, "fence_of", &fence_of.0), "fence")
            }
            Self::ExecutionsUnknown(project) => Match(Table::Execution, vec![("unknown_in", (*project).into())]),
            Self::ExecutionsDue { by, limit } => Due { table: Table::Execution, by: *by, limit: *limit },
            Self::ProbesDue { by, limit } => {
                DueBy { table: Table::Execution, column: "probe_due", by: *by, limit: *limit }
            }
            Self::AaepSessionById { project, id } => Match(Table::AaepSession, of_project(*project, "id", id.as_str())),
            Self::AaepSessionsOpenOfPerson { project, person } => {
                Match(Table::AaepSession, of_project(*project, "open_person", *person))
            }
            Self::AaepSessionsLiveOfDelegation(key) => live(Table::AaepSession, "live_delegation", *key),
            Self::AaepSessionsLiveOfSession(key) => live(Table::AaepSession, "live_session", *key),
            Self::AaepSessionsDue { by, limit } => Due { table: Table::AaepSession, by: *by, limit: *limit },
            Self::AgentEventSame { project, same } => Match(Table::AgentEvent, of_project(*project, "same", &same.0)),
            Self::SubscriptionById { project, id } => {
                Match(Table::Subscription, of_project(*project, "id", id.as_str()))
            }
            Self::SubscriptionsOpenOfPerson { project, person } => {
                Match(Table::Subscription, of_project(*project, "open_person", *person))
            }
            Self::SubscriberTokenByHash(hash) => Match(Table::SubscriberToken, vec![("hash", (&hash.0).into())]),
            Self::SubscriberTokenById { project, id } => {
                Match(Table::SubscriberToken, of_project(*project, "id", id.as_str()))
            }
            Self::SubscriberTokensOfPerson { project, person } => {
                Match(Table::SubscriberToken, of_project(*project, "person", *person))
            }
            Self::PlanById { project, id } => Match(Table::Plan, of_project(*project, "id", id.as_str())),
            Self::PlansOfPrincipal { project, principal, before, limit } => {
                let wanted = of_project(*project, "principal", principal.as_str());
                Page { table: Table::Plan, wanted, before: *before, limit: *limit }
            }
            Self::PlansOfPerson { project, person, before, limit } => {
                let wanted = of_project(*project, "person", *person);
                Page { table: Table::Plan, wanted, before: *before, limit: *limit }
            }
            Self::PlansOfProject { project, before, limit } => {
                let wanted = vec![("project", (*project).into())];
                Page { table: Table::Plan, wanted, before: *before, limit: *limit }
            }
            Self::PlansLiveOfDelegation(key) => live(Table::Plan, "live_delegation", *key),
            Self::PlansLiveOfSession(key) => live(Table::Plan, "live_session", *key),
            Self::ImportedConfirmById { project, id } => {
                Match(Table::ImportedConfirm, of_project(*project, "id", id.as_str()))
            }
            Self::ClarificationSessionById { project, id } => {
                Match(Table::ClarificationSession, of_project(*project, "id", id.as_str()))
            }
            Self::ClarificationSessionSame { project, same } => {
                Newest(Table::ClarificationSession, of_project(*project, "same", &same.0))
            }
            Self::ClarificationSessionOfHolder { project, holder } => {
                Newest(Table::ClarificationSession, of_project(*project, "holder", *holder))
            }
            Self::ClarificationSessionsOpenOfHolder { project, holder } => {
                Match(Table::ClarificationSession, of_project(*project, "open_holder", *holder))
            }
            Self::ClarificationEntriesOf(session) => {
                Match(Table::ClarificationEntry, vec![("session", (*session).into())])
            }
            Self::ClarificationKeysOf(project) => Match(Table::ClarificationKey, vec![("project", (*project).into())]),
            Self::UnsettledWritesOf { delegation, route } => {
                let wanted = vec![("open_delegation", (*delegation).into()), ("route", route.as_str().into())];
                Match(Table::UnsettledWrite, wanted)
            }
            Self::UnsettledWriteById { project, call_id } => {
                Match(Table::UnsettledWrite, of_project(*project, "call_id", call_id.as_str()))
            }
            Self::UnsettledWritesIn(project) => Match(Table::UnsettledWrite, vec![("project", (*project).into())]),
        }
    }
}

fn of_project(project: RowKey, column: &'static str, value: impl Into<SqlValue>) -> Wanted {
    vec![("project", project.into()), (column, value.into())]
}

fn live(table: Table, column: &'static str, key: RowKey) -> Search {
    Match(table, vec![(column, key.into())])
}
