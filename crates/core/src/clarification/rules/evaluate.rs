//! Applies each kind of rule to a plan.

use super::{
    Rules,
    answer::is_accept,
    compile::Compiled,
    finding::TooManyGaps,
    folding::{Folded, Phrases},
    gather::Gathered,
    kind::{Jurisdiction, Need, Overlap, RuleKind},
    path::Token,
    phrases::Sighting,
    places::{PathId, PlaceId, Places, is_missing, texts},
    when::is_one_of,
};
use countersign_protocol::clarification::Severity;
use serde_json::Value;
use std::collections::HashSet;

/// A match of a rule: the place of the question, and the values for its texts.
pub(super) struct Hit<'a> {
    pub(super) rule: usize,
    pub(super) spot: Spot<'a>,
    pub(super) seen: Seen<'a>,
}

/// A place of the plan, or a missing member below one.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    under: PlaceId,
    then: &'a [String],
}

impl<'a> Spot<'a> {
    pub(super) fn tokens(&self, places: &Places<'a>) -> Vec<Token<'a>> {
        let mut tokens = places.tokens(self.under);
        tokens.extend(self.then.iter().map(|name| Token::Member(name)));
        tokens
    }
}

/// The values that a rule's texts can name. Formatted only for findings that are kept.
pub(super) enum Seen<'a> {
    Nothing,
    Phrase { text: &'a str, phrase: usize },
    Overlap { text: &'a str, overlap: &'a Overlap },
    Jurisdictions(Vec<(&'a str, &'a Jurisdiction)>),
    Languages { tags: Vec<&'a str>, layout: &'a str },
    Cause { place: PlaceId, value: &'a Value },
}

/// Applies all rules in their order.
pub(super) fn evaluate<'a>(
    rules: &'a Rules,
    places: &Places<'a>,
    found: &mut Gathered<'a, '_>,
) -> Result<(), TooManyGaps> {
    let sightings = rules.lookout.sightings(places);
    for (rule, compiled) in rules.rules.iter().enumerate() {
        if compiled.when.iter().all(|when| when.holds(places)) {
            let seen = sightings.get(&rule).map(Vec::as_slice).unwrap_or_default();
            RuleRun { rule, places, seen, found: &mut *found }.evaluate_rule(compiled)?;
        }
    }
    Ok(())
}

struct RuleRun<'l, 'a, 'p> {
    rule: usize,
    places: &'l Places<'a>,
    /// The phrases of this rule found in the plan.
    seen: &'l [Sighting<'a>],
    found: &'l mut Gathered<'a, 'p>,
}

impl<'a> RuleRun<'_, 'a, '_> {
    fn evaluate_rule(&mut self, rule: &'a Compiled) -> Result<(), TooManyGaps> {
        match &rule.kind {
            RuleKind::Required { parent, name } => self.required(*parent, name),
            RuleKind::Ambiguous => self.ambiguous(),
            RuleKind::Overlap(overlaps) => self.overlap(overlaps),
            RuleKind::Mismatch { jurisdictions, decided_in } => self.mismatch(jurisdictions, decided_in),
            RuleKind::Layout { field, languages, layout_in, layout, named } => {
                let all = self.places.at(*field).flat_map(|(_, value)| texts(value));
                let tags: Vec<&str> = all.filter(|tag| needs_layout(tag, languages)).collect();
                let settled = tags.is_empty() || self.is_laid_out(layout_in, named, rule.severity);
                if settled { Ok(()) } else { self.add_hit(0, layout_in, Seen::Languages { tags, layout }) }
            }
            RuleKind::Input { field, equals, needs } => self.input(*field, equals, needs),
        }
    }

    fn add_hit(&mut self, under: PlaceId, then: &'a [String], seen: Seen<'a>) -> Result<(), TooManyGaps> {
        self.found.add(Hit { rule: self.rule, spot: Spot { under, then }, seen })
    }

    fn required(&mut self, parent: PathId, name: &'a String) -> Result<(), TooManyGaps> {
        let places = self.places;
        for (at, value) in places.at(parent) {
            if value.as_object().is_some_and(|members| is_missing(members.get(name))) {
                self.add_hit(at, std::slice::from_ref(name), Seen::Nothing)?;
            }
        }
        Ok(())
    }

    fn ambiguous(&mut self) -> Result<(), TooManyGaps> {
        let phrase = |seen: &Sighting<'a>| Seen::Phrase { text: seen.text, phrase: seen.phrase };
        self.seen.iter().try_for_each(|seen| self.add_hit(seen.place, &[], phrase(seen)))
    }

    fn overlap(&mut self, overlaps: &'a [Overlap]) -> Result<(), TooManyGaps> {
        for Sighting { text, number, .. } in self.seen {
            let overlap = overlaps.get(*number);
            let open = overlap.filter(|overlap| is_missing(self.places.get(0, &overlap.confirmed_in)));
            let Some(overlap) = open else { continue };
            self.add_hit(0, &overlap.confirmed_in, Seen::Overlap { text, overlap })?;
        }
        Ok(())
    }

    fn mismatch(&mut self, jurisdictions: &'a [Jurisdiction], decided_in: &'a [String]) -> Result<(), TooManyGaps> {
        let mut seen: Vec<(&'a str, &'a Jurisdiction)> = Vec::new();
        for Sighting { text, number, .. } in self.seen {
            let Some(found) = jurisdictions.get(*number) else { continue };
            // A text matching twice, or standing at two places, counts once.
            let again = |(other, before): &(&str, &Jurisdiction)| {
                before.slug == found.slug || (other == text && before.of == found.of)
            };
            if !seen.iter().any(again) {
                seen.push((text, found));
            }
        }
        let distinct: HashSet<&str> = seen.iter().map(|(_, found)| found.of.as_str()).collect();
        let open = distinct.len() > 1 && is_missing(self.places.get(0, decided_in));
        if open { self.add_hit(0, decided_in, Seen::Jurisdictions(seen)) } else { Ok(()) }
    }

    /// Whether the layout is named, or its absence was accepted (W-05).
    fn is_laid_out(&self, layout_in: &[String], named: &Phrases, severity: Severity) -> bool {
        let value = self.places.get(0, layout_in);
        let is_named = |text: &str| named.found_in(&Folded::of(text)).next().is_some();
        let settles = |text: &str| is_named(text) || (severity == Severity::Warn && is_accept(text));
        value.is_some_and(|value| texts(value).any(settles))
    }

    fn input(&mut self, field: PathId, equals: &[Value], needs: &'a [Need]) -> Result<(), TooManyGaps> {
        let places = self.places;
        for (place, value) in places.at(field).filter(|(_, value)| is_one_of(value, equals)) {
            for need in needs {
                let under = places.above(place, need.above);
                if is_missing(places.get(under, &need.then)) {
                    self.add_hit(under, &need.then, Seen::Cause { place, value })?;
                }
            }
        }
        Ok(())
    }
}

/// Matches the primary subtag, or a script subtag: `ar-sa`, `az-Arab`.
fn needs_layout(tag: &str, languages: &HashSet<String>) -> bool {
    let mut subtags = tag.trim().split(['-', '_']);
    let known = |subtag: &str| languages.contains(&subtag.to_ascii_lowercase());
    subtags.next().is_some_and(known) || subtags.any(|subtag| subtag.len() == 4 && known(subtag))
}
