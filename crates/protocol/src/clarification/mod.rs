//! The Agent Clarification Protocol: gaps that block an agent, the signed chain of its questions and answers, and the
//! rules that find gaps.
//!
//! CLARIFICATION-RESOLUTIONS (W-01 to W-32) defines the signed contents and their signers.

pub mod attestation;
pub mod audit;
pub mod gap;
pub mod handoff;
pub mod keys;
pub mod limits;
pub mod message;
pub mod record;
pub mod rules;
pub mod signed;
pub mod submission;
pub mod text;

pub use attestation::{Attestation, ChainReference, Inputs};
pub use audit::{Audit, PublishedKey, PublishedKeys, SignedRound, SubmittedPlan};
pub use gap::{Gap, Operation, Severity};
pub use handoff::{Handoff, HandoffContext};
pub use keys::{BadKeyText, PublicKey, Signature};
pub use message::{Message, Status};
pub use record::{Abandoned, AnsweredBy, ChainEntry, GivenBy, PlanChanged, Record, Rotated, Rotation, Round};
pub use rules::{AnswerKind, ClarificationPolicy, Rule, RuleCase};
pub use signed::{Signable, SignedType};
pub use text::{DigestText, Stamp};

/// The version in every message.
pub const PROTOCOL_VERSION: &str = "1.0.0";
/// The schema name in every message; we publish the document under it (W-30).
pub const SCHEMA: &str = "https://workswithagents.dev/specs/clarification-protocol.json";
