//! One case for each commit and each moment around it.

use super::{
    after::Aftermath,
    cast::{Database, Script},
    teller::Told,
};
use countersign_testkit::{
    Kit,
    faulty_store::{CrashPoint, Moment},
    leaks::Folder,
    on_both_stores, postgres,
};
use futures_util::StreamExt as _;

/// The number of concurrent cases.
const AT_ONCE: usize = 4;
/// A minimum for the story's commits: a story that ends early would prove little.
const COMMITS: usize = 20;

on_both_stores! {
    /// AAEP-6.2.2-03, AAEP-6.4-04, R-6, R-21
    async fn killed_before_any_commit_nothing_acknowledged_is_lost_and_nothing_runs_twice(kit) {
        killed_at_every_commit(kit, Moment::Before).await;
    }

    /// AAEP-6.2.2-03, AAEP-6.4-04, R-6, R-21
    async fn killed_during_any_commit_nothing_acknowledged_is_lost_and_nothing_runs_twice(kit) {
        killed_at_every_commit(kit, Moment::During).await;
    }

    /// AAEP-6.2.2-03, AAEP-6.4-04, R-6, R-21
    async fn killed_after_any_commit_nothing_acknowledged_is_lost_and_nothing_runs_twice(kit) {
        killed_at_every_commit(kit, Moment::After).await;
    }
}

async fn killed_at_every_commit(kit: Kit, moment: Moment) {
    let (place, folder) = kit.readable_location().await;
    let script = Script::written(kit, place, folder.path()).await;
    let script = &script;
    let case = |commit| survives(script, CrashPoint { commit, moment });
    let cases = futures_util::stream::iter(1..).map(case).buffered(AT_ONCE);
    let killed = cases.take_while(|killed| std::future::ready(*killed)).count().await;
    assert!(killed >= COMMITS, "there were {killed} commits");
}

/// Whether the teller was killed before the end of the story.
async fn survives(prepared: &Script, doom: CrashPoint) -> bool {
    let folder = Folder::make();
    let script = copied(prepared, &folder).await;
    let told = Told::by_another(&script, doom).await;
    if told.killed {
        Aftermath::of(&script, doom, &told).is_sound().await;
    }
    told.killed
}

/// The same on a database copy.
async fn copied(prepared: &Script, folder: &Folder) -> Script {
    let database = match &prepared.database {
        Database::Postgres(url) => Database::Postgres(postgres::copy_of(url).await),
        Database::File(path) => {
            let copy = folder.path().join("countersign.db");
            std::fs::copy(path, &copy).expect("a database that was closed");
            let position = |database: &std::path::Path| format!("{}.position", database.display());
            std::fs::copy(position(path), position(&copy)).expect("what it acknowledged last");
            Database::File(copy)
        }
    };
    Script { database, effects: folder.path().join("effects"), ..prepared.clone() }
}
