//! Signatures: turn statements of other parties into verified facts.
//!
//! Nothing here waits, reads a clock or opens a socket. Keys are bytes, `now` is an argument, and the result is either
//! a refusal with its reason or one of `countersign_protocol::facts`.

mod algorithm;
pub mod clarification;
mod compact;
mod evidence_crypto;
mod jwk;
mod key_set;
mod mac;
mod note_key;
pub mod pkce;
mod proof_key;
mod proof_keys;
mod seal;
mod signing_key;
mod verify;
mod webhook;

pub use algorithm::Algorithm;
pub use compact::{MAX_TOKEN_BYTES, Malformed, Peek, peek};
pub use evidence_crypto::EvidenceCrypto;
pub use jwk::{KeyFlaw, KeyPolicy, VerifyingKey};
pub use key_set::{KeySet, KeySetRefusal, MAX_SET_BYTES, MAX_SET_KEYS, NoKey};
pub use mac::Mac;
pub use note_key::NoteKey;
pub use proof_key::ProofKey;
pub use proof_keys::ProofKeys;
pub use seal::{NotSealed, Sealer, Unsealable};
pub use signing_key::{BadSigningKey, SigningFailed, SigningKey};
pub use verify::delegation::{DelegationRefusal, verify_delegation, verify_grant};
pub use verify::dpop::{DpopRefusal, ExpectedProof, verify_dpop};
pub use verify::manifest::{ManifestRefusal, verify_manifest};
pub use verify::operator::{OperatorRefusal, verify_operator};
pub use verify::receipt::{ReceiptRefusal, verify_receipt};
pub use verify::security_event::{SecurityEventRefusal, verify_security_event};
pub use verify::{Expected, Unsigned};
pub use webhook::{WebhookKey, webhook_headers};
