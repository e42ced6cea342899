//! The configuration of a node: one TOML file, with a default for every key, each overridable from the environment.
//!
//! [`table`] is the only list of keys. The file that `countersign init` writes, the check of values, the names of
//! environment variables and the hints for a mistyped name are all derived from it.
//!
//! Only [`environment::of_this_process`] reads the environment; everything else takes it as a map.

pub mod environment;
pub mod key_encryption_key;
pub mod node;
pub mod problem;
pub mod project_file;
pub mod secret;

mod checks;
mod credentials;
mod disk;
mod document;
mod explain;
mod kind;
mod layers;
mod load;
mod resolve;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod walk;
mod witness;

pub use environment::Environment;
pub use explain::{explain, explain_as_sentences, explain_json, problems_json};
pub use load::{
    CONFIG_VARIABLE, ConfigSource, DEFAULT_FILE, Loaded, Warning, from_text, from_text_for_command, load,
    load_for_command,
};
pub use node::NodeConfig;
pub use problem::{ConfigErrors, ConfigProblem, ValueOrigin};
pub use template::template;
