//! Decisions: an agent asks, a subscriber receives the question and answers, the agent is woken from its long poll. All durable.
//!
//! Besides the cycles: the cost of a delivery, the effect of many subscriptions or pending questions on a cycle, and
//! their memory. Common alternatives are measured in the same run.

mod child;
mod cycles;
mod messages;

pub(crate) use child::run as child;

use crate::{StoreKind, peers};
use cycles::Cycles;
use messages::{Figures, Scenario};
use std::time::Duration;

/// Seconds of each measurement.
const SECONDS: u64 = 4;

pub(crate) async fn run(store: StoreKind, in_flight: usize) -> anyhow::Result<()> {
    println!("Decisions on {store:?}: raise → fan-out → reply → waiting agent woken, everything durable");
    let quiet = Scenario::default();
    let alone = measured(store, quiet, 1).await?;
    let many = measured(store, quiet, in_flight).await?;
    for others in [100, 10_000] {
        let with = measured(store, Scenario { others, ..quiet }, in_flight).await?;
        println!("    {:5.2} × the rate without them", with.per_second() / many.per_second());
    }
    let pending = 100_000;
    let with = measured(store, Scenario { pending, ..quiet }, in_flight).await?;
    println!("    {:5.2} × the rate without them", with.per_second() / many.per_second());
    fan_out(store).await?;
    if store == StoreKind::Sqlite {
        beside(&alone, &many)?;
    }
    Ok(())
}

/// Starts a server with a scenario, drives cycles, and prints the result.
async fn measured(store: StoreKind, scenario: Scenario, in_flight: usize) -> anyhow::Result<Cycles> {
    let server = messages::Server::start(store, scenario)?;
    let memory = &server.ready.figures;
    cycles::run(&server, in_flight, Duration::from_secs(1)).await?;
    let cycles = cycles::run(&server, in_flight, Duration::from_secs(SECONDS)).await?;
    println!(
        "  {in_flight:3} in flight, {:6} other subscriptions, {:6} pending: {:7.0} cycles/s   p50 {:6.2} ms   p99 {:6.2} ms",
        scenario.others,
        scenario.pending,
        cycles.per_second(),
        cycles.quantile_ms(0.5),
        cycles.quantile_ms(0.99),
    );
    if scenario.others > 1000 {
        println!("    {:6.1} KiB a subscription", memory.grown_kib / scenario.others as f64);
    }
    if scenario.pending > 0 {
        println!("    {:6.1} MiB for {} pending decisions", memory.grown_kib / 1024.0, scenario.pending);
    }
    Ok(cycles)
}

async fn fan_out(store: StoreKind) -> anyhow::Result<()> {
    let mut costs = Vec::new();
    for listeners in [1000, 10_000] {
        let server = messages::Server::start(store, Scenario { listeners, ..Scenario::default() })?;
        let Figures { delivery_us, grown_kib, .. } = server.ready.figures;
        println!(
            "  {listeners:6} subscriptions of one person: {delivery_us:6.2} µs a delivery, {:.1} KiB each",
            grown_kib / listeners as f64
        );
        costs.push(delivery_us);
    }
    if let [few, many] = costs.as_slice() {
        println!("    {:5.2} × a delivery to 1,000", many / few);
    }
    Ok(())
}

/// Common alternatives, in the same run.
fn beside(alone: &Cycles, many: &Cycles) -> anyhow::Result<()> {
    for peer in peers::Peer::ALL {
        let figures = peers::run(peer, SECONDS * 2)?;
        let best = figures.alone.cycles_per_second.max(figures.together.cycles_per_second);
        println!("  {} {}: {:.0} cycles/s, p50 {:.2} ms", figures.peer, figures.version, best, figures.alone.p50_ms);
        println!(
            "    ours: {:.0} × with one in flight, {:.0} × with many",
            alone.per_second() / best,
            many.per_second() / best
        );
        println!("    durable: {}; does not: {}", figures.durable, figures.does_not_do.join("; "));
    }
    Ok(())
}
