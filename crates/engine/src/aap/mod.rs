//! AAP's operations: load, decide, make durable. One file an endpoint's worth.

pub(crate) mod access;
pub(crate) mod audit;
pub(crate) mod cancel;
pub(crate) mod delegate;
pub(crate) mod operator;
pub(crate) mod register;
pub(crate) mod revoke;
