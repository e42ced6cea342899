//! Question templates of rules, filled with values of the plan.

use crate::held::shown;

/// The most characters of a value in a question.
const MAX_SHOWN: usize = 80;
/// The most values in a list.
const MAX_LISTED: usize = 6;

/// A template for a question or its context. Inserted values are quoted and never parsed as a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text(Vec<TextPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextPart {
    Words(String),
    Name(Name),
}

/// The placeholders; the kind of rule decides which ones are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Field,
    Value,
    Phrase,
    Selected,
    Overlaps,
    Values,
    Layout,
    Cause,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadText {
    #[error("is blank")]
    Blank,
    #[error("is longer than {0} characters")]
    Long(usize),
    #[error("has a brace without its counterpart: write {{{{ or }}}} for the brace itself")]
    Brace,
    #[error("has {{{0}}}, which this kind of rule does not know")]
    Unknown(String),
}

impl Text {
    /// Parses a template that may contain these placeholders.
    pub(super) fn parse(text: &str, known: &[Name]) -> Result<Self, BadText> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(brace) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(brace);
            push_words(&mut parts, before);
            rest = if let Some(behind) = from.strip_prefix("{{") {
                push_words(&mut parts, "{");
                behind
            } else if let Some(behind) = from.strip_prefix("}}") {
                push_words(&mut parts, "}");
                behind
            } else {
                let (name, behind) = braced(from, known)?;
                parts.push(TextPart::Name(name));
                behind
            };
        }
        push_words(&mut parts, rest);
        Ok(Self(parts))
    }

    pub(super) fn render(&self, value: impl Fn(Name) -> String) -> String {
        let part = |part: &TextPart| match part {
            TextPart::Words(words) => words.clone(),
            TextPart::Name(name) => value(*name),
        };
        self.0.iter().map(part).collect()
    }
}

fn push_words(parts: &mut Vec<TextPart>, words: &str) {
    match parts.last_mut() {
        _ if words.is_empty() => {}
        Some(TextPart::Words(before)) => before.push_str(words),
        _ => parts.push(TextPart::Words(words.to_owned())),
    }
}

fn braced<'t>(from: &'t str, known: &[Name]) -> Result<(Name, &'t str), BadText> {
    let inside = from.strip_prefix('{').ok_or(BadText::Brace)?;
    let (name, behind) = inside.split_once('}').ok_or(BadText::Brace)?;
    let found = known.iter().find(|known| known.as_str() == name);
    found.map(|found| (*found, behind)).ok_or_else(|| BadText::Unknown(name.to_owned()))
}

impl Name {
    fn as_str(self) -> &'static str {
        match self {
            Self::Field => "field",
            Self::Value => "value",
            Self::Phrase => "phrase",
            Self::Selected => "selected",
            Self::Overlaps => "overlaps",
            Self::Values => "values",
            Self::Layout => "layout",
            Self::Cause => "cause",
        }
    }
}

/// Quotes a value from the plan so that it cannot close the quotation marks.
pub(super) fn quoted(value: &str) -> String {
    let tame = |c: char| if is_double_quote(c) { '\'' } else { c };
    format!("“{}”", shown(&value.chars().map(tame).collect::<String>(), MAX_SHOWN))
}

/// Every character that resembles the quotation marks around a value.
fn is_double_quote(c: char) -> bool {
    matches!(c, '"' | '“'..='‟' | '«' | '»' | '″' | '‶' | '〝'..='〟' | '＂' | 'ˮ' | '❝' | '❞' | '⹂')
}

/// `a, b and c`; a longer list ends with the number of further values.
pub(super) fn listed(values: &[String]) -> String {
    let more = values.len().saturating_sub(MAX_LISTED);
    let mut named: Vec<String> = values.iter().take(MAX_LISTED).cloned().collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    match named.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => named.concat(),
    }
}

#[cfg(test)]
mod tests;
