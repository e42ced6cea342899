//! MPLP 1.0.0: plans, the Confirms that people decide, and the events about both.
//!
//! The published schemas are closed, and so are these types: an unknown member is refused with a hint about the right
//! one. `countersign-core` ignores the status that a document claims.

pub mod bus;
pub mod confirm;
pub mod extensions;
pub mod governance;
pub mod id;
pub mod learning;
mod members;
pub mod meta;
pub mod plan;
pub mod read;
pub mod role;
pub mod submission;
pub mod trace;

pub use bus::{BusEvent, ExecutionStatus, ExecutorKind, Family, StageStatus, UpdateKind};
pub use confirm::{Confirm, ConfirmDecision, ConfirmStatus, DecisionStatus, TargetType};
pub use extensions::{
    AllowanceShown, AllowanceStatus, Left, PlanActions, PlanDifference, ProposeRequest, ReasonGiven, Runs, StepShown,
    SumLeft,
};
pub use governance::{Governance, Module, Ref};
pub use id::{MplpId, NotAnMplpId};
pub use learning::{Feedback, LearningSample, Sample};
pub use meta::{BaseEvent, CrossCutting, Meta};
pub use plan::{Plan, PlanStatus, PlanStep, StepStatus};
pub use read::BadDocument;
pub use role::MplpRole;
pub use submission::{ConfirmSubmission, DecisionRequest, ListPage, PlanSubmission, StepAction, StepReport};
pub use trace::{Segment, SegmentStatus, Trace, TraceBase, TraceStatus};
