//! Delegations a person has granted, their audit entries, and their revocation (AAP 7.1, 8.2, 14.3; C-98).

use super::{EndRules, Frame, OpenStandingApproval, OperatorLabel, PlainLine, ScopeWords};
use askama::Template;
use countersign_protocol::{
    aap::{heartbeat::WatchedTask, revoke::RollbackStatus},
    time::UnixMillis,
};

/// `/agents`: every connection of the person.
#[derive(Clone, Debug, Template)]
#[template(path = "agents.html")]
pub struct AgentsPage {
    pub frame: Frame,
    pub connections: Vec<AgentConnection>,
    pub notice: Option<AgentsNotice>,
}

/// `/agents/{delegation_id}`: one connection and one page of its audit entries. A free-text intent is never shown here.
#[derive(Clone, Debug, Template)]
#[template(path = "agent.html")]
pub struct AgentPage {
    pub frame: Frame,
    pub connection: AgentConnection,
    /// Its open standing approvals, each with a form that revokes it.
    pub standing: Vec<OpenStandingApproval>,
    /// Its running tasks, each with a form that ends it.
    pub tasks: Vec<TaskRow>,
    /// The scopes that its tasks have beyond their consent receipts.
    pub wider: Vec<TaskScope>,
    pub entries: Vec<AuditRow>,
    /// Number of audit entries on all pages.
    pub total: i64,
    /// False once the person followed a cursor.
    pub is_first_page: bool,
    pub next_cursor: Option<String>,
    /// For the forms that lift a suspension, end a task and revoke a standing approval.
    pub csrf: String,
    pub notice: Option<AgentsNotice>,
}

/// `/agents/{delegation_id}/revoke`: asks for confirmation and posts `csrf` to the same path.
#[derive(Clone, Debug, Template)]
#[template(path = "revoke.html")]
pub struct RevokePage {
    pub frame: Frame,
    pub connection: AgentConnection,
    pub csrf: String,
    /// The CSRF token of the form has expired.
    pub form_expired: bool,
}

#[derive(Clone, Debug)]
pub struct AgentConnection {
    pub delegation_id: String,
    /// Path prefix of its links: `/projects/{projectId}` where there are several projects.
    pub prefix: String,
    pub operator: OperatorLabel,
    /// The project that the connection reaches.
    pub service: PlainLine,
    pub scopes: Vec<ScopeWords>,
    pub since: UnixMillis,
    pub until: UnixMillis,
    pub ends: EndRules,
    /// The last request; the page omits the line if there was none.
    pub last_used: Option<UnixMillis>,
    pub state: ConnectionState,
}

/// A scope that one task has beyond its consent receipt.
#[derive(Clone, Debug)]
pub struct TaskScope {
    pub scope: ScopeWords,
    /// The AAP session of the task.
    pub session: PlainLine,
    /// Whether the person approved it; else the project expands consent without asking.
    pub approved: bool,
    pub since: UnixMillis,
    pub until: UnixMillis,
}

impl TaskScope {
    fn source(&self, frame: &Frame) -> String {
        frame.say(if self.approved { "wider-approved" } else { "wider-silent" })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Active,
    Suspended(SuspendedBy),
    Ended { at: UnixMillis, why: EndReason },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendedBy {
    Restore,
    ConcurrentUse,
}

/// The values of `X-Agent-Revoke-Reason` (AAP 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    PolicyExpired,
    Inactivity,
    TaskComplete,
    EventTriggered,
    ManualRevoke,
    KeyRotation,
}

#[derive(Clone, Debug)]
pub struct AuditRow {
    pub at: UnixMillis,
    pub method: PlainLine,
    pub path: PlainLine,
    pub intent_type: Option<PlainLine>,
    pub outcome: PlainLine,
    pub session: PlainLine,
}

/// An open AAP session.
#[derive(Clone, Debug)]
pub struct TaskRow {
    pub session_id: String,
    pub since: UnixMillis,
    /// None where its receipt asks for no heartbeats.
    pub watched: Option<WatchedTask>,
}

impl TaskRow {
    fn heartbeat_lines(&self, frame: &Frame) -> Vec<String> {
        let Some(watched) = &self.watched else { return Vec::new() };
        let mut lines = vec![match &watched.last_heartbeat {
            Some(at) => frame.say_of("task-last-heartbeat", "when", frame.exact_moment(at)),
            None => frame.say("task-no-heartbeat"),
        }];
        lines.extend(watched.missed_at.map(|at| frame.say_of("task-silent", "when", frame.exact_moment(&at))));
        lines.extend(watched.progress.map(|percent| frame.say_count("task-progress", percent)));
        lines
    }
}

#[derive(Clone, Debug)]
pub enum AgentsNotice {
    /// A task was ended, with what became of its writes.
    TaskEnded(RollbackStatus),
    Revoked {
        operator: OperatorLabel,
    },
    AlreadyRevoked {
        operator: OperatorLabel,
    },
}

impl AgentsPage {
    fn live(&self) -> Vec<&AgentConnection> {
        self.connections.iter().filter(|c| c.is_live()).collect()
    }

