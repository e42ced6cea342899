//! The context passed to every command in addition to its arguments.

use crate::{
    failure::Failure,
    table::{Listing, Table},
    terminal::Terminal,
};
use anstyle::AnsiColor;
use countersign_server::config::{self, Environment, Loaded};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) terminal: Terminal,
    /// The value of `--config`.
    pub(crate) config: Option<PathBuf>,
}

impl Context {
    /// The configuration of this node, or all of its problems.
    pub(crate) fn load(&self) -> Result<Loaded, config::ConfigErrors> {
        config::load(self.config.as_deref(), &self.environment)
    }

    /// The configuration for a command that starts no node. An unknown variable is only a warning.
    pub(crate) fn load_for_command(&self) -> Result<Loaded, config::ConfigErrors> {
        let loaded = config::load_for_command(self.config.as_deref(), &self.environment)?;
        self.warn_of_unknown(&loaded);
        Ok(loaded)
    }

    pub(crate) fn warn_of_unknown(&self, loaded: &Loaded) {
        for problem in &loaded.unknown_variables {
            self.terminal.note("warning", AnsiColor::Yellow, &format!("{problem}; {}", problem.hint));
        }
    }

    /// Prints to standard output.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        self.terminal.say(text)
    }

    /// Prints a JSON document.
    pub(crate) fn say_json(&self, value: &Value) -> Result<(), Failure> {
        self.terminal.say_json(value, true)
    }

    /// Prints a document: as JSON for programs, in words for people.
    pub(crate) fn say_document<T: Serialize>(
        &self,
        document: &T,
        json: bool,
        text: impl Fn(&T) -> String,
    ) -> Result<(), Failure> {
        if !json {
            return self.say(&text(document));
        }
        self.say_json(&serde_json::to_value(document).map_err(|why| Failure::new(why.to_string()))?)
    }

    /// Prints a line of CSV: as it is into a file or a program, with everything unseen made visible on a terminal.
    pub(crate) fn say_csv(&self, line: &str) -> Result<(), Failure> {
        self.terminal.say_csv(line)
    }

    /// Prints one line of JSON.
    pub(crate) fn say_line(&self, value: &Value) -> Result<(), Failure> {
        self.terminal.say_json(value, false)
    }

    /// Prints records: as JSON for programs, as a list for people.
    pub(crate) fn list_items<T, const N: usize>(
        &self,
        items: &[T],
        json: bool,
        listing: &Listing<T, N>,
    ) -> Result<(), Failure> {
        if json {
            return self.say_json(&items.iter().map(listing.json).collect());
        }
        self.list(&Table { head: listing.head, rows: items.iter().map(listing.row).collect(), none: listing.none })
    }

    /// Prints a list.
    pub(crate) fn list<const N: usize>(&self, table: &Table<N>) -> Result<(), Failure> {
        self.say(&table.shown(self.terminal.accessible))
    }

    /// After a secret was printed: it cannot be printed again.
    pub(crate) fn note_secret_shown_once(&self) {
        let once = "keep the secret now: only its hash is stored, so it cannot be shown again";
        self.terminal.note("note", AnsiColor::Yellow, once);
    }
}
