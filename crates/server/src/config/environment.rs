//! The only reader of the process environment.

use std::collections::BTreeMap;

/// Variables by name. Passed as a value, so that a configuration depends on no hidden input.
pub type Environment = BTreeMap<String, String>;

/// The variables of this process. A value that is not UTF-8 keeps its readable part, so that the check of its key
/// refuses it; otherwise the variable would be overlooked.
#[expect(clippy::disallowed_methods, reason = "the only reader of the environment; everyone else is handed the map")]
pub fn of_this_process() -> Environment {
    let text = |part: std::ffi::OsString| part.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}
