//! The lines of the story: each is printed only after its step was checked.

use crate::{DemoFailure, Print};

pub(super) struct Steps<'a> {
    print: Print<'a>,
    count: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(print: Print<'a>) -> Self {
        Self { print, count: 0 }
    }

    /// A step was done with the expected result.
    pub(super) fn done(&mut self, step: &str) -> Result<(), DemoFailure> {
        self.count += 1;
        self.print(&format!("{:>3}  ok  {step}\n", self.count))
    }

    /// A detail of the previous step.
    pub(super) fn seen(&self, detail: &str) -> Result<(), DemoFailure> {
        self.print(&format!("        {detail}\n"))
    }

    pub(super) fn print(&self, text: &str) -> Result<(), DemoFailure> {
        (self.print)(text)
    }
}

pub(super) fn check(holds: bool, otherwise: &str) -> Result<(), DemoFailure> {
    if holds { Ok(()) } else { Err(DemoFailure::new(format!("not as promised: {otherwise}"))) }
}
