//! A start compares the logs with the checkpoints beside the database.

use super::fixture::{Database, LastingPlace, NORTH, NoOperators, SOUTH, Sealing, on_both_databases, opened};
use countersign_engine::{EvidenceSettings, StartError};
use std::{path::PathBuf, sync::Arc};

/// A folder outside the database's.
fn beside(place: &LastingPlace) -> PathBuf {
    place.folder.with_extension("anchors")
}

fn settings(place: &LastingPlace) -> EvidenceSettings {
    let folder = beside(place);
    let (newest, files) = (Some(folder.join("newest")), Some(folder.join("files")));
    EvidenceSettings { newest, files, ..EvidenceSettings::default() }
}

async fn node(place: &LastingPlace, settings: EvidenceSettings) -> Result<Sealing, StartError> {
    Sealing::try_with(place, settings, Arc::new(NoOperators), |store| store).await
}

async fn refusal(place: &LastingPlace, settings: EvidenceSettings) -> String {
    node(place, settings).await.err().expect("it must not start").to_string()
}

/// Entries of both projects, sealed and kept, a minute and more apart.
async fn told(node: &Sealing, place: &LastingPlace, rounds: usize) {
    for _ in 0..rounds {
        tokio::join!(node.append(NORTH, 2), node.append(SOUTH, 1));
        node.advance_secs(61, place).await;
        node.engine.run_maintenance().await.unwrap();
    }
}

on_both_databases! {
    ///
    async fn a_log_that_continues_its_known_checkpoints_is_served(place) {
        let first = node(place, settings(place)).await.unwrap();
        told(&first, place, 3).await;
        first.stop().await;
        let files = |of: &str, project: &str| std::fs::read_dir(beside(place).join(of).join(project)).unwrap().count();
        assert_eq!((files("newest", "north"), files("files", "north"), files("files", "south")), (1, 3, 3));
        let again = node(place, settings(place)).await.unwrap();
        told(&again, place, 1).await;
        again.stop().await;
        assert_eq!((files("newest", "north"), files("files", "north")), (1, 4));
    }

    ///
    async fn a_shorter_log_is_not_served_and_the_first_missing_entry_is_named(place) {
        let first = node(place, settings(place)).await.unwrap();
        told(&first, place, 3).await;
        first.stop().await;
        place.tamper("UPDATE logs SET size = 4 WHERE project = 1").await;
        for which in [EvidenceSettings { files: None, ..settings(place) }, EvidenceSettings { newest: None, ..settings(place) }] {
            let why = refusal(place, which).await;
            assert!(why.contains("projects/north/evidence has 4 entries") && why.contains("from index 4 on are missing"), "{why}");
        }
        place.tamper("DELETE FROM logs WHERE project = 1").await;
        let why = refusal(place, settings(place)).await;
        assert!(why.contains("from index 0 on are missing"), "{why}");
        assert!(node(place, EvidenceSettings::default()).await.is_ok(), "nothing beside the database says otherwise");
    }

    ///
    async fn a_tree_that_was_changed_is_not_served_and_its_entry_is_named(place) {
        let first = node(place, settings(place)).await.unwrap();
        told(&first, place, 3).await;
        first.stop().await;
        // The hash of entry 3 of north in the right edge becomes that of another one.
        let swap = match place.database {
            Database::Sqlite => "UPDATE logs SET edge = CAST(substr(edge, 1, 96) || substr(edge, 1, 32) || substr(edge, 129) AS BLOB) WHERE project = 1",
            Database::Postgres => "UPDATE logs SET edge = substr(edge, 1, 96) || substr(edge, 1, 32) || substr(edge, 129) WHERE project = 1",
        };
        place.tamper(swap).await;
        let why = refusal(place, settings(place)).await;
        assert!(why.contains("the entry with index 3 (lane 0, number 4) is another one"), "{why}");
    }

    ///
    async fn a_history_that_was_rewritten_with_its_tree_is_not_served(place) {
        let first = node(place, settings(place)).await.unwrap();
        told(&first, place, 3).await;
        first.stop().await;
        // Whoever has the database and its keys can write another history and sign it.
        place.forge_entry(4).await;
        place.tamper("DELETE FROM logs; DELETE FROM log_tiles; DELETE FROM log_segments; DELETE FROM log_lanes; DELETE FROM checkpoints").await;
        let forger = node(place, EvidenceSettings::default()).await.unwrap();
        assert_eq!((forger.sealed(NORTH).await.size, forger.size(SOUTH).await), (6, 3));
        forger.stop().await;
        let why = refusal(place, settings(place)).await;
        assert!(why.contains("was rewritten with its tree"), "{why}");
    }

    ///
    async fn after_a_restore_a_log_goes_on_under_another_name(place) {
        let first = node(place, settings(place)).await.unwrap();
        told(&first, place, 2).await;
        let before = first.keys(NORTH).await.remove(0).name;
        let epoch = first.engine.start_epoch().await.unwrap().number;
        told(&first, place, 1).await;
        let after = first.keys(NORTH).await.remove(0).name;
        assert_eq!(after, format!("{before}/{epoch}"));
        assert_eq!(opened(&first.keys(NORTH).await, &first.sealed(NORTH).await.note).origin, after);
        first.stop().await;
        // What was known under the other name counts no more; what is known under this one does.
        node(place, settings(place)).await.unwrap().stop().await;
        place.tamper("UPDATE logs SET size = 4 WHERE project = 1").await;
        let why = refusal(place, settings(place)).await;
        assert!(why.contains(&format!("{after} has 4 entries")), "{why}");
    }
}
