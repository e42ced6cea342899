//! All look-ups of records. One variant, one indexed statement.

mod search;

use super::{error::StoreFailure, sql::Sql};
use countersign_core::records::Table;
use countersign_protocol::{hash::Digest, ids::RowKey, mplp::MplpId, time::UnixMillis};

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
    DelegationsOfProject(RowKey),
    /// Delegations that expired by `by`, the most overdue first.
    DelegationsDue {
        by: UnixMillis,
        limit: i64,
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
    SessionKeyByJkt {
        project: RowKey,
        jkt: Digest,
    },
    AccessTokenByHash(Digest),
    AllAccessTokens,
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
    /// Pending questions about the same effect.
    DecisionsOpenOfEffect {
        project: RowKey,
        effect: Digest,
    },
    /// Pending decisions found under `Decision::asks`.
    DecisionsAsking {
        project: RowKey,
        asks: String,
    },
    /// Decisions due at `by`, the most overdue first.
    DecisionsDue {
        by: UnixMillis,
        limit: i64,
    },
    DecisionsLiveOfDelegation(RowKey),
    DecisionsLiveOfSession(RowKey),
    /// Those with a key below `before`, the newest first.
    DecisionsOfPrincipal {
        project: RowKey,
        principal: String,
        before: Option<RowKey>,
        limit: i64,
    },
    DecisionsOfProject {
        project: RowKey,
        before: Option<RowKey>,
        limit: i64,
    },
    AllowancesOfDecision(RowKey),
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
    /// The standing approvals that cover calls of this session, or of this API key (`Raiser::holder`).
    AllowancesOpenOfHolder {
        project: RowKey,
        holder: RowKey,
    },
    /// The standing approvals of agents that act for this person.
    AllowancesOpenOfPerson {
        project: RowKey,
        person: RowKey,
    },
    /// The standing approvals that this person gave.
    AllowancesOpenOfDecider {
        project: RowKey,
        person: RowKey,
    },
    /// All standing approvals of a project.
    AllowancesOpenIn(RowKey),
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
    /// The one execution with an effect, unless it failed.
    ExecutionOfEffect {
        project: RowKey,
        effect: Digest,
    },
    /// The claim of this effect, or of this digest where there is no effect, with the highest fence; with any outcome.
    ExecutionFenced {
        project: RowKey,
        fence_of: Digest,
    },
    /// Executions of a project with an unknown outcome.
    ExecutionsUnknown(RowKey),
    ExecutionsDue {
        by: UnixMillis,
        limit: i64,
    },
    /// Executions with a probe of their upstream due at `by`.
    ProbesDue {
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
    /// Sessions without an event for too long.
    AaepSessionsDue {
        by: UnixMillis,
        limit: i64,
    },
    /// The event that an agent sent before under the same id.
    AgentEventSame {
        project: RowKey,
        same: Digest,
    },
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
    PlanById {
        project: RowKey,
        id: MplpId,
    },
    /// Those with a key below `before`, the newest first.
    PlansOfPrincipal {
        project: RowKey,
        principal: String,
        before: Option<RowKey>,
        limit: i64,
    },
    PlansOfPerson {
        project: RowKey,
        person: RowKey,
        before: Option<RowKey>,
        limit: i64,
    },
    PlansOfProject {
        project: RowKey,
        before: Option<RowKey>,
        limit: i64,
    },
    /// Those that are proposed, approved or in progress.
    PlansLiveOfDelegation(RowKey),
    PlansLiveOfSession(RowKey),
    ImportedConfirmById {
        project: RowKey,
        id: MplpId,
    },
    ClarificationSessionById {
        project: RowKey,
        id: MplpId,
    },
    /// The same agent's newest session with this plan as its last submission.
    ClarificationSessionSame {
        project: RowKey,
        same: Digest,
    },
    /// The newest one of this session, or of this API key.
    ClarificationSessionOfHolder {
        project: RowKey,
        holder: RowKey,
    },
    /// Those with open gaps of this session, or of this API key (`Raiser::holder`).
    ClarificationSessionsOpenOfHolder {
        project: RowKey,
        holder: RowKey,
    },
    ClarificationEntriesOf(RowKey),
    ClarificationKeysOf(RowKey),
    /// The writes on a route, under a delegation, with an unknown outcome.
    UnsettledWritesOf {
        delegation: RowKey,
        route: String,
    },
    UnsettledWriteById {
        project: RowKey,
        call_id: String,
    },
    /// All of a project, those that a person settled included.
    UnsettledWritesIn(RowKey),
}

impl Lookup {
    pub fn table(&self) -> Table {
        self.search().table()
    }
}

/// The documents that a look-up finds.
pub(crate) async fn docs<S: Sql>(sql: &mut S, lookup: &Lookup) -> Result<Vec<String>, StoreFailure> {
    let (text, params) = lookup.search().statement();
    sql.query(&text, &params).await?.iter().map(|row| row.text(0)).collect()
}
