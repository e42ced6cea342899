//! Compiled kinds of rules: paths resolved in advance, phrases in one automaton.

use super::{
    compile::Bad,
    folding::{BadPhrases, Phrases, is_blank, slug, words},
    path::{Path, PathStep, names},
    phrases::{ListReach, Looker, LookoutBook},
    places::{PathId, Paths},
};
use countersign_protocol::clarification::rules::{LooksFor, Pair};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

#[derive(Debug)]
pub(super) enum RuleKind {
    Required { parent: PathId, name: String },
    // The phrases of these three are in [`super::phrases::Lookout`], with those of all other rules.
    Ambiguous,
    Overlap(Vec<Overlap>),
    Mismatch { jurisdictions: Vec<Jurisdiction>, decided_in: Vec<String> },
    Layout { field: PathId, languages: HashSet<String>, layout_in: Vec<String>, layout: String, named: Phrases },
    Input { field: PathId, equals: Vec<Value>, needs: Vec<Need> },
}

/// Its index is the number of its phrase.
#[derive(Debug)]
pub(super) struct Overlap {
    pub(super) selected: String,
    pub(super) overlaps: String,
    /// The member that confirms the overlap.
    pub(super) confirmed_in: Vec<String>,
}

/// Its index is the number of its phrase.
#[derive(Debug)]
pub(super) struct Jurisdiction {
    /// `jsp-440`, inserted into suggestions.
    pub(super) slug: String,
    pub(super) of: String,
}

/// A required member: `above` steps up from the cause, then down by these names.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) above: usize,
    pub(super) then: Vec<String>,
}

/// State shared by the rules of one document.
#[derive(Default)]
pub(super) struct RuleSetContext {
    pub(super) paths: Paths,
    pub(super) lookout: LookoutBook,
}

pub(super) fn compile(written: &LooksFor, rule: usize, shared: &mut RuleSetContext) -> Result<RuleKind, Bad> {
    let paths = &mut shared.paths;
    match written {
        LooksFor::Required { field } => required(field, paths),
        LooksFor::Ambiguous { fields, phrases } => shared.ambiguous(rule, fields, phrases),
        LooksFor::Overlap { field, pairs, confirmed_in } => shared.overlap(rule, field, pairs, confirmed_in),
        LooksFor::Mismatch { fields, jurisdictions, decided_in } => {
            shared.mismatch(rule, fields, jurisdictions, decided_in)
        }
        LooksFor::Layout { field, languages, layout_in, layout } => {
            layout_needed(field, languages, layout_in, layout, paths)
        }
        LooksFor::Input { field, equals, needs } => input(field, equals, needs, paths),
    }
}

impl RuleSetContext {
    /// Registers phrases, numbered from 0, for each of the fields.
    fn look_for(
        &mut self,
        rule: usize,
        fields: &[PathId],
        reach: ListReach,
        phrases: impl Iterator<Item = String>,
    ) -> Result<(), BadPhrases> {
        for (number, phrase) in phrases.enumerate() {
            for (field, path) in fields.iter().enumerate() {
                self.lookout.add((*path, reach), &phrase, Looker { rule, field, number })?;
            }
        }
        Ok(())
    }

    fn ambiguous(&mut self, rule: usize, fields: &[String], phrases: &[String]) -> Result<RuleKind, Bad> {
        if phrases.is_empty() {
            return Err(Bad::new("phrases", "has none"));
        }
        let fields = ids("fields", fields, &mut self.paths)?;
        let looked_for = self.look_for(rule, &fields, ListReach::Text, phrases.iter().cloned());
        looked_for.map_err(Bad::phrases("phrases"))?;
        phrases.iter().try_for_each(|phrase| self.lookout.is_vague(phrase)).map_err(Bad::phrases("phrases"))?;
        Ok(RuleKind::Ambiguous)
    }

    fn overlap(&mut self, rule: usize, field: &str, pairs: &[Pair], confirmed_in: &str) -> Result<RuleKind, Bad> {
        if pairs.is_empty() {
            return Err(Bad::new("pairs", "has none"));
        }
        let base = one_place("confirmed_in", confirmed_in)?;
        let field = id("field", field, &mut self.paths)?;
        let selected = pairs.iter().map(|pair| slug(&pair.selected));
        self.look_for(rule, &[field], ListReach::TextAndItems, selected).map_err(Bad::phrases("pairs"))?;
        let overlaps = pairs.iter().map(|pair| overlap(pair, &base)).collect::<Option<_>>();
        overlaps.map(RuleKind::Overlap).ok_or_else(|| Bad::new("pairs", "has one that overlaps with nothing"))
    }

