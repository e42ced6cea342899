//! Clarification sessions: gaps, answers, and a chain that records all of them.

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
