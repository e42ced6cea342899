//! The standing approval form: the arguments that may vary, and reading the limits.

use super::form::Form;
use crate::pages::{AllowMore, AmountUnit, Language, MoreError, PlainLine, Releasable, UnitChoice};
use countersign_engine::{AskedFor, Decision, ProjectAt, bounded::ActionTarget, held::JsonMember};
use countersign_protocol::bounds::{Amount, Bound, Bounds, MAX_UNIT};
use std::collections::BTreeMap;

/// Maximum number of a tool's amounts in the form; more can be set through the API.
const MOST: usize = 20;
/// Usual names of an argument that holds a unit.
const UNITS: [&str; 3] = ["currency", "unit", "ccy"];

pub(super) fn of(at: &ProjectAt, decision: &Decision, asked: &AskedFor) -> AllowMore {
    let policy = &at.project.document.plans;
    let fixed = decision.terms.fixes_arguments();
    AllowMore {
        max_uses: policy.max_uses,
        max_minutes: policy.max_seconds / 60,
        usual_s: decision.terms.allowance_s,
        amounts: if fixed { Vec::new() } else { amounts(asked) },
        fixed,
        uses: String::new(),
        minutes: String::new(),
    }
}

/// The form with the person's input.
pub(super) fn typed(more: AllowMore, form: &Form) -> AllowMore {
    let field = |what: &str, name: &str| form.field(&format!("{what}:{name}")).to_owned();
    let amounts = more.amounts.into_iter().map(|amount| Releasable {
        each: field("each", &amount.name),
        sum: field("sum", &amount.name),
        unit_from: field("unit", &amount.name),
        ..amount
    });
    AllowMore {
        uses: form.field("uses").to_owned(),
        minutes: form.field("minutes").to_owned(),
        amounts: amounts.collect(),
        ..more
    }
}

/// The limits in the form, checked as far as the page can.
pub(super) fn read(more: &AllowMore, language: Language) -> Result<Bounds, MoreError> {
    let mut released = BTreeMap::new();
    for amount in &more.amounts {
        released.extend(bound(amount, language)?.map(|bound| (amount.name.clone(), bound)));
    }
    let uses = whole(&more.uses, more.max_uses).ok_or(MoreError::Uses)?;
    let minutes = whole(&more.minutes, more.max_minutes).ok_or(MoreError::Minutes)?;
    match (uses, minutes, released.is_empty()) {
        (None, None, true) => Err(MoreError::Empty),
        _ => Ok(Bounds { uses, seconds: minutes.map(|minutes| minutes * 60), released }),
    }
}

/// A whole number within the limit; the inner `None` is an empty field.
fn whole(typed: &str, most: i64) -> Option<Option<i64>> {
    match typed.trim() {
        "" => Some(None),
        typed => typed.parse().ok().filter(|number| (1..=most).contains(number)).map(Some),
    }
}

fn bound(amount: &Releasable, language: Language) -> Result<Option<Bound>, MoreError> {
    let each = read_amount("each", &amount.each, amount, language)?;
    let sum = read_amount("sum", &amount.sum, amount, language)?;
    let unit = match &amount.counted {
        AmountUnit::In(unit) => Some(unit.clone()),
        AmountUnit::ByArgument(_) => None,
    };
    let offered = |choices: &[UnitChoice]| choices.iter().any(|choice| choice.name == amount.unit_from);
    let unit_from = match &amount.counted {
        AmountUnit::ByArgument(choices) if offered(choices) => Some(amount.unit_from.clone()),
        _ => None,
    };
    // A limit for the sum alone also limits each call.
    let Some(most) = each.or(sum) else { return Ok(None) };
    if sum.is_some() && unit.is_none() && unit_from.is_none() {
        return Err(MoreError::NoUnit { field: posted_as("sum", amount) });
    }
    Ok(Some(Bound::Amount { least: None, most, sum, unit, unit_from }))
}

