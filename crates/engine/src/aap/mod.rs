//! AAP's operations: load, decide, commit. One file per endpoint.

pub(crate) mod access;
mod access_summary;
pub(crate) mod cancel;
pub(crate) mod delegate;
pub(crate) mod events;
pub(crate) mod heartbeat;
mod lift;
mod operator;
pub(crate) mod register;
pub(crate) mod revoke;
mod rollback;
mod scope_expansion;
pub(crate) mod service_account;
pub(crate) mod shared_signals;
mod task_complete;
pub(crate) mod webhook_attempts;
pub(crate) mod webhook_secrets;
mod webhooks;
