//! What every command is handed besides its own arguments.

use crate::{failure::Failure, table::Table, terminal::Terminal};
use countersign_server::config::{self, Environment, Loaded};
use serde_json::Value;
use std::path::PathBuf;

pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) terminal: Terminal,
    /// The file that `--config` names.
    pub(crate) config: Option<PathBuf>,
}

impl Context {
    /// The configuration of this node, or everything that is wrong with it.
    pub(crate) fn load(&self) -> Result<Loaded, config::ConfigErrors> {
        config::load(self.config.as_deref(), &self.environment)
    }

    /// Prints to standard output.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        self.terminal.say(text)
    }

    /// Prints a document for programs.
    pub(crate) fn say_json(&self, value: &Value) -> Result<(), Failure> {
        self.say(&format!("{value:#}\n"))
    }

    /// Prints a list.
    pub(crate) fn list<const N: usize>(&self, table: &Table<N>) -> Result<(), Failure> {
        self.say(&table.shown(self.terminal.accessible))
    }
}
