//! AAEP documents.

mod agreement;
mod confirmation;
mod documents;
mod emitted;
mod envelope;
mod messages;
mod published;
mod questions;
mod spoil;
