//! The log's key is replaced by a statement that both keys sign.

use super::fixture::{Database, LastingPlace, NORTH, SOUTH, Sealing, on_both_databases, opened};
use countersign_evidence::crypto::Crypto as _;
use countersign_jose::EvidenceCrypto;

on_both_databases! {
    ///
    async fn a_replaced_key_states_its_successor_and_signs_nothing_more(place) {
        let node = Sealing::on(place).await;
        tokio::join!(node.append(NORTH, 3), node.append(SOUTH, 1));
        let before = node.sealed(NORTH).await;
        let old = node.keys(NORTH).await;
        node.engine.replace_log_key().await.unwrap();
        let after = node.sealed(NORTH).await;
        let (rows, all) = (node.engine.evidence().verifier_keys(NORTH).await.unwrap(), node.keys(NORTH).await);
        assert_eq!((rows.len(), &all[..1]), (2, &old[..]));
        assert_eq!(opened(&old, &before.note).size, 3);
        assert_eq!(opened(&all[1..], &after.note).size, 4, "the statement is an entry of the log");
        assert_eq!((rows[0].1.sealed.clone(), rows[0].1.replaced_at), (None, Some(node.clock.now())));
        let succession = rows[1].1.succession.clone().unwrap();
        for (key, signature) in [(&all[0], &succession.by_predecessor), (&all[1], &succession.by_successor)] {
            assert!(EvidenceCrypto.verify_ed25519(&key.public, succession.statement.as_bytes(), signature.bytes()));
        }
        for (project, index) in [(NORTH, 3), (SOUTH, 1)] {
            let entry = node.store().log_entries(project, index, index + 1).await.unwrap().remove(0);
            let leaf: serde_json::Value = serde_json::from_slice(&entry.leaf).unwrap();
            assert_eq!(leaf["event_type"], "log_key_added");
            assert_eq!(leaf["statement"], succession.statement.as_str());
        }
        node.stop().await;
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_replace_the_key_at_the_same_time_do_so_one_after_the_other() {
    let place = LastingPlace::fresh(Database::Postgres).await;
    let (left, right) = (Sealing::on(&place).await, Sealing::on(&place).await);
    left.append(NORTH, 1).await;
    left.sealed(NORTH).await;
    let (one, other) = tokio::join!(left.engine.replace_log_key(), right.engine.replace_log_key());
    let mut generations = [one.unwrap().generation, other.unwrap().generation];
    generations.sort_unstable();
    assert_eq!(generations, [2, 3]);
    right.append(NORTH, 1).await;
    let keys = right.keys(NORTH).await;
    assert_eq!(opened(&keys[2..], &right.sealed(NORTH).await.note).size, 4);
    left.stop().await;
    right.stop().await;
}
