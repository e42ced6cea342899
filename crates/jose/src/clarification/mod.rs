//! Offline verification of clarifications: strict Ed25519, and everything that follows from a chain of signatures.
//!
//! Documents are checked as plain JSON values that were parsed strictly: a signature covers the literal texts, so
//! reading a document into types and writing it again could already change it. Nothing here reads a clock. Chains of
//! any age are judged alike (W-18).

mod attestation;
mod audit;
mod chain;
mod handoff;
mod in_force;
mod key;
mod message;
mod plans;
mod record;
mod registry;
mod report;
mod round;
mod seal;
mod shape;
mod wrong;

pub use attestation::check_attestation;
pub use audit::check_audit;
pub use handoff::check_handoff;
pub use key::{AgentKey, BadSignature, is_published_test_key, verify};
pub use message::check_message;
pub use record::check_record;
pub use registry::{Registry, Signer};
pub use report::{ChainReport, OpenGap, ProvenKind, RoundReport};
pub use seal::{ChainSeal, check_against};
pub use wrong::{Flaw, Wrong};
