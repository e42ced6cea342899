//! Other libraries as second judges: our signatures verify there, and their signatures register here.

mod accepted;
pub(crate) mod judge;
mod ours;
mod refused;
