//! Revoking an agent's access: by its user, its operator, an admin, or by revoking a receipt or a key.

mod access_summary;
mod auto_revoke;
mod callers;
mod immediate;
mod key;
mod receipt;
mod restart;
