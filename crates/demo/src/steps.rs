//! The steps of the story: each line is printed only after its step was checked, and the first failure ends it.

use crate::Print;
use countersign_server::config::ConfigErrors;

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

/// Why the demo ended early, with a hint.
#[derive(Debug)]
pub struct DemoFailure {
    pub error: String,
    pub hint: Option<String>,
}

impl DemoFailure {
    pub fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<ConfigErrors> for DemoFailure {
    fn from(errors: ConfigErrors) -> Self {
        let problems: Vec<_> = errors.problems.iter().map(ToString::to_string).collect();
        Self::new(problems.join("; "))
    }
}
