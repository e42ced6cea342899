//! Kill -9 at every commit of a story: everything acknowledged is still there, and nothing runs twice.
//!
//! The story runs in a process of its own, which is this test binary again: it kills itself at one commit, before,
//! during or after it. Then a node starts on the remaining data, first at once and then two minutes later, and the callers
//! without a response go on with the story.

mod after;
mod cases;
mod cast;
mod evidence;
mod story;
mod teller;
mod tokens;
