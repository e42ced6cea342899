//! The tables of records: `(key, version, columns…, doc)`, the same in both databases, and their look-ups.
//!
//! The document is the record as JSON; the columns between are copies of the members that a row is looked up, kept unique
//! or swept by. The migrations create exactly these columns. A column that is empty once a row is settled keeps its index
//! as small as the number of open rows.

use super::{
    maintenance::{DAY, HOUR, Swept},
    search::{Lookup, Search},
    sql::SqlValue,
};
use countersign_core::{
    mplp::trace,
    records::{
        AaepSession, AaepSessionState, AccessToken, AgentEvent, Allowance, ApiKey, ClarificationEntry,
        ClarificationKey, ClarificationSession, ClarificationState, ConnectProgress, ConnectRequest, Decision,
        Delegation, Disclosure, Epoch, Erasure, Execution, ExecutionState, Heartbeat, HeldRequest, ImportedConfirm,
        LifecycleReport, LogKey, Membership, OutboxMessage, OutboxState, Person, Plan, Project, Raiser, Record,
        ReversibleWrite, RevokedReceipt, Rollback, ScimUser, Secret, Session, SessionKey, SessionState, SharedRecord,
        SigningKey, Stored, SubscriberToken, Subscription, Table, UndoableCall, UnsettledWrite, WebSession,
        WebhookEnrolment,
    },
};
use countersign_protocol::{
    hash::Digest,
    ids::RowKey,
    mplp::{MplpId, PlanStatus},
    time::UnixMillis,
};
use std::{
    collections::BTreeMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// A table's name and its look-up columns.
pub(crate) struct TableColumns {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
}

/// Declares a record's table: its name, its columns with their values, the column of its expiry if it is swept, and its
/// look-ups.
macro_rules! tables {
    ($(
        $record:ident in $name:literal |$r:ident| [$($column:ident = $value:expr),+ $(,)?]
        $(swept by $until:ident after $grace:ident)?
        { $($lookups:tt)* }
    )+) => {
        pub(crate) const fn columns_of(table: Table) -> TableColumns {
            match table {
                $(Table::$record => TableColumns { name: $name, columns: &[$(stringify!($column)),+] }),+
            }
        }

        /// The values of the look-up columns, in the order of [`columns_of`].
        pub(crate) fn values(record: &Record) -> Vec<SqlValue> {
            match record {
                $(Record::$record($r) => vec![$(SqlValue::from($value)),+]),+
            }
        }

        /// The same of a record in memory.
        pub(crate) fn shared_values(table: Table, record: &SharedRecord) -> Option<Vec<SqlValue>> {
            match table {
                $(Table::$record => record.downcast_ref::<$record>().map(|$r| vec![$(SqlValue::from($value)),+])),+
            }
        }

        /// The records that expire.
        pub(crate) const SWEPT: &[Swept] = &[
            $($(Swept { table: $name, key: "key", until: stringify!($until), grace: $grace },)?)+
        ];

        $(lookups! { $record: $($lookups)* })+
    };
}

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
    )*) => {$(
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
    )*};
}

/// A row that is not needed after its expiry.
const NO_GRACE: i64 = 0;

