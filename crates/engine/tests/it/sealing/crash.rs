//! Kill -9 at every commit of sealing: nothing is sealed twice, nothing is left out, and another node goes on.
//!
//! The node runs in a process of its own, which is this test binary again.

use super::fixture::{Database, LastingPlace, NORTH, SOUTH, Sealing, check_order};
use crate::faulty_store::{CrashPoint, Moment};
use countersign_engine::store::{PostgresLocation, StoreLocation};
use serde::{Deserialize, Serialize};
use std::{os::unix::process::ExitStatusExt as _, path::PathBuf, process::Command};

/// The environment variable with the orders of a process that is to seal.
const ORDERS: &str = "COUNTERSIGN_TEST_SEALER";
const ROUNDS: usize = 3;
/// The first two commits are those of the start: the signing keys, and one project of two.
const COMMITS: usize = 6;

#[derive(Serialize, Deserialize)]
struct Orders {
    file: Option<PathBuf>,
    url: Option<String>,
    crash: CrashPoint,
}

/// What the doomed process does; without orders there is nothing to do.
#[tokio::test(flavor = "multi_thread")]
async fn the_sealer_seals() {
    let Some(orders) = orders() else { return };
    let location = match (orders.file, orders.url) {
        (Some(path), _) => StoreLocation::File(path),
        (_, url) => StoreLocation::Postgres(PostgresLocation::new(url.unwrap())),
    };
    let place = LastingPlace::of_another_process(location);
    let node = Sealing::wrapped(&place, |store| CrashPoint::wrap(Some(orders.crash), store)).await;
    for _ in 0..ROUNDS {
        node.sealed(NORTH).await;
        node.append(NORTH, 1).await;
    }
    node.stop().await;
}

#[expect(clippy::disallowed_methods, reason = "what a process of ours is started for is said by its environment")]
fn orders() -> Option<Orders> {
    let orders = std::env::var(ORDERS).ok()?;
    Some(serde_json::from_str(&orders).expect("orders"))
}

/// Whether the process was killed at its crash point.
async fn is_killed(place: &LastingPlace, crash: CrashPoint) -> bool {
    let (file, url) = match &place.location {
        StoreLocation::File(path) => (Some(path.clone()), None),
        StoreLocation::Postgres(place) => (None, Some(place.url.clone())),
        StoreLocation::Temporary => unreachable!("it lasts"),
    };
    let orders = serde_json::to_string(&Orders { file, url, crash }).unwrap();
    let run = move || {
        let us = std::env::current_exe().unwrap();
        let name = concat!(module_path!(), "::the_sealer_seals").split_once("::").unwrap().1;
        Command::new(us).args(["--exact", name, "--quiet"]).env(ORDERS, orders).output().unwrap()
    };
    let ended = tokio::task::spawn_blocking(run).await.unwrap();
    let killed = ended.status.signal() == Some(9);
    assert!(killed || ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    killed
}

async fn killed_at_every_commit(database: Database, moment: Moment) {
    let mut killed = 0;
    for commit in 1.. {
        let place = LastingPlace::fresh(database).await;
        let before = Sealing::on(&place).await;
        tokio::join!(before.append(NORTH, 270), before.append(SOUTH, 3));
        before.stop().await;
        let died = is_killed(&place, CrashPoint { commit, moment }).await;
        let after = Sealing::on(&place).await;
        let known = after.size(NORTH).await;
        let older = after.engine.evidence().checkpoint(NORTH).await.ok();
        after.append(NORTH, 2).await;
        let newest = after.sealed(NORTH).await;
        if let Some(older) = older {
            assert_eq!(after.engine.evidence().root_at(NORTH, known).await.unwrap(), older.root, "it continues");
        }
        let places = after.check_log(NORTH).await;
        assert!(newest.size >= 272 && places.len() as u64 == newest.size, "{} of {}", places.len(), newest.size);
        check_order(&places);
        check_order(&after.check_log(SOUTH).await);
        after.stop().await;
        if !died {
            break;
        }
        killed += 1;
    }
    assert!(killed >= COMMITS, "there were {killed} commits");
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_seals_on_while_another_one_dies() {
    let place = LastingPlace::fresh(Database::Postgres).await;
    let node = Sealing::on(&place).await;
    node.append(NORTH, 1).await;
    node.sealed(NORTH).await;
    let goes_on = async {
        for _ in 0..20 {
            node.append(NORTH, 3).await;
            node.sealed(NORTH).await;
        }
    };
    let others_die = async {
        let mut killed = 0;
        // Every one of these is reached, whatever the other node has sealed meanwhile.
        for (commit, moment) in [(3, Moment::During), (4, Moment::During), (4, Moment::After), (5, Moment::During)] {
            killed += usize::from(is_killed(&place, CrashPoint { commit, moment }).await);
        }
        assert_eq!(killed, 4);
    };
    tokio::join!(goes_on, others_die);
    node.sealed(NORTH).await;
    let places = node.check_log(NORTH).await;
    assert!(places.len() >= 60, "{}", places.len());
    check_order(&places);
    node.stop().await;
}

macro_rules! killed {
    ($($name:ident: $database:ident, $moment:ident;)+) => {
        $(
            ///
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                killed_at_every_commit(Database::$database, Moment::$moment).await;
            }
        )+
    };
}

killed! {
    killed_before_any_commit_on_sqlite: Sqlite, Before;
    killed_during_any_commit_on_sqlite: Sqlite, During;
    killed_after_any_commit_on_sqlite: Sqlite, After;
    killed_before_any_commit_on_postgres: Postgres, Before;
    killed_during_any_commit_on_postgres: Postgres, During;
    killed_after_any_commit_on_postgres: Postgres, After;
}
