//! Matching a call against the open allowances of its session: one lookup, and the total cost of a covered call.
//!
//! Measured as CPU time in this process, against V. The aim is a tenth of V for 1,000 open allowances.

use crate::gateway::one_verification;
use anyhow::Context as _;
use countersign_engine::bounded::{ActionTarget, Arguments, Book, Pattern, Units};
use countersign_protocol::bounds::{Amount, Bound};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, hint::black_box, time::Duration};

const OPEN: [usize; 4] = [1, 100, 1_000, 10_000];
const LOOKS: u32 = 20_000;
const BATCHES: usize = 5;

pub(crate) fn run() -> anyhow::Result<()> {
    let unit = one_verification()?;
    println!("Matching a call against open allowances of one session");
    println!("  V (one ES256 verification)           {:9.2} µs", unit.as_secs_f64() * 1e6);
    for (name, shape) in SHAPES {
        for open in OPEN {
            let one = measured(open, *shape)?;
            let ratio = one.as_secs_f64() / unit.as_secs_f64();
            println!("  {name:<28} {open:>6}   {:9.2} µs {ratio:8.3} V", one.as_secs_f64() * 1e6);
        }
    }
    let again = one_verification()?;
    println!("  V again                              {:9.2} µs", again.as_secs_f64() * 1e6);
    Ok(())
}

type AllowanceShape = fn(usize) -> (ActionTarget, Map<String, Value>, BTreeMap<String, Bound>);

const SHAPES: &[(&str, AllowanceShape)] =
    &[("one action, other payees", payees), ("other actions", actions), ("nothing released", fixed)];

/// The CPU time of one lookup that finds its allowance.
fn measured(open: usize, shape: AllowanceShape) -> anyhow::Result<Duration> {
    let patterns: anyhow::Result<Vec<(i64, Pattern)>> =
        (0..open).map(|n| Ok((i64::try_from(n)?, pattern(shape(n))?))).collect();
    let patterns = patterns?;
    let book = Book::new(patterns.iter().map(|(key, pattern)| (*key, pattern)));
    let (what, arguments, _) = shape(open / 2);
    let call = Arguments::of_tool(&arguments);
    anyhow::ensure!(book.candidates(&what, &call).len() == 1, "the call must fit exactly one");
    let mut batches: Vec<Duration> = Vec::new();
    for _ in 0..BATCHES {
        let before = crate::cpu::of_process("self")?;
        for _ in 0..LOOKS {
            black_box(book.candidates(black_box(&what), black_box(&call)));
        }
        batches.push(crate::cpu::of_process("self")?.saturating_sub(before) / LOOKS);
    }
    batches.sort();
    batches.get(BATCHES / 2).copied().context("no batch")
}

fn pattern(
    (what, arguments, released): (ActionTarget, Map<String, Value>, BTreeMap<String, Bound>),
) -> anyhow::Result<Pattern> {
    Ok(Pattern::new(what, Arguments::of_tool(&arguments), released, &Units::of_tool())?)
}

fn payees(n: usize) -> (ActionTarget, Map<String, Value>, BTreeMap<String, Bound>) {
    (ActionTarget::Tool { name: "payments.send".into() }, transfer(n), up_to_500())
}

fn actions(n: usize) -> (ActionTarget, Map<String, Value>, BTreeMap<String, Bound>) {
    (ActionTarget::Tool { name: format!("payments.send_{n}") }, transfer(0), up_to_500())
}

fn fixed(n: usize) -> (ActionTarget, Map<String, Value>, BTreeMap<String, Bound>) {
    (ActionTarget::Tool { name: "payments.send".into() }, transfer(n), BTreeMap::new())
}

fn transfer(n: usize) -> Map<String, Value> {
    let call = json!({
        "from": "main", "to": format!("acct-{n:05}"), "amount": "120.50", "currency": "EUR",
        "reference": "Invoice 2026-1107", "urgent": false,
    });
    call.as_object().cloned().unwrap_or_default()
}

fn up_to_500() -> BTreeMap<String, Bound> {
    let most = Amount::parse("500.00").ok();
    let bound = most.map(|most| Bound::Amount {
        least: None,
        most,
        sum: None,
        unit: Some("EUR".into()),
        unit_from: Some("currency".into()),
    });
    bound.map(|bound| ("amount".to_owned(), bound)).into_iter().collect()
}
