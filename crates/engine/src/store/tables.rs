//! The tables of records: `(key, version, columns…, doc)`, the same in both databases.
//!
//! The document is the record as JSON; the columns between are copies of the members that a row is looked up, kept unique
//! or swept by. The migrations create exactly these columns.

use super::sql::SqlValue;
use countersign_core::mplp::trace;
use countersign_core::records::{
    AaepSession, AaepSessionState, Allowance, ClarificationSession, ClarificationState, ConnectProgress, Decision,
    Execution, ExecutionState, OutboxMessage, OutboxState, Plan, Raiser, Record, Subscription, Table,
};
use countersign_protocol::mplp::PlanStatus;
use std::sync::LazyLock;

/// A table's name and its look-up columns.
pub(crate) struct TableColumns {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
}

pub(crate) const fn shape(table: Table) -> TableColumns {
    let (name, columns): (_, &'static [_]) = match table {
        Table::Project => ("projects", &["id"]),
        Table::Person => ("people", &["issuer", "subject"]),
        Table::Membership => ("memberships", &["project", "person"]),
        Table::WebSession => ("web_sessions", &["token_hash", "person", "expires_at"]),
        Table::ConnectRequest => ("connect_requests", &["id", "project", "code_hash", "expires_at"]),
        Table::Disclosure => ("disclosures", &["project", "id", "expires_at"]),
        Table::Delegation => ("delegations", &["project", "id", "person", "operator", "due", "ended_at"]),
        Table::Session => ("sessions", &["project", "operator", "session_id", "delegation"]),
        Table::AccessToken => ("access_tokens", &["hash", "expires_at"]),
        Table::SessionKey => ("session_keys", &["project", "jkt"]),
        Table::RevokedReceipt => ("revoked_receipts", &["project", "sha256"]),
        Table::ApiKey => ("api_keys", &["project", "id", "hash"]),
        Table::SigningKey => ("signing_keys", &["kid"]),
        Table::Secret => ("secrets", &["name"]),
        Table::Decision => (
            "decisions",
            &[
                "project",
                "id",
                "reply_hash",
                "open_same",
                "asks",
                "due",
                "live_delegation",
                "live_session",
                "principal",
                "open_effect",
                "settled_at",
                "asked_in",
                "plan",
            ],
        ),
        Table::Allowance => (
            "allowances",
            &[
                "decision",
                "due",
                "live_delegation",
                "live_session",
                "project",
                "open_digest",
                "open_holder",
                "open_person",
                "open_decider",
                "open_in",
            ],
        ),
        Table::Execution => (
            "executions",
            &[
                "project",
                "id",
                "decision",
                "open_digest",
                "done_digest",
                "unknown_in",
                "due",
                "live_effect",
                "probe_due",
                "ended_at",
                "fence_of",
                "fence",
            ],
        ),
        Table::AaepSession => {
            ("aaep_sessions", &["project", "id", "open_person", "live_delegation", "live_session", "due", "ended_at"])
        }
        Table::Subscription => ("subscriptions", &["project", "id", "open_person", "expires_at"]),
        Table::SubscriberToken => ("subscriber_tokens", &["project", "id", "hash", "person"]),
        Table::HeldRequest => ("held_requests", &["project"]),
        Table::Plan => {
            ("plans", &["project", "id", "principal", "person", "live_delegation", "live_session", "ended_at"])
        }
        Table::ImportedConfirm => ("imported_confirms", &["project", "id"]),
        Table::ClarificationSession => {
            ("clarification_sessions", &["project", "id", "same", "holder", "open_holder", "ended_at"])
        }
        Table::ClarificationEntry => ("clarification_entries", &["session", "position"]),
        Table::ClarificationKey => ("clarification_keys", &["project", "generation"]),
        Table::AgentEvent => ("agent_events", &["project", "same", "expires_at"]),
        Table::Epoch => ("epochs", &["database", "number"]),
        Table::UnsettledWrite => {
            ("unsettled_writes", &["project", "call_id", "open_delegation", "route", "open_same", "until"])
        }
        Table::OutboxMessage => {
            ("outbox_messages", &["project", "id", "delegation", "open_delegation", "due", "dead_in"])
        }
        Table::WebhookEnrolment => ("webhook_enrolments", &["project", "operator"]),
    };
    TableColumns { name, columns }
}

