//! Every way in which a record is looked up. One variant, one indexed statement.

use super::{error::Failure, sql::Sql, sql::Value, tables};
use countersign_core::records::Table;
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    Key(Table, RowKey),
    ProjectById(String),
    AllProjects,
    PersonBySubject {
        issuer: String,
        subject: String,
    },
    AllPeople,
    MembershipOf {
        project: RowKey,
        person: RowKey,
    },
    MembershipsOfPerson(RowKey),
    MembershipsOfProject(RowKey),
    WebSessionByToken(Digest),
    WebSessionsOfPerson(RowKey),
    ConnectRequestById(String),
    ConnectRequestByCode(Digest),
    DisclosureById {
        project: RowKey,
        id: String,
    },
    DelegationById {
        project: RowKey,
        id: String,
    },
    DelegationsOfPerson {
        project: RowKey,
        person: RowKey,
    },
    DelegationsOfOperator {
        project: RowKey,
        operator: String,
    },
    SessionById {
        project: RowKey,
        operator: String,
        session_id: String,
    },
    SessionsBySessionId {
        project: RowKey,
        session_id: String,
    },
    SessionsOfDelegation {
        project: RowKey,
        delegation: RowKey,
    },
    /// The newest one whose tokens are bound to this key.
    SessionByJkt {
        project: RowKey,
        jkt: Digest,
    },
    AccessTokenByHash(Digest),
    RevokedReceipt {
        project: RowKey,
        sha256: Digest,
    },
    ApiKeyByHash(Digest),
    ApiKeyById {
        project: RowKey,
        id: String,
    },
    ApiKeysOfProject(RowKey),
    SigningKeys,
    SecretByName(String),
    DecisionById {
        project: RowKey,
        id: String,
    },
    DecisionByReply(Digest),
    DecisionPendingSame {
        project: RowKey,
        same: Digest,
    },
    /// What is open and found under `Decision::asks`.
    DecisionsAsking {
        project: RowKey,
        asks: String,
    },
    /// What is due at `by`, the most overdue first.
    DecisionsDue {
        by: UnixMillis,
        limit: i64,
    },
    DecisionsLiveOfDelegation(RowKey),
    DecisionsLiveOfSession(RowKey),
    AllowanceOfDecision(RowKey),
    AllowancesDue {
        by: UnixMillis,
        limit: i64,
    },
    AllowancesLiveOfDelegation(RowKey),
    AllowancesLiveOfSession(RowKey),
    AllowancesOpenByDigest {
        project: RowKey,
        digest: Digest,
    },
    ExecutionById {
        project: RowKey,
        id: String,
    },
    ExecutionsOfDecision(RowKey),
    ExecutionUnderWay {
        project: RowKey,
        digest: Digest,
    },
    ExecutionsDone {
        project: RowKey,
        digest: Digest,
    },
    /// The one use that carries an effect, unless it failed.
    ExecutionOfEffect {
        project: RowKey,
        effect: Digest,
    },
    /// Those of a project whose end nobody knows.
    ExecutionsUnknown(RowKey),
    ExecutionsDue {
        by: UnixMillis,
        limit: i64,
    },
    AaepSessionById {
        project: RowKey,
        id: String,
    },
    AaepSessionsOpenOfPerson {
        project: RowKey,
        person: RowKey,
    },
    AaepSessionsLiveOfDelegation(RowKey),
    AaepSessionsLiveOfSession(RowKey),
    SubscriptionById {
        project: RowKey,
        id: String,
    },
    SubscriptionsOpenOfPerson {
        project: RowKey,
        person: RowKey,
    },
    SubscriberTokenByHash(Digest),
    SubscriberTokenById {
        project: RowKey,
        id: String,
    },
    SubscriberTokensOfPerson {
        project: RowKey,
        person: RowKey,
    },
}

