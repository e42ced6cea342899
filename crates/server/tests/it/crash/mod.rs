//! Kill -9 at every commit of a story: whatever was acknowledged is still there, and nothing runs twice.
//!
//! The story is told by a process of its own, which is this test binary again: it kills itself at one commit, before,
//! during or after it. Then a node starts on what is left, first at once and then two minutes later, and the story is
//! taken up again by whoever heard no answer.

mod after;
mod cases;
mod cast;
mod evidence;
mod story;
mod teller;
mod tokens;
