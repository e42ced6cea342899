//! Lists: columns for sighted readers, sentences for screen readers.

use countersign_protocol::visible::{self, visible};
use serde_json::Value;

/// Rows of cells with column names.
pub(crate) struct Table<const N: usize> {
    pub(crate) head: [&'static str; N],
    pub(crate) rows: Vec<[String; N]>,
    /// The text for an empty list.
    pub(crate) none: &'static str,
}

/// A list of records: its columns for people, and a record as JSON for programs.
pub(crate) struct Listing<T, const N: usize> {
    pub(crate) head: [&'static str; N],
    pub(crate) row: fn(&T) -> [String; N],
    pub(crate) json: fn(&T) -> Value,
    pub(crate) none: &'static str,
}

impl<const N: usize> Table<N> {
    pub(crate) fn shown(&self, accessible: bool) -> String {
        match (self.rows.is_empty(), accessible) {
            (true, _) => format!("{}\n", self.none),
            (false, true) => self.rows.iter().map(|row| self.sentence(row)).collect(),
            (false, false) => self.columns(),
        }
    }

    fn sentence(&self, row: &[String; N]) -> String {
        let named = self.head.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let parts: Vec<String> = named.map(|(name, cell)| format!("{name} {}", printable(cell))).collect();
        format!("{}.\n", parts.join(", "))
    }

    fn columns(&self) -> String {
        let head = self.head.map(str::to_owned);
        let lines: Vec<[String; N]> =
            std::iter::once(&head).chain(&self.rows).map(|row| row.each_ref().map(|c| printable(c))).collect();
        let width =
            |n: usize| lines.iter().filter_map(|row| row.get(n)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..N).map(width).collect();
        let line = |row: &[String; N]| {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        lines.iter().map(line).collect()
    }
}

/// Untrusted text on one line: control, line-breaking and invisible characters are shown by their code point.
pub(crate) fn printable(text: &str) -> String {
    visible(text)
}

/// Untrusted text in quotes that it cannot close, so that no text after them can be forged.
pub(crate) fn quoted(text: &str) -> String {
    without_isolates(&visible::quoted(text))
}

/// A text rendered by the service: its values are already quoted. The isolates in it are the service's own, and useless
/// on a terminal.
pub(crate) fn rendered(text: &str) -> String {
    printable(&without_isolates(text))
}

fn without_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}

/// Adds the full stop that makes screen readers pause, unless the text already ends a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let ended = text.trim_end_matches(['”', '"', ')']).ends_with(['.', '!', '?', '…']);
    if ended { text.to_owned() } else { format!("{text}.") }
}
