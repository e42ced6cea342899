//! Sealing the evidence: CPU time of one leaf, in this process, and the proofs of a large tree.
//!
//! The aim is that sealing costs less than a fiftieth of a call through the gateway's layer (about 2 V).

use crate::{StoreKind, child::database, cpu, gateway::one_verification};
use anyhow::Context as _;
use clap::Args;
use countersign_engine::store::{Effects, EvidenceDraft, Outcome};
use countersign_evidence::{
    merkle::{self, Node, Plan},
    tile::{RightEdge, Tile},
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::{evidence::LeafMembers, ids::RowKey, time::UnixMillis};
use countersign_testkit::{Plane, Setup};
use futures_util::future::join_all;
use std::{collections::HashMap, time::Duration};

/// Entries of one step, and steps at the same time.
const STEP: usize = 64;
const STEPS: usize = 32;
const PROOFS: u64 = 10_000;

#[derive(Args)]
pub(crate) struct SealingArguments {
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    /// Entries to seal.
    #[arg(long, default_value_t = 100_000)]
    entries: usize,
    /// Leaves of the tree in memory whose proofs are made.
    #[arg(long, default_value_t = 10_000_000)]
    leaves: u64,
}

pub(crate) async fn run(arguments: SealingArguments) -> anyhow::Result<()> {
    let unit = one_verification()?;
    println!("Sealing the evidence, {:?}", arguments.store);
    println!("  V (one ES256 verification)           {:9.2} µs", micros(unit));
    let (place, folder) = database(arguments.store).await?;
    let plane = Plane::start(Setup::default(), place).await;
    let project = plane.engine.projects().await?.first().context("a project")?.key;
    append(&plane, project, arguments.entries).await?;
    let before = cpu::of_process("self")?;
    let signed = plane.engine.evidence().checkpoint_now(project).await?;
    let leaf = cpu::of_process("self")?.saturating_sub(before).div_f64(signed.size as f64);
    println!("  a leaf of {:>9}                  {:9.2} µs {:8.3} V", signed.size, micros(leaf), ratio(leaf, unit));
    let before = cpu::of_process("self")?;
    let proofs = i64::try_from(signed.size.min(1000))?;
    for seq in 1..=proofs {
        plane.engine.evidence().proof_of(project, plane.engine.store().lane(), seq, None).await?;
    }
    let proof = cpu::of_process("self")?.saturating_sub(before).div_f64(proofs as f64);
    println!("  a proof from the database            {:9.2} µs {:8.3} V", micros(proof), ratio(proof, unit));
    plane.engine.store().close().await;
    let _removed = std::fs::remove_dir_all(&folder);
    tree_in_memory(arguments.leaves, unit)
}

/// Entries of the size of a call's.
async fn append(plane: &Plane, project: RowKey, entries: usize) -> anyhow::Result<()> {
    let mut left = entries;
    while left > 0 {
        let steps = (0..STEPS).map_while(|_| {
            let count = left.min(STEP);
            left -= count;
            let evidence = (0..count).map(|n| draft(project, left + n)).collect::<anyhow::Result<Vec<_>>>();
            (count > 0).then_some(evidence)
        });
        let steps = steps.collect::<anyhow::Result<Vec<_>>>()?;
        let store = plane.engine.store();
        let commits = steps.into_iter().map(|evidence| store.commit(Effects { evidence, ..Effects::default() }));
        let committed = join_all(commits).await;
        anyhow::ensure!(committed.iter().all(|outcome| *outcome == Outcome::Committed), "the store refused");
    }
    Ok(())
}

fn draft(project: RowKey, n: usize) -> anyhow::Result<EvidenceDraft> {
    let mut members = LeafMembers::new();
    for (name, value) in [
        ("project", "calendar"),
        ("event_type", "call"),
        ("timestamp", "2026-11-15T12:00:00.000Z"),
        ("action", "calendar.read"),
        ("method", "GET"),
        ("outcome", "200 OK"),
        ("operator", "acme.example"),
    ] {
        members.open(name, value);
    }
    members.open("delegation_id", format!("del_{n:032x}"));
    members.open("request_id", format!("req_{n:032x}"));
    members.hidden("path", "/calendar/events");
    members.hidden("acting_for", "alice");
    let leaf = members.seal(|| [7; 16])?;
    let (delegation, session) = (Some(1), Some(2));
    Ok(EvidenceDraft { project, at: UnixMillis(0), event_type: "call", delegation, session, leaf })
}

/// Proofs of a tree whose tiles are in memory.
fn tree_in_memory(leaves: u64, unit: Duration) -> anyhow::Result<()> {
    let (mut edge, mut tiles) = (RightEdge::default(), HashMap::new());
    let before = cpu::of_process("self")?;
    for n in 0..leaves {
        let leaf = merkle::leaf_hash(&EvidenceCrypto, &n.to_be_bytes());
        edge.push(&EvidenceCrypto, leaf, |tile, bytes| drop(tiles.insert(tile, bytes)));
    }
    let grown = cpu::of_process("self")?.saturating_sub(before).div_f64(leaves as f64);
    tiles.extend(edge.tiles());
    println!("  a leaf in memory, hashed twice       {:9.2} µs {:8.3} V", micros(grown), ratio(grown, unit));
    let read = |node: Node| {
        let tile = Tile::of(node, leaves).context("a tile")?;
        tile.hash(&EvidenceCrypto, tiles.get(&tile).context("its bytes")?, node).context("its hash")
    };
    let before = cpu::of_process("self")?;
    for n in 0..PROOFS {
        let index = n.wrapping_mul(7_919_993) % leaves;
        Plan::inclusion(index, leaves).context("a leaf")?.hashes(&EvidenceCrypto, read)?;
    }
    let proof = cpu::of_process("self")?.saturating_sub(before).div_f64(PROOFS as f64);
    println!("  a proof of {leaves:>9} leaves          {:9.2} µs {:8.3} V", micros(proof), ratio(proof, unit));
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn ratio(time: Duration, unit: Duration) -> f64 {
    time.as_secs_f64() / unit.as_secs_f64()
}
