//! Bus events, rendered from the evidence log in commit order, so that no event reports something that did not happen
//! (MPLP 4.3, M-08 to M-10). Hidden members of the evidence are left out.

use super::{
    confirm, derived, members,
    roles::{Asking, NO_ROLE, requested_by},
};
use countersign_protocol::{
    hash::Digest,
    mplp::{BusEvent, DecisionStatus, ExecutionStatus, ExecutorKind, MplpId, StageStatus, UpdateKind},
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

/// One entry of the evidence log, opened (`evidence::StoredLeaf`).
#[derive(Clone, Copy, Debug)]
pub struct OpenedEntry<'a> {
    pub members: &'a Map<String, Value>,
    /// The hash of its leaf; the ids of its events are derived from it.
    pub hash: &'a Digest,
    pub project: &'a ProjectDocument,
}

/// The bus events of an entry; most entries have none.
pub fn events(entry: &OpenedEntry<'_>) -> Vec<BusEvent> {
    let told = Telling::of(*entry).and_then(|mut telling| {
        match entry.text("event_type")? {
            "decision_raised" => telling.raised(),
            "decision_settled" => telling.settled(),
            "plan_created" => telling.plan_created(),
            "plan_changed" => telling.plan_changed(),
            "execution_claimed" => telling.execution("tool_execution_started", ExecutionStatus::Running),
            "execution_settled" => telling.execution_settled(),
            // An unknown outcome: the execution may still be running.
            "execution_unknown" => telling.execution("tool_execution_unknown", ExecutionStatus::Running),
            _ => None,
        }?;
        Some(telling.told)
    });
    told.unwrap_or_default()
}

/// The id of the entry's n-th event: the same each time it is rendered.
pub fn event_id(leaf: &Digest, place: usize) -> MplpId {
    derived("bus-event", &[&leaf.hex(), &place.to_string()])
}

/// The index of `decision_added` among the events of a settlement.
pub(super) const DECISION_ADDED: usize = 0;

/// The project's id as a UUID, as MPLP requires; its graph has the same id.
pub(super) fn project_id(document: &ProjectDocument) -> MplpId {
    derived("project", &[document.id.as_str()])
}

impl OpenedEntry<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    fn id(&self, name: &str) -> Option<MplpId> {
        MplpId::parse(self.text(name)?).ok()
    }

    fn confirm_id(&self) -> Option<MplpId> {
        self.text("decision_id").map(confirm::confirm_id_of)
    }

    /// The plan that the entry refers to, if any.
    fn plan_id(&self) -> Option<MplpId> {
        let approved = (self.text("target_type") == Some("plan")).then(|| self.id("target_id")).flatten();
        self.id("plan_id").or(approved)
    }

    /// A clarification, answered with text, is no Confirm.
    fn is_clarification(&self) -> bool {
        let answered_by_text = ["default_response", "unavailable"].map(Some).contains(&self.text("expired_as"));
        self.text("kind") == Some("clarification") || self.text("state") == Some("answered") || answered_by_text
    }

    /// The same verdict as in the Confirm.
    fn verdict(&self) -> Option<(DecisionStatus, String)> {
        let role = || self.text("role").unwrap_or(NO_ROLE).to_owned();
        Some(match self.text("state")? {
            "accepted" => (DecisionStatus::Approved, role()),
            "rejected" => (DecisionStatus::Rejected, role()),
            "expired" => (DecisionStatus::Cancelled, confirm::SYSTEM_TIMEOUT.into()),
            "cancelled" => (DecisionStatus::Cancelled, self.cancelled_by()),
            _ => return None,
        })
    }

    fn cancelled_by(&self) -> String {
        match (self.text("role"), self.text("cancelled_for")) {
            (Some(role), _) => role.to_owned(),
            (None, None | Some("withdrawn")) => self.requester(),
            (None, Some(why)) => confirm::cancelled_by(why),
        }
    }

    /// The stored role, else the agent's own: the same as in the Confirm.
    fn requester(&self) -> String {
        if let Some(role) = self.text("requested_by_role") {
            return role.to_owned();
        }
        let key = self.text("principal");
        let principal = key.or(self.text("delegation_id")).unwrap_or_default();
        let asking = Asking { principal, operator: self.text("operator"), key_principal: key };
        requested_by(self.project, &asking, None).unwrap_or_else(|_| NO_ROLE.into())
    }
}

/// Collects the events of one entry.
struct Telling<'a> {
    entry: OpenedEntry<'a>,
    at: UnixMillis,
    graph: MplpId,
    told: Vec<BusEvent>,
}

impl<'a> Telling<'a> {
    fn of(entry: OpenedEntry<'a>) -> Option<Self> {
        let at = UnixMillis::parse_rfc3339(entry.text("timestamp")?)?;
        Some(Self { entry, at, graph: project_id(entry.project), told: Vec::new() })
    }

    fn raised(&mut self) -> Option<()> {
        let own = self.entry.confirm_id().filter(|_| !self.entry.is_clarification())?;
        let plan = self.entry.plan_id();
        let mut payload = confirm_payload(&own, plan.as_ref());
        payload.insert("target_type".into(), json!(self.entry.text("target_type").unwrap_or("other")));
        payload.insert("target_id".into(), json!(self.entry.id("target_id").unwrap_or_else(|| own.clone())));
        // A target other than the one action is a node of its own.
        let edges = i64::from(self.entry.id("target_id").is_some());
        self.update_graph("confirm_created", (1, edges), "confirm", payload.clone());
        self.stage("confirm_pending", plan.unwrap_or(own), CONFIRM_STAGE, StageStatus::Pending, payload);
        Some(())
    }

