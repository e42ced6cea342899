//! Clarification chains and attacks on them.

mod abandoned;
mod accepted;
mod audit;
mod documents;
mod keys;
mod limits;
mod order;
mod rotation;
mod schemas;
mod strict;
mod support;
mod tampering;
mod vectors;
