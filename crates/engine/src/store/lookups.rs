//! All look-ups, grouped by record. One struct, one indexed statement.

use super::{Lookup, Search};
use countersign_core::records::{
    AaepSession, AccessToken, AgentEvent, Allowance, ApiKey, ClarificationEntry, ClarificationKey,
    ClarificationSession, ConnectRequest, Decision, Delegation, Disclosure, Execution, ImportedConfirm, Membership,
    OutboxMessage, Person, Plan, Project, RevokedReceipt, Secret, Session, SessionKey, SigningKey, Stored,
    SubscriberToken, Subscription, UnsettledWrite, WebSession, WebhookEnrolment,
};
use countersign_protocol::{hash::Digest, ids::RowKey, mplp::MplpId, time::UnixMillis};

/// Declares the look-ups of a record: the fields, the columns to compare them with (`column = field` where the names
/// differ), and a method of [`Search`] for another order or number of rows.
macro_rules! lookups {
    (@struct $(#[$doc:meta])* $name:ident {}) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name;
    };
    (@struct $(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name { $(pub $field: $type),+ }
    };
    (@struct $(#[$doc:meta])* $name:ident ( $field:ident: $type:ty )) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub $type);
    };
    (@pattern { $($field:ident: $type:ty),* }) => { Self { $($field),* } };
    (@pattern ( $field:ident: $type:ty )) => { Self($field) };
    (@value $column:ident) => { $column };
    (@value $column:ident $field:ident) => { $field };
    ($record:ident: $(
        $(#[$doc:meta])*
        $name:ident $fields:tt = [$($column:ident $(= $field:ident)?),*] $(.$rows:ident($($argument:expr),*))?;
    )+) => {$(
        lookups!(@struct $(#[$doc])* $name $fields);

        impl Lookup for $name {
            type Record = $record;

            fn search(self) -> Search {
                let lookups!(@pattern $fields) = self;
                Search::of($record::TABLE)
                    $(.with(stringify!($column), lookups!(@value $column $($field)?)))*
                    $(.$rows($($argument),*))?
            }
        }
    )+};
}

lookups! { Project:
    ProjectById(id: String) = [id];
    AllProjects {} = [];
}

lookups! { Person:
    PersonBySubject { issuer: String, subject: String } = [issuer, subject];
    AllPeople {} = [];
}

lookups! { Membership:
    MembershipOf { project: RowKey, person: RowKey } = [project, person];
    MembershipsOfPerson(person: RowKey) = [person];
    MembershipsOfProject(project: RowKey) = [project];
}

lookups! { WebSession:
    WebSessionByToken(token_hash: Digest) = [token_hash];
    WebSessionsOfPerson(person: RowKey) = [person];
}

lookups! { ConnectRequest:
    ConnectRequestById(id: String) = [id];
    ConnectRequestByCode(code_hash: Digest) = [code_hash];
}

lookups! { Disclosure:
    DisclosureById { project: RowKey, id: String } = [project, id];
}

lookups! { Delegation:
    DelegationById { project: RowKey, id: String } = [project, id];
    DelegationsOfPerson { project: RowKey, person: RowKey } = [project, person];
    DelegationsOfOperator { project: RowKey, operator: String } = [project, operator];
    DelegationsOfProject(project: RowKey) = [project];
    /// Delegations that expired by `by`, the most overdue first.
    DelegationsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
}

lookups! { Session:
    SessionById { project: RowKey, operator: String, session_id: String } = [project, operator, session_id];
    SessionsBySessionId { project: RowKey, session_id: String } = [project, session_id];
    SessionsOfDelegation { project: RowKey, delegation: RowKey } = [project, delegation];
}

lookups! { SessionKey:
    SessionKeyByJkt { project: RowKey, jkt: Digest } = [project, jkt];
}

lookups! { AccessToken:
    AccessTokenByHash(hash: Digest) = [hash];
    AllAccessTokens {} = [];
}

lookups! { RevokedReceipt:
    RevokedReceiptByHash { project: RowKey, sha256: Digest } = [project, sha256];
}

lookups! { ApiKey:
    ApiKeyByHash(hash: Digest) = [hash];
    ApiKeyById { project: RowKey, id: String } = [project, id];
    ApiKeysOfProject(project: RowKey) = [project];
}

lookups! { SigningKey:
    SigningKeys {} = [];
}

lookups! { Secret:
    SecretByName(name: String) = [name];
}

lookups! { Decision:
    DecisionById { project: RowKey, id: String } = [project, id];
    DecisionByReply(reply_hash: Digest) = [reply_hash];
    DecisionPendingSame { project: RowKey, same: Digest } = [project, open_same = same];
    /// Pending questions about the same effect.
    DecisionsOpenOfEffect { project: RowKey, effect: Digest } = [project, open_effect = effect];
    /// Pending decisions found under `Decision::asks`.
    DecisionsAsking { project: RowKey, asks: String } = [project, asks];
    /// Decisions due at `by`, the most overdue first.
    DecisionsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    DecisionsLiveOfDelegation(key: RowKey) = [live_delegation = key];
    DecisionsLiveOfSession(key: RowKey) = [live_session = key];
    /// Those with a key below `before`, the newest first.
    DecisionsOfPrincipal { project: RowKey, principal: String, before: Option<RowKey>, limit: i64 } =
        [project, principal].page(before, limit);
    DecisionsOfProject { project: RowKey, before: Option<RowKey>, limit: i64 } = [project].page(before, limit);
}

lookups! { Allowance:
    AllowancesOfDecision(decision: RowKey) = [decision];
    AllowancesDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    AllowancesLiveOfDelegation(key: RowKey) = [live_delegation = key];
    AllowancesLiveOfSession(key: RowKey) = [live_session = key];
    AllowancesOpenByDigest { project: RowKey, digest: Digest } = [project, open_digest = digest];
    /// The standing approvals that cover calls of this session, or of this API key (`Raiser::holder`).
    AllowancesOpenOfHolder { project: RowKey, holder: RowKey } = [project, open_holder = holder];
    /// The standing approvals of agents that act for this person.
    AllowancesOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
    /// The standing approvals that this person gave.
    AllowancesOpenOfDecider { project: RowKey, person: RowKey } = [project, open_decider = person];
    /// All standing approvals of a project.
    AllowancesOpenIn(project: RowKey) = [open_in = project];
}

lookups! { Execution:
    ExecutionById { project: RowKey, id: String } = [project, id];
    ExecutionsOfDecision(decision: RowKey) = [decision];
    ExecutionUnderWay { project: RowKey, digest: Digest } = [project, open_digest = digest];
    ExecutionsDone { project: RowKey, digest: Digest } = [project, done_digest = digest];
    /// The one execution with an effect, unless it failed.
    ExecutionOfEffect { project: RowKey, effect: Digest } = [project, live_effect = effect];
    /// The claim of this effect, or of this digest where there is no effect, with the highest fence; with any outcome.
    ExecutionFenced { project: RowKey, fence_of: Digest } = [project, fence_of].highest("fence");
    /// Executions of a project with an unknown outcome.
    ExecutionsUnknown(project: RowKey) = [unknown_in = project];
    ExecutionsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    /// Executions with a probe of their upstream due at `by`.
    ProbesDue { by: UnixMillis, limit: i64 } = [].due("probe_due", by, limit);
}

lookups! { AaepSession:
    AaepSessionById { project: RowKey, id: String } = [project, id];
    AaepSessionsOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
    AaepSessionsLiveOfDelegation(key: RowKey) = [live_delegation = key];
    AaepSessionsLiveOfSession(key: RowKey) = [live_session = key];
    /// Sessions without an event for too long.
    AaepSessionsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
}

lookups! { AgentEvent:
    /// The event that an agent sent before under the same id.
    AgentEventSame { project: RowKey, same: Digest } = [project, same];
}

lookups! { Subscription:
    SubscriptionById { project: RowKey, id: String } = [project, id];
    SubscriptionsOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
}

lookups! { SubscriberToken:
    SubscriberTokenByHash(hash: Digest) = [hash];
    SubscriberTokenById { project: RowKey, id: String } = [project, id];
    SubscriberTokensOfPerson { project: RowKey, person: RowKey } = [project, person];
}

lookups! { Plan:
    PlanById { project: RowKey, id: MplpId } = [project, id];
    /// Those with a key below `before`, the newest first.
    PlansOfPrincipal { project: RowKey, principal: String, before: Option<RowKey>, limit: i64 } =
        [project, principal].page(before, limit);
    PlansOfPerson { project: RowKey, person: RowKey, before: Option<RowKey>, limit: i64 } =
        [project, person].page(before, limit);
    PlansOfProject { project: RowKey, before: Option<RowKey>, limit: i64 } = [project].page(before, limit);
    /// Those that are proposed, approved or in progress.
    PlansLiveOfDelegation(key: RowKey) = [live_delegation = key];
    PlansLiveOfSession(key: RowKey) = [live_session = key];
}

lookups! { ImportedConfirm:
    ImportedConfirmById { project: RowKey, id: MplpId } = [project, id];
}

lookups! { ClarificationSession:
    ClarificationSessionById { project: RowKey, id: MplpId } = [project, id];
    /// The same agent's newest session with this plan as its last submission.
    ClarificationSessionSame { project: RowKey, same: Digest } = [project, same].newest();
    /// The newest one of this session, or of this API key.
    ClarificationSessionOfHolder { project: RowKey, holder: RowKey } = [project, holder].newest();
    /// Those with open gaps of this session, or of this API key (`Raiser::holder`).
    ClarificationSessionsOpenOfHolder { project: RowKey, holder: RowKey } = [project, open_holder = holder];
}

lookups! { ClarificationEntry:
    ClarificationEntriesOf(session: RowKey) = [session];
}

lookups! { ClarificationKey:
    ClarificationKeysOf(project: RowKey) = [project];
}

lookups! { UnsettledWrite:
    /// The writes on a route, under a delegation, with an unknown outcome.
    UnsettledWritesOf { delegation: RowKey, route: String } = [open_delegation = delegation, route];
    UnsettledWriteById { project: RowKey, call_id: String } = [project, call_id];
    /// All of a project, those that a person settled included.
    UnsettledWritesIn(project: RowKey) = [project];
}

lookups! { OutboxMessage:
    OutboxMessageById { project: RowKey, id: String } = [project, id];
    /// Messages with an attempt due at `by`, the most overdue first.
    OutboxMessagesDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    /// The pending ones of a delegation, oldest first.
    OutboxMessagesOpenOf(delegation: RowKey) = [open_delegation = delegation];
    /// Those with a key below `before`, the newest first.
    OutboxMessagesIn { project: RowKey, before: Option<RowKey>, limit: i64 } = [project].page(before, limit);
    DeadMessagesIn { project: RowKey, before: Option<RowKey>, limit: i64 } = [dead_in = project].page(before, limit);
}

lookups! { WebhookEnrolment:
    WebhookEnrolmentOf { project: RowKey, operator: String } = [project, operator];
    WebhookEnrolmentsIn(project: RowKey) = [project];
}
