//! A revocation under load: 64 callers, one revocation, and the time until the last of them is refused.
//!
//! "Refused everywhere" is the time from the request of the revocation to the last caller's first refusal, its call included.
//! A call that begins after the 200 and passes ends the benchmark. The aims: 100 ms on one node, 1 s on several.

use crate::{StoreKind, child::database};
use anyhow::{Context as _, ensure};
use axum::Router;
use clap::Args;
use countersign_testkit::{Plane, Registered, Setup, TestPerson};
use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const CALLERS: usize = 64;
/// The revocation comes after this many calls.
const WARM: usize = 256;

#[derive(Args)]
pub(crate) struct RevocationArguments {
    /// On PostgreSQL the callers are spread over two nodes.
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    #[arg(long, default_value_t = 100)]
    rounds: usize,
}

/// One revocation.
struct Measured {
    answered: Duration,
    refused_everywhere: Duration,
}

pub(crate) async fn run(arguments: RevocationArguments) -> anyhow::Result<()> {
    let (place, folder) = database(arguments.store).await?;
    let plane = Plane::start(Setup::default(), place).await;
    let alice = plane.person("alice").await;
    let mut nodes = vec![plane.api()];
    if arguments.store == StoreKind::Postgres {
        nodes.push(plane.api_of(&plane.second_node().await.0));
    }
    let mut all = Vec::new();
    for _ in 0..arguments.rounds {
        all.push(round(&plane, &alice, &nodes).await?);
    }
    println!("A revocation under load, {:?}: {CALLERS} callers on {} node(s)", arguments.store, nodes.len());
    println!("  calls that passed after the 200                       0");
    print("the 200", all.iter().map(|round| round.answered).collect())?;
    print("refused everywhere", all.iter().map(|round| round.refused_everywhere).collect())?;
    plane.engine.store().close().await;
    let _removed = std::fs::remove_dir_all(&folder);
    Ok(())
}

fn print(name: &str, mut times: Vec<Duration>) -> anyhow::Result<()> {
    times.sort();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len() - 1)).copied();
    let (median, p99) = (at(50).context("no round")?, at(99).context("no round")?);
    println!("  {name:<20} median {:8.1} ms   p99 {:8.1} ms", median.as_secs_f64() * 1e3, p99.as_secs_f64() * 1e3);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the time that passes")]
async fn round(plane: &Plane, alice: &TestPerson, nodes: &[Router]) -> anyhow::Result<Measured> {
    let connected = plane.connect(alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    let (revoked, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let callers = (0..CALLERS).map(|n| caller(plane, &agent, &nodes[n % nodes.len()], (&revoked, &calls)));
    let revoking = async {
        while calls.load(Ordering::Relaxed) < WARM {
            tokio::task::yield_now().await;
        }
        let from = Instant::now();
        alice.post(plane, "/agent/revoke", &json!({ "delegation_id": connected.delegation_id })).await.expect(200);
        revoked.store(true, Ordering::SeqCst);
        (from, from.elapsed())
    };
    let (refused, (from, answered)) = tokio::join!(join_all(callers), revoking);
    let refused: Vec<Instant> = refused.into_iter().collect::<anyhow::Result<_>>()?;
    let last = refused.into_iter().max().context("no caller")?;
    Ok(Measured { answered, refused_everywhere: last.saturating_duration_since(from) })
}

/// Calls until it is refused; returns that moment.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the time that passes")]
async fn caller(
    plane: &Plane,
    agent: &Registered,
    node: &Router,
    (revoked, calls): (&AtomicBool, &AtomicUsize),
) -> anyhow::Result<Instant> {
    loop {
        let late = revoked.load(Ordering::SeqCst);
        let answer = plane.call_at(node, agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        if answer.status == 401 {
            return Ok(Instant::now());
        }
        ensure!(answer.status == 200, "a call was answered {}: {}", answer.status, answer.text());
        ensure!(!late, "a call that began after the 200 passed");
        calls.fetch_add(1, Ordering::Relaxed);
    }
}
