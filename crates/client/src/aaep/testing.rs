//! Events of producers, ours and others, as test fixtures.

use super::{announcement::Announcement, received::Received};
use countersign_protocol::{aaep::envelope, time::UnixMillis};
use serde_json::{Value, json};

pub(super) fn at(secs: i64) -> UnixMillis {
    UnixMillis::from_secs(1_790_000_000 + secs)
}

/// A producer that counts its events. Its session is identified by a number.
pub(super) struct Producer {
    said: usize,
    ours: bool,
}

impl Producer {
    /// A producer without our extension.
    pub(super) fn foreign() -> Self {
        Self { said: 0, ours: false }
    }

    pub(super) fn ours() -> Self {
        Self { said: 0, ours: true }
    }

    pub(super) fn event(&mut self, session: usize, secs: i64, kind: &str, payload: Value) -> Value {
        self.said += 1;
        let mut event = json!({
            "@context": envelope::CONTEXT,
            "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{}", self.said),
            "session_id": format!("sess_{session}"),
            "timestamp": envelope::timestamp(at(secs)),
            "producer": { "agent_id": "acme.example" },
        });
        let members = payload.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(members);
        event
    }

    pub(super) fn confirmation(&mut self, session: usize, secs: i64, token: &str) -> Value {
        let mut asked = self.event(
            session,
            secs,
            "awaiting.confirmation",
            json!({ "action": "Pay", "consequence": "Money leaves", "reply_token": token, "timeout_seconds": 120,
                    "default_decision": "reject", "urgency": "critical", "risk_level": "high", "irreversible": true }),
        );
        self.extend(&mut asked, token, json!({ "words": "agent", "operator": "acme.example" }));
        asked
    }

    pub(super) fn clarification(&mut self, secs: i64, more: Value) -> Value {
        let mut payload = json!({ "question": "Which?", "reply_token": "rpl_C", "timeout_seconds": 60 });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.event(1, secs, "awaiting.clarification", payload)
    }

    pub(super) fn state_change(&mut self, session: usize, secs: i64, from: &str, to: &str) -> Value {
        let states = json!({ "from_state": from, "to_state": to, "summary_normal": format!("Now {to}.") });
        self.event(session, secs, "state.changed", states)
    }

    /// Our own event about the end of a question.
    pub(super) fn settlement(&mut self, session: usize, secs: i64, token: &str, settled: &str) -> Value {
        let mut event = self.state_change(session, secs, "awaiting_input", "calling_tool");
        self.extend(&mut event, token, json!({ "settled": settled }));
        event
    }

    pub(super) fn time_left(&mut self, session: usize, secs: i64, token: &str, left_ms: i64) -> Value {
        let mut event = self.event(
            session,
            secs,
            "progress.updated",
            json!({ "progress": { "percent": 50 }, "summary_normal": "Hurry.", "eta_ms": left_ms, "urgency": "background" }),
        );
        self.extend(&mut event, token, json!({}));
        event
    }

    pub(super) fn progress(&mut self, session: usize, secs: i64, percent: usize) -> Value {
        let description = format!("{percent} percent");
        let progress = json!({ "percent": percent % 101, "description": description });
        self.event(session, secs, "progress.updated", json!({ "progress": progress, "urgency": "background" }))
    }

    fn extend(&self, event: &mut Value, token: &str, mut members: Value) {
        if self.ours {
            members["decision_id"] = json!(format!("dec_{}", token.trim_start_matches("rpl_")));
            event["extensions"] = json!({ "dev_countersign": members });
        }
    }
}

pub(super) fn received(event: &Value) -> Received {
    Received::read(&event.to_string()).unwrap()
}

/// Announcements in a form for comparison.
pub(super) fn described(announcements: &[Announcement]) -> Vec<String> {
    let one = |announcement: &Announcement| match announcement {
        Announcement::Asked(question) => format!("asked {}", question.event_id()),
        Announcement::Over { question, ending, .. } => format!("over {} {}", question.event_id(), ending.as_str()),
        Announcement::TimeLeft { question, seconds } => format!("left {} {seconds}", question.event_id()),
        Announcement::MoreTime { question, .. } => format!("more {}", question.event_id()),
        Announcement::Said(said) => format!("said {}", said.text),
        Announcement::ProducerRefused { agent_id } => format!("refused {agent_id}"),
    };
    announcements.iter().map(one).collect()
}
