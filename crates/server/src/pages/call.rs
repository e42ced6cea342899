//! The call that runs after an approval: the tool and every value, separate from any author's text.

use super::{Frame, question_summary::QuestionMark};
use countersign_protocol::{
    request::{DetailPlace, RequestDetail, ValueKind, WhatRuns},
    visible::{Lookalike, quoted},
};

/// The call that a question permits. The sentence holds some of its values; all others are listed.
#[derive(Clone, Debug, Default)]
pub struct CallShown {
    pub runs: WhatRuns,
    /// Number of other questions in the same list with the same text.
    pub alike: usize,
    /// The values in which this call differs from those.
    pub differs: Vec<RequestDetail>,
}

impl CallShown {
    pub fn new(runs: WhatRuns) -> Self {
        Self { runs, ..Self::default() }
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.runs.tool.as_deref()
    }

    /// Every value that the sentence does not contain.
    pub(super) fn listed(&self) -> Vec<&RequestDetail> {
        self.runs.details.iter().filter(|detail| !detail.is_named()).collect()
    }

    /// Every value that the sentence contains.
    pub(super) fn named(&self) -> Vec<&RequestDetail> {
        self.runs.details.iter().filter(|detail| detail.is_named()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.tool.is_none() && self.listed().is_empty()
    }

    pub(super) fn heading(&self, frame: &Frame) -> String {
        frame.say(if self.runs.tool.is_some() { "call-heading-tool" } else { "call-heading-request" })
    }

    /// The source of the values, which no agent can influence.
    pub(super) fn source(&self, frame: &Frame) -> String {
        frame.say(if self.runs.tool.is_some() { "call-source-tool" } else { "call-source-request" })
    }

    /// The position of a value in the request; its name follows.
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

    /// The text between the quotes: it cannot end them.
    pub(super) fn text(&self, detail: &RequestDetail) -> String {
        let quoted = quoted(&detail.value);
        let inside = quoted.strip_prefix('“').and_then(|text| text.strip_suffix('”')).unwrap_or_default();
        inside.replace(['\u{2068}', '\u{2069}'], "")
    }

    /// Warnings about lookalike characters, as text so that a screen reader reads them too.
    pub(super) fn warnings(&self, frame: &Frame) -> Vec<QuestionMark> {
        let found = self.runs.details.iter().flat_map(|detail| detail.lookalikes.iter().map(move |one| (detail, one)));
        found.map(|(detail, one)| QuestionMark { kind: "care", text: self.warning(frame, detail, one) }).collect()
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

    /// The note that other questions read the same, if any do.
    pub(super) fn alike_text(&self, frame: &Frame) -> Option<String> {
        let count = i64::try_from(self.alike).unwrap_or(i64::MAX);
        let id = if self.differs.is_empty() { "call-alike-same" } else { "call-alike" };
        (self.alike > 0).then(|| frame.say_count(id, count))
    }

    /// Every value an approval covers.
    pub(super) fn words(&self, frame: &Frame) -> Vec<[String; 3]> {
        let one = |detail: &RequestDetail| [self.place(frame, detail), detail.name.clone(), detail.value_text()];
        self.runs.details.iter().map(one).collect()
    }
}

/// Adds to each question in a list its differences from those that read the same.
pub(super) fn tell_apart(calls: &mut [(String, &mut CallShown)]) {
    let all: Vec<(String, WhatRuns)> = calls.iter().map(|(text, call)| (text.clone(), call.runs.clone())).collect();
    for (at, (text, call)) in calls.iter_mut().enumerate() {
        let others = all.iter().enumerate().filter(|(other, (same, _))| *other != at && same == text);
        let others: Vec<&WhatRuns> = others.map(|(_, (_, runs))| runs).collect();
        call.alike = others.len();
        call.differs = call.runs.differing(&others).into_iter().cloned().collect();
    }
}
