//! The permitted call, line by line: every value that the question's own sentence does not contain, apart from the
//! agent's text.

use crate::table::{printable, quoted};
use countersign_protocol::{
    request::{DetailPlace, RequestDetail, ValueKind, WhatRuns},
    visible::Lookalike,
};

pub(super) fn lines(runs: &WhatRuns) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(runs.tool.as_ref().map(|tool| of_tool(tool, runs)));
    for detail in &runs.details {
        lines.extend((!detail.is_named()).then(|| line(detail)));
        lines.extend(detail.lookalikes.iter().map(|found| misread(detail, found)));
    }
    lines
}

fn of_tool(tool: &str, runs: &WhatRuns) -> String {
    let without = if runs.details.is_empty() { ", without arguments" } else { "" };
    format!("Tool: {}{without}", printable(tool))
}

fn line(detail: &RequestDetail) -> String {
    let value = value(detail);
    match (detail.step, detail.place) {
        (Some(step), DetailPlace::Tool) => format!("Step {step} calls: {value}"),
        (Some(step), _) => format!("Step {step} sends {}: {value}", label(detail)),
        (None, DetailPlace::Argument) => format!("Tool {}: {value}", label(detail)),
        (None, _) => format!("Also sent: {}: {value}", label(detail)),
    }
}

/// A question of a list: its name, its text, and its call.
pub(super) struct ListedQuestion {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) runs: WhatRuns,
}

/// The differences of a question from those in the list with the same text; `None` if there is no such question.
pub(super) fn alike(at: usize, all: &[ListedQuestion]) -> Option<String> {
    let this = all.get(at)?;
    let others = all.iter().enumerate().filter(|(other, that)| *other != at && that.text == this.text);
    let (names, others): (Vec<&str>, Vec<&WhatRuns>) = others.map(|(_, that)| (that.name.as_str(), &that.runs)).unzip();
    let differs = this.runs.differing(&others);
    let different: Vec<String> = differs.iter().map(|one| format!("{}: {}", label(one), value(one))).collect();
    let names = names.join(", ");
    match (others.is_empty(), different.is_empty()) {
        (true, _) => None,
        (false, true) => Some(format!("Reads like {names}, and permits exactly the same call")),
        (false, false) => Some(format!("Reads like {names}. This one differs in: {}", different.join("; "))),
    }
}

/// A warning about lookalike letters.
fn misread(detail: &RequestDetail, found: &Lookalike) -> String {
    let reads = found.reads_as.as_ref().map(|reads| format!(" reads like {} and", quoted(reads))).unwrap_or_default();
    let letters = found.characters.join(", ");
    format!("Beware: {} in {}{reads} has letters of another alphabet: {letters}", quoted(&found.word), label(detail))
}

/// The position and the name. Names are quoted if they could be misread.
pub(super) fn label(detail: &RequestDetail) -> String {
    let place = match detail.place {
        DetailPlace::Path => "path",
        DetailPlace::Query => "query",
        DetailPlace::Header => "header",
        DetailPlace::ContentType => "content type",
        DetailPlace::Body => "body",
        DetailPlace::Argument => "argument",
        DetailPlace::Tool => "tool",
    };
    if detail.name.is_empty() { place.to_owned() } else { format!("{place} {}", printable(&detail.name)) }
}

/// Text from the sender is quoted.
pub(super) fn value(detail: &RequestDetail) -> String {
    match detail.kind {
        ValueKind::Text => quoted(&detail.value),
        ValueKind::Literal => printable(&detail.value),
    }
}
