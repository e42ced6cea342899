//! The texts of a question: the complete rendered request, with the requester's own words marked as such.
//!
//! A subscriber may show only `action`, `consequence` and a summary, so `action` always contains the whole request.
//! Summaries contain it as far as there is room, or else the number of details found only in `action`. A request too
//! long for `action` is refused before anyone is asked.

mod expansion;
mod glue;

pub use expansion::expansion_texts;

use crate::{
    clarification,
    records::{Clarification, Confirmation, Decision, Point, Question, TextAuthor},
};
use countersign_protocol::{
    aaep::{event::Summaries, limits::MAX_EVENT},
    question::QuestionFacts,
    request::{RequestDetail, Text, WhatRuns},
    visible::quoted,
};
use glue::Glue;
use serde::Serialize;
use serde_json::{Map, Value};

/// Maximum characters of a long and of a short text (AAEP 3.7).
const LONG: usize = 16_384;
const SHORT: usize = 4096;
/// Bytes reserved for the rest of the event: envelope, ids and member names.
const REST: usize = 6 * 1024;

/// The input of a question's texts.
pub struct Composition<'a> {
    asked: &'a Confirmation,
    words: TextAuthor,
    tool: Option<&'a str>,
    operator: Option<&'a str>,
}

/// The members of an event that grow with its question.
#[derive(Serialize)]
struct MeasuredQuestion<'a> {
    action: &'a str,
    consequence: &'a str,
    summaries: [&'a Option<String>; 3],
    extra_context: &'a Option<Map<String, Value>>,
    facts: &'a QuestionFacts,
    details: &'a Option<Vec<RequestDetail>>,
    sentence: [&'a str; 2],
}

/// The texts in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTexts {
    pub action: String,
    pub consequence: String,
    pub summaries: Summaries,
}

/// Refusal of a request too long to be shown completely.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the call cannot be shown in full to a person: the question has {characters} characters, and an event holds \
     {LONG} of them and {MAX_EVENT} bytes in all{}; send less, or in several requests. Nobody was asked",
    .largest.as_ref().map(|(name, characters)| format!("; the largest part is {name} with {characters} characters")).unwrap_or_default()
)]
pub struct TooMuch {
    pub characters: usize,
    pub largest: Option<(String, usize)>,
}

/// The typed request under approval. `None` if nothing runs, if the agent names no tool, or for a question from before details were
/// recorded.
pub fn what_runs(decision: &Decision) -> Option<WhatRuns> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    if decision.expansion.is_some() {
        return None;
    }
    if decision.words == TextAuthor::Agent && tool(decision).is_none() && decision.plan().is_none() {
        return None;
    }
    Some(WhatRuns {
        sentence: asked.action.clone(),
        consequence: asked.consequence.clone(),
        tool: tool(decision).map(str::to_owned),
        details: asked.details.clone()?,
    })
}

/// Summaries of a clarification request for passive subscribers: the agent's, or the hub's own.
pub fn of_clarification(decision: &Decision, asked: &Clarification, language: &str) -> Summaries {
    let glue = Glue::of(language);
    let operator = decision.raised_by.operator.as_ref().map(|operator| operator.as_str());
    let built = || format!("{} {}", glue.asks_question(operator), quoted(&asked.question));
    let normal = asked.summaries.normal.clone().unwrap_or_else(built);
    // The hub's additions must not enlarge an event beyond the limit that its agent kept.
    let short = || format!("{} {}", glue.asks_question(operator), glue.words_in_the_question());
    let normal = if normal.chars().count() > LONG / 2 && asked.summaries.normal.is_none() { short() } else { normal };
    Summaries { normal: Some(normal), ..asked.summaries.clone() }
}

/// The tool named in an agent's question.
fn tool(decision: &Decision) -> Option<&str> {
    let named = decision.point != Point::Gateway && decision.plan().is_none() && !decision.action.is_empty();
    named.then_some(decision.action.as_str())
}

impl<'a> Composition<'a> {
    pub fn new(decision: &'a Decision, asked: &'a Confirmation) -> Self {
        let operator = decision.raised_by.operator.as_ref().map(|operator| operator.as_str());
        // The hub words the question about a plan, with the agent's words marked in it.
        let words = if decision.plan().is_some() { TextAuthor::Owner } else { decision.words };
        Self { asked, words, tool: tool(decision), operator }
    }

    /// A request at the gateway, before its requester is known.
    pub fn of_request(asked: &'a Confirmation) -> Self {
        Self { asked, words: TextAuthor::Owner, tool: None, operator: None }
    }

