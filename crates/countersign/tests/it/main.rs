//! End-to-end tests: through the binary and over the repository.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod bundles;
mod clarify;
mod cli;
mod cli_audit;
mod cli_audit_bundle;
mod cli_call;
mod cli_decisions;
mod cli_folder;
mod cli_inbox;
mod cli_key;
mod cli_keys;
mod cli_node;
mod cli_plan;
mod cli_project;
mod cli_routes;
mod cli_serve;
mod cli_storage;
mod cli_together;
mod cli_token;
mod cli_user;
mod cli_webhooks;
mod demo;
mod examples;
mod house;
mod mcp;
mod openapi;
mod sdk;
mod walkthrough;