/// The values of the look-up columns, in the order of [`shape`].
pub(crate) fn values(record: &Record) -> Vec<SqlValue> {
    match record {
        Record::Project(r) => vec![r.id.as_str().into()],
        Record::Person(r) => vec![r.issuer.as_str().into(), r.subject.as_str().into()],
        Record::Membership(r) => vec![r.project.into(), r.person.into()],
        Record::WebSession(r) => vec![(&r.token_hash.0).into(), r.person.into(), r.expires_at.0.into()],
        Record::ConnectRequest(r) => {
            let (code, expires_at) = match &r.progress {
                ConnectProgress::Approved { code_hash, code_expires_at, .. } => {
                    (Some(&code_hash.0), r.expires_at.max(*code_expires_at))
                }
                _ => (None, r.expires_at),
            };
            vec![r.id.as_str().into(), r.project.into(), code.into(), expires_at.0.into()]
        }
        Record::Disclosure(r) => vec![r.project.into(), r.id.as_str().into(), r.expires_at.0.into()],
        Record::Delegation(r) => vec![
            r.project.into(),
            r.id.as_str().into(),
            r.person.into(),
            r.operator.as_str().into(),
            r.due().map(|due| due.0).into(),
            r.ended_at().map(|at| at.0).into(),
        ],
        Record::Session(r) => {
            vec![r.project.into(), r.operator.as_str().into(), r.session_id.as_str().into(), r.delegation.into()]
        }
        Record::AccessToken(r) => vec![(&r.hash.0).into(), r.expires_at.0.into()],
        Record::SessionKey(r) => vec![r.project.into(), (&r.jkt.0).into()],
        Record::RevokedReceipt(r) => vec![r.project.into(), (&r.sha256.0).into()],
        Record::ApiKey(r) => vec![r.project.into(), r.id.as_str().into(), (&r.hash.0).into()],
        Record::SigningKey(r) => vec![r.kid.as_str().into()],
        Record::Secret(r) => vec![r.name.as_str().into()],
        Record::Decision(r) => of_decision(r),
        Record::Allowance(r) => of_allowance(r),
        Record::Execution(r) => of_execution(r),
        Record::AaepSession(r) => of_aaep_session(r),
        Record::Subscription(r) => of_subscription(r),
        Record::SubscriberToken(r) => {
            vec![r.project.into(), r.id.as_str().into(), (&r.hash.0).into(), r.person.into()]
        }
        Record::HeldRequest(r) => vec![r.project.into()],
        Record::Plan(r) => of_plan(r),
        Record::ImportedConfirm(r) => vec![r.project.into(), r.id.as_str().into()],
        Record::ClarificationSession(r) => of_clarification(r),
        Record::ClarificationEntry(r) => vec![r.session.into(), r.position.into()],
        Record::ClarificationKey(r) => vec![r.project.into(), r.generation.into()],
        Record::UnsettledWrite(r) => {
            let open = r.is_open();
            vec![
                r.project.into(),
                r.call_id.as_str().into(),
                open.then_some(r.delegation).into(),
                r.route.as_str().into(),
                open.then_some(&r.same.0).into(),
                r.until.0.into(),
            ]
        }
        Record::OutboxMessage(r) => of_outbox_message(r),
        Record::WebhookEnrolment(r) => vec![r.project.into(), r.operator.as_str().into()],
        Record::Epoch(r) => vec![r.database.as_str().into(), r.number.into()],
        Record::AgentEvent(r) => vec![r.project.into(), (&r.same.0).into(), r.expires_at.0.into()],
    }
}

/// A column that is empty once a row is settled keeps its index as small as the number of open rows.
fn of_decision(r: &Decision) -> Vec<SqlValue> {
    let open = r.is_pending();
    let mut values: Vec<SqlValue> = vec![
        r.project.into(),
        r.id.as_str().into(),
        (&r.reply_hash.0).into(),
        open.then_some(&r.same.0).into(),
        r.asks().as_deref().into(),
        r.due().map(|due| due.0).into(),
    ];
    values.extend(while_live(&r.raised_by, open));
    values.push(r.raised_by.principal.as_str().into());
    values.push(r.effect.as_ref().filter(|_| open).map(|effect| &effect.0).into());
    values.extend([r.settled_at().map(|at| at.0).into(), r.asked_in.into(), r.plan().into()]);
    values
}

fn of_allowance(r: &Allowance) -> Vec<SqlValue> {
    let open = r.is_open();
    let mut values: Vec<SqlValue> = vec![r.decision.into(), open.then_some(r.until.0).into()];
    values.extend(while_live(&r.raised_by, open));
    values.extend([r.project.into(), r.digest.as_ref().filter(|_| open).map(|digest| &digest.0).into()]);
    values.extend(while_bounded(r, open && r.is_bounded()));
    values
}

