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
    /// Checks a plan for gaps. The same plan finds its session again.
    pub async fn check(&self, plan: &CheckRequest) -> Result<CheckResponse, ClarificationError> {
        let answer = self.post("/submit-clarification", plan).await?;
        self.proven(&answer).await
    }

    /// The open gaps.
    pub async fn gaps(&self, session: &MplpId) -> Result<CheckResponse, ClarificationError> {
        let answer = self.of_session("/list-gaps", session).await?;
        self.proven(&answer).await
    }

    pub async fn status(&self, session: &MplpId) -> Result<StatusResponse, ClarificationError> {
        typed(&self.of_session("/session-status", session).await?)
    }

    /// The accepted plan with its attestation, or the open gaps.
    pub async fn confirm(&self, session: &MplpId) -> Result<ConfirmResponse, ClarificationError> {
        let answer = self.post("/confirm-plan", &SessionRequest { session_id: session.clone() }).await?;
        self.prove_all(&answer).await?;
        typed(&answer)
    }

    /// Abandons a session: it asks no more questions, and its plan is never confirmed. Questions that a person must
    /// answer still block irreversible calls without a later approval, until a person abandons the session too.
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

    /// Verifies every signed part of a response with several possible forms.
    async fn prove_all(&self, answer: &Value) -> Result<(), ClarificationError> {
        if let Some(attestation) = answer.get("attestation") {
            self.prove_known(attestation, check_attestation).await?;
        }
        if answer.get("clarification").is_some() || answer.get("gaps").is_some() {
            self.proven(answer).await?;
        }
        Ok(())
    }

    /// Verifies the signed message, and that the rest of the response agrees with it.
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
