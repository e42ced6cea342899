//! AAP's operations: load, decide, commit. One file per endpoint.

pub(crate) mod access;
pub(crate) mod audit;
pub(crate) mod cancel;
pub(crate) mod delegate;
pub(crate) mod operator;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod webhook_secrets;
mod webhooks;
