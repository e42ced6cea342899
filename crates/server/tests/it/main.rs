//! The plane over HTTP: stories, races and crashes on both databases, rules on SQLite.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod aaep;
mod access;
mod audit;
mod bootstrap;
mod browser;
mod clarification;
mod clients;
mod clock;
mod crash;
mod decisions;
mod discovery;
mod envelope;
mod epoch;
mod evidence_log;
mod foreign;
mod gateway;
mod keys;
mod listener;
mod mcp;
mod mplp;
mod operators;
mod own_endpoints;
mod pages;
mod people;
mod races;
mod register;
mod required;
mod revocation;
mod schemas;
mod scim;
mod service_accounts;
mod shared_signals;
mod storm;
mod story;
mod tenancy;
mod two_nodes;
mod vectors;
mod versions;
mod webhooks;
