//! `/audit`: the audit of a project for its auditors, and the timeline of one decision.

use super::{Frame, PlainLine};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// One page of the audit, and of one decision a timeline above it.
#[derive(Clone, Debug, Template)]
#[template(path = "audit.html")]
pub struct ProjectAuditPage {
    pub frame: Frame,
    /// Path prefix of its links: `/projects/{projectId}` where there are several projects.
    pub prefix: String,
    pub sought: SoughtEntries,
    /// Every outcome that can be searched for.
    pub outcomes: Vec<&'static str>,
    pub entries: Vec<ProjectAuditEntry>,
    pub next_cursor: Option<String>,
}

/// The search as it was sent.
#[derive(Clone, Debug, Default)]
pub struct SoughtEntries {
    pub person: String,
    pub outcome: String,
    pub decision: String,
}

#[derive(Clone, Debug)]
pub struct ProjectAuditEntry {
    pub at: UnixMillis,
    pub result: &'static str,
    pub event: PlainLine,
    /// Who decided, or for whom an agent acted.
    pub who: Option<PlainLine>,
    /// How surely, and over which channel.
    pub how: Option<PlainLine>,
    pub what: Option<PlainLine>,
    pub decision_id: Option<String>,
    /// Set if the stored entry was altered.
    pub altered: bool,
}

/// A point of the timeline; its number is that of its row in the table.
struct TimelinePoint {
    number: usize,
    x: usize,
    class: &'static str,
}

/// The width of the drawing, and the margin at both ends.
const WIDTH: usize = 720;
const MARGIN: usize = 24;

impl ProjectAuditPage {
    fn path(&self) -> String {
        format!("{}/audit", self.prefix)
    }

    fn title(&self) -> String {
        match self.sought.decision.as_str() {
            "" => self.frame.say("audit-title"),
            id => self.frame.say_of("audit-decision-title", "id", id),
        }
    }

    fn is_one_decision(&self) -> bool {
        !self.sought.decision.is_empty() && !self.entries.is_empty()
    }

    /// The points in the order of the log, evenly spaced: what matters is what followed on what.
    fn points(&self) -> Vec<TimelinePoint> {
        let gaps = self.entries.len().saturating_sub(1).max(1);
        let place = |n: usize| MARGIN + n * (WIDTH - 2 * MARGIN) / gaps;
        let point = |(n, entry): (usize, &ProjectAuditEntry)| TimelinePoint {
            number: n + 1,
            x: place(n),
            class: entry.class(),
        };
        self.entries.iter().enumerate().map(point).collect()
    }

    /// The drawing in words: its first and its last entry.
    fn timeline_label(&self) -> String {
        let shown = |entry: Option<&ProjectAuditEntry>| entry.map(|entry| entry.word(&self.frame)).unwrap_or_default();
        let (first, last) = (shown(self.entries.first()), shown(self.entries.last()));
        self.frame.say_both("audit-timeline-label", ("first", &first), ("last", &last))
    }

    fn outcome_word(&self, outcome: &str) -> String {
        result_word(&self.frame, outcome)
    }

    /// From the whole audit to the decision that an entry is about.
    fn link_of(&self, entry: &ProjectAuditEntry) -> Option<String> {
        let id = entry.decision_id.as_ref().filter(|_| self.sought.decision.is_empty())?;
        Some(format!("{}?decision={}", self.path(), encoded(id)))
    }

    fn next_href(&self) -> Option<String> {
        let cursor = self.next_cursor.as_ref()?;
        let SoughtEntries { person, outcome, decision } = &self.sought;
        let query: Vec<String> = [("person", person), ("outcome", outcome), ("decision", decision), ("cursor", cursor)]
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        Some(format!("{}?{}", self.path(), query.join("&")))
    }
}

impl ProjectAuditEntry {
    /// The result in words. [`Self::class`] only adds a colour: colour is never the only signal.
    fn word(&self, frame: &Frame) -> String {
        result_word(frame, self.result)
    }

    fn class(&self) -> &'static str {
        match self.result {
            "accepted" | "answered" | "committed" | "done" => "good",
            "refused" | "rejected" | "failed" | "altered" | "conflict" => "stop",
            "expired" | "unknown" | "reconciled" | "cancelled" => "care",
            _ => "plain",
        }
    }
}

fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

fn result_word(frame: &Frame, result: &str) -> String {
    frame.say(match result {
        "accepted" => "audit-accepted",
        "answered" => "audit-answered",
        "rejected" => "audit-rejected",
        "expired" => "audit-expired",
        "cancelled" => "audit-cancelled",
        "refused" => "audit-refused",
        "committed" => "audit-committed",
        "failed" => "audit-failed",
        "unknown" => "audit-unknown",
        "reconciled" => "audit-reconciled",
        "conflict" => "audit-conflict",
        "ended" => "audit-ended",
        "done" => "audit-done",
        "altered" => "audit-altered",
        _ => "audit-recorded",
    })
}
