//! The log after a crash: one unbroken chain in each lane, and one entry for each event that happens once.

use countersign_protocol::{evidence, hash::Digest};
use countersign_testkit::{Plane, StoredEntry, stored_evidence};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn is_whole(plane: &Plane) {
    let entries = stored_evidence(&plane.place).await;
    is_chained(plane, &entries).await;
    happened_once(&entries);
}

async fn is_chained(plane: &Plane, entries: &[StoredEntry]) {
    let project = plane.at().await.project.key;
    let mut lanes: BTreeMap<i64, (i64, Digest)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.project == project) {
        let (next, chain) = lanes.entry(entry.lane).or_insert((1, Digest([0; 32])));
        assert_eq!((entry.seq, entry.hash), (*next, evidence::leaf_hash(&entry.leaf)));
        (*next, *chain) = (*next + 1, evidence::chain(chain, entry.seq, &entry.hash));
    }
    let heads = plane.engine.store().lane_heads(project).await.unwrap();
    let heads: BTreeMap<i64, (i64, Digest)> =
        heads.iter().map(|head| (head.lane, (head.next_seq, head.chain))).collect();
    assert_eq!(heads, lanes);
}

fn happened_once(entries: &[StoredEntry]) {
    let once = ["decision_raised", "decision_settled", "execution_claimed", "execution_unknown", "execution_settled"];
    let mut seen = BTreeSet::new();
    for entry in entries.iter().filter(|entry| once.contains(&entry.event_type.as_str())) {
        let leaf: Value = serde_json::from_slice(&entry.leaf).expect("a leaf of JSON");
        let what = (leaf["decision_id"].to_string(), entry.event_type.clone());
        assert!(seen.insert(what.clone()), "{what:?} twice");
    }
    for (decision, what) in &seen {
        let follows = match what.as_str() {
            "decision_settled" => "decision_raised",
            "execution_claimed" => "decision_settled",
            "execution_unknown" | "execution_settled" => "execution_claimed",
            _ => continue,
        };
        assert!(seen.contains(&(decision.clone(), follows.to_owned())), "{what} without {follows}");
    }
}
