//! The log under the audit, verified by reading it without the store.

use countersign_engine::store::{LaneHead, StoreLocation};
use countersign_protocol::{
    evidence::{Opening, chain, commitment, leaf_hash},
    hash::Digest,
};
use countersign_testkit::{AgentFixture, Backend, Kit, Setup, StoredEntry, on_both_stores, stored_evidence};
use http::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

on_both_stores! {
    ///
    async fn the_chain_of_each_lane_can_be_computed_again_from_the_stored_leaves(kit) {
        let (scene, _folder) = told_story(kit).await;
        let log = stored_evidence(&scene.plane.place).await;
        for project in scene.plane.engine.projects().await.unwrap() {
            let heads = scene.plane.engine.store().lane_heads(project.key).await.unwrap();
            assert_eq!(heads, computed(&log, project.key));
            assert!(!heads.is_empty());
        }
        let started = log.iter().filter(|entry| entry.event_type == "call_started").count();
        let calls = scene.calls().await.len();
        assert_eq!((started, calls), (2, 5), "writes have an entry more, which the audit does not list");
    }

    ///
    async fn every_commitment_opens_with_its_salt_and_value_and_hides_everything_personal(kit) {
        let (scene, _folder) = told_story(kit).await;
        let mut opened = 0;
        for entry in stored_evidence(&scene.plane.place).await {
            let leaf: Map<String, Value> = serde_json::from_slice(&entry.leaf).unwrap();
            let openings: BTreeMap<String, Opening> =
                entry.openings.as_deref().map_or_else(BTreeMap::new, |text| serde_json::from_str(text).unwrap());
            let commitments = leaf["commitments"].as_object().unwrap();
            assert!(commitments.keys().eq(openings.keys()), "{leaf:?}");
            for (name, opening) in &openings {
                let salt: [u8; 16] = hex::decode(&opening.salt).unwrap().try_into().unwrap();
                assert_eq!(commitments[name], commitment(name, &salt, &opening.value).unwrap().hex());
                assert!(leaf.get(name).is_none(), "{name} stands in the open too");
                let other = commitment(name, &salt, &json!("something else")).unwrap().hex();
                assert_ne!(commitments[name], other);
                opened += 1;
            }
            let text = String::from_utf8(entry.leaf).unwrap();
            for personal in ["alice", "/calendar", scene.agent.session_id.as_str(), "user_requested"] {
                assert!(!text.contains(personal), "{personal} in {text}");
            }
        }
        assert!(opened > 15, "{opened}");
        let salts: Vec<String> = stored_evidence(&scene.plane.place).await.iter().flat_map(salts).collect();
        let distinct: std::collections::BTreeSet<&String> = salts.iter().collect();
        assert_eq!((salts.len(), distinct.len()), (opened, opened), "no salt twice");
    }

    ///
    async fn the_audit_agrees_with_the_log(kit) {
        let (scene, _folder) = told_story(kit).await;
        let log: BTreeMap<String, StoredEntry> =
            stored_evidence(&scene.plane.place).await.into_iter().map(|entry| (entry.hash.hex(), entry)).collect();
        let page = scene.audit("limit=200").await;
        for shown in page["entries"].as_array().unwrap() {
            let stored = &log[shown["leaf_hash"].as_str().unwrap()];
            assert_eq!((&shown["lane"], &shown["seq"]), (&json!(stored.lane), &json!(stored.seq)));
            let leaf: Map<String, Value> = serde_json::from_slice(&stored.leaf).unwrap();
            for name in ["timestamp", "event_type", "outcome", "method", "action", "intent_type", "operator"] {
                assert_eq!(shown.get(name), leaf.get(name), "{name}");
            }
        }
    }

    ///
    async fn erased_openings_are_gone_and_every_proof_still_holds(kit) {
        let (scene, _folder) = told_story(kit).await;
        let plane = &scene.plane;
        let project = plane.engine.projects().await.unwrap().remove(0);
        let before = scene.audit("limit=200").await;
        let log = stored_evidence(&plane.place).await;
        let heads = plane.engine.store().lane_heads(project.key).await.unwrap();
        let call = before["entries"].as_array().unwrap().iter().position(|e| e["outcome"] == "200 OK").unwrap();
        let erased = log.iter().find(|e| e.hash.hex() == before["entries"][call]["leaf_hash"]).unwrap();
        assert!(plane.engine.store().erase(project.key, erased.lane, erased.pos).await.unwrap());

        let after = scene.audit("limit=200").await;
        let mut wanted = before.clone();
        for name in ["path", "session_id", "acting_for"] {
            assert!(wanted["entries"][call].as_object_mut().unwrap().remove(name).is_some(), "{name}");
        }
        assert_eq!(after, wanted, "without those members, and else as before");
        let remaining = stored_evidence(&plane.place).await;
        let same = |a: &StoredEntry, b: &StoredEntry| (&a.leaf, a.hash, a.seq) == (&b.leaf, b.hash, b.seq);
        assert!(log.iter().zip(&remaining).all(|(a, b)| same(a, b)) && log.len() == remaining.len());
        assert_eq!(remaining.iter().filter(|entry| entry.openings.is_none()).count(), 1);
        assert_eq!(computed(&remaining, project.key), heads);
        assert_eq!(plane.engine.store().lane_heads(project.key).await.unwrap(), heads);
    }
}

