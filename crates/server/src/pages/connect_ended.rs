//! The pages after a connection request is settled.

use super::{Frame, OperatorLabel};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// Approved, without a callback: shows the one-time code to hand to the agent.
#[derive(Clone, Debug, Template)]
#[template(path = "connected.html")]
pub struct ConnectedPage {
    pub frame: Frame,
    pub operator: OperatorLabel,
    pub code: String,
    pub code_expires_at: UnixMillis,
    /// Path prefix of the new connection's page: `{prefix}/agents/{delegation_id}`.
    pub prefix: String,
    /// None for a service account, which has no page.
    pub delegation_id: Option<String>,
}

/// Settled without a code.
#[derive(Clone, Debug, Template)]
#[template(path = "connect_ended.html")]
pub struct ConnectEndedPage {
    pub frame: Frame,
    pub end: ConnectEnd,
}

#[derive(Clone, Debug)]
pub enum ConnectEnd {
    Denied {
        operator: OperatorLabel,
    },
    /// The ten minutes are over.
    Expired,
    AlreadyAnswered,
    /// No such request exists, or this person may not see it.
    Gone,
}

impl ConnectEndedPage {
    fn title(&self) -> String {
        self.say("title")
    }

    fn what(&self) -> String {
        match &self.end {
            ConnectEnd::Denied { operator } => {
                self.frame.say_of("connect-denied-what", "domain", operator.domain.as_str())
            }
            _ => self.say("what"),
        }
    }

    fn next(&self) -> String {
        self.say("next")
    }

    fn say(&self, part: &str) -> String {
        let end = match self.end {
            ConnectEnd::Denied { .. } => "denied",
            ConnectEnd::Expired => "expired",
            ConnectEnd::AlreadyAnswered => "answered",
            ConnectEnd::Gone => "gone",
        };
        self.frame.say(&format!("connect-{end}-{part}"))
    }
}
