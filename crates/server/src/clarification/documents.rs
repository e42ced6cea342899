//! Requests, parsed as strictly as MPLP's, and the engine's results as responses, the same for HTTP and MCP.

use crate::mplp::requests::mplp_document;
use countersign_engine::{Attested, Confirmed, Scaffolded, mplp_views::confirm};
use countersign_protocol::{
    clarification::{
        Status,
        submission::{
            self, AttestResponse, AttestedStatus, CheckRequest, ConfirmResponse, PlanAccepted, PlanAcceptedStatus,
            ReadyToProceed, ResolveRequest, ScaffoldResponse, ScaffoldedPlan, SessionRequest,
        },
    },
    mplp::{MplpId, submission::MAX_PLAN_BYTES},
};

/// Bytes besides the plan, which has the same maximum as where it is written: member names and a session id.
const FRAME_BYTES: usize = 1024;

mplp_document!(
    CheckRequest,
    CheckRequest::read,
    fn most(_: usize) -> usize {
        MAX_PLAN_BYTES + FRAME_BYTES
    }
);
mplp_document!(ResolveRequest, ResolveRequest::read);
mplp_document!(SessionRequest, SessionRequest::read);

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