    pub fn texts(&self, language: &str) -> RunTexts {
        let glue = Glue::of(language);
        let with_short = |short: &[Text]| {
            self.worded(&glue, &|text| match short.contains(&text) {
                false => self.list(&glue, text),
                // The action keeps the whole list; the summaries refer to it.
                true => glue.in_the_action(self.unnamed(text).count()),
            })
        };
        let whole = with_short(&[]);
        if self.is_small_enough(&whole) {
            return whole;
        }
        let short = with_short(&[Text::Terse]);
        if self.is_small_enough(&short) { short } else { with_short(&[Text::Terse, Text::Normal, Text::Detailed]) }
    }

    fn is_small_enough(&self, texts: &RunTexts) -> bool {
        self.bytes(texts) + REST <= MAX_EVENT && texts.is_within_limits()
    }

    /// Whether the complete texts fit into the event, in every language.
    pub fn fits(&self) -> Result<(), TooMuch> {
        if self.words == TextAuthor::Agent && self.tool.is_none() {
            // An agent's own event, already within the limits.
            return Ok(());
        }
        for language in crate::aaep::texts::LANGUAGES {
            let texts = self.texts(language);
            if !self.is_small_enough(&texts) {
                return Err(TooMuch { characters: texts.longest(), largest: self.largest(&Glue::of(language)) });
            }
        }
        Ok(())
    }

    fn largest(&self, glue: &Glue) -> Option<(String, usize)> {
        let details = self.asked.details.iter().flatten();
        let sized = details.map(|detail| (detail, detail.name.chars().count() + detail.value.chars().count()));
        let (detail, size) = sized.max_by_key(|(_, size)| *size)?;
        let label: String = glue.label(detail).chars().take(200).collect();
        Some((label, size))
    }

    fn bytes(&self, texts: &RunTexts) -> usize {
        let summaries = [&texts.summaries.terse, &texts.summaries.normal, &texts.summaries.detailed];
        let event = MeasuredQuestion {
            action: &texts.action,
            consequence: &texts.consequence,
            summaries,
            extra_context: &self.asked.extra_context,
            facts: &self.asked.facts,
            details: &self.asked.details,
            sentence: [&self.asked.action, &self.asked.consequence],
        };
        // What has no JSON fits nowhere.
        serde_json::to_string(&event).map_or(usize::MAX / 2, |json| json.len())
    }

    fn worded(&self, glue: &Glue, list: &dyn Fn(Text) -> String) -> RunTexts {
        match (self.words, self.tool) {
            _ if let Some(shown) = &self.asked.facts.scope_expansion => {
                expansion_texts(shown, self.operator, glue.language())
            }
            _ if self.asked.details.is_none() => self.as_it_was(),
            (TextAuthor::Owner, _) => self.owners(glue, list),
            (TextAuthor::Agent, Some(tool)) => self.agents_tool(glue, tool, list),
            (TextAuthor::Agent, None) => self.agents_words(glue),
        }
    }

    /// Texts of a question from before details were recorded.
    fn as_it_was(&self) -> RunTexts {
        let asked = self.asked;
        RunTexts {
            action: asked.action.clone(),
            consequence: asked.consequence.clone(),
            summaries: asked.summaries.clone(),
        }
    }

    fn owners(&self, glue: &Glue, list: &dyn Fn(Text) -> String) -> RunTexts {
        let asked = self.asked;
        let own = &asked.summaries;
        let with_list = |text: &str, which: Text| match list(which) {
            list if list.is_empty() => text.to_owned(),
            list => format!("{} {list}", ended(text)),
        };
        let both = format!("{} {}", ended(&asked.action), asked.consequence);
        let normal = own.normal.as_deref().unwrap_or(&both);
        let detailed = own.detailed.as_deref().unwrap_or(normal);
        let requested = glue.requested_by(self.operator);
        let normal = [self.notes(glue), vec![ended(&with_list(normal, Text::Normal)), requested.clone()]].concat();
        let detailed = [self.notes(glue), vec![with_list(detailed, Text::Detailed), requested]].concat();
        RunTexts {
            action: with_list(&asked.action, Text::Action),
            consequence: asked.consequence.clone(),
            summaries: Summaries {
                terse: Some(with_list(own.terse.as_deref().unwrap_or(&asked.action), Text::Terse)),
                normal: Some(normal.join(" ")),
                detailed: Some(detailed.join("\n")),
            },
        }
    }

