//! Descriptions for API readers, without the rule and section ids of the comments, which mean nothing to them.

use serde_json::Value;

/// Puts every description on one line and removes ids in brackets.
pub(crate) fn tidy(document: &mut Value) {
    match document {
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| match value {
            Value::String(text) if name == "description" => *text = plain(text),
            value => tidy(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn plain(text: &str) -> String {
    let mut plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    while let Some((start, end)) = brackets(&plain, from) {
        let inner = plain.get(start + 1..end).unwrap_or_default();
        if inner.split(',').all(|part| is_id(part.trim())) {
            let start = plain.get(..start).map_or(start, |before| before.trim_end().len());
            plain.replace_range(start..=end, "");
            from = start;
        } else {
            from = end;
        }
    }
    plain
}

fn brackets(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find('(')?;
    let end = start + text.get(start..)?.find(')')?;
    Some((start, end))
}

/// `R-7`, `AAEP-6.3.5-01`, `AAP 16.1`, `Clarification 8`.
fn is_id(part: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
    let short = |name: &str| (1..=5).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase());
    let rule = part.split_once('-').is_some_and(|(name, rest)| short(name) && number(rest));
    let section =
        |(name, rest): (&str, &str)| matches!(name, "AAP" | "AAEP" | "MPLP" | "Clarification") && number(rest);
    rule || part.split_once(' ').is_some_and(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_brackets_go_and_every_other_bracket_stays() {
        for (text, expected) in [
            ("Whose word confirms (C-02).", "Whose word confirms."),
            ("Said\nonce (R-7, C-02) and (AAP 16.1) again.", "Said once and again."),
            ("What is unclear (Clarification 8)", "What is unclear"),
            ("A proof (RFC 9449), and a code (S256).", "A proof (RFC 9449), and a code (S256)."),
            ("Open ( for ever", "Open ( for ever"),
            ("Ende (ü) (W-1)", "Ende (ü)"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
