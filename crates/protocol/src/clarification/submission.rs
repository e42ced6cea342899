//! Requests of agents about a session, and the responses.

use super::{
    AnsweredBy, Attestation, DigestText, Gap, GivenBy, Message, PROTOCOL_VERSION, PublicKey, Signature, Stamp, Status,
};
use crate::mplp::{MplpId, read};
use read::BadDocument;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A plan to check for gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// The complete plan, as an object.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan_object: Map<String, Value>,
    /// The session to continue; without one it is created, or found again by the same plan (W-11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<MplpId>,
    /// The version of the clarification protocol; the current one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
}

impl CheckRequest {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes).and_then(Self::checked)
    }

    pub fn of_value(value: &Value) -> Result<Self, BadDocument> {
        read::value(value).and_then(Self::checked)
    }

    fn checked(self) -> Result<Self, BadDocument> {
        match self.protocol_version.as_deref() {
            None | Some(PROTOCOL_VERSION) => Ok(self),
            Some(_) => Err(BadDocument::new("protocol_version", format!("must be {PROTOCOL_VERSION}"))),
        }
    }
}

/// Also the content of every refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckResponse {
    pub status: Status,
    pub gaps: Vec<Gap>,
    pub blocking_count: u64,
    pub warning_count: u64,
    pub session_id: MplpId,
    /// The same, signed.
    pub clarification: Message,
    /// The data for signing an answer, for each open gap.
    pub asks: Vec<OpenAsk>,
}

/// The current question about an open gap. It changes with every round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenAsk {
    pub gap_id: String,
    pub round: u64,
    pub prev: DigestText,
    pub ask_timestamp: Stamp,
    pub ask_signature: Signature,
    pub ask_hash: DigestText,
}

/// An answer to one gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResolveRequest {
    /// The session that asked.
    pub session_id: MplpId,
    /// The gap to answer.
    pub gap_id: String,
    /// The answer; empty to have a person asked.
    pub answer: String,
    /// With the next two: the signer of the answer. Without them we sign that it was given (W-06).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<AnsweringParty>,
    /// Of the signed answer, with answered_by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_signature: Option<Signature>,
    /// When it was signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_timestamp: Option<Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AnsweringParty {
    pub agent_id: String,
    pub public_key: PublicKey,
    /// Optional. A signed answer is attested, so false is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attested: Option<bool>,
}

/// The members of a signed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSignature {
    /// Exactly as signed.
    pub answered_by: AnsweredBy,
    pub signature: Signature,
    pub timestamp: Stamp,
}

impl ResolveRequest {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes).and_then(Self::checked)
    }

    pub fn of_value(value: &Value) -> Result<Self, BadDocument> {
        read::value(value).and_then(Self::checked)
    }

    fn checked(self) -> Result<Self, BadDocument> {
        let given = [self.answered_by.is_some(), self.answer_signature.is_some(), self.answer_timestamp.is_some()];
        let signed = given.contains(&true);
        if signed && given.contains(&false) {
            let why = "must come together with answered_by, answer_signature and answer_timestamp, or none of them";
            return Err(BadDocument::new("answer_signature", why));
        }
        match &self.answered_by {
            Some(AnsweringParty { attested: Some(false), .. }) => {
                Err(BadDocument::new("answered_by.attested", "must be true: the signer of an answer attests it"))
            }
            _ => Ok(self),
        }
    }

    /// The giver's own signature, if there is one.
    pub fn signed(&self) -> Option<OwnSignature> {
        let AnsweringParty { agent_id, public_key, .. } = self.answered_by.clone()?;
        Some(OwnSignature {
            answered_by: AnsweredBy { agent_id, public_key, attested: true },
            signature: self.answer_signature.clone()?,
            timestamp: self.answer_timestamp.clone()?,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResolveResponse {
    pub gap_id: String,
    pub status: ResolveStatus,
    /// The suggestion in its own spelling, else the answer verbatim; null if it was rejected (W-14).
    pub accepted_answer: Option<String>,
    pub given_by: GivenBy,
    /// Why the answer was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The decision raised instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    pub open_gaps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResolveStatus {
    Resolved,
    /// The answer was unusable, or a person must give it: the gap stays open and a person is asked (W-13).
    Escalated,
}

/// Names a session, for requests without other members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionRequest {
    /// As returned by wwa_clarify_check or submit-clarification.
    pub session_id: MplpId,
}

impl SessionRequest {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }

    pub fn of_value(value: &Value) -> Result<Self, BadDocument> {
        read::value(value)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusResponse {
    pub session_id: MplpId,
    pub status: Status,
    pub state: SessionState,
    pub accepted_gaps: u64,
    pub blocking_gaps: u64,
    pub warning_gaps: u64,
    pub total_rounds: u64,
    pub expires_at: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Open,
    Confirmed,
    Expired,
    /// Abandoned by its agent or by a person: its plan can no longer be confirmed.
    Abandoned,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ConfirmResponse {
    Accepted(Box<PlanAccepted>),
    Refused(Box<CheckResponse>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanAccepted {
    pub status: PlanAcceptedStatus,
    pub session_id: MplpId,
    /// As submitted, with the accepted answers in their places and nothing else.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan: Value,
    pub attestation: Attestation,
    /// For an MPLP plan: the pending Confirm and its decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PlanAcceptedStatus {
    #[default]
    #[serde(rename = "plan_accepted")]
    PlanAccepted,
}

/// Never a partial plan: all of it, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ScaffoldResponse {
    Accepted(ScaffoldedPlan),
    Refused(Box<CheckResponse>),
    Ready(ReadyToProceed),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScaffoldedPlan {
    pub status: PlanAcceptedStatus,
    pub session_id: MplpId,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum AttestResponse {
    Attested(Box<Attested>),
    Refused(Box<CheckResponse>),
    Ready(ReadyToProceed),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attested {
    pub status: AttestedStatus,
    pub attestation: Attestation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AttestedStatus {
    #[default]
    #[serde(rename = "attested")]
    Attested,
}

/// No gap is open, but the plan is not confirmed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReadyToProceed {
    /// `ready_to_proceed`.
    pub status: Status,
    pub session_id: MplpId,
    /// The next step.
    pub next: String,
}

#[cfg(test)]
mod tests;
