//! Every way in which a record is looked up. One variant, one indexed statement.

use super::{error::Failure, sql::Sql, sql::Value, tables};
use countersign_core::records::Table;
use countersign_protocol::{hash::Digest, ids::RowKey};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    Key(Table, RowKey),
    ProjectById(String),
    AllProjects,
    PersonBySubject { issuer: String, subject: String },
    AllPeople,
    MembershipOf { project: RowKey, person: RowKey },
    MembershipsOfPerson(RowKey),
    MembershipsOfProject(RowKey),
    WebSessionByToken(Digest),
    WebSessionsOfPerson(RowKey),
    ConnectRequestById(String),
    ConnectRequestByCode(Digest),
    DisclosureById { project: RowKey, id: String },
    DelegationById { project: RowKey, id: String },
    DelegationsOfPerson { project: RowKey, person: RowKey },
    DelegationsOfOperator { project: RowKey, operator: String },
    SessionById { project: RowKey, operator: String, session_id: String },
    SessionsBySessionId { project: RowKey, session_id: String },
    SessionsOfDelegation { project: RowKey, delegation: RowKey },
    AccessTokenByHash(Digest),
    RevokedReceipt { project: RowKey, sha256: Digest },
    ApiKeyByHash(Digest),
    ApiKeyById { project: RowKey, id: String },
    ApiKeysOfProject(RowKey),
    SigningKeys,
    SecretByName(String),
}

impl Lookup {
    pub fn table(&self) -> Table {
        self.plan().0
    }

    /// The table, and the columns that must have these values.
    fn plan(&self) -> (Table, Vec<(&'static str, Value)>) {
        match self {
            Self::Key(table, key) => (*table, vec![("key", (*key).into())]),
            Self::ProjectById(id) => (Table::Project, vec![("id", id.as_str().into())]),
            Self::AllProjects => (Table::Project, vec![]),
            Self::PersonBySubject { issuer, subject } => {
                (Table::Person, vec![("issuer", issuer.as_str().into()), ("subject", subject.as_str().into())])
            }
            Self::AllPeople => (Table::Person, vec![]),
            Self::MembershipOf { project, person } => {
                (Table::Membership, vec![("project", (*project).into()), ("person", (*person).into())])
            }
            Self::MembershipsOfPerson(person) => (Table::Membership, vec![("person", (*person).into())]),
            Self::MembershipsOfProject(project) => (Table::Membership, vec![("project", (*project).into())]),
            Self::WebSessionByToken(hash) => (Table::WebSession, vec![("token_hash", (&hash.0).into())]),
            Self::WebSessionsOfPerson(person) => (Table::WebSession, vec![("person", (*person).into())]),
            Self::ConnectRequestById(id) => (Table::ConnectRequest, vec![("id", id.as_str().into())]),
            Self::ConnectRequestByCode(hash) => (Table::ConnectRequest, vec![("code_hash", (&hash.0).into())]),
            Self::DisclosureById { project, id } => (Table::Disclosure, of_project(*project, "id", id.as_str())),
            Self::DelegationById { project, id } => (Table::Delegation, of_project(*project, "id", id.as_str())),
            Self::DelegationsOfPerson { project, person } => {
                (Table::Delegation, of_project(*project, "person", *person))
            }
            Self::DelegationsOfOperator { project, operator } => {
                (Table::Delegation, of_project(*project, "operator", operator.as_str()))
            }
            Self::SessionById { project, operator, session_id } => {
                let mut found = of_project(*project, "operator", operator.as_str());
                found.push(("session_id", session_id.as_str().into()));
                (Table::Session, found)
            }
            Self::SessionsBySessionId { project, session_id } => {
                (Table::Session, of_project(*project, "session_id", session_id.as_str()))
            }
            Self::SessionsOfDelegation { project, delegation } => {
                (Table::Session, of_project(*project, "delegation", *delegation))
            }
            Self::AccessTokenByHash(hash) => (Table::AccessToken, vec![("hash", (&hash.0).into())]),
            Self::RevokedReceipt { project, sha256 } => {
                (Table::RevokedReceipt, of_project(*project, "sha256", &sha256.0))
            }
            Self::ApiKeyByHash(hash) => (Table::ApiKey, vec![("hash", (&hash.0).into())]),
            Self::ApiKeyById { project, id } => (Table::ApiKey, of_project(*project, "id", id.as_str())),
            Self::ApiKeysOfProject(project) => (Table::ApiKey, vec![("project", (*project).into())]),
            Self::SigningKeys => (Table::SigningKey, vec![]),
            Self::SecretByName(name) => (Table::Secret, vec![("name", name.as_str().into())]),
        }
    }
}

fn of_project(project: RowKey, column: &'static str, value: impl Into<Value>) -> Vec<(&'static str, Value)> {
    vec![("project", project.into()), (column, value.into())]
}

/// The documents that a look-up finds, in the order of their keys.
pub(crate) async fn docs<S: Sql>(sql: &mut S, lookup: &Lookup) -> Result<Vec<String>, Failure> {
    let (table, wanted) = lookup.plan();
    let conditions: Vec<String> = wanted.iter().zip(1..).map(|((column, _), n)| format!("{column} = ${n}")).collect();
    let filter = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    let text = format!("SELECT doc FROM {} {filter} ORDER BY key", tables::shape(table).name);
    let params: Vec<Value> = wanted.into_iter().map(|(_, value)| value).collect();
    sql.query(&text, &params).await?.iter().map(|row| row.text(0)).collect()
}