    fn ended(&self) -> Vec<&AgentConnection> {
        self.connections.iter().filter(|c| !c.is_live()).collect()
    }

    fn notice_text(&self) -> Option<String> {
        self.notice.as_ref().map(|n| n.text(&self.frame))
    }
}

impl AgentPage {
    fn notice_text(&self) -> Option<String> {
        self.notice.as_ref().map(|n| n.text(&self.frame))
    }

    fn next_href(&self) -> Option<String> {
        let cursor = self.next_cursor.as_ref()?;
        let encoded: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
        Some(format!("{}?cursor={encoded}", self.connection.path()))
    }
}

impl RevokePage {
    fn title(&self) -> String {
        self.frame.say_of("revoke-title", "domain", self.connection.operator.domain.as_str())
    }
}

impl AgentConnection {
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.state, ConnectionState::Ended { .. })
    }

    fn end_lines(&self, frame: &Frame) -> Vec<String> {
        self.ends.lines(frame, &self.operator)
    }

    fn suspended_why(&self, frame: &Frame) -> Option<String> {
        match self.state {
            ConnectionState::Suspended(SuspendedBy::Restore) => Some(frame.say("suspended-why")),
            ConnectionState::Suspended(SuspendedBy::ConcurrentUse) => Some(frame.say("suspended-networks")),
            ConnectionState::Active | ConnectionState::Ended { .. } => None,
        }
    }

    fn path(&self) -> String {
        format!("{}/agents/{}", self.prefix, self.delegation_id)
    }

    /// The label of the state. [`Self::state_class`] only adds a colour: colour is never the only signal.
    fn state_word(&self, frame: &Frame) -> String {
        frame.say(match self.state {
            ConnectionState::Active => "state-active",
            ConnectionState::Suspended(_) => "state-suspended",
            ConnectionState::Ended { .. } => "state-ended",
        })
    }

    fn state_class(&self) -> &'static str {
        match self.state {
            ConnectionState::Active => "active",
            ConnectionState::Suspended(_) => "suspended",
            ConnectionState::Ended { .. } => "ended",
        }
    }

    fn ended_at(&self) -> Option<&UnixMillis> {
        match &self.state {
            ConnectionState::Ended { at, .. } => Some(at),
            _ => None,
        }
    }

    fn ended_why(&self, frame: &Frame) -> Option<String> {
        let ConnectionState::Ended { why, .. } = self.state else { return None };
        Some(frame.say(match why {
            EndReason::PolicyExpired => "ended-policy-expired",
            EndReason::Inactivity => "ended-inactivity",
            EndReason::TaskComplete => "ended-task-complete",
            EndReason::EventTriggered => "ended-event-triggered",
            EndReason::ManualRevoke => "ended-manual-revoke",
            EndReason::KeyRotation => "ended-key-rotation",
        }))
    }
}

impl AgentsNotice {
    fn text(&self, frame: &Frame) -> String {
        let (id, operator) = match self {
            AgentsNotice::TaskEnded(RollbackStatus::Completed) => return frame.say("task-ended-completed"),
            AgentsNotice::TaskEnded(RollbackStatus::Partial) => return frame.say("task-ended-partial"),
            AgentsNotice::TaskEnded(RollbackStatus::NotSupported) => return frame.say("task-ended-not-supported"),
            AgentsNotice::Revoked { operator } => ("notice-revoked", operator),
            AgentsNotice::AlreadyRevoked { operator } => ("notice-already-revoked", operator),
        };
        frame.say_of(id, "domain", operator.domain.as_str())
    }
}
