//! How to speak to whoever reads: in colour or not, in columns or in sentences.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use countersign_server::config::Environment;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

pub(crate) struct Terminal {
    /// Whether the reader has not asked for plain text.
    pub(crate) colour_allowed: bool,
    /// Whether the reader listens, or reads line by line: sentences instead of columns, nothing that moves.
    pub(crate) accessible: bool,
}

impl Terminal {
    /// `NO_COLOR` counts when it is not empty, whatever it says (no-color.org); `ACCESSIBLE` can also be switched off.
    pub(crate) fn resolve(environment: &Environment) -> Self {
        let value = |name: &str| environment.get(name).map_or("", String::as_str);
        let accessible = !matches!(value("ACCESSIBLE"), "" | "0" | "false" | "no");
        let colour_allowed = value("NO_COLOR").is_empty() && value("TERM") != "dumb" && !accessible;
        Self { colour_allowed, accessible }
    }

    /// Prints to standard output. Whoever closes it early (`| head`) has read enough.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("cannot write the output: {e}"))),
            _ => Ok(()),
        }
    }

    /// Prints a line to standard error behind a word that says what it is. The word carries the meaning, the colour
    /// only repeats it.
    pub(crate) fn note(&self, word: &str, colour: AnsiColor, text: &str) {
        let mut out = std::io::stderr().lock();
        let style = if self.colour_allowed && out.is_terminal() { colour.on_default().bold() } else { Style::new() };
        // Nothing is left to tell it to when standard error is gone.
        let _ = writeln!(out, "{style}{word}:{style:#} {text}");
    }
}
