//! Fixtures for tests of the whole plane. Used from `tests/` folders only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot be set up says so by failing"
)]

pub mod aaep;
pub mod aaep_judge;
mod agent;
mod answer;
pub mod bank;
mod calls;
pub mod clarification;
pub mod crashing;
pub mod deadline;
pub mod decisions;
mod envelope;
mod evidence;
pub mod failing;
mod kit;
pub mod leaks;
mod logs;
pub mod mplp_judge;
mod names;
mod openapi_judge;
mod operator;
pub mod operator_host;
mod person;
mod plane;
pub mod postgres;
mod projects;
mod real_time;
mod scene;
mod service_key;
pub mod suite_agent;
mod upstream;
pub mod webhooks;

pub use agent::{Connected, Registered, VERIFIER};
pub use answer::Answer;
pub use calls::Altered;
pub use decisions::TestAgent;
pub use evidence::{StoredEntry, stored_evidence};
pub use kit::{Backend, Kit};
pub use names::Names;
pub use operator::{TestOperator, challenge_of};
pub use person::{PASSWORD, TestPerson};
pub use plane::{Plane, Setup, agent_request, send_to};
pub use projects::calendar;
pub use real_time::KeepsTime;
pub use scene::Scene;
pub use upstream::{Reached, TestUpstream};
