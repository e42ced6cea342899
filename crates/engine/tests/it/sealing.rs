//! The transparency log: every entry has one index, every lane keeps its order, and every checkpoint holds.

mod crash;
mod fixture;
mod keys;
mod known;
mod tampered;
mod witnesses;

use countersign_engine::EvidenceError;
use countersign_evidence::{merkle, tile::Tile};
use countersign_jose::EvidenceCrypto;
use fixture::{Database, LastingPlace, NORTH, SOUTH, Sealing, check_order, on_both_databases, opened};

on_both_databases! {
    ///
    async fn every_entry_has_one_index_and_each_lane_keeps_its_order(place) {
        let node = Sealing::on(place).await;
        for count in [1, 255, 1, 30, 600] {
            let (north, south) = (node.append(NORTH, count), node.append(SOUTH, count / 2));
            let seals = async { drop(node.engine.evidence().checkpoint_now(NORTH).await) };
            tokio::join!(north, south, seals);
        }
        node.sealed(SOUTH).await;
        for (project, entries) in [(NORTH, 887), (SOUTH, 442)] {
            let places = node.check_log(project).await;
            assert_eq!(places.len(), entries);
            check_order(&places);
        }
        node.stop().await;
    }

    ///
    async fn every_proof_holds_in_the_checkpoint_that_it_names(place) {
        let node = Sealing::on(place).await;
        node.append(NORTH, 300).await;
        let older = node.sealed(NORTH).await;
        node.append(NORTH, 300).await;
        let newer = node.sealed(NORTH).await;
        assert_eq!((older.size, newer.size), (300, 600));
        let evidence = || node.engine.evidence();
        for (checkpoint, index) in [(&older, 0), (&older, 255), (&older, 299), (&newer, 0), (&newer, 299), (&newer, 599)] {
            let entry = node.store().log_entries(NORTH, index, index + 1).await.unwrap().remove(0);
            let proof = evidence().proof_of(NORTH, entry.lane, entry.seq, Some(checkpoint.size)).await.unwrap();
            assert_eq!((proof.index, &proof.checkpoint), (index.cast_unsigned(), checkpoint));
            let leaf = merkle::leaf_hash(&EvidenceCrypto, &entry.leaf);
            let root = (checkpoint.size, &checkpoint.root.0);
            assert_eq!(merkle::inclusion(&EvidenceCrypto, &leaf, proof.index, root, &proof.path), Ok(()));
        }
        let proof = evidence().consistency_of(NORTH, 300, 600).await.unwrap();
        let (old, new) = ((300, &older.root.0), (600, &newer.root.0));
        assert_eq!(merkle::consistency(&EvidenceCrypto, old, new, &proof), Ok(()));
        assert_eq!(evidence().root_at(NORTH, 300).await.unwrap(), older.root);
        let late = evidence().proof_of(NORTH, node.store().lane(), 301, Some(300)).await;
        assert!(matches!(late, Err(EvidenceError::NotSealed)), "{late:?}");
        let beyond = evidence().proof_of(NORTH, node.store().lane(), 601, None).await;
        assert!(matches!(beyond, Err(EvidenceError::NotSealed)), "{beyond:?}");
        node.stop().await;
    }

    ///
    async fn maintenance_makes_a_checkpoint_every_few_seconds_while_entries_come(place) {
        let node = Sealing::on(place).await;
        let mut sizes = Vec::new();
        for _ in 0..10 {
            node.append(NORTH, 1).await;
            node.advance_secs(2, place).await;
            node.engine.run_maintenance().await.unwrap();
            sizes.push(node.size(NORTH).await);
        }
        // At most six seconds without one, and never one for every entry.
        assert_eq!(sizes, [1, 1, 1, 4, 4, 4, 7, 7, 7, 10]);
        node.advance_secs(60, place).await;
        node.engine.run_maintenance().await.unwrap();
        let quiet = node.engine.evidence().checkpoint(NORTH).await.unwrap();
        assert_eq!(quiet.at.millis_since(node.clock.now()), -60_000, "without new entries there is no new checkpoint");
        node.stop().await;
    }

    ///
    async fn a_log_keeps_its_name_and_its_key_over_a_restart(place) {
        let node = Sealing::on(place).await;
        node.append(NORTH, 3).await;
        let first = node.sealed(NORTH).await;
        let keys = node.keys(NORTH).await;
        assert_eq!(opened(&keys, &first.note).origin, "plane.example/projects/north/evidence");
        node.stop().await;
        let again = Sealing::on(place).await;
        assert_eq!(again.keys(NORTH).await, keys);
        again.append(NORTH, 2).await;
        assert_eq!(opened(&keys, &again.sealed(NORTH).await.note).size, 5);
        again.stop().await;
    }

    ///
    async fn tiles_and_entries_are_served_for_the_sizes_of_the_log_only(place) {
        let node = Sealing::on(place).await;
        node.append(NORTH, 260).await;
        node.sealed(NORTH).await;
        let evidence = || node.engine.evidence();
        let tile = |level, number, width| Tile { level, number, width };
        let partial = evidence().tile(NORTH, tile(0, 1, 3)).await.unwrap();
        assert_eq!(partial, evidence().tile(NORTH, tile(0, 1, 4)).await.unwrap()[..96]);
        for missing in [tile(0, 1, 5), tile(0, 1, 256), tile(0, 2, 1), tile(1, 0, 2), tile(2, 0, 1)] {
            let refused = evidence().tile(NORTH, missing).await;
            assert!(matches!(refused, Err(EvidenceError::NoTile)), "{missing:?}: {refused:?}");
        }
        let bundle = node.bundle(NORTH, 1, 4).await;
        let entries = node.store().log_entries(NORTH, 256, 260).await.unwrap();
        let expected: Vec<u8> = entries.iter().flat_map(|entry| {
            let length = u16::try_from(entry.leaf.len()).unwrap().to_be_bytes();
            length.into_iter().chain(entry.leaf.clone())
        }).collect();
        assert_eq!(bundle, expected);
        node.stop().await;
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_seal_at_the_same_time_build_one_log() {
    let place = LastingPlace::fresh(Database::Postgres).await;
    let (left, right) = (Sealing::on(&place).await, Sealing::on(&place).await);
    for _ in 0..6 {
        tokio::join!(left.append(NORTH, 40), right.append(NORTH, 40), left.append(SOUTH, 5));
        tokio::join!(async { drop(left.sealed(NORTH).await) }, async { drop(right.sealed(NORTH).await) });
    }
    left.sealed(NORTH).await;
    let places = right.check_log(NORTH).await;
    assert_eq!(places.len(), 480);
    check_order(&places);
    assert_eq!(left.check_log(SOUTH).await.len(), 30);
    left.stop().await;
    right.stop().await;
}