fn read_amount(what: &str, typed: &str, of: &Releasable, language: Language) -> Result<Option<Amount>, MoreError> {
    let typed = match language {
        Language::German if !typed.contains('.') => typed.trim().replacen(',', ".", 1),
        _ => typed.trim().to_owned(),
    };
    if typed.is_empty() {
        return Ok(None);
    }
    let field = || posted_as(what, of);
    let amount = Amount::parse(&typed).map_err(|_| MoreError::NotAnAmount { field: field() })?;
    let is = Amount::parse(of.is.as_str()).ok();
    match is.is_some_and(|is| amount < is) {
        true => Err(MoreError::TooSmall { field: field(), is: of.is.to_string() }),
        false => Ok(Some(amount)),
    }
}

fn posted_as(what: &str, amount: &Releasable) -> String {
    format!("{what}:{}", amount.name)
}

/// A route declares its amounts and their units; for a tool, every number may be an amount.
fn amounts(asked: &AskedFor) -> Vec<Releasable> {
    match &asked.what {
        ActionTarget::Route { .. } => of_route(asked),
        ActionTarget::Tool { .. } => of_tool(asked),
    }
}

fn of_route(asked: &AskedFor) -> Vec<Releasable> {
    let one = |(name, unit): (&str, &str)| {
        let is = written(asked.arguments.get(name)?)?;
        Some(releasable(name, is, AmountUnit::In(unit.to_owned())))
    };
    asked.units.unambiguous().into_iter().filter_map(one).collect()
}

fn of_tool(asked: &AskedFor) -> Vec<Releasable> {
    let mut scalars = Vec::new();
    walk(asked.arguments.root(), "", &mut scalars);
    // A name that contains a dot is ambiguous.
    scalars.retain(|(name, member)| asked.arguments.get(name) == Some(member));
    let units: Vec<UnitChoice> = scalars.iter().filter_map(|(name, member)| unit_choice(name, member)).collect();
    let numbers = scalars.iter().filter_map(|(name, member)| Some((name, of_number(member)?)));
    numbers.take(MOST).map(|(name, is)| releasable(name, is, AmountUnit::ByArgument(units.clone()))).collect()
}

/// Every number and text, by its dotted name.
fn walk<'a>(member: &'a JsonMember, name: &str, found: &mut Vec<(String, &'a JsonMember)>) {
    let below = |inner: &str| if name.is_empty() { inner.to_owned() } else { format!("{name}.{inner}") };
    match member {
        JsonMember::Object(members) => members.iter().for_each(|(inner, value)| walk(value, &below(inner), found)),
        JsonMember::List(items) => {
            items.iter().enumerate().for_each(|(at, value)| walk(value, &below(&at.to_string()), found));
        }
        JsonMember::Number(_) | JsonMember::Text(_) => found.push((name.to_owned(), member)),
        JsonMember::Null | JsonMember::Bool(_) => {}
    }
}

/// A number, or a text that looks like an amount of money. Without a fraction it may be an account number.
fn of_number(member: &JsonMember) -> Option<&str> {
    match member {
        JsonMember::Text(text) if !text.contains('.') => None,
        member => written(member),
    }
}

fn written(member: &JsonMember) -> Option<&str> {
    match member {
        JsonMember::Number(text) | JsonMember::Text(text) => Amount::parse(text).ok().map(|_| text.as_str()),
        _ => None,
    }
}

fn unit_choice(name: &str, member: &JsonMember) -> Option<UnitChoice> {
    let JsonMember::Text(text) = member else { return None };
    let short = (1..=MAX_UNIT).contains(&text.chars().count()) && Amount::parse(text).is_err();
    let plain = text.trim() == text && !text.chars().any(char::is_control);
    (short && plain).then(|| UnitChoice { name: name.to_owned(), is: PlainLine::cut(text, MAX_UNIT) })
}

fn releasable(name: &str, is: &str, counted: AmountUnit) -> Releasable {
    let called_so = |choice: &&UnitChoice| {
        let last = choice.name.rsplit('.').next().unwrap_or_default();
        UNITS.iter().any(|unit| last.eq_ignore_ascii_case(unit))
    };
    let unit_from = match &counted {
        AmountUnit::ByArgument(choices) => choices.iter().find(called_so).map(|choice| choice.name.clone()),
        AmountUnit::In(_) => None,
    };
    Releasable {
        name: name.to_owned(),
        is: PlainLine::cut(is, 80),
        counted,
        each: String::new(),
        sum: String::new(),
        unit_from: unit_from.unwrap_or_default(),
    }
}
