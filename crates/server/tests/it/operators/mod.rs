//! An operator's identity: its domain, the documents it publishes there, and the failures to fetch them.

mod fetching;
mod guard;
mod identity;
mod keys;
mod platform;
mod unreachable;
