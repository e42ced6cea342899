//! What tests of the whole plane are made of. Used from `tests/` folders only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot be set up says so by failing"
)]

mod agent;
mod answer;
mod envelope;
mod kit;
mod operator;
pub mod operator_host;
mod person;
mod plane;
pub mod postgres;
mod projects;
mod upstream;

pub use agent::{Connected, Registered};
pub use answer::Answer;
pub use kit::{Backend, Kit};
pub use operator::{TestOperator, challenge_of};
pub use person::{PASSWORD, TestPerson};
pub use plane::{Plane, Setup, agent_request, send_to};
pub use projects::calendar;
pub use upstream::{Reached, Upstream};
