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
mod refusals;
mod world;

// Taken in as a file: through the crate these tests would wait for the whole plane to compile.
#[allow(dead_code, unreachable_pub, reason = "other crates' tests use the rest")]
#[path = "../../../testkit/src/operator_host.rs"]
mod operator_host;
