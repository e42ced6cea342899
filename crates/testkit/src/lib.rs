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
mod agent_fixture;
mod answer;
pub mod bank;
pub mod clarification;
pub mod deadline;
pub mod decisions;
mod envelope;
pub mod faulty_store;
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
mod service_key;
mod stored_rows;
pub mod suite_agent;
mod upstream;
pub mod webhooks;

pub use agent::{Altered, Connected, Registered, VERIFIER};
pub use agent_fixture::AgentFixture;
pub use answer::Answer;
pub use decisions::TestAgent;
pub use kit::{Backend, KeepsTime, Kit};
pub use names::Names;
pub use operator::{TestOperator, challenge_of};
pub use person::{PASSWORD, TestPerson};
pub use plane::{Plane, Setup, agent_request, send_to};
pub use projects::calendar;
pub use stored_rows::{StoredEntry, stored_evidence, tamper};
pub use upstream::{Reached, TestUpstream};
