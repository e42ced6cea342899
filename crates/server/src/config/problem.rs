//! A problem with a configuration: its place, the repair, and the known name nearest to a mistyped one.

use std::path::PathBuf;

/// The source of a value. The environment takes precedence over the file, and the file over the default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOrigin {
    Default,
    File { path: PathBuf, line: Option<usize> },
    Environment { variable: String },
}

impl ValueOrigin {
    /// The precedence of this source.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment { .. } => 2,
        }
    }
}

impl std::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line: Some(line) } => write!(f, "{}:{line}", path.display()),
            Self::File { path, line: None } => write!(f, "{}", path.display()),
            Self::Environment { variable } => f.write_str(variable),
        }
    }
}

/// One thing to repair. Never holds the refused value: it may be a secret in the wrong place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    pub place: ValueOrigin,
    /// The path of the key, such as `listen.public`; empty for the file as a whole.
    pub key: String,
    pub wrong: String,
    pub hint: String,
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A default has no place to show.
        if self.place != ValueOrigin::Default {
            write!(f, "{}: ", self.place)?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        f.write_str(&self.wrong)
    }
}

/// Every problem at once, so that one run is enough to repair the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors {
    pub problems: Vec<ConfigProblem>,
}

impl std::fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(|p| format!("{p} ({})", p.hint)).collect();
        f.write_str(&lines.join("; "))
    }
}

impl std::error::Error for ConfigErrors {}

impl From<ConfigProblem> for ConfigErrors {
    fn from(problem: ConfigProblem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// Minimum similarity of two names: one typo in a word of four letters passes, another word does not.
const ALIKE: f64 = 0.8;

/// The hint for an unknown name: the nearest known one, or the whole list if none is near.
pub(super) fn nearest_hint<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(unknown, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known here: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let unknown = unknown.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&unknown, &name.to_lowercase()), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}
