//! Clarification: sessions, signing keys, and the operations that an open gap stops.

mod abandon;
mod documents;
mod keys;
mod persons;
mod proposals;
mod rules;
mod sessions;
mod stops;

pub use abandon::Abandoning;
pub(crate) use rules::RuleBooks;
pub use sessions::{Attested, Confirmed, Gathered, Scaffolded};