/// The columns to find an open standing approval by: its holder, its person, its approver and its project.
fn while_bounded(r: &Allowance, open: bool) -> [SqlValue; 4] {
    let by = &r.raised_by;
    [Some(by.holder()), Some(by.person), r.decided_by, Some(r.project)].map(|key| key.filter(|_| open).into())
}

fn while_live(raiser: &Raiser, open: bool) -> [SqlValue; 2] {
    // Row keys are unique over all tables, so the same column serves delegations and API keys.
    let principal = raiser.delegation.or(raiser.api_key);
    [principal.filter(|_| open).into(), raiser.session.filter(|_| open).into()]
}

fn of_execution(r: &Execution) -> Vec<SqlValue> {
    let done = matches!(r.state, ExecutionState::Committed { .. });
    let unknown = matches!(r.state, ExecutionState::Unknown { .. });
    // A failed effect did not happen, and may be tried again; every other outcome forbids it.
    let live_effect = r.effect.as_ref().filter(|_| !matches!(r.state, ExecutionState::Failed { .. }));
    // Claims from before the introduction of fences have none.
    let (fence_of, fenced) = (r.fence_of(), r.fence > 0);
    let due = match r.state {
        ExecutionState::Claimed { lease_until } => Some(lease_until.0),
        _ => None,
    };
    vec![
        r.project.into(),
        r.id.as_str().into(),
        r.decision.into(),
        r.is_under_way().then_some(&r.digest.0).into(),
        done.then_some(&r.digest.0).into(),
        unknown.then_some(r.project).into(),
        due.into(),
        live_effect.map(|effect| &effect.0).into(),
        r.probe_due().map(|due| due.0).into(),
        r.ended_at().map(|at| at.0).into(),
        fenced.then_some(&fence_of.0).into(),
        fenced.then_some(r.fence).into(),
    ]
}

fn of_aaep_session(r: &AaepSession) -> Vec<SqlValue> {
    let ended_at = match r.state {
        AaepSessionState::Open { .. } => None,
        AaepSessionState::Over { at } => Some(at.0),
    };
    let open = ended_at.is_none();
    vec![
        r.project.into(),
        r.id.as_str().into(),
        open.then_some(r.person).into(),
        r.delegation.or(r.api_key).filter(|_| open).into(),
        r.session.filter(|_| open).into(),
        r.due().map(|due| due.0).into(),
        ended_at.into(),
    ]
}

fn of_subscription(r: &Subscription) -> Vec<SqlValue> {
    let open_person = r.closed_at.is_none().then_some(r.person);
    vec![r.project.into(), r.id.as_str().into(), open_person.into(), r.closed_at.map(|at| at.0).into()]
}

fn of_plan(r: &Plan) -> Vec<SqlValue> {
    let live = matches!(r.document.status, PlanStatus::Proposed | PlanStatus::Approved | PlanStatus::InProgress);
    let mut values: Vec<SqlValue> =
        vec![r.project.into(), r.id.as_str().into(), r.by.principal.as_str().into(), r.by.person.into()];
    values.extend(while_live(&r.by, live));
    values.push(trace::finished_at(&r.document).map(|at| at.0).into());
    values
}

fn of_outbox_message(r: &OutboxMessage) -> Vec<SqlValue> {
    let (due, dead) = (r.due(), matches!(r.state, OutboxState::Dead { .. }));
    vec![
        r.project.into(),
        r.id.as_str().into(),
        r.delegation.into(),
        due.map(|_| r.delegation).into(),
        due.map(|due| due.0).into(),
        dead.then_some(r.project).into(),
    ]
}

/// An open gap is found by its holder before any call of that holder runs.
fn of_clarification(r: &ClarificationSession) -> Vec<SqlValue> {
    let open = matches!(r.state, ClarificationState::Open) && r.open_gaps().next().is_some();
    let stops = open || r.holds();
    let holder = r.by.holder();
    let open_holder = stops.then_some(holder);
    vec![
        r.project.into(),
        r.id.as_str().into(),
        (&r.same.0).into(),
        holder.into(),
        open_holder.into(),
        r.ended_at().0.into(),
    ]
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
pub(crate) fn texts(table: Table) -> &'static TableStatements {
    static TEXTS: LazyLock<Vec<TableStatements>> =
        LazyLock::new(|| Table::ALL.iter().map(|t| TableStatements::of(&shape(*t))).collect());
    &TEXTS[table as usize]
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
