//! The rules of the core, checked against models.

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
mod bounded;
mod bounded_book;
mod bounded_fit;
mod bounded_model;
mod bounded_steps;
mod bounded_tally;
mod cancel_check;
mod clarification;
mod decision_answers;
mod decision_claims;
mod decision_clarifications;
mod decision_commands;
mod decision_due;
mod decision_invariants;
mod decision_model;
mod decision_offers;
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
mod mplp_bus;
mod mplp_confirm;
mod mplp_diff;
mod mplp_question;
mod mplp_roles;
mod mplp_rows;
mod mplp_samples;
mod mplp_submit;
mod mplp_trace;
mod plan_answers;
mod plan_bounds;
mod plan_model;
mod plan_progress;
mod plan_reference;
mod plan_runner;
mod plan_terms;
mod plan_world;
mod plans_check;
mod probe_check;
mod routes;
mod routes_check;
mod standing;
mod undo;
mod worlds;

/// The validators of the testkit, included directly: depending on the testkit would pull in the whole server.
#[path = "../../../testkit/src/aaep_judge.rs"]
pub mod aaep_judge;

#[path = "../../../testkit/src/mplp_judge.rs"]
pub mod mplp_judge;
