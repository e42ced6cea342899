//! Cutting an agent off: by its user, its operator, an admin, or by taking a receipt or a key back.

mod callers;
mod immediate;
mod key;
mod receipt;
mod restart;
