#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod clarified;
mod consent;
mod every_page;
mod gallery;
mod hostile;
mod inbox;
mod language;
mod lookalike;
mod open_yeses;
mod plans;
mod policy;
mod questions;
mod samples;
mod words;
