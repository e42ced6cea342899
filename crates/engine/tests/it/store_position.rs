//! Outdated and damaged data is detected, on both databases.

use crate::{
    postgres,
    store::{START, entry, fixed, put, secret},
    store_open::Folder,
};
use countersign_core::step::Effects;
use countersign_engine::store::{
    self, Opening, Outcome, PostgresLocation, Store, StoreError, StoreLocation, StoreOptions,
};
use std::{path::Path, sync::Arc};

async fn open(place: &StoreLocation, state: &Path) -> Result<Arc<dyn Store>, StoreError> {
    let opening = Opening { alone: true, create: true, adopt: false, state: Some(state.into()) };
    store::open_as(opening, StoreOptions { readers: 2, place: place.clone(), clock: fixed() }).await
}

fn step(n: i64) -> Effects {
    Effects { evidence: vec![entry(1, START, 50, 60, &format!("entry {n}"))], ..put(secret(n, 1, &format!("s{n}"))) }
}

/// A database of each kind with three commits, closed, to be changed from outside.
async fn places(folder: &Folder) -> Vec<StoreLocation> {
    let url = postgres::fresh_database().await;
    let places =
        vec![StoreLocation::File(folder.0.join("plane.db")), StoreLocation::Postgres(PostgresLocation::new(url))];
    for place in &places {
        let store = open(place, &folder.0).await.unwrap();
        for n in 1..4 {
            assert_eq!(store.commit(step(n)).await, Outcome::Committed);
        }
        store.close().await;
    }
    places
}

async fn run(place: &StoreLocation, sql: &str) {
    match place {
        StoreLocation::File(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        StoreLocation::Postgres(place) => drop(postgres::run(&place.url, sql).await),
        StoreLocation::Temporary => panic!("nothing to change from outside"),
    }
}

async fn refusal(place: &StoreLocation, folder: &Folder) -> StoreError {
    open(place, &folder.0).await.err().expect("it was opened")
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_ends_before_the_acknowledged_position_is_refused() {
    let folder = Folder::new("behind");
    for place in places(&folder).await {
        open(&place, &folder.0).await.unwrap().close().await;
        run(&place, "UPDATE lanes SET commits = 2").await;
        let why = refusal(&place, &folder).await;
        assert!(why.to_string().contains("it ends with commit 2, and commit 3 was acknowledged"), "{why}");
        assert!(matches!(why, StoreError::Old(_)), "{why}");
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn another_database_at_the_same_place_is_refused() {
    let folder = Folder::new("another");
    for place in places(&folder).await {
        run(&place, "UPDATE epochs SET database = 'another'").await;
        let why = refusal(&place, &folder).await;
        assert!(matches!(&why, StoreError::Old(why) if why.contains("another database")), "{why}");
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_end_of_the_evidence_is_refused() {
    let folder = Folder::new("tail");
    for place in places(&folder).await {
        run(&place, "UPDATE evidence SET seq = seq + 100 WHERE pos = 2").await;
        assert!(matches!(refusal(&place, &folder).await, StoreError::Damaged(_)));
        run(&place, "UPDATE evidence SET seq = seq - 100 WHERE pos = 2").await;
        open(&place, &folder.0).await.unwrap().close().await;
        run(&place, "DELETE FROM evidence WHERE pos = 2").await;
        let why = refusal(&place, &folder).await;
        assert!(matches!(&why, StoreError::Damaged(why) if why.contains("position 2")), "{why}");
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_leaf_or_a_head_that_was_changed_is_refused() {
    let folder = Folder::new("leaf");
    let [file, postgres] = &places(&folder).await[..] else { panic!("two databases") };
    run(file, "UPDATE evidence SET leaf = x'00' WHERE pos = 3").await;
    run(postgres, "UPDATE evidence SET leaf = '\\x00' WHERE pos = 3").await;
    for place in [file, postgres] {
        let why = refusal(place, &folder).await;
        assert!(matches!(&why, StoreError::Damaged(why) if why.contains("does not fit its hash")), "{why}");
    }
    let folder = Folder::new("head");
    let [file, postgres] = &places(&folder).await[..] else { panic!("two databases") };
    run(file, "UPDATE lane_heads SET chain = zeroblob(32)").await;
    run(postgres, "UPDATE lane_heads SET chain = decode(repeat('00', 32), 'hex')").await;
    for place in [file, postgres] {
        let why = refusal(place, &folder).await;
        assert!(matches!(&why, StoreError::Damaged(why) if why.contains("running hash")), "{why}");
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_on_postgresql_notices_that_its_database_went_back_and_commits_nothing_more() {
    let folder = Folder::new("went-back");
    let places = places(&folder).await;
    let store = open(&places[1], &folder.0).await.unwrap();
    assert_eq!(store.commit(step(4)).await, Outcome::Committed);
    assert_eq!(store.health().fault, None);
    run(&places[1], "UPDATE lanes SET commits = 2").await;
    assert!(matches!(store.commit(step(5)).await, Outcome::Unavailable(_)));
    let fault = store.health().fault.unwrap();
    assert!(fault.contains("it ends with commit 2, and commit 4 was acknowledged"), "{fault}");
    run(&places[1], "UPDATE lanes SET commits = 9").await;
    assert!(matches!(store.commit(step(6)).await, Outcome::Unavailable(_)), "a fault stays");
    store.close().await;
}

///
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_of_one_machine_need_two_folders_for_their_state() {
    let folder = Folder::new("two-nodes");
    let places = places(&folder).await;
    let first = open(&places[1], &folder.0).await.unwrap();
    let why = refusal(&places[1], &folder).await.to_string();
    assert!(
        why.contains(&format!("is in use by process {}", std::process::id())) && why.contains("store.state"),
        "{why}"
    );
    first.close().await;
    open(&places[1], &folder.0).await.unwrap().close().await;
}
