//! Lists: columns for those who look, sentences for those who listen.

use countersign_protocol::visible::{self, visible};

/// Rows of cells under the names of their columns.
pub(crate) struct Table<const N: usize> {
    pub(crate) head: [&'static str; N],
    pub(crate) rows: Vec<[String; N]>,
    /// What is said instead of an empty list.
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

/// Somebody else's text on one line: whatever would move the cursor, begin a line or not be seen stands there by its
/// number.
pub(crate) fn printable(text: &str) -> String {
    visible(text)
}

/// Somebody else's text in quotes that it cannot end, so that nothing behind them can be theirs.
pub(crate) fn quoted(text: &str) -> String {
    without_isolates(&visible::quoted(text))
}

/// A text that the service rendered: the values in it stand in quotes already. The isolates in it are the service's own,
/// and a terminal has no use for them.
pub(crate) fn rendered(text: &str) -> String {
    printable(&without_isolates(text))
}

fn without_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}

/// With the full stop that makes readers pause, unless the text ends a sentence itself.
pub(crate) fn sentence(text: &str) -> String {
    let ended = text.trim_end_matches(['”', '"', ')']).ends_with(['.', '!', '?', '…']);
    if ended { text.to_owned() } else { format!("{text}.") }
}
