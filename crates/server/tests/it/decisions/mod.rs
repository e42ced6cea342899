//! `/v1`: agents ask, people answer, and approved actions run once.

mod answers;
mod asking;
mod bodies;
mod claiming;
mod deadlines;
mod ending;
mod evidence;
mod flood;
mod nodes;
mod outcomes;
mod policy;
mod retention;
mod shown;
mod strangers;
mod waiting;
