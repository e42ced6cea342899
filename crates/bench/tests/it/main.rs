//! Through the built program, with real processes.

mod soak;
