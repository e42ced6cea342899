//! Flat costs: a call costs the same for any number of delegations, audit entries and used proofs.

use super::{
    Arguments, TURN,
    figures::Figures,
    messages::Point,
    round::RoundResult,
    signing::AGENTS,
    start::{Field, LAYER},
    unit, upstream,
};
use crate::StoreKind;
use std::time::Duration;

/// Delegations first, then calls: with each call the audit grows by an entry and the replay set by a proof.
pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let few = delegations(AGENTS, arguments).await?;
    let many = delegations(arguments.delegations, arguments).await?;
    println!("delegations {AGENTS} → {}, callers drawn from all of them", arguments.delegations);
    compared(&few, &many);
    calls(arguments).await
}

async fn delegations(count: usize, arguments: &Arguments) -> anyhow::Result<Figures> {
    let mut field = Field::prepare(StoreKind::Sqlite, upstream::open().await?, count)?;
    field.ours(LAYER, Point::Layer)?;
    // Each has called once, so the node's caches are filled.
    if let Some(layer) = field.contenders.first_mut() {
        layer.exactly(count, arguments.in_flight).await?;
    }
    some_turns(&mut field, arguments).await
}

/// Measures the start-up on the database before and after.
async fn calls(arguments: &Arguments) -> anyhow::Result<()> {
    let mut field = Field::prepare(StoreKind::Sqlite, upstream::open().await?, AGENTS)?;
    let started = field.ours(LAYER, Point::Layer)?;
    let few = some_turns(&mut field, arguments).await?;
    let mut made = few.answered;
    while made < arguments.calls {
        let Some(layer) = field.contenders.first_mut() else { break };
        made += layer.turn(arguments.in_flight, Duration::from_secs(10)).await?.answered;
        eprintln!("{made} calls of {}", arguments.calls);
    }
    let many = some_turns(&mut field, arguments).await?;
    println!("audit entries and used proofs {} → {}", few.answered, made + many.answered);
    compared(&few, &many);
    let again = field.started_again(LAYER, Point::Layer)?;
    println!("  start-up          {started:9.0} → {again:9.0} ms   {:5.2} ×", again / started);
    Ok(())
}

async fn some_turns(field: &mut Field, arguments: &Arguments) -> anyhow::Result<Figures> {
    let mut turns = Vec::new();
    for round in 0..=arguments.rounds {
        let Some(layer) = field.contenders.first_mut() else { break };
        let turn = RoundResult { unit: unit()?, ..layer.turn(arguments.in_flight, TURN).await? };
        anyhow::ensure!(turn.unexpected == 0, "{} unexpected answers", turn.unexpected);
        if round > 0 {
            turns.push(turn);
        }
    }
    Ok(Figures::of(LAYER, &turns))
}

fn compared(few: &Figures, many: &Figures) {
    let rows = [
        ("CPU a call in V", few.cpu_in_v.median, many.cpu_in_v.median),
        ("calls a second", few.per_second.median, many.per_second.median),
        ("p99 in ms", few.p99_ms, many.p99_ms),
        ("memory in MiB", few.memory_mib, many.memory_mib),
    ];
    for (what, few, many) in rows {
        println!("  {what:17} {few:9.2} → {many:9.2}      {:5.2} ×", many / few);
    }
}