///
#[tokio::test]
async fn two_nodes_write_two_lanes_and_both_chains_hold() {
    let scene = Kit(Backend::Postgres).fixture().await;
    let (engine, _) = scene.plane.second_node().await;
    let second = scene.plane.api_of(&engine);
    for _ in 0..3 {
        scene.write().await.expect(201);
        scene
            .plane
            .call_at(&second, &scene.agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT")
            .await
            .expect(201);
    }
    let project = scene.plane.engine.projects().await.unwrap().remove(0);
    let heads = scene.plane.engine.store().lane_heads(project.key).await.unwrap();
    assert_eq!(heads.len(), 2);
    assert_eq!(heads, computed(&stored_evidence(&scene.plane.place).await, project.key));
    // One list of both, once from the tail and once from the index.
    for _ in 0..2 {
        assert_eq!(scene.calls().await.len(), 6);
        scene.plane.engine.run_maintenance().await.unwrap();
    }
}

///
#[tokio::test]
async fn a_changed_leaf_does_not_fit_its_hash_and_a_moved_one_not_its_chain() {
    let (scene, _folder) = told_story(Kit(Backend::Sqlite)).await;
    assert!(matches!(scene.plane.place, StoreLocation::File(_)));
    let project = scene.plane.engine.projects().await.unwrap().remove(0);
    let log = stored_evidence(&scene.plane.place).await;
    let heads = computed(&log, project.key);
    let mut swapped = log.clone();
    swapped.swap(2, 3);
    (swapped[2].seq, swapped[3].seq) = (swapped[3].seq, swapped[2].seq);
    assert_ne!(computed(&swapped, project.key), heads);
    let mut changed = log[2].leaf.clone();
    let last = changed.len() - 2;
    changed[last] ^= 1;
    assert_ne!(leaf_hash(&changed), log[2].hash);
}

/// Every kind of entry: granted, started, reads, writes, refusals, revoked.
async fn told_story(kit: Kit) -> (AgentFixture, countersign_testkit::leaks::Folder) {
    let (plane, folder) = kit.lasting_plane(Setup::default()).await;
    let scene = AgentFixture::on(plane, &["calendar.read", "calendar.write"]).await;
    scene.read().await.expect(200);
    scene.write().await.expect(201);
    scene.write().await.expect(201);
    scene.plane.call(&scene.agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await.expect(403);
    scene.plane.advance_secs(1).await;
    scene.revoke().await.expect(200);
    scene.read().await.expect(401);
    (scene, folder)
}

/// The head of each lane, computed from the leaves in their order alone.
fn computed(log: &[StoredEntry], project: i64) -> Vec<LaneHead> {
    let mut heads: BTreeMap<i64, LaneHead> = BTreeMap::new();
    for entry in log.iter().filter(|entry| entry.project == project) {
        assert_eq!(leaf_hash(&entry.leaf), entry.hash);
        let head =
            heads.entry(entry.lane).or_insert(LaneHead { lane: entry.lane, next_seq: 1, chain: Digest([0; 32]) });
        assert_eq!(entry.seq, head.next_seq, "no hole");
        (head.chain, head.next_seq) = (chain(&head.chain, entry.seq, &entry.hash), entry.seq + 1);
    }
    heads.into_values().collect()
}

fn salts(entry: &StoredEntry) -> Vec<String> {
    let openings: BTreeMap<String, Opening> =
        entry.openings.as_deref().map_or_else(BTreeMap::new, |text| serde_json::from_str(text).unwrap());
    openings.into_values().map(|opening| opening.salt).collect()
}
