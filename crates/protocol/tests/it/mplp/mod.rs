//! MPLP documents.

mod agreement;
mod confirm;
mod documents;
mod emitted;
mod judges;
mod plan;
mod refusals;
mod spoil;
mod submission;
