//! The proxy on a real socket, between an agent and a scripted service.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod bodies;
mod drain;
mod held;
mod killed;
mod paths;
mod peer;
mod plans;
mod proxy_fixture;
mod secrets;
mod slow;
mod smuggling;
mod strangers;
mod streams;
mod tenants;
mod tls;
mod unclear;
mod upstream_failures;
mod websocket;
