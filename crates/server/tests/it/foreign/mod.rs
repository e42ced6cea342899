//! Other libraries as second judges: what we sign verifies there, and what they sign registers here.

mod accepted;
pub(crate) mod judge;
mod ours;
mod refused;
