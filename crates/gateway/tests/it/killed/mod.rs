//! Kill -9 at every commit of a held call, and of a plan's story: at most one effect a use, and a truthful record of it
//!
//!
//! The node runs in a process of its own, which is this test binary again: it kills itself at one commit, before, during
//! or after it, or is killed while the bank works. Bank, database, agent and person outlive it. Then a node starts on
//! the remaining data: no call may have run twice or by itself, or be recorded as run without having run.

mod after;
mod cases;
mod plans;
mod plans_after;
mod plans_ledger;
mod plans_story;
mod process;
mod story;
mod undo;
mod writes;