    fn agents_tool(&self, glue: &Glue, tool: &str, list: &dyn Fn(Text) -> String) -> RunTexts {
        let asked = self.asked;
        let own = &asked.summaries;
        let in_its_words = |text: &str| format!("{} {}", glue.agents_words(), quoted(text));
        let runs = |text: Text| match list(text) {
            list if list.is_empty() => glue.runs_without(tool),
            list => glue.runs_with(tool, &list),
        };
        let said = |text: &Option<String>| match text {
            Some(text) => in_its_words(text),
            None => {
                let action = ended(&in_its_words(&asked.action));
                format!("{action} {} {}", glue.consequence(), quoted(&asked.consequence))
            }
        };
        let terse = own.terse.as_deref().unwrap_or(&asked.action);
        let normal =
            [vec![glue.asks(self.operator), runs(Text::Normal)], self.notes(glue), vec![said(&own.normal)]].concat();
        let detailed = own.detailed.as_ref().or(own.normal.as_ref()).cloned();
        let detailed =
            [vec![glue.asks(self.operator), runs(Text::Detailed)], self.notes(glue), vec![said(&detailed)]].concat();
        RunTexts {
            action: format!("{} {}", runs(Text::Action), in_its_words(&asked.action)),
            consequence: in_its_words(&asked.consequence),
            summaries: Summaries {
                terse: Some(format!("{} {}", runs(Text::Terse), in_its_words(terse))),
                normal: Some(normal.join(" ")),
                detailed: Some(detailed.join("\n")),
            },
        }
    }

    /// Without a tool there is nothing to render: the agent's own words, unchanged.
    fn agents_words(&self, glue: &Glue) -> RunTexts {
        let asked = self.asked;
        let built = || {
            let words = format!("{} {}", glue.agents_words(), quoted(&asked.action));
            format!(
                "{} {} {} {}",
                glue.asks(self.operator),
                ended(&words),
                glue.consequence(),
                quoted(&asked.consequence)
            )
        };
        let fits = |text: &String| text.chars().count() <= LONG / 2;
        let short = || format!("{} {}", glue.asks(self.operator), glue.words_in_the_action());
        let own = asked.summaries.normal.clone();
        let normal = own.unwrap_or_else(|| Some(built()).filter(fits).unwrap_or_else(short));
        let with_notes = |text: String| [vec![text], self.notes(glue)].concat().join("\n");
        RunTexts {
            action: asked.action.clone(),
            consequence: asked.consequence.clone(),
            summaries: Summaries {
                terse: asked.summaries.terse.clone(),
                normal: Some(with_notes(normal)),
                detailed: asked.summaries.detailed.clone().map(with_notes),
            },
        }
    }

    /// The hub's own sentences about the question. The text of a plan has them itself.
    fn notes(&self, glue: &Glue) -> Vec<String> {
        let facts = &self.asked.facts;
        let deviation = facts.deviation.as_ref().map(|deviation| glue.deviation(deviation));
        let clarified = facts.clarification.as_ref().filter(|_| facts.plan.is_none());
        let clarified = clarified.map(|clarified| clarification::texts::sentence(clarified, glue.language()));
        deviation.into_iter().chain(clarified).collect()
    }

    fn unnamed(&self, text: Text) -> impl Iterator<Item = &'a RequestDetail> {
        let named = move |detail: &RequestDetail| match text {
            // Both members are mandatory, so no subscriber shows only one of them.
            Text::Action | Text::Consequence => detail.is_named(),
            text => detail.is_named_in(text),
        };
        self.asked.details.iter().flatten().filter(move |detail| !named(detail))
    }

    /// The details not named in a text, as name and value.
    fn list(&self, glue: &Glue, text: Text) -> String {
        let details: Vec<&RequestDetail> = self.unnamed(text).collect();
        if details.is_empty() {
            return String::new();
        }
        let parted = if text == Text::Detailed { "\n" } else { "; " };
        match self.tool {
            Some(_) => glue.lines(&details).join("; "),
            None if details.iter().all(|detail| detail.step.is_some()) => glue.steps(&details).join(" "),
            None => format!(
                "{}{}{}",
                glue.also_sent(),
                if parted == "\n" { "\n" } else { " " },
                glue.lines(&details).join(parted)
            ),
        }
    }
}

impl RunTexts {
    fn is_within_limits(&self) -> bool {
        let fits = |text: &str, most: usize| text.chars().count() <= most;
        let summary = |text: &Option<String>, most: usize| text.as_deref().is_none_or(|text| fits(text, most));
        fits(&self.action, LONG)
            && fits(&self.consequence, LONG)
            && summary(&self.summaries.terse, SHORT)
            && summary(&self.summaries.normal, LONG)
            && summary(&self.summaries.detailed, LONG)
    }

    fn longest(&self) -> usize {
        self.action.chars().count().max(self.consequence.chars().count())
    }
}

/// The sentence with a final full stop.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}
