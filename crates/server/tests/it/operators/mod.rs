//! Who an operator is: its domain, what it publishes there, and what happens when that cannot be had.

mod fetching;
mod guard;
mod identity;
mod keys;
mod platform;
mod unreachable;
