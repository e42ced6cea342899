//! Why the demo ended early, with a hint.

use countersign_server::config::ConfigErrors;

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
