//! Revoking an agent's access: by its user, its operator, an admin, or by revoking a receipt or a key.

mod access_summary;
mod auto_revoke;
mod callers;
mod heartbeat;
mod immediate;
mod interrupted;
mod key;
mod reasons;
mod receipt;
mod restart;
mod year;