tables! {
    Project in "projects" |r| [id = r.id.as_str()] {
        ProjectById(id: String) = [id].unique();
        AllProjects {} = [];
    }

    Person in "people" |r| [issuer = r.issuer.as_str(), subject = r.subject.as_str()] {
        PersonBySubject { issuer: String, subject: String } = [issuer, subject].unique();
        AllPeople {} = [];
    }

    Membership in "memberships" |r| [project = r.project, person = r.person] {
        MembershipOf { project: RowKey, person: RowKey } = [project, person].unique();
        MembershipsOfPerson(person: RowKey) = [person];
        MembershipsOfProject(project: RowKey) = [project];
    }

    WebSession in "web_sessions" |r| [token_hash = r.token_hash, person = r.person, expires_at = r.expires_at] swept by expires_at after HOUR {
        WebSessionByToken(token_hash: Digest) = [token_hash].unique();
    }

    ConnectRequest in "connect_requests" |r| [
        id = r.id.as_str(),
        project = r.project,
        code_hash = code_of(r).map(|(hash, _)| hash),
        expires_at = code_of(r).map_or(r.expires_at, |(_, until)| r.expires_at.max(until)),
    ] swept by expires_at after HOUR {
        ConnectRequestById(id: String) = [id].unique();
        ConnectRequestByCode(code_hash: Digest) = [code_hash];
    }

    Disclosure in "disclosures" |r| [project = r.project, id = r.id.as_str(), expires_at = r.expires_at] swept by expires_at after HOUR {
        DisclosureById { project: RowKey, id: String } = [project, id].unique();
    }

    Delegation in "delegations" |r| [
        project = r.project,
        id = r.id.as_str(),
        person = r.person,
        operator = r.operator.as_str(),
        due = r.due(),
        ended_at = r.ended_at(),
    ] {
        DelegationById { project: RowKey, id: String } = [project, id].unique();
        DelegationsOfPerson { project: RowKey, person: RowKey } = [project, person];
        DelegationsOfProject(project: RowKey) = [project];
        DelegationsOfOperator { project: RowKey, operator: String } = [project, operator];
        /// Delegations that expired by `by`, the most overdue first.
        DelegationsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    }

    Session in "sessions" |r| [
        project = r.project,
        operator = r.operator.as_str(),
        session_id = r.session_id.as_str(),
        // A service account alone keeps its session as long as its grant.
        delegation = r.delegation.or(r.service_account.as_ref().map(|account| account.delegation)),
        expanded_in = is_expanded(r).then_some(r.project),
        expanded_for = r.subject.as_deref().filter(|_| is_expanded(r)),
    ] {
        SessionById { project: RowKey, operator: String, session_id: String } = [project, operator, session_id].unique();
        SessionsBySessionId { project: RowKey, session_id: String } = [project, session_id];
        SessionsOfDelegation { project: RowKey, delegation: RowKey } = [project, delegation];
        /// Open sessions with scopes beyond their receipts.
        SessionsExpandedIn(project: RowKey) = [expanded_in = project];
        SessionsExpandedFor { project: RowKey, subject: String } = [expanded_in = project, expanded_for = subject];
    }

    AccessToken in "access_tokens" |r| [hash = r.hash, expires_at = r.expires_at] swept by expires_at after HOUR {
        AccessTokenByHash(hash: Digest) = [hash].unique();
        AllAccessTokens {} = [];
    }

    SessionKey in "session_keys" |r| [project = r.project, jkt = r.jkt] {
        SessionKeyByJkt { project: RowKey, jkt: Digest } = [project, jkt].unique();
    }

    RevokedReceipt in "revoked_receipts" |r| [project = r.project, sha256 = r.sha256] {
        RevokedReceiptByHash { project: RowKey, sha256: Digest } = [project, sha256];
    }

    ApiKey in "api_keys" |r| [project = r.project, id = r.id.as_str(), hash = r.hash] {
        ApiKeyByHash(hash: Digest) = [hash].unique();
        ApiKeyById { project: RowKey, id: String } = [project, id].unique();
        ApiKeysOfProject(project: RowKey) = [project];
    }

    SigningKey in "signing_keys" |r| [kid = r.kid.as_str()] {
        SigningKeys {} = [];
    }

    LogKey in "log_keys" |r| [generation = r.generation] {
        LogKeys {} = [];
    }

    Secret in "secrets" |r| [name = r.name.as_str()] {
        SecretByName(name: String) = [name].unique();
    }

    Decision in "decisions" |r| [
        project = r.project,
        id = r.id.as_str(),
        reply_hash = r.reply_hash,
        open_same = r.is_pending().then_some(r.same),
        asks = r.asks(),
        due = r.due(),
        live_delegation = live_principal(&r.raised_by, r.is_pending()),
        live_session = r.raised_by.session.filter(|_| r.is_pending()),
        principal = r.raised_by.principal.as_str(),
        open_effect = r.effect.filter(|_| r.is_pending()),
        settled_at = r.settled_at(),
        asked_in = r.asked_in,
        plan = r.plan(),
        expands = r.raised_by.session.filter(|_| r.expansion.is_some()),
    ] {
        DecisionById { project: RowKey, id: String } = [project, id].unique();
        DecisionByReply(reply_hash: Digest) = [reply_hash].unique();
        DecisionPendingSame { project: RowKey, same: Digest } = [project, open_same = same];
        /// Pending questions about the same effect.
        DecisionsOpenOfEffect { project: RowKey, effect: Digest } = [project, open_effect = effect];
        /// Pending decisions found under `Decision::asks`.
        DecisionsAsking { project: RowKey, asks: String } = [project, asks];
        /// Decisions due at `by`, the most overdue first.
        DecisionsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
        DecisionsLiveOfDelegation(key: RowKey) = [live_delegation = key];
        DecisionsLiveOfSession(key: RowKey) = [live_session = key];
        /// The newest requests for further scopes of a session.
        DecisionsExpanding { session: RowKey, limit: i64 } = [expands = session].page(None, limit);
        /// Those with a key below `before`, the newest first.
        DecisionsOfPrincipal { project: RowKey, principal: String, before: Option<RowKey>, limit: i64 } =
            [project, principal].page(before, limit);
        /// Those of all projects.
        DecisionsPage { before: Option<RowKey>, limit: i64 } = [].page(before, limit);
        DecisionsOfProject { project: RowKey, before: Option<RowKey>, limit: i64 } = [project].page(before, limit);
    }

    Allowance in "allowances" |r| [
        decision = r.decision,
        due = r.is_open().then_some(r.until),
        live_delegation = live_principal(&r.raised_by, r.is_open()),
        live_session = r.raised_by.session.filter(|_| r.is_open()),
        project = r.project,
        open_digest = r.digest.filter(|_| r.is_open()),
        open_holder = is_standing(r).then(|| r.raised_by.holder()),
        open_person = is_standing(r).then_some(r.raised_by.person),
        open_decider = r.decided_by.filter(|_| is_standing(r)),
        open_in = is_standing(r).then_some(r.project),
        queued_due = r.queued_call().map(|queued| queued.due),
        queued_in = r.queued_call().map(|_| r.project),
    ] {
        AllowancesOfDecision(decision: RowKey) = [decision];
        AllowancesDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
        AllowancesLiveOfDelegation(key: RowKey) = [live_delegation = key];
        AllowancesLiveOfSession(key: RowKey) = [live_session = key];
        AllowancesOpenByDigest { project: RowKey, digest: Digest } = [project, open_digest = digest];
        /// Held calls with a closed undo window, the most overdue first.
        AllowancesQueuedDue { by: UnixMillis, limit: i64 } = [].due("queued_due", by, limit);
        /// All calls of a project in their undo window.
        AllowancesQueuedIn(project: RowKey) = [queued_in = project];
        /// The standing approvals that cover calls of this session, or of this API key (`Raiser::holder`).
        AllowancesOpenOfHolder { project: RowKey, holder: RowKey } = [project, open_holder = holder];
        /// The standing approvals of agents that act for this person.
        AllowancesOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
        /// The standing approvals that this person gave.
        AllowancesOpenOfDecider { project: RowKey, person: RowKey } = [project, open_decider = person];
        /// All standing approvals of a project.
        AllowancesOpenIn(project: RowKey) = [open_in = project];
    }

    Execution in "executions" |r| [
        project = r.project,
        id = r.id.as_str(),
        decision = r.decision,
        open_digest = r.is_under_way().then_some(r.digest),
        done_digest = matches!(r.state, ExecutionState::Committed { .. }).then_some(r.digest),
        unknown_in = matches!(r.state, ExecutionState::Unknown { .. }).then_some(r.project),
        due = r.lease_until(),
        // A failed effect did not happen, and may be tried again; every other outcome forbids it.
        live_effect = r.effect.filter(|_| !matches!(r.state, ExecutionState::Failed { .. })),
        probe_due = r.probe_due(),
        ended_at = r.ended_at(),
        // Claims from before the introduction of fences have none.
        fence_of = (r.fence > 0).then(|| r.fence_of()),
        fence = (r.fence > 0).then_some(r.fence),
        of_session = r.raised_by.session,
    ] {
        /// All executions of an AAP session.
        ExecutionsOfSession(session: RowKey) = [of_session = session];
        ExecutionById { project: RowKey, id: String } = [project, id].unique();
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

    AaepSession in "aaep_sessions" |r| [
        project = r.project,
        id = r.id.as_str(),
        open_person = ended_at(r).is_none().then_some(r.person),
        live_delegation = r.delegation.or(r.api_key).filter(|_| ended_at(r).is_none()),
        live_session = r.session.filter(|_| ended_at(r).is_none()),
        due = r.due(),
        ended_at = ended_at(r),
    ] {
        AaepSessionById { project: RowKey, id: String } = [project, id].unique();
        AaepSessionsOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
        AaepSessionsLiveOfDelegation(key: RowKey) = [live_delegation = key];
        AaepSessionsLiveOfSession(key: RowKey) = [live_session = key];
        /// Sessions without an event for too long.
        AaepSessionsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    }

    Subscription in "subscriptions" |r| [
        project = r.project,
        id = r.id.as_str(),
        open_person = r.closed_at.is_none().then_some(r.person),
        expires_at = r.closed_at,
    ] swept by expires_at after DAY {
        SubscriptionById { project: RowKey, id: String } = [project, id].unique();
        SubscriptionsOpenOfPerson { project: RowKey, person: RowKey } = [project, open_person = person];
    }

    SubscriberToken in "subscriber_tokens" |r| [project = r.project, id = r.id.as_str(), hash = r.hash, person = r.person] {
        SubscriberTokenByHash(hash: Digest) = [hash].unique();
        SubscriberTokenById { project: RowKey, id: String } = [project, id].unique();
        SubscriberTokensOfPerson { project: RowKey, person: RowKey } = [project, person];
    }

    HeldRequest in "held_requests" |r| [project = r.project] {}

    Plan in "plans" |r| [
        project = r.project,
        id = r.id.as_str(),
        principal = r.by.principal.as_str(),
        person = r.by.person,
        live_delegation = live_principal(&r.by, is_live(r)),
        live_session = r.by.session.filter(|_| is_live(r)),
        ended_at = trace::finished_at(&r.document),
    ] {
        PlanById { project: RowKey, id: MplpId } = [project, id].unique();
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

    ImportedConfirm in "imported_confirms" |r| [project = r.project, id = r.id.as_str()] {
        ImportedConfirmById { project: RowKey, id: MplpId } = [project, id].unique();
    }

    ClarificationSession in "clarification_sessions" |r| [
        project = r.project,
        id = r.id.as_str(),
        same = r.same,
        holder = r.by.holder(),
        open_holder = stops_calls(r).then(|| r.by.holder()),
        ended_at = r.ended_at(),
    ] {
        ClarificationSessionById { project: RowKey, id: MplpId } = [project, id].unique();
        /// The same agent's newest session with this plan as its last submission.
        ClarificationSessionSame { project: RowKey, same: Digest } = [project, same].newest();
        /// The newest one of this session, or of this API key.
        ClarificationSessionOfHolder { project: RowKey, holder: RowKey } = [project, holder].newest();
        /// Those with open gaps of this session, or of this API key (`Raiser::holder`).
        ClarificationSessionsOpenOfHolder { project: RowKey, holder: RowKey } = [project, open_holder = holder];
    }

    ClarificationEntry in "clarification_entries" |r| [session = r.session, position = r.position] {
        ClarificationEntriesOf(session: RowKey) = [session];
    }

    ClarificationKey in "clarification_keys" |r| [project = r.project, generation = r.generation] {
        ClarificationKeysOf(project: RowKey) = [project];
    }

    AgentEvent in "agent_events" |r| [project = r.project, same = r.same, expires_at = r.expires_at] swept by expires_at after NO_GRACE {
        /// The event that an agent sent before under the same id.
        AgentEventSame { project: RowKey, same: Digest } = [project, same].unique();
    }

    Epoch in "epochs" |r| [database = r.database.as_str(), number = r.number] {}

    UnsettledWrite in "unsettled_writes" |r| [
        project = r.project,
        call_id = r.call_id.as_str(),
        open_delegation = r.refuses_repeats().then_some(r.delegation),
        route = r.route.as_str(),
        open_same = r.same.filter(|_| r.refuses_repeats()),
        until = r.until,
    ]
    // `until` ends its refusals; a late, different fact is compared with the row for a day more.
     swept by until after DAY {
        /// The writes on a route, under a delegation, with repeats that are refused.
        UnsettledWritesOf { delegation: RowKey, route: String } = [open_delegation = delegation, route];
        UnsettledWriteById { project: RowKey, call_id: String } = [project, call_id].unique();
        /// All of a project, those that a person settled included.
        UnsettledWritesIn(project: RowKey) = [project];
    }

    OutboxMessage in "outbox_messages" |r| [
        project = r.project,
        id = r.id.as_str(),
        operator = r.operator.as_str(),
        delegation = r.delegation,
        open_delegation = r.due().map(|_| r.delegation),
        due = r.due(),
        dead_in = matches!(r.state, OutboxState::Dead { .. }).then_some(r.project),
    ] {
        OutboxMessageById { project: RowKey, id: String } = [project, id].unique();
        /// One message with an attempt due at `by`, of the first operator after this one.
        OutboxMessageDueAfter { operator: String, by: UnixMillis } = [].due_after("operator", operator, "due", by);
        /// An operator's messages with an attempt due at `by`, the most overdue first.
        OutboxMessagesDueAt { operator: String, by: UnixMillis, limit: i64 } = [operator].due("due", by, limit);
        /// The pending ones of a delegation, oldest first.
        OutboxMessagesOpenOf(delegation: RowKey) = [open_delegation = delegation];
        /// Those with a key below `before`, the newest first.
        OutboxMessagesIn { project: RowKey, before: Option<RowKey>, limit: i64 } = [project].page(before, limit);
        DeadMessagesIn { project: RowKey, before: Option<RowKey>, limit: i64 } = [dead_in = project].page(before, limit);
    }

    WebhookEnrolment in "webhook_enrolments" |r| [project = r.project, operator = r.operator.as_str()] {
        WebhookEnrolmentOf { project: RowKey, operator: String } = [project, operator].unique();
        WebhookEnrolmentsIn(project: RowKey) = [project];
    }

    ScimUser in "scim_users" |r| [
        project = r.project,
        id = r.id.as_str(),
        person = r.person,
        user_name = r.folded_user_name().as_str(),
    ] {
        ScimUserById { project: RowKey, id: String } = [project, id].unique();
        ScimUserOfPerson { project: RowKey, person: RowKey } = [project, person];
        /// By the folded name.
        ScimUserByName { project: RowKey, user_name: String } = [project, user_name];
        ScimUsersOfProject(project: RowKey) = [project];
    }

    ReversibleWrite in "reversible_writes" |r| [
        project = r.project,
        session = r.session,
        call_id = r.call_id.as_str(),
        until = r.until,
    ] swept by until after NO_GRACE {
        ReversibleWriteById { project: RowKey, call_id: String } = [project, call_id];
        ReversibleWritesOf(session: RowKey) = [session];
    }

    UndoableCall in "undoable_calls" |r| [
        project = r.project,
        decision = r.decision,
        call_id = r.call_id.as_str(),
        due = r.due(),
        open_in = r.open_until().map(|_| r.project),
        until = r.until,
    ] swept by until after NO_GRACE {
        UndoableCallById { project: RowKey, call_id: String } = [project, call_id].unique();
        UndoableCallsOf(decision: RowKey) = [decision];
        LastUndoableCallOf(decision: RowKey) = [decision].newest();
        /// Those with a key below `before`, the newest first.
        UndoableCallsOpenIn { project: RowKey, before: Option<RowKey>, limit: i64 } = [open_in = project].page(before, limit);
        UndoableCallsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    }

    Rollback in "rollbacks" |r| [project = r.project, session = r.session, due = r.due()] {
        /// The newest of a session.
        RollbackOf(session: RowKey) = [session].newest();
        RollbacksDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
    }

    Heartbeat in "heartbeats" |r| [
        project = r.project,
        session = r.session,
        due = r.due(),
        open_in = (!r.is_over()).then_some(r.project),
        until = r.until,
    ] swept by until after DAY {
        HeartbeatOf(session: RowKey) = [session];
        /// Those due at `by`, the most overdue first.
        HeartbeatsDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
        /// All of a project's running tasks.
        HeartbeatsOpenIn(project: RowKey) = [open_in = project];
    }

    Erasure in "erasures" |r| [person = r.person, due = r.due()] {
        ErasureOf(person: RowKey) = [person].unique();
        ErasuresDue { by: UnixMillis, limit: i64 } = [].due("due", by, limit);
        AllErasures {} = [];
    }

    LifecycleReport in "lifecycle_reports" |r| [project = r.project, same = r.same, expires_at = r.expires_at] swept by expires_at after NO_GRACE {
        /// The event that was reported before under the same id.
        LifecycleReportSame { project: RowKey, same: Digest } = [project, same].unique();
    }
}

/// The code of an approved request, and its end.
fn code_of(r: &ConnectRequest) -> Option<(Digest, UnixMillis)> {
    match &r.progress {
        ConnectProgress::Approved { code_hash, code_expires_at, .. } => Some((*code_hash, *code_expires_at)),
        _ => None,
    }
}

/// Row keys are unique over all tables, so the same column serves delegations and API keys.
fn live_principal(raiser: &Raiser, live: bool) -> Option<RowKey> {
    raiser.delegation.or(raiser.api_key).filter(|_| live)
}

fn is_expanded(r: &Session) -> bool {
    r.state == SessionState::Open && !r.expansions.is_empty()
}

fn is_standing(r: &Allowance) -> bool {
    r.is_open() && r.is_bounded()
}

fn ended_at(r: &AaepSession) -> Option<UnixMillis> {
    match r.state {
        AaepSessionState::Open { .. } => None,
        AaepSessionState::Over { at } => Some(at),
    }
}

fn is_live(r: &Plan) -> bool {
    matches!(r.document.status, PlanStatus::Proposed | PlanStatus::Approved | PlanStatus::InProgress)
}

/// An open gap is found by its holder before any call of that holder runs.
fn stops_calls(r: &ClarificationSession) -> bool {
    (matches!(r.state, ClarificationState::Open) && r.open_gaps().next().is_some()) || r.still_blocks()
}

/// The statements that write a table.
pub(crate) struct TableStatements {
    /// `(key, version, columns…, doc)`; changes nothing where any unique column is taken.
    pub(crate) insert: String,
    /// `(version, columns…, doc, key, old version)`.
    pub(crate) update: String,
    /// `(key)`.
    pub(crate) delete: String,
    /// `(key)`.
    pub(crate) version: String,
    /// `(keys)`, for PostgreSQL: in the order of keys, so that two nodes cannot wait for each other.
    pub(crate) versions: String,
}

pub(crate) const KEEP_PROJECT_VERSION: &str = "INSERT INTO project_versions (project, version, doc) \
     VALUES ($1, $2, $3) ON CONFLICT (project, version) DO UPDATE SET doc = excluded.doc";

#[expect(clippy::indexing_slicing, reason = "there is a text for each table, in the order of the enum")]
pub(crate) fn statements_of(table: Table) -> &'static TableStatements {
    static TEXTS: LazyLock<Vec<TableStatements>> =
        LazyLock::new(|| Table::ALL.iter().map(|t| TableStatements::of(&columns_of(*t))).collect());
    &TEXTS[table as usize]
}

/// The text that writes only the columns of `changed`, a bit each, with their values in the order of [`columns_of`] between
/// version and document. There are few: what an operation changes is always the same.
pub(crate) fn update_of(table: Table, changed: u64) -> &'static str {
    static TEXTS: RwLock<BTreeMap<(Table, u64), &'static str>> = RwLock::new(BTreeMap::new());
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner).get(&(table, changed)).copied();
    known.unwrap_or_else(|| {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        texts.entry((table, changed)).or_insert_with(|| update_text(&columns_of(table), changed).leak())
    })
}