    /// One more entry in `decisions`, the event for a plan, and for every Confirm the event that it is settled (M-09).
    fn settled(&mut self) -> Option<()> {
        let own = self.entry.confirm_id().filter(|_| !self.entry.is_clarification())?;
        let (status, decided_by) = self.entry.verdict()?;
        let plan = self.entry.plan_id();
        let mut payload = confirm_payload(&own, plan.as_ref());
        payload.insert("decision_id".into(), json!(confirm::record_id(&own)));
        payload.insert("decided_by".into(), json!(decided_by));
        payload.insert("status".into(), json!(status));
        let pipeline = plan.clone().unwrap_or(own);
        self.update_graph("decision_added", (1, 1), "confirm", payload.clone());
        if let Some(event_type) = plan.and_then(|_| about_plan(status)) {
            self.stage(event_type, pipeline.clone(), CONFIRM_STAGE, stage_of(status), payload.clone());
        }
        self.stage("confirm_resolved", pipeline, CONFIRM_STAGE, stage_of(status), payload);
        Some(())
    }

    fn plan_created(&mut self) -> Option<()> {
        let plan = self.entry.id("plan_id")?;
        let steps = self.entry.members.get("steps").and_then(Value::as_i64).unwrap_or(0);
        self.update_graph("plan_created", (1 + steps, steps), "plan", members([("plan_id", json!(plan))]));
        Some(())
    }

    fn plan_changed(&mut self) -> Option<()> {
        let plan = self.entry.id("plan_id")?;
        let (from, to) = (self.entry.text("from")?.to_owned(), self.entry.text("to")?.to_owned());
        let mut payload = members([("plan_id", json!(plan)), ("from", json!(from)), ("to", json!(to))]);
        let further = ["step_id", "confirm_id"].map(|name| Some((name.to_owned(), json!(self.entry.id(name)?))));
        payload.extend(further.into_iter().flatten());
        match self.entry.id("step_id") {
            Some(step) => self.stage(&step_event(&to), plan, step.as_str(), step_stage(&to), payload),
            None => self.stage("plan_status_changed", plan, "plan", plan_stage(&to), payload),
        }
        Some(())
    }

    fn execution_settled(&mut self) -> Option<()> {
        let status = match self.entry.text("outcome")? {
            "committed" => ExecutionStatus::Completed,
            _ => ExecutionStatus::Failed,
        };
        self.execution("tool_execution_completed", status)
    }

    fn execution(&mut self, event_type: &str, status: ExecutionStatus) -> Option<()> {
        let id = execution_id(self.entry.text("execution_id")?);
        let mut payload = confirm_payload(&self.entry.confirm_id()?, self.entry.plan_id().as_ref());
        if let Some(step) = self.entry.id("step_id") {
            payload.insert("step_id".into(), json!(step));
        }
        let event = BusEvent::runtime_execution(self.next_id(), event_type, self.at, id, ExecutorKind::Tool, status);
        self.push(event, payload);
        Some(())
    }

    fn stage(&mut self, event_type: &str, pipeline: MplpId, stage: &str, status: StageStatus, payload: Payload) {
        let event = BusEvent::pipeline_stage(self.next_id(), event_type, self.at, pipeline, stage, status);
        self.push(event, payload);
    }

    fn update_graph(&mut self, event_type: &str, by: (i64, i64), module: &str, payload: Payload) {
        let (id, graph) = (self.next_id(), self.graph.clone());
        let event = BusEvent::graph_update(id, event_type, self.at, graph, UpdateKind::NodeAdd, by, module);
        self.push(event, payload);
    }

    fn next_id(&self) -> MplpId {
        event_id(self.entry.hash, self.told.len())
    }

    fn push(&mut self, event: BusEvent, payload: Payload) {
        self.told.push(event.in_project(self.graph.clone()).with_payload(payload));
    }
}

type Payload = Map<String, Value>;

/// The pipeline stage in which a person decides (M-10).
const CONFIRM_STAGE: &str = "confirm";

/// Approved and rejected plans have their own events; a cancellation is no verdict (M-09).
fn about_plan(status: DecisionStatus) -> Option<&'static str> {
    match status {
        DecisionStatus::Approved => Some("plan_approved"),
        DecisionStatus::Rejected => Some("plan_rejected"),
        DecisionStatus::Cancelled => None,
    }
}

fn stage_of(status: DecisionStatus) -> StageStatus {
    match status {
        DecisionStatus::Approved => StageStatus::Completed,
        DecisionStatus::Rejected => StageStatus::Failed,
        DecisionStatus::Cancelled => StageStatus::Skipped,
    }
}

fn plan_stage(to: &str) -> StageStatus {
    match to {
        "in_progress" => StageStatus::Running,
        "completed" => StageStatus::Completed,
        "failed" => StageStatus::Failed,
        "cancelled" => StageStatus::Skipped,
        _ => StageStatus::Pending,
    }
}

/// A blocked step is still pending. The matrix has no names for blocked and skipped steps; `step_blocked` and
/// `step_skipped` are ours.
fn step_stage(to: &str) -> StageStatus {
    if to == "skipped" { StageStatus::Skipped } else { plan_stage(to) }
}

fn step_event(to: &str) -> String {
    format!("step_{}", if to == "in_progress" { "started" } else { to })
}

fn execution_id(id: &str) -> MplpId {
    let digits = id.strip_prefix("exe_").and_then(MplpId::from_simple);
    digits.unwrap_or_else(|| derived("execution", &[id]))
}

fn confirm_payload(confirm: &MplpId, plan: Option<&MplpId>) -> Payload {
    let mut payload = members([("confirm_id", json!(confirm))]);
    payload.extend(plan.map(|plan| ("plan_id".to_owned(), json!(plan))));
    payload
}
