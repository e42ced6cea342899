//! A plan on its way from submitted to accepted.

use super::{ClarificationError, Clarifications, typed};
use countersign_jose::clarification::{check_attestation, check_message};
use countersign_protocol::{
    clarification::submission::{
        AttestResponse, CheckRequest, CheckResponse, ConfirmResponse, ScaffoldResponse, SessionRequest, StatusResponse,
    },
    mplp::MplpId,
};
use serde_json::Value;

impl Clarifications {
    /// Says what is unclear about a plan. The same plan again finds its session again.
    pub async fn check(&self, plan: &CheckRequest) -> Result<CheckResponse, ClarificationError> {
        let answer = self.post("/submit-clarification", plan).await?;
        self.proven(&answer).await
    }

    /// What is open now.
    pub async fn gaps(&self, session: &MplpId) -> Result<CheckResponse, ClarificationError> {
        let answer = self.of_session("/list-gaps", session).await?;
        self.proven(&answer).await
    }

    pub async fn status(&self, session: &MplpId) -> Result<StatusResponse, ClarificationError> {
        typed(&self.of_session("/session-status", session).await?)
    }

    /// The accepted plan with its attestation, or what is still open.
    pub async fn confirm(&self, session: &MplpId) -> Result<ConfirmResponse, ClarificationError> {
        let answer = self.post("/confirm-plan", &SessionRequest { session_id: session.clone() }).await?;
        self.prove_all(&answer).await?;
        typed(&answer)
    }

    /// Gives a session up: it is asked about no more, and its plan is never confirmed. What a person owes an answer to
    /// still stops irreversible calls that no person approved since, until a person abandons the session as well.
    pub async fn abandon(&self, session: &MplpId) -> Result<StatusResponse, ClarificationError> {
        let answer = self.post("/abandon", &SessionRequest { session_id: session.clone() }).await?;
        typed(&answer)
    }

    /// The plan, once it is clear and confirmed. Never a part of it.
    pub async fn scaffold_plan(&self, plan: &CheckRequest) -> Result<ScaffoldResponse, ClarificationError> {
        let answer = self.post("/scaffold-plan", plan).await?;
        self.prove_all(&answer).await?;
        typed(&answer)
    }

    pub async fn attest(&self, session: &MplpId) -> Result<AttestResponse, ClarificationError> {
        let answer = self.post("/attest", &SessionRequest { session_id: session.clone() }).await?;
        self.prove_all(&answer).await?;
        typed(&answer)
    }

    /// Whatever is signed in an answer that may be one thing or another.
    async fn prove_all(&self, answer: &Value) -> Result<(), ClarificationError> {
        if let Some(attestation) = answer.get("attestation") {
            self.prove_known(attestation, check_attestation).await?;
        }
        if answer.get("clarification").is_some() || answer.get("gaps").is_some() {
            self.proven(answer).await?;
        }
        Ok(())
    }

    /// The signed message, and beside it nothing that it does not say.
    async fn proven(&self, answer: &Value) -> Result<CheckResponse, ClarificationError> {
        let message = answer.get("clarification").unwrap_or(&Value::Null);
        self.prove_known(message, check_message).await?;
        let response: CheckResponse = typed(answer)?;
        let signed = &response.clarification;
        let agrees = [
            ("status", response.status == signed.status),
            ("gaps", response.gaps == signed.gaps),
            ("session", response.session_id == signed.session_id),
            ("blocking gaps", response.blocking_count == signed.blocking_gaps),
            ("warning gaps", response.warning_count == signed.warning_gaps),
        ];
        match agrees.into_iter().find(|(_, same)| !same) {
            Some((what, _)) => Err(ClarificationError::NotAsSigned(what)),
            None => Ok(response),
        }
    }
}
