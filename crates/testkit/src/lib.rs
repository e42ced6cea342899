//! What tests of the whole plane are made of. Used from `tests/` folders only.

pub mod operator_host;
pub mod postgres;
