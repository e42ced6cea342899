//! The agent against a scripted service that records every request, and the operator on a real web server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod ask;
mod call;
mod clarification;
mod connect;
mod consent;
mod decisions;
mod discover;
mod fixture;
mod keys;
mod manifests;
mod mplp;
mod possession;
mod register;
mod service;
mod site;
mod subscriber;
mod tier;
mod transport;
mod versions;

// Included as a file: depending on the crate would make these tests wait for the whole server to compile.
#[allow(dead_code, unreachable_pub, reason = "other crates' tests use the rest")]
#[path = "../../../testkit/src/operator_host.rs"]
mod operator_host;
