//! Comparing two texts line by line.

/// A line of one of two texts, or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffLine<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

impl DiffLine<'_> {
    pub(super) fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }

    /// The line with its diff sign.
    pub(super) fn marked(&self) -> String {
        let (sign, text) = match self {
            Self::Same(text) => (' ', text),
            Self::Removed(text) => ('-', text),
            Self::Added(text) => ('+', text),
        };
        format!("{}\n", format!("{sign} {text}").trim_end())
    }
}

/// The shortest diff: it keeps the longest common sequence of lines.
pub(super) fn compare<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let kept = CommonLines::of(&before, &after);
    let (mut old, mut new) =
        (before.iter().copied().enumerate().peekable(), after.iter().copied().enumerate().peekable());
    let mut lines = Vec::new();
    loop {
        lines.push(match (old.peek().copied(), new.peek().copied()) {
            (Some((_, text)), Some((_, same))) if text == same => {
                old.next();
                new.next();
                DiffLine::Same(text)
            }
            // Of two equally short diffs, the one that removes before it adds.
            (Some((i, text)), other) if other.is_none_or(|(j, _)| kept.from(i + 1, j) >= kept.from(i, j + 1)) => {
                old.next();
                DiffLine::Removed(text)
            }
            (_, Some((_, text))) => {
                new.next();
                DiffLine::Added(text)
            }
            (_, None) => return lines,
        });
    }
}

/// The length of the longest common sequence from each pair of positions on.
struct CommonLines {
    width: usize,
    lengths: Vec<u32>,
}

impl CommonLines {
    fn of(before: &[&str], after: &[&str]) -> Self {
        let width = after.len() + 1;
        let mut kept = Self { width, lengths: vec![0; width * (before.len() + 1)] };
        for (i, old) in before.iter().enumerate().rev() {
            for (j, new) in after.iter().enumerate().rev() {
                let length =
                    if old == new { kept.from(i + 1, j + 1) + 1 } else { kept.from(i + 1, j).max(kept.from(i, j + 1)) };
                if let Some(place) = kept.lengths.get_mut(i * width + j) {
                    *place = length;
                }
            }
        }
        kept
    }

    fn from(&self, i: usize, j: usize) -> u32 {
        self.lengths.get(i * self.width + j).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    fn marked(before: &str, after: &str) -> String {
        compare(before, after).iter().map(|line| line.marked()).collect()
    }

    #[test]
    fn nothing_is_removed_or_added_where_both_say_the_same() {
        assert_eq!(marked("", ""), "");
        assert_eq!(marked("a\nb\n", "a\nb\n"), "  a\n  b\n");
    }

    #[test]
    fn what_only_one_has_is_marked_and_the_rest_is_kept() {
        assert_eq!(marked("", "a\nb\n"), "+ a\n+ b\n");
        assert_eq!(marked("a\nb\n", ""), "- a\n- b\n");
        assert_eq!(marked("a\nb\nc\nd\n", "a\nc\nx\nd\n"), "  a\n- b\n  c\n+ x\n  d\n");
        assert_eq!(marked("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
    }

    #[test]
    fn both_texts_can_be_read_back_from_the_comparison() {
        let texts = ["", "a\n", "a\nb\na\n", "b\na\nb\nb\n", "c\na\nb\nc\n", "a\na\na\nb\n"];
        for before in texts {
            for after in texts {
                let all = marked(before, after);
                let side = |sign: char| -> String {
                    let own = all.lines().filter(|line| line.starts_with([' ', sign]));
                    own.map(|line| format!("{}\n", &line[2..])).collect()
                };
                assert_eq!((side('-').as_str(), side('+').as_str()), (before, after));
            }
        }
    }
}
