//! Documents against schemas: ours, the published ones, and validators in other languages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod aaep;
mod mplp;
mod spoil;

/// The validator of the testkit, included directly: depending on the testkit would pull in the whole server.
#[path = "../../../testkit/src/aaep_judge.rs"]
pub mod judge;

/// The module's name in the testkit, as used by the module below.
pub(crate) use judge as aaep_judge;

#[path = "../../../testkit/src/mplp_judge.rs"]
pub mod mplp_judge;