fn update_text(shape: &TableColumns, changed: u64) -> String {
    let written = shape.columns.iter().enumerate().filter(|(n, _)| changed >> n & 1 == 1).map(|(_, column)| *column);
    let columns: Vec<&str> = ["version"].into_iter().chain(written).chain(["doc"]).collect();
    let sets: Vec<String> = columns.iter().zip(1..).map(|(column, n)| format!("{column} = ${n}")).collect();
    let (key, old) = (columns.len() + 1, columns.len() + 2);
    format!("UPDATE {} SET {} WHERE key = ${key} AND version = ${old}", shape.name, sets.join(", "))
}

impl TableStatements {
    fn of(shape: &TableColumns) -> Self {
        let TableColumns { name, columns } = shape;
        let listed = columns.join(", ");
        let places: Vec<String> = (1..=columns.len() + 3).map(|n| format!("${n}")).collect();
        let sets: Vec<String> = columns.iter().zip(2..).map(|(column, n)| format!("{column} = ${n}")).collect();
        let (doc, key, old) = (columns.len() + 2, columns.len() + 3, columns.len() + 4);
        Self {
            insert: format!(
                "INSERT INTO {name} (key, version, {listed}, doc) VALUES ({}) ON CONFLICT DO NOTHING",
                places.join(", ")
            ),
            update: format!(
                "UPDATE {name} SET version = $1, {}, doc = ${doc} WHERE key = ${key} AND version = ${old}",
                sets.join(", ")
            ),
            delete: format!("DELETE FROM {name} WHERE key = $1"),
            version: format!("SELECT version FROM {name} WHERE key = $1"),
            versions: format!("SELECT key, version FROM {name} WHERE key = ANY($1) ORDER BY key"),
        }
    }
}
