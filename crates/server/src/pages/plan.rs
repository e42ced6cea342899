//! The progress of a plan, its open allowances, and their revocation.

use super::{AskedBy, Frame, OpenStandingApproval, PlainLine, Prose, StepAsked};
use askama::Template;
use countersign_protocol::{
    mplp::{PlanStatus, StepStatus},
    time::UnixMillis,
};

/// `/plans/{project}/{plan_id}`. Posts `csrf` and `reason` to `…/take-back`.
#[derive(Clone, Debug, Template)]
#[template(path = "plan.html")]
pub struct PlanPage {
    pub frame: Frame,
    pub path: String,
    pub id: String,
    pub service: PlainLine,
    pub by: AskedBy,
    pub title: Prose,
    pub objective: Prose,
    pub status: PlanStatus,
    /// Until when its steps may run.
    pub until: Option<UnixMillis>,
    /// The page of the question about the plan, if this person may see it.
    pub question_path: Option<String>,
    /// Why it is a draft again.
    pub feedback: Option<Prose>,
    pub steps: Vec<StepProgress>,
    /// Newest first.
    pub events: Vec<PlanEvent>,
    /// Whether this person may revoke the remaining allowances.
    pub may_take_back: bool,
    pub csrf: String,
    pub typed: String,
    pub error: Option<PlanError>,
    /// Whether the plan was just revoked.
    pub taken_back: bool,
}

#[derive(Clone, Debug)]
pub struct StepProgress {
    pub asked: StepAsked,
    pub status: StepStatus,
    pub done: i64,
    pub under_way: i64,
    pub lost: i64,
    /// The remaining allowance of the step.
    pub open: Option<OpenStandingApproval>,
}

/// One transition of the plan or of a step.
#[derive(Clone, Debug)]
pub struct PlanEvent {
    pub at: UnixMillis,
    pub change: PlanChangeMark,
    pub reason: Option<Prose>,
}

#[derive(Clone, Copy, Debug)]
pub enum PlanChangeMark {
    Plan { to: PlanStatus },
    Step { number: usize, to: StepStatus },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    FormExpired,
    ReasonTooLong,
    /// The plan has no open allowance any more.
    NothingLeft,
    NotYours,
}

impl PlanPage {
    fn name(&self) -> PlainLine {
        PlainLine::cut(self.title.as_str(), 80)
    }

    fn page_title(&self) -> String {
        let status = self.status_word();
        self.frame.say_both("plan-title", ("title", self.name().as_str()), ("status", &status))
    }

    /// A partly approved plan is never labelled simply as approved.
    fn status_word(&self) -> String {
        match (self.is_partly_approved(), self.status) {
            (true, PlanStatus::Approved) => self.frame.say("plan-status-approved-part"),
            (true, PlanStatus::InProgress) => self.frame.say("plan-status-in-progress-part"),
            (true, PlanStatus::Completed) => self.frame.say("plan-status-completed-part"),
            (_, status) => plan_status(&self.frame, status),
        }
    }

    fn is_partly_approved(&self) -> bool {
        self.steps.iter().any(|step| step.asked.approved == Some(false))
    }

    /// Number of approved steps, if not all are.
    fn approved_text(&self) -> Option<String> {
        let (approved, all) = (self.steps_that_run().to_string(), self.steps.len().to_string());
        let said = || self.frame.say_both("plan-approved-part", ("approved", &approved), ("all", &all));
        self.is_partly_approved().then(said)
    }

    fn steps_that_run(&self) -> usize {
        self.steps.iter().filter(|step| step.asked.approved != Some(false)).count()
    }

