//! AAP's operations: load, decide, commit. One file per endpoint.

pub(crate) mod access;
mod access_summary;
pub(crate) mod cancel;
pub(crate) mod delegate;
pub(crate) mod events;
mod operator;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod shared_signals;
mod task_complete;
pub(crate) mod webhook_secrets;
mod webhooks;
