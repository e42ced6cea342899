//! The rules of the core against models of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod access;
mod access_limits;
mod access_model;
mod decision_answers;
mod decision_claims;
mod decision_clarifications;
mod decision_commands;
mod decision_due;
mod decision_invariants;
mod decision_model;
mod decision_reference;
mod decision_runner;
mod decision_sessions;
mod decision_stateright;
mod decision_store;
mod decision_stream;
mod decision_terms;
mod decision_world;
mod durations;
mod held;
mod held_effects;
mod held_explain;
mod held_fields;
mod held_questions;
mod routes;
mod routes_check;
mod standing;
mod worlds;
