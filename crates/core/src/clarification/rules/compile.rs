//! Compiles written rules for fast matching. An error names the rule and the member.

use super::{
    Rules, answer,
    folding::{BadPhrases, is_blank, same_but_for_case},
    kind::{self, RuleKind, RuleSetContext},
    path::BadPath,
    phrases::Lookout,
    text::{BadText, Name, Text},
    when::{self, When},
};
use countersign_protocol::clarification::{AnswerKind, Operation, Rule, Severity, rules::LooksFor};
use std::collections::HashSet;

/// Rules of one project, including the built-in ones.
const MAX_RULES: usize = 1000;
/// Characters of a rule's question and context.
const MAX_TEXT: usize = 2000;
const MAX_SUGGESTIONS: usize = 32;
const MAX_SUGGESTION: usize = 200;
const MAX_ID: usize = 64;

/// A rule that cannot be applied, and the member at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule:?}: {member} {why}")]
pub struct BadRule {
    pub rule: String,
    pub member: String,
    pub why: String,
}

/// The first problem; a failed compilation has at least one.
pub(super) fn first(bad: Vec<BadRule>) -> BadRule {
    let none = || BadRule { rule: String::new(), member: "rules".into(), why: "cannot be compiled".into() };
    bad.into_iter().next().unwrap_or_else(none)
}

/// A problem with one member.
pub(super) struct Bad {
    member: String,
    why: String,
}

impl Bad {
    pub(super) fn new(member: &str, why: impl ToString) -> Self {
        Self { member: member.to_owned(), why: why.to_string() }
    }

    pub(super) fn path(member: &str) -> impl FnOnce(BadPath) -> Self {
        move |why| Self::new(member, why)
    }

    pub(super) fn phrases(member: &str) -> impl FnOnce(BadPhrases) -> Self {
        move |why| Self::new(member, why)
    }
}

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) question: Text,
    pub(super) context: Text,
    pub(super) suggestions: Vec<String>,
    pub(super) exclusive: bool,
    pub(super) blocked: Vec<Operation>,
    pub(super) person: Option<bool>,
    pub(super) answer: AnswerKind,
    pub(super) when: Vec<When>,
    pub(super) kind: RuleKind,
}

/// Compiles all rules together, since shared paths and phrases are matched once, or lists every problem.
pub(super) fn compile<'r>(rules: impl Iterator<Item = &'r Rule>) -> Result<Rules, Vec<BadRule>> {
    let mut compiler = Compiler::default();
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for rule in rules {
        match compiler.compile_rule(rule, good.len()) {
            Ok(compiled) => good.push(compiled),
            Err(why) => bad.push(BadRule { rule: rule.id.clone(), member: why.member, why: why.why }),
        }
    }
    let whole = |member: &str, why: String| BadRule { rule: String::new(), member: member.into(), why };
    if good.len() > MAX_RULES {
        bad.push(whole("rules", format!("are more than {MAX_RULES}")));
    }
    let RuleSetContext { paths, lookout } = compiler.shared;
    let lookout = lookout.compile().map_err(|why| vec![whole("phrases", why.to_string())])?;
    bad.extend(good.iter().filter_map(|rule| vague_suggestion(rule, &lookout)));
    if bad.is_empty() { Ok(Rules { rules: good, paths, lookout }) } else { Err(bad) }
}

/// A suggestion must settle its gap, so it must not contain a phrase that another rule finds vague.
fn vague_suggestion(rule: &Compiled, lookout: &Lookout) -> Option<BadRule> {
    let why = |phrase: &str| format!("has a text that names nothing itself: {phrase:?}");
    let phrase = rule.suggestions.iter().find_map(|suggestion| lookout.vague_in(suggestion))?;
    Some(BadRule { rule: rule.id.clone(), member: "suggestions".into(), why: why(phrase) })
}

#[derive(Default)]
struct Compiler {
    shared: RuleSetContext,
    ids: HashSet<String>,
}

