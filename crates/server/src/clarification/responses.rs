//! The engine's results as response documents, the same for HTTP and MCP.

use countersign_engine::{Attested, Confirmed, Scaffolded, mplp_views::confirm};
use countersign_protocol::{
    clarification::{
        Status,
        submission::{
            self, AttestResponse, AttestedStatus, ConfirmResponse, PlanAccepted, PlanAcceptedStatus, ReadyToProceed,
            ScaffoldResponse, ScaffoldedPlan,
        },
    },
    mplp::MplpId,
};

pub(crate) fn confirmed(confirmed: Confirmed) -> ConfirmResponse {
    match confirmed {
        Confirmed::Refused(unclear) => ConfirmResponse::Refused(unclear),
        Confirmed::Accepted { plan, attestation, session_id, asked } => {
            ConfirmResponse::Accepted(Box::new(PlanAccepted {
                status: PlanAcceptedStatus::PlanAccepted,
                session_id,
                plan,
                attestation: *attestation,
                confirm_id: asked.as_ref().map(|raised| confirm::confirm_id(&raised.decision)),
                decision_id: asked.map(|raised| raised.decision.id),
            }))
        }
    }
}

/// `confirm` names the endpoint or tool that confirms a plan.
pub(crate) fn scaffolded(scaffolded: Scaffolded, confirm: &str) -> ScaffoldResponse {
    match scaffolded {
        Scaffolded::Refused(unclear) => ScaffoldResponse::Refused(unclear),
        Scaffolded::Ready(session_id) => ScaffoldResponse::Ready(ready(session_id, confirm)),
        Scaffolded::Accepted { plan, session_id } => {
            ScaffoldResponse::Accepted(ScaffoldedPlan { status: PlanAcceptedStatus::PlanAccepted, session_id, plan })
        }
    }
}

pub(crate) fn attested(attested: Attested, confirm: &str) -> AttestResponse {
    match attested {
        Attested::Refused(unclear) => AttestResponse::Refused(unclear),
        Attested::Ready(session_id) => AttestResponse::Ready(ready(session_id, confirm)),
        Attested::Attested(attestation) => AttestResponse::Attested(Box::new(submission::Attested {
            status: AttestedStatus::Attested,
            attestation: *attestation,
        })),
    }
}

fn ready(session_id: MplpId, confirm: &str) -> ReadyToProceed {
    let next = format!("no gap is open: confirm the plan of this session with {confirm}");
    ReadyToProceed { status: Status::ReadyToProceed, session_id, next }
}
