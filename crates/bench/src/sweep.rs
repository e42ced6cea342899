//! The sweep that ends delegations by their time and their inactivity, over many delegations.
//!
//! A node looks for due rows ten times a second. Measured is the time of these looks for each second of service, from the
//! first query to the last commit: the database's time and the engine's around it. The aim is 50 ms a second.

use crate::{StoreKind, child::database};
use anyhow::{Context as _, ensure};
use clap::Args;
use countersign_engine::{
    Delegation,
    store::{self, DelegationsOfProject, Effects, Outcome, Record},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use countersign_testkit::{Plane, Setup};
use futures_util::future::join_all;
use std::time::{Duration, Instant};

const LOOKS_A_SECOND: usize = 10;
/// The rows of a step that prepares them.
const STEP: i64 = 500;
const STEPS_TOGETHER: usize = 8;

#[derive(Args)]
pub(crate) struct SweepArguments {
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    #[arg(long, default_value_t = 1_000_000)]
    delegations: i64,
    /// Delegations that fall due in a second: one in thirty days is 0.4 a second of a million.
    #[arg(long, default_value_t = 1.0)]
    due: f64,
    /// Seconds of service.
    #[arg(long, default_value_t = 60)]
    seconds: usize,
}

pub(crate) async fn run(arguments: SweepArguments) -> anyhow::Result<()> {
    let (place, folder) = database(arguments.store).await?;
    let setup = Setup::with_project(|document| document.max_duration = "365d".into());
    let plane = Plane::start(setup, place).await;
    fill(&plane, &arguments).await?;
    println!("The sweep of due delegations, {:?}", arguments.store);
    println!("  delegations                 {:>10}", arguments.delegations);
    println!("  fall due in a second        {:>10.1}", arguments.due);
    let (mut seconds, mut settled) = (Vec::new(), 0);
    for _ in 0..arguments.seconds {
        plane.advance_without_settling(1).await;
        let (took, ended) = one_second(&plane).await?;
        seconds.push(took);
        settled += ended;
    }
    seconds.sort();
    let at = |share: usize| seconds.get((seconds.len() * share / 100).min(seconds.len() - 1)).copied();
    for (name, share) in [("median", 50), ("p99", 99)] {
        let millis = at(share).context("no second was measured")?.as_secs_f64() * 1e3;
        println!("  {name:<27} {millis:>10.1} ms a second");
    }
    println!("  ended                       {settled:>10}");
    plane.engine.store().close().await;
    let _removed = std::fs::remove_dir_all(&folder);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the time that passes")]
async fn one_second(plane: &Plane) -> anyhow::Result<(Duration, usize)> {
    let (mut took, mut settled) = (Duration::ZERO, 0);
    for _ in 0..LOOKS_A_SECOND {
        let from = Instant::now();
        settled += plane.engine.decisions().settle_due().await.map_err(|why| anyhow::anyhow!("{why}"))?;
        took += from.elapsed();
    }
    Ok((took, settled))
}

/// Copies of one real delegation: half end by their time, half by their inactivity, evenly from now on.
async fn fill(plane: &Plane, arguments: &SweepArguments) -> anyhow::Result<()> {
    let alice = plane.person("alice").await;
    plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    let project = plane.at().await.project.key;
    let found: Option<Delegation> = store::find_one(&**plane.engine.store(), DelegationsOfProject(project)).await?;
    let model = found.context("no delegation")?;
    let now = plane.now();
    let mut first: RowKey = 0;
    while first < arguments.delegations {
        let starts = (0..STEPS_TOGETHER).map(|n| first + STEP * RowKey::try_from(n).unwrap_or_default());
        let steps = starts.filter(|start| *start < arguments.delegations).map(|start| {
            let end = (start + STEP).min(arguments.delegations);
            let puts = (start..end).map(|n| Record::Delegation(copy(&model, n, now, arguments.due))).collect();
            plane.engine.store().commit(Effects { puts, ..Effects::default() })
        });
        for outcome in join_all(steps).await {
            ensure!(matches!(outcome, Outcome::Committed), "the delegations could not be stored: {outcome:?}");
        }
        first += STEP * RowKey::try_from(STEPS_TOGETHER)?;
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a moment between others")]
fn copy(model: &Delegation, n: RowKey, now: UnixMillis, due: f64) -> Delegation {
    let due = now.plus_millis((n as f64 * 1000.0 / due) as i64 + 1000);
    let mut copy = model.clone();
    // Rows of the engine's own get later keys.
    copy.key = model.key - 1 - n;
    copy.version = 1;
    copy.id = format!("del_{n:032x}");
    copy.token_expires_at = due.plus_secs(86_400);
    match n % 2 {
        0 => copy.policy_expires_at = due,
        _ => {
            let idle_s = 14 * 86_400;
            copy.policy.inactivity_timeout = Some(idle_s);
            copy.granted_at = due.plus_secs(-idle_s);
            copy.idle_check_at = Some(due);
            copy.policy_expires_at = due.plus_secs(86_400);
        }
    }
    copy
}
