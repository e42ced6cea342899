//! Entries that were changed before they were sealed, and logs that were changed afterwards.

use super::fixture::{Database, LastingPlace, NORTH, Sealing, on_both_databases};
use countersign_engine::EvidenceError;

async fn refusal(node: &Sealing) -> String {
    match node.engine.evidence().checkpoint_now(NORTH).await {
        Err(EvidenceError::Damaged(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// The first entries are sealed, then others come and a row is changed; the next sealing says which.
async fn found(place: &LastingPlace, tampering: &str) -> String {
    let node = Sealing::on(place).await;
    node.append(NORTH, 4).await;
    node.sealed(NORTH).await;
    node.append(NORTH, 4).await;
    place.tamper(tampering).await;
    let why = refusal(&node).await;
    assert_eq!(node.size(NORTH).await, 4, "nothing of it is sealed");
    node.engine.run_maintenance().await.unwrap();
    node.advance_secs(6, place).await;
    node.engine.run_maintenance().await.unwrap();
    assert_eq!(node.engine.readiness().await, Err(why_of(&why)));
    node.stop().await;
    why
}

fn why_of(why: &str) -> String {
    format!("a stored row cannot be read: {why}")
}

on_both_databases! {
    ///
    async fn an_entry_that_was_deleted_is_named(place) {
        let why = found(place, "DELETE FROM evidence WHERE pos = 6").await;
        assert!(why.contains("position 6 of lane 0") && why.contains("is missing"), "{why}");
    }

    ///
    async fn an_entry_whose_bytes_were_changed_is_named(place) {
        let why = found(place, "UPDATE evidence SET leaf = (SELECT leaf FROM evidence WHERE pos = 5) WHERE pos = 7").await;
        assert!(why.contains("position 7 of lane 0") && why.contains("does not fit its hash"), "{why}");
    }

    ///
    async fn an_entry_that_was_exchanged_with_its_hash_is_noticed(place) {
        let why = found(
            place,
            "UPDATE evidence SET leaf = (SELECT leaf FROM evidence WHERE pos = 5), \
             hash = (SELECT hash FROM evidence WHERE pos = 5) WHERE pos = 7",
        )
        .await;
        assert!(why.contains("running hash"), "{why}");
    }

    ///
    async fn a_head_that_was_moved_back_is_noticed(place) {
        let why = found(place, "UPDATE lane_heads SET next_seq = 6").await;
        assert!(why.contains("position 8 of lane 0") && why.contains("is not counted"), "{why}");
    }

    ///
    async fn a_right_edge_that_was_changed_does_not_fit_its_root(place) {
        let why = found(place, "UPDATE logs SET root = (SELECT hash FROM evidence WHERE pos = 1)").await;
        assert!(why.contains("right edge"), "{why}");
    }
}