    fn mismatch(
        &mut self,
        rule: usize,
        fields: &[String],
        jurisdictions: &BTreeMap<String, String>,
        decided_in: &str,
    ) -> Result<RuleKind, Bad> {
        let bad = |why: &str| Err(Bad::new("jurisdictions", why));
        if jurisdictions.values().any(|of| is_blank(of)) {
            return bad("has a blank one");
        }
        if jurisdictions.values().collect::<HashSet<_>>().len() < 2 {
            return bad("must be at least two, or nothing could ever mismatch");
        }
        let fields = ids("fields", fields, &mut self.paths)?;
        let known = jurisdictions.keys().map(|key| slug(key));
        self.look_for(rule, &fields, ListReach::TextAndItems, known).map_err(Bad::phrases("jurisdictions"))?;
        let one = |(key, of): (&String, &String)| Jurisdiction { slug: slug(key), of: of.clone() };
        let jurisdictions = jurisdictions.iter().map(one).collect();
        Ok(RuleKind::Mismatch { jurisdictions, decided_in: one_place("decided_in", decided_in)? })
    }
}

fn overlap(pair: &Pair, base: &[String]) -> Option<Overlap> {
    let member = format!("{}-{}", slug(&pair.selected), slug(&pair.overlaps));
    let confirmed_in = base.iter().cloned().chain([member]).collect();
    let named = !words(&pair.overlaps).is_empty();
    named.then(|| Overlap { selected: pair.selected.clone(), overlaps: pair.overlaps.clone(), confirmed_in })
}

fn required(field: &str, paths: &mut Paths) -> Result<RuleKind, Bad> {
    let path = Path::parse(field).map_err(Bad::path("field"))?;
    let Some((PathStep::Member(name), parent)) = path.0.split_last() else {
        return Err(Bad::new("field", "must end in the name of the member that must be there"));
    };
    Ok(RuleKind::Required { parent: paths.id_of(parent), name: name.clone() })
}

fn layout_needed(
    field: &str,
    languages: &[String],
    layout_in: &str,
    layout: &str,
    paths: &mut Paths,
) -> Result<RuleKind, Bad> {
    let subtag = |tag: &String| !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric());
    if languages.is_empty() || !languages.iter().all(subtag) {
        return Err(Bad::new("languages", "must be subtags such as ar or arab, at least one"));
    }
    Ok(RuleKind::Layout {
        field: id("field", field, paths)?,
        languages: languages.iter().map(|tag| tag.to_ascii_lowercase()).collect(),
        layout_in: one_place("layout_in", layout_in)?,
        layout: layout.to_owned(),
        named: Phrases::new(vec![slug(layout)]).map_err(Bad::phrases("layout"))?,
    })
}

fn input(field: &str, equals: &[Value], needs: &[String], paths: &mut Paths) -> Result<RuleKind, Bad> {
    let cause = Path::parse(field).map_err(Bad::path("field"))?;
    if cause.0.contains(&PathStep::Below) {
        return Err(Bad::new("field", "must not have **: a required value belongs to one place"));
    }
    if equals.is_empty() || needs.is_empty() {
        return Err(Bad::new(if needs.is_empty() { "needs" } else { "equals" }, "has none"));
    }
    let needs = needs.iter().map(|needed| need(needed, &cause)).collect::<Result<_, _>>()?;
    Ok(RuleKind::Input { field: paths.id(&cause), equals: equals.to_vec(), needs })
}

/// The common prefix of need and cause refers to the same items; only names may follow it.
fn need(needed: &str, cause: &Path) -> Result<Need, Bad> {
    let path = Path::parse(needed).map_err(Bad::path("needs"))?;
    let common = path.0.iter().zip(&cause.0).take_while(|(needed, cause)| needed == cause).count();
    // The last step is the required member itself, so it is never part of the common prefix.
    let common = common.min(path.0.len() - 1);
    let then = path.0.get(common..).and_then(names);
    let why = "must begin like field up to its last [*] or *, and go on with names only";
    Ok(Need { above: cause.0.len() - common, then: then.ok_or_else(|| Bad::new("needs", why))? })
}

fn id(member: &str, text: &str, paths: &mut Paths) -> Result<PathId, Bad> {
    Ok(paths.id(&Path::parse(text).map_err(Bad::path(member))?))
}

fn ids(member: &str, texts: &[String], paths: &mut Paths) -> Result<Vec<PathId>, Bad> {
    if texts.is_empty() {
        return Err(Bad::new(member, "has none"));
    }
    texts.iter().map(|text| id(member, text, paths)).collect()
}

fn one_place(member: &str, text: &str) -> Result<Vec<String>, Bad> {
    let path = Path::parse(text).map_err(Bad::path(member))?;
    path.names().ok_or_else(|| Bad::new(member, "must be one place, without * and [*]"))
}