    fn status_class(&self) -> &'static str {
        match self.status {
            PlanStatus::Proposed => "waiting",
            PlanStatus::Approved | PlanStatus::InProgress => "active",
            PlanStatus::Failed => "suspended",
            PlanStatus::Draft | PlanStatus::Completed | PlanStatus::Cancelled => "ended",
        }
    }

    fn completed(&self) -> usize {
        self.steps.iter().filter(|step| step.status == StepStatus::Completed).count()
    }

    fn progress_text(&self) -> String {
        let (done, all) = (self.completed().to_string(), self.steps_that_run().to_string());
        self.frame.say_both("plan-progress", ("done", &done), ("all", &all))
    }

    fn error_text(&self) -> Option<String> {
        Some(self.frame.say(match self.error? {
            PlanError::FormExpired => "error-form-expired",
            PlanError::ReasonTooLong => "question-error-reason-too-long",
            PlanError::NothingLeft => "plan-error-nothing-left",
            PlanError::NotYours => "allowances-error-not-yours",
        }))
    }

    fn error_field(&self) -> &'static str {
        match self.error {
            Some(PlanError::ReasonTooLong) => "reason",
            _ => "",
        }
    }

    fn notice_text(&self) -> Option<String> {
        self.taken_back.then(|| self.frame.say("plan-taken-back"))
    }
}

impl StepProgress {
    /// The approval comes first; the progress only matters for an approved step.
    fn status_word(&self, frame: &Frame) -> String {
        let approved = |id| frame.say_of("step-approved-and", "status", frame.say(id));
        match (self.asked.approved, self.status) {
            (Some(false), _) => frame.say("step-not-approved"),
            (Some(true), StepStatus::Pending) => approved("step-status-pending"),
            (Some(true), StepStatus::InProgress) => approved("step-status-in-progress"),
            (_, status) => step_status(frame, status),
        }
    }

    /// The class only repeats the label.
    fn status_class(&self) -> &'static str {
        match (self.asked.approved, self.status) {
            (Some(false), _) | (_, StepStatus::Failed | StepStatus::Blocked) => "suspended",
            (Some(true), StepStatus::Pending | StepStatus::InProgress) => "active",
            _ => "ended",
        }
    }

    /// The number of permitted uses.
    fn uses(&self) -> Option<i64> {
        self.asked.runs.as_ref().map(|runs| runs.uses)
    }

    fn progress_text(&self, frame: &Frame, uses: &i64) -> String {
        frame.say_both("plan-step-progress", ("done", &self.done.to_string()), ("uses", &uses.to_string()))
    }

    fn under_way_text(&self, frame: &Frame) -> Option<String> {
        (self.under_way > 0).then(|| frame.say_count("plan-step-under-way", self.under_way))
    }

    fn lost_text(&self, frame: &Frame) -> Option<String> {
        (self.lost > 0).then(|| frame.say_count("plan-step-lost", self.lost))
    }
}

impl PlanEvent {
    fn text(&self, frame: &Frame) -> String {
        match self.change {
            PlanChangeMark::Plan { to } => frame.say_of("plan-event-plan", "status", plan_status(frame, to)),
            PlanChangeMark::Step { number, to } => {
                let (number, status) = (number.to_string(), step_status(frame, to));
                frame.say_both("plan-event-step", ("number", &number), ("status", &status))
            }
        }
    }
}

fn plan_status(frame: &Frame, status: PlanStatus) -> String {
    frame.say(match status {
        PlanStatus::Draft => "plan-status-draft",
        PlanStatus::Proposed => "plan-status-proposed",
        PlanStatus::Approved => "plan-status-approved",
        PlanStatus::InProgress => "plan-status-in-progress",
        PlanStatus::Completed => "plan-status-completed",
        PlanStatus::Cancelled => "plan-status-cancelled",
        PlanStatus::Failed => "plan-status-failed",
    })
}

fn step_status(frame: &Frame, status: StepStatus) -> String {
    frame.say(match status {
        StepStatus::Pending => "step-status-pending",
        StepStatus::InProgress => "step-status-in-progress",
        StepStatus::Completed => "step-status-completed",
        StepStatus::Blocked => "step-status-blocked",
        StepStatus::Skipped => "step-status-skipped",
        StepStatus::Failed => "step-status-failed",
    })
}
