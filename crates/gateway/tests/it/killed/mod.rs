//! Kill -9 at every commit of a held call, and of a plan's story: at most one effect a use, and an honest word about it
//!
//!
//! The node runs in a process of its own, which is this test binary again: it kills itself at one commit, before, during
//! or after it, or is killed while the bank works. Bank, database, agent and person outlive it. Then a node starts on
//! what is left, and nothing may have run twice, run by itself, or be said to have run that has not.

mod after;
mod cases;
mod other_node;
mod plans;
mod plans_after;
mod plans_ledger;
mod plans_story;
mod process;
mod story;
mod writes;
