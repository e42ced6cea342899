//! Terminal output: with or without colour, in columns or sentences.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use countersign_protocol::visible::{is_unseen, visible};
use countersign_server::config::Environment;
use serde_json::Value;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};

pub(crate) struct Terminal {
    /// False if the reader asked for plain text.
    pub(crate) colour_allowed: bool,
    /// For screen readers and line-by-line readers: sentences instead of columns, nothing animated.
    pub(crate) accessible: bool,
}

impl Terminal {
    /// Any non-empty value of `NO_COLOR` counts (no-color.org); `ACCESSIBLE` can also be switched off.
    pub(crate) fn resolve(environment: &Environment) -> Self {
        let value = |name: &str| environment.get(name).map_or("", String::as_str);
        let accessible = !matches!(value("ACCESSIBLE"), "" | "0" | "false" | "no");
        let colour_allowed = value("NO_COLOR").is_empty() && value("TERM") != "dumb" && !accessible;
        Self { colour_allowed, accessible }
    }

    /// Prints to standard output. Control, invisible and direction-changing characters are always shown by their code
    /// point.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        self.write(&visible_lines(text))
    }

    /// Prints in a style of our own.
    pub(crate) fn say_in(&self, style: Style, text: &str) -> Result<(), Failure> {
        self.write(&format!("{style}{}{style:#}", visible_lines(text)))
    }

    /// Prints a line of CSV, whose line ends belong to it. On a terminal nothing unseen is printed.
    pub(crate) fn say_csv(&self, line: &str) -> Result<(), Failure> {
        if std::io::stdout().is_terminal() { self.say(&line.replace('\r', "")) } else { self.write(line) }
    }

    /// Prints a JSON document, on one line or indented; the same characters as in `say` are escaped.
    pub(crate) fn say_json(&self, value: &Value, laid_out: bool) -> Result<(), Failure> {
        let text = if laid_out { format!("{value:#}\n") } else { format!("{value}\n") };
        self.write(&escaped_json(&text))
    }

    /// Ignores a closed output (`| head`): the reader has seen enough.
    fn write(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!("cannot write the output: {e}"))),
            _ => Ok(()),
        }
    }

    /// Prints text before a question to standard error, so that standard output has the result alone.
    pub(crate) fn say_aside(&self, text: &str) {
        let _ = write!(std::io::stderr().lock(), "{}", visible_lines(text));
    }

    /// Asks at standard error. Only `yes` is a yes; the end of the input is a no.
    pub(crate) fn confirm(&self, question: &str) -> Result<bool, Failure> {
        let _ = write!(std::io::stderr().lock(), "{question} [yes/no] ");
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        read.map_err(|why| Failure::new(format!("the answer could not be read: {why}")))?;
        Ok(matches!(answer.trim(), "yes" | "y"))
    }

    /// Prints a line to standard error with a label. The label carries the meaning, the colour only repeats it. Further
    /// lines of the text are indented, so that none can pose as a separate message.
    pub(crate) fn note(&self, word: &str, colour: AnsiColor, text: &str) {
        let mut out = std::io::stderr().lock();
        let style = if self.colour_allowed && out.is_terminal() { colour.on_default().bold() } else { Style::new() };
        let text = visible_lines(text).replace('\n', "\n  ");
        // If standard error is gone, there is nowhere to report it.
        let _ = writeln!(out, "{style}{word}:{style:#} {text}");
    }
}

/// The text with invisible characters made visible, line by line.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// JSON text with every invisible character escaped: the same document for any parser.
fn escaped_json(text: &str) -> String {
    let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let one = |c: char| if c != '\n' && is_unseen(c) { escape(c) } else { c.to_string() };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{escaped_json, visible_lines};
    use countersign_protocol::visible::is_unseen;
    use serde_json::{Value, json};

    ///
    #[test]
    fn nothing_unseen_reaches_a_terminal() {
        let text = visible_lines("one\r\ntwo\u{1b}[2J\u{202e}\u{9b}\u{200b}");
        assert!(text.chars().all(|c| c == '\n' || !is_unseen(c)), "{text}");
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("[U+202E][U+009B][U+200B]"), "{text}");
    }

    ///
    #[test]
    fn a_program_reads_the_same_document_from_a_json_text_without_unseen_characters() {
        let document = json!({ "a\u{202e}": "\u{9b}2J \u{e0041}\u{200b}\n", "b": [1, "ü"] });
        for text in [document.to_string(), format!("{document:#}")] {
            let escaped = escaped_json(&text);
            assert!(escaped.chars().all(|c| c == '\n' || !is_unseen(c)), "{escaped}");
            assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), document);
        }
    }
}
