//! The rules of the Agent Authentication Protocol, one module per operation.

pub mod access;
pub mod access_summary;
pub mod audit;
pub mod cancel;
pub mod connect;
pub mod delegate;
pub mod events;
pub mod exchange;
pub mod ignored;
pub mod lift;
pub mod manifest;
pub mod policy;
pub mod register;
pub mod revoke;
pub mod task_complete;
pub mod texts;
pub mod validity;
pub mod webhook_secrets;
pub mod webhooks;
