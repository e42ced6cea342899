//! The lines of the story: each is printed only after what it says was seen.

use crate::{context::Context, failure::Failure};

pub(super) struct Steps<'a> {
    context: &'a Context,
    count: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self { context, count: 0 }
    }

    /// Something was done, and was as promised.
    pub(super) fn done(&mut self, what: &str) -> Result<(), Failure> {
        self.count += 1;
        self.say(&format!("{:>3}  ok  {what}\n", self.count))
    }

    /// What was seen there.
    pub(super) fn seen(&self, what: &str) -> Result<(), Failure> {
        self.say(&format!("        {what}\n"))
    }

    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        self.context.say(text)
    }
}

pub(super) fn check(holds: bool, otherwise: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::new(format!("not as promised: {otherwise}"))) }
}
