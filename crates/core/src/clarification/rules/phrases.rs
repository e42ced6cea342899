//! Phrase matching. One automaton holds the phrases of all rules and scans each text once per path that reaches it,
//! regardless of the number of rules.

use super::{
    folding::{BadPhrases, Folded, PhraseBook, Phrases},
    places::{PathId, PlaceId, Places, texts},
};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug)]
pub(super) struct Lookout {
    phrases: Phrases,
    wanted: Wanted,
    /// Phrases that are vague at every place.
    vague: HashSet<usize>,
}

/// Collects the phrases of rules before compilation.
#[derive(Default)]
pub(super) struct LookoutBook {
    phrases: PhraseBook,
    wanted: Wanted,
    vague: HashSet<usize>,
}

/// The rules that search for each phrase at each path.
type Wanted = BTreeMap<(PathId, ListReach), HashMap<usize, Vec<Looker>>>;

/// Whether the texts of a list at the path are searched too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListReach {
    Text,
    TextAndItems,
}

/// A rule that searches for a phrase, with its own indices of field and phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looker {
    pub(super) rule: usize,
    pub(super) field: usize,
    pub(super) number: usize,
}

/// A phrase of a rule found in a text.
#[derive(Clone, Copy)]
pub(super) struct Sighting<'p> {
    pub(super) place: PlaceId,
    pub(super) text: &'p str,
    pub(super) phrase: usize,
    /// The rule's own index of the phrase.
    pub(super) number: usize,
    field: usize,
}

impl LookoutBook {
    pub(super) fn add(&mut self, at: (PathId, ListReach), phrase: &str, looker: Looker) -> Result<(), BadPhrases> {
        let phrase = self.phrases.number(phrase)?;
        let lookers = self.wanted.entry(at).or_default().entry(phrase).or_default();
        if !lookers.contains(&looker) {
            lookers.push(looker);
        }
        Ok(())
    }

    /// Marks a phrase as vague: an answer containing it is rejected.
    pub(super) fn is_vague(&mut self, phrase: &str) -> Result<(), BadPhrases> {
        self.vague.insert(self.phrases.number(phrase)?);
        Ok(())
    }

    pub(super) fn compile(self) -> Result<Lookout, BadPhrases> {
        Ok(Lookout { phrases: self.phrases.compile()?, wanted: self.wanted, vague: self.vague })
    }
}

impl Lookout {
    /// The sightings of each rule, in the order of its fields and then of the plan.
    pub(super) fn sightings<'p>(&self, places: &Places<'p>) -> HashMap<usize, Vec<Sighting<'p>>> {
        let mut found: HashMap<usize, Vec<Sighting<'p>>> = HashMap::new();
        let mut folded = Folded::default();
        for ((path, reach), wanted) in &self.wanted {
            for (place, text) in reached(places, *path, *reach) {
                folded.take(text);
                for phrase in self.phrases.found_in(&folded) {
                    for Looker { rule, field, number } in wanted.get(&phrase).into_iter().flatten().copied() {
                        found.entry(rule).or_default().push(Sighting { place, text, phrase, number, field });
                    }
                }
            }
        }
        found.values_mut().for_each(|sightings| sightings.sort_by_key(|sighting| sighting.field));
        found
    }

    /// A vague phrase in this text. It makes an answer unusable at every place: a phrase that one rule finds vague at
    /// its own places is vague elsewhere too.
    pub(super) fn vague_in(&self, text: &str) -> Option<&str> {
        let folded = Folded::of(text);
        let found = self.phrases.found_in(&folded).find(|phrase| self.vague.contains(phrase));
        found.map(|phrase| self.phrase(phrase))
    }

    pub(super) fn phrase(&self, phrase: usize) -> &str {
        self.phrases.phrase_text(phrase).trim_start_matches('^').trim_end_matches('$')
    }
}

fn reached<'p>(places: &Places<'p>, path: PathId, reach: ListReach) -> impl Iterator<Item = (PlaceId, &'p str)> {
    let items = reach == ListReach::TextAndItems;
    let there = places.at(path).filter(move |(_, value)| items || value.is_string());
    there.flat_map(|(place, value)| texts(value).map(move |text| (place, text)))
}