/// How a look-up is answered.
enum Plan {
    /// The rows of a table whose columns have these values, in the order of their keys.
    Match(Table, Vec<(&'static str, Value)>),
    /// The last of those rows.
    Newest(Table, Vec<(&'static str, Value)>),
    /// The rows of a table that are due at a moment, the most overdue first.
    Due { table: Table, by: UnixMillis, limit: i64 },
}

use Plan::{Due, Match, Newest};

impl Lookup {
    pub fn table(&self) -> Table {
        match self.plan() {
            Match(table, _) | Newest(table, _) | Due { table, .. } => table,
        }
    }

    fn plan(&self) -> Plan {
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
            Self::SessionByJkt { project, jkt } => Newest(Table::Session, of_project(*project, "jkt", &jkt.0)),
            Self::AccessTokenByHash(hash) => Match(Table::AccessToken, vec![("hash", (&hash.0).into())]),
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
            Self::DecisionsAsking { project, asks } => {
                Match(Table::Decision, of_project(*project, "asks", asks.as_str()))
            }
            Self::DecisionsDue { by, limit } => Due { table: Table::Decision, by: *by, limit: *limit },
            Self::DecisionsLiveOfDelegation(key) => live(Table::Decision, "live_delegation", *key),
            Self::DecisionsLiveOfSession(key) => live(Table::Decision, "live_session", *key),
            Self::AllowanceOfDecision(key) => Match(Table::Allowance, vec![("decision", (*key).into())]),
            Self::AllowancesDue { by, limit } => Due { table: Table::Allowance, by: *by, limit: *limit },
            Self::AllowancesLiveOfDelegation(key) => live(Table::Allowance, "live_delegation", *key),
            Self::AllowancesLiveOfSession(key) => live(Table::Allowance, "live_session", *key),
            Self::AllowancesOpenByDigest { project, digest } => {
                Match(Table::Allowance, of_project(*project, "open_digest", &digest.0))
            }
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
            Self::ExecutionsUnknown(project) => Match(Table::Execution, vec![("unknown_in", (*project).into())]),
            Self::ExecutionsDue { by, limit } => Due { table: Table::Execution, by: *by, limit: *limit },
            Self::AaepSessionById { project, id } => Match(Table::AaepSession, of_project(*project, "id", id.as_str())),
            Self::AaepSessionsOpenOfPerson { project, person } => {
                Match(Table::AaepSession, of_project(*project, "open_person", *person))
            }
            Self::AaepSessionsLiveOfDelegation(key) => live(Table::AaepSession, "live_delegation", *key),
            Self::AaepSessionsLiveOfSession(key) => live(Table::AaepSession, "live_session", *key),
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
        }
    }
}

fn of_project(project: RowKey, column: &'static str, value: impl Into<Value>) -> Vec<(&'static str, Value)> {
    vec![("project", project.into()), (column, value.into())]
}

fn live(table: Table, column: &'static str, key: RowKey) -> Plan {
    Match(table, vec![(column, key.into())])
}

/// The documents that a look-up finds.
pub(crate) async fn docs<S: Sql>(sql: &mut S, lookup: &Lookup) -> Result<Vec<String>, Failure> {
    let (text, params) = match lookup.plan() {
        Match(table, wanted) => matching(table, wanted, "ORDER BY key"),
        Newest(table, wanted) => matching(table, wanted, "ORDER BY key DESC LIMIT 1"),
        Due { table, by, limit } => due(table, by, limit),
    };
    sql.query(&text, &params).await?.iter().map(|row| row.text(0)).collect()
}

fn matching(table: Table, wanted: Vec<(&'static str, Value)>, order: &str) -> (String, Vec<Value>) {
    let conditions: Vec<String> = wanted.iter().zip(1..).map(|((column, _), n)| format!("{column} = ${n}")).collect();
    let filter = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    let text = format!("SELECT doc FROM {} {filter} {order}", tables::shape(table).name);
    (text, wanted.into_iter().map(|(_, value)| value).collect())
}

fn due(table: Table, by: UnixMillis, limit: i64) -> (String, Vec<Value>) {
    let name = tables::shape(table).name;
    let text = format!("SELECT doc FROM {name} WHERE due <= $1 ORDER BY due, key LIMIT $2");
    (text, vec![by.0.into(), limit.max(0).into()])
}
