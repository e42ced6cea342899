//! Documents of the Agent Authentication Protocol 2.0, one module per document.

pub mod access_summary;
pub mod audit;
pub mod claims;
pub mod consent_receipt;
pub mod delegate;
pub mod delegation_token;
pub mod dpop;
pub mod dry_run;
pub mod error;
pub mod events;
pub mod heartbeat;
pub mod identity;
pub mod jwks;
pub mod lift;
pub mod manifest;
pub mod operator_jwt;
pub mod policy;
pub mod register;
pub mod registry;
pub mod revoke;
pub mod scope_approval;
pub mod service_account;
pub mod undo;
pub mod version;
pub mod webhook;
