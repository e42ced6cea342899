//! Clarification sessions: what is asked, what counts as an answer, and that the chain tells all of it.

mod acts;
mod answers;
mod chain;
mod confirmed;
mod evidence;
mod keys;
mod look;
mod model;
mod people;
mod plans;
mod reference;
mod rules;
mod signed;
mod world;
