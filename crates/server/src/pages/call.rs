//! What runs when a person approves: the tool and every value, apart from anybody's words.

use super::{Frame, asked::Mark};
use countersign_protocol::{
    request::{DetailPlace, RequestDetail, ValueKind, WhatRuns},
    visible::{Lookalike, quoted},
};

/// What a question lets run. The sentence has some of its values; all others are listed.
#[derive(Clone, Debug, Default)]
pub struct CallShown {
    pub runs: WhatRuns,
    /// How many other questions in the same list read like this one.
    pub alike: usize,
    /// What this one has that they have not, or otherwise.
    pub differs: Vec<RequestDetail>,
}

impl CallShown {
    pub fn new(runs: WhatRuns) -> Self {
        Self { runs, ..Self::default() }
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.runs.tool.as_deref()
    }

    /// Every value that the sentence above it does not say.
    pub(super) fn listed(&self) -> Vec<&RequestDetail> {
        self.runs.details.iter().filter(|detail| !detail.is_named()).collect()
    }

    /// Every value that the sentence says.
    pub(super) fn named(&self) -> Vec<&RequestDetail> {
        self.runs.details.iter().filter(|detail| detail.is_named()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.tool.is_none() && self.listed().is_empty()
    }

    pub(super) fn heading(&self, frame: &Frame) -> String {
        frame.say(if self.runs.tool.is_some() { "call-heading-tool" } else { "call-heading-request" })
    }

    /// Where it came from, which no agent can word.
    pub(super) fn source(&self, frame: &Frame) -> String {
        frame.say(if self.runs.tool.is_some() { "call-source-tool" } else { "call-source-request" })
    }

    /// The place of a value; its name stands behind it.
    pub(super) fn place(&self, frame: &Frame, detail: &RequestDetail) -> String {
        let place = frame.say(match detail.place {
            DetailPlace::Path => "call-place-path",
            DetailPlace::Query => "call-place-query",
            DetailPlace::Header => "call-place-header",
            DetailPlace::ContentType => "call-place-content-type",
            DetailPlace::Body => "call-place-body",
            DetailPlace::Argument => "call-place-argument",
            DetailPlace::Tool => "call-place-tool",
        });
        match detail.step {
            Some(step) => frame.say_both("call-place-step", ("number", &step.to_string()), ("place", &place)),
            None => place,
        }
    }

    pub(super) fn is_text(&self, detail: &RequestDetail) -> bool {
        detail.kind == ValueKind::Text
    }

    /// What stands between the quotes: it cannot end them.
    pub(super) fn text(&self, detail: &RequestDetail) -> String {
        let quoted = quoted(&detail.value);
        let inside = quoted.strip_prefix('“').and_then(|text| text.strip_suffix('”')).unwrap_or_default();
        inside.replace(['\u{2068}', '\u{2069}'], "")
    }

    /// Words that are made to be misread, said so that a screen reader says it too.
    pub(super) fn warnings(&self, frame: &Frame) -> Vec<Mark> {
        let found = self.runs.details.iter().flat_map(|detail| detail.lookalikes.iter().map(move |one| (detail, one)));
        found.map(|(detail, one)| Mark { kind: "care", text: self.warning(frame, detail, one) }).collect()
    }

    fn warning(&self, frame: &Frame, detail: &RequestDetail, found: &Lookalike) -> String {
        let letters = found.characters.join(", ");
        let place = format!("{} {}", self.place(frame, detail), detail.name);
        let said = frame.say_both("call-lookalike", ("place", place.trim()), ("letters", &letters));
        match &found.reads_as {
            Some(reads) => format!("{said} {}", frame.say_of("call-reads-as", "word", reads.as_str())),
            None => said,
        }
    }

    /// That others read the same, where they do.
    pub(super) fn alike_text(&self, frame: &Frame) -> Option<String> {
        let count = i64::try_from(self.alike).unwrap_or(i64::MAX);
        let id = if self.differs.is_empty() { "call-alike-same" } else { "call-alike" };
        (self.alike > 0).then(|| frame.say_count(id, count))
    }

    /// All of it that an approval is for.
    pub(super) fn words(&self, frame: &Frame) -> Vec<[String; 3]> {
        let one = |detail: &RequestDetail| [self.place(frame, detail), detail.name.clone(), detail.value_text()];
        self.runs.details.iter().map(one).collect()
    }
}

/// Says of each question in a list how it differs from those that read the same.
pub(super) fn tell_apart(calls: &mut [(String, &mut CallShown)]) {
    let all: Vec<(String, WhatRuns)> = calls.iter().map(|(text, call)| (text.clone(), call.runs.clone())).collect();
    for (at, (text, call)) in calls.iter_mut().enumerate() {
        let others = all.iter().enumerate().filter(|(other, (same, _))| *other != at && same == text);
        let others: Vec<&WhatRuns> = others.map(|(_, (_, runs))| runs).collect();
        call.alike = others.len();
        call.differs = call.runs.differing(&others).into_iter().cloned().collect();
    }
}
