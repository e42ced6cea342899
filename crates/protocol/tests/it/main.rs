//! Documents against schemas: ours, the published ones, and another language's reading of both.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod aaep;
mod mplp;

/// The judge of the testkit, without the testkit: that would bring the whole server along.
#[path = "../../../testkit/src/aaep_judge.rs"]
pub mod judge;

/// The name that the testkit has for it, which the judge below asks for.
pub(crate) use judge as aaep_judge;

#[path = "../../../testkit/src/mplp_judge.rs"]
pub mod mplp_judge;
