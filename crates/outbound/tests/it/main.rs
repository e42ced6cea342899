//! The guarded client and the directory of operators against real TLS servers on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod alerts;
mod directory;
mod fetch;
mod fixture;
mod refusals;

// Included as a file: depending on the crate would make these tests wait for the whole server to compile.
#[allow(dead_code, unreachable_pub, reason = "other crates' tests use the rest")]
#[path = "../../../testkit/src/operator_host.rs"]
mod operator_host;