impl Compiler {
    fn compile_rule(&mut self, rule: &Rule, number: usize) -> Result<Compiled, Bad> {
        if rule.id.is_empty() || rule.id.chars().count() > MAX_ID || !rule.id.chars().all(is_of_id) {
            return Err(Bad::new("id", format!("must be 1 to {MAX_ID} letters, digits, dots, - and _")));
        }
        if !self.ids.insert(rule.id.clone()) {
            return Err(Bad::new("id", "is another rule's as well"));
        }
        check_suggestions(rule)?;
        let names = names(&rule.looks_for);
        Ok(Compiled {
            id: rule.id.clone(),
            severity: rule.severity.unwrap_or_else(|| default_severity(&rule.looks_for)),
            question: text("question", &rule.question, names)?,
            context: text("context", &rule.context, names)?,
            suggestions: rule.suggestions.clone(),
            exclusive: rule.suggestions_exclusive,
            blocked: rule.blocked_operations.clone().unwrap_or_else(usually_blocked),
            person: rule.person,
            answer: rule.answer,
            when: rule.when.iter().map(|when| when::compile(when, &mut self.shared.paths)).collect::<Result<_, _>>()?,
            kind: kind::compile(&rule.looks_for, number, &mut self.shared)?,
        })
    }
}

fn is_of_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The default severity of each condition in Clarification 3.
fn default_severity(looks_for: &LooksFor) -> Severity {
    match looks_for {
        LooksFor::Overlap { .. } | LooksFor::Layout { .. } => Severity::Warn,
        _ => Severity::Block,
    }
}

fn usually_blocked() -> Vec<Operation> {
    vec![Operation::Planner, Operation::Developer, Operation::Build]
}

fn names(looks_for: &LooksFor) -> &'static [Name] {
    match looks_for {
        LooksFor::Required { .. } => &[Name::Field],
        LooksFor::Ambiguous { .. } => &[Name::Field, Name::Value, Name::Phrase],
        LooksFor::Overlap { .. } => &[Name::Field, Name::Value, Name::Selected, Name::Overlaps],
        LooksFor::Mismatch { .. } => &[Name::Field, Name::Values],
        LooksFor::Layout { .. } => &[Name::Field, Name::Values, Name::Layout],
        LooksFor::Input { .. } => &[Name::Field, Name::Value, Name::Cause],
    }
}

fn text(member: &str, written: &str, names: &[Name]) -> Result<Text, Bad> {
    let parsed = match written {
        blank if is_blank(blank) => Err(BadText::Blank),
        long if long.chars().count() > MAX_TEXT => Err(BadText::Long(MAX_TEXT)),
        written => Text::parse(written, names),
    };
    parsed.map_err(|why| Bad::new(member, why))
}

fn check_suggestions(rule: &Rule) -> Result<(), Bad> {
    let bad = |why: &str| Err(Bad::new("suggestions", why));
    let all = &rule.suggestions;
    if all.len() > MAX_SUGGESTIONS || all.iter().any(|text| text.chars().count() > MAX_SUGGESTION) {
        return Err(Bad::new("suggestions", format!("are at most {MAX_SUGGESTIONS} of {MAX_SUGGESTION} characters")));
    }
    if all.iter().any(|text| is_blank(text)) {
        return bad("has a blank one");
    }
    // `accept` would settle a WARN without the suggestion's meaning, and never a BLOCK (W-05).
    if all.iter().any(|text| answer::is_accept(text)) {
        return bad("has the word accept, which is no substantive answer");
    }
    let twice = |(n, text): (usize, &String)| all.iter().take(n).any(|other| same_but_for_case(other, text));
    if all.iter().enumerate().any(twice) {
        return bad("has one twice");
    }
    if all.iter().any(|text| answer::value(rule.answer, text).is_none()) {
        return bad("has one that is not of the kind that answer says");
    }
    let none = all.is_empty() && rule.suggestions_exclusive;
    if none {
        Err(Bad::new("suggestions_exclusive", "leaves no answer where there are no suggestions"))
    } else {
        Ok(())
    }
}
