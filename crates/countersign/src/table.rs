//! Lists: columns for those who look, sentences for those who listen.

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

/// Text that somebody typed once must not move the cursor of whoever reads it.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
