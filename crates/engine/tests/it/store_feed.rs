//! The feed: changes of decisions, plans and executions, each lane in order, without repetition or omission.

use crate::{
    postgres,
    store::{Bench, START, committed, entry, fixed, guard, on_both_stores, open_postgres, two_nodes},
    store_open::Folder,
};
use countersign_core::step::{Effects, EvidenceDraft};
use countersign_engine::store::{self, AuditRow, FeedPage, FeedQuery, Outcome, Store, StoreLocation, StoreOptions};
use countersign_protocol::{evidence, ids::RowKey};
use futures_util::future::join_all;
use std::collections::BTreeMap;

const PROJECT: RowKey = 1;
const TOLD_ON: [&str; 7] = [
    "decision_raised",
    "decision_settled",
    "plan_created",
    "plan_changed",
    "execution_claimed",
    "execution_settled",
    "execution_unknown",
];

fn settled(project: RowKey, at: i64, note: &str) -> EvidenceDraft {
    EvidenceDraft { event_type: "decision_settled", ..entry(project, at, 50, 60, note) }
}

fn step(drafts: impl IntoIterator<Item = EvidenceDraft>) -> Effects {
    Effects { evidence: drafts.into_iter().collect(), ..Effects::default() }
}

async fn append(store: &dyn Store, drafts: impl IntoIterator<Item = EvidenceDraft>) {
    assert_eq!(store.commit(step(drafts)).await, Outcome::Committed);
}

async fn page(store: &dyn Store, after: &[(i64, i64)], limit: usize) -> FeedPage {
    store.feed(FeedQuery { project: PROJECT, after: after.to_vec(), limit }).await.unwrap()
}

async fn all(store: &dyn Store, project: RowKey) -> Vec<AuditRow> {
    store.feed(FeedQuery { project, after: vec![], limit: 1000 }).await.unwrap().rows
}

fn note(row: &AuditRow) -> String {
    let leaf: serde_json::Value = serde_json::from_slice(&row.leaf).unwrap();
    leaf["note"].as_str().unwrap().to_owned()
}

fn notes(rows: &[AuditRow]) -> Vec<String> {
    rows.iter().map(note).collect()
}

on_both_stores! {
    async fn ordinary_calls_are_not_in_the_feed_and_other_entries_come_whole_and_in_order(bench) {
        let others = ["call", "call_started", "session_started", "delegation_revoked", "decision", "plan"];
        let types =
            others.into_iter().zip(TOLD_ON).flat_map(|(other, told)| [other, told]).chain(TOLD_ON.last().copied());
        let drafts = types.map(|event_type| EvidenceDraft { event_type, ..entry(PROJECT, START, 50, 60, event_type) });
        append(&*bench.store, drafts).await;
        let rows = all(&*bench.store, PROJECT).await;
        assert_eq!(rows.iter().map(|row| row.event_type.as_str()).collect::<Vec<_>>(), TOLD_ON);
        for row in &rows {
            assert_eq!((note(row), evidence::leaf_hash(&row.leaf)), (row.event_type.clone(), row.hash));
            assert_eq!((row.place.at.0, row.delegation, row.session), (START, Some(50), Some(60)));
            assert!(row.openings.as_ref().unwrap().contains(&format!("person of {}", row.event_type)));
        }
        let places: Vec<(i64, i64)> = rows.iter().map(|row| (row.place.seq, row.pos)).collect();
        assert_eq!(places, [2, 4, 6, 8, 10, 12, 13].map(|n| (n, n)), "the places that they have in the log");
    }

    async fn a_step_that_did_not_happen_is_not_in_it(bench) {
        let stale = Effects { guards: vec![guard(1, 7)], ..step([settled(PROJECT, START, "stale")]) };
        let late = Effects {
            before: Some(countersign_protocol::time::UnixMillis(START)),
            ..step([settled(PROJECT, START, "too late")])
        };
        let outcomes = bench.commit_all(vec![stale, late, step([settled(PROJECT, START, "done")])]).await;
        assert_eq!(outcomes, [Outcome::Stale, Outcome::OutOfTime, Outcome::Committed]);
        assert_eq!(notes(&all(&*bench.store, PROJECT).await), ["done"]);
    }

    ///
    async fn a_project_sees_nothing_of_another(bench) {
        let drafts = (0..20).map(|n| settled(1 + n % 2, START + n, &n.to_string()));
        append(&*bench.store, drafts).await;
        for (project, first) in [(1, 0), (2, 1)] {
            let own: Vec<String> = (first..20).step_by(2).map(|n| n.to_string()).collect();
            assert_eq!(notes(&all(&*bench.store, project).await), own);
        }
        let nobody = bench.store.feed(FeedQuery { project: 3, after: vec![(0, 4)], limit: 9 }).await.unwrap();
        assert_eq!(nobody, FeedPage::default());
    }

    async fn paging_shows_everything_once_while_more_is_appended(bench) {
        let store = &*bench.store;
        append(store, (0..50).map(|n| settled(PROJECT, START, &n.to_string()))).await;
        let (mut seen, mut after, mut round) = (Vec::new(), Vec::new(), 50);
        loop {
            let page = page(store, &after, 7).await;
            assert!(page.rows.len() == 7 || !page.more);
            seen.extend(notes(&page.rows));
            after = page.next;
            if !page.more {
                break;
            }
            if round < 60 {
                append(store, [entry(PROJECT, START, 50, 60, "call"), settled(PROJECT, START, &round.to_string())])
                    .await;
                round += 1;
            }
        }
        assert_eq!(seen, (0..round).map(|n| n.to_string()).collect::<Vec<_>>());
        assert!(round > 55, "it grew on the way");
    }

    async fn a_page_says_where_it_ended_and_whether_another_follows(bench) {
        let store = &*bench.store;
        append(
            store,
            [entry(PROJECT, START, 50, 60, "call"), settled(PROJECT, START, "a"), settled(PROJECT, START, "b")],
        )
        .await;
        append(store, [entry(PROJECT, START, 50, 60, "call")]).await;
        let ends = async |after: &[(i64, i64)], limit| {
            let page = page(store, after, limit).await;
            (notes(&page.rows).concat(), page.next, page.more)
        };
        assert_eq!(ends(&[], 0).await, (String::new(), vec![(0, 0)], true));
        assert_eq!(ends(&[], 1).await, ("a".into(), vec![(0, 2)], true));
        assert_eq!(ends(&[(0, 2)], 1).await, ("b".into(), vec![(0, 3)], false));
        assert_eq!(ends(&[], 2).await, ("ab".into(), vec![(0, 3)], false));
        assert_eq!(ends(&[(0, 3)], usize::MAX).await, (String::new(), vec![(0, 3)], false));
        assert_eq!(ends(&[(7, 1)], 9).await, ("ab".into(), vec![(0, 3)], false), "there is no such lane");
    }

    ///
    async fn the_order_of_a_lane_is_that_of_its_commits_at_any_times(bench) {
        for (n, at) in [50, 10, 90, 20, 20].into_iter().enumerate() {
            append(&*bench.store, [settled(PROJECT, START + at, &n.to_string())]).await;
        }
        let (mut seen, mut after) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let one = page(&*bench.store, &after, 1).await;
            seen.extend(notes(&one.rows));
            after = one.next;
        }
        assert_eq!(seen, ["0", "1", "2", "3", "4"]);
        assert_eq!(notes(&all(&*bench.store, PROJECT).await), seen);
    }

    ///
    async fn an_erased_entry_is_still_in_the_feed_without_its_openings(bench) {
        append(&*bench.store, [settled(PROJECT, START, "a"), settled(PROJECT, START, "b")]).await;
        let before = all(&*bench.store, PROJECT).await;
        assert!(bench.store.erase(PROJECT, before[0].place.lane, before[0].pos).await.unwrap());
        let after = all(&*bench.store, PROJECT).await;
        assert_eq!(after, [AuditRow { openings: None, ..before[0].clone() }, before[1].clone()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_after_a_restart_where_it_was() {
    let folder = Folder::new("feed-restart");
    let open = || {
        store::open(StoreOptions { readers: 8, place: StoreLocation::File(folder.0.join("plane.db")), clock: fixed() })
    };
    let url = postgres::fresh_database().await;
    for sqlite in [true, false] {
        let open = async || if sqlite { open().await.unwrap() } else { open_postgres(&url).await };
        let first = open().await;
        append(&*first, [settled(PROJECT, START, "a"), settled(PROJECT, START, "b")]).await;
        let read = page(&*first, &[], 1).await;
        first.close().await;
        drop(first);
        let second = open().await;
        append(&*second, [settled(PROJECT, START, "c")]).await;
        let rest = page(&*second, &read.next, 9).await;
        assert_eq!(
            (notes(&read.rows).concat(), notes(&rest.rows).concat(), rest.more),
            ("a".into(), "bc".into(), false)
        );
        second.close().await;
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_lanes_are_read_by_time_and_neither_holds_up_the_other() {
    let (_, left, right) = two_nodes().await;
    for n in [0, 1, 4, 6] {
        append(&*left, [settled(PROJECT, START + n, &n.to_string())]).await;
    }
    for n in [2, 3, 5, 7] {
        append(&*right, [settled(PROJECT, START + n, &n.to_string())]).await;
    }
    assert_eq!(notes(&all(&*left, PROJECT).await).concat(), "01234567");
    assert_eq!(all(&*left, PROJECT).await, all(&*right, PROJECT).await);
    let mut after = vec![];
    for (wanted, more) in [("012", true), ("345", true), ("67", false)] {
        let page = page(&*right, &after, 3).await;
        assert_eq!((notes(&page.rows).concat().as_str(), page.more), (wanted, more));
        after = page.next;
    }
    // One lane continues, with an earlier time than already delivered entries.
    append(&*left, [settled(PROJECT, START, "late")]).await;
    let late = page(&*right, &after, 3).await;
    assert_eq!((notes(&late.rows).concat().as_str(), late.more), ("late", false));
    let (mut lanes, mut positions): (Vec<i64>, Vec<i64>) = late.next.into_iter().unzip();
    lanes.sort_unstable();
    positions.sort_unstable();
    assert_eq!((lanes, positions), (vec![0, 1], vec![4, 5]));
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_of_two_writing_nodes_misses_nothing() {
    let (_, left, right) = two_nodes().await;
    let drafts = |n: i64| [entry(PROJECT, START, 50, 60, "call"), settled(PROJECT, START + n, &n.to_string())];
    let writing = async {
        for n in 0..30 {
            let steps = (0..8).map(|m| (if m % 2 == 0 { &left } else { &right }).commit(step(drafts(n * 8 + m))));
            assert_eq!(committed(&join_all(steps).await), 8);
        }
    };
    let following = async {
        let (mut seen, mut after) = (Vec::new(), Vec::new());
        while seen.len() < 240 {
            let page = page(&*right, &after, 5).await;
            seen.extend(page.rows);
            after = page.next;
        }
        (seen, after)
    };
    let ((), (seen, after)) = tokio::join!(writing, following);
    let mut told = notes(&seen);
    told.sort_by_key(|note| note.parse::<i64>().unwrap());
    assert_eq!(told, (0..240).map(|n| n.to_string()).collect::<Vec<_>>(), "each once");
    let mut last = BTreeMap::new();
    for row in &seen {
        assert!(last.insert(row.place.lane, row.pos).is_none_or(|before| before < row.pos));
    }
    assert_eq!(last.into_iter().collect::<Vec<_>>(), after);
    assert_eq!(page(&*left, &after, 5).await.rows, []);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_lane_that_was_taken_over_goes_on_without_a_gap() {
    let url = postgres::fresh_database().await;
    let asleep = open_postgres(&url).await;
    append(&*asleep, [settled(PROJECT, START, "a")]).await;
    let read = page(&*asleep, &[], 9).await;
    // Another owner as well, or the current one with its short interval might renew its lease just now.
    postgres::run(&url, "UPDATE lanes SET heartbeat = 0, owner = 'nobody'").await;
    let successor = open_postgres(&url).await;
    append(&*successor, [settled(PROJECT, START + 1, "b")]).await;
    append(&*asleep, [settled(PROJECT, START + 2, "c")]).await;
    append(&*successor, [settled(PROJECT, START + 3, "d")]).await;
    assert_ne!(asleep.lane(), successor.lane());
    assert_eq!(notes(&page(&*asleep, &read.next, 9).await.rows).concat(), "bcd");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_entry_of_a_group_that_is_tried_again_is_in_the_feed_once() {
    let bench = Bench::postgres().await;
    // PostgreSQL's text cannot contain a NUL, so the group fails and its steps are tried one by one.
    let mut steps: Vec<Effects> = (0..20).map(|n| step([settled(PROJECT, START, &n.to_string())])).collect();
    let unwritable = crate::store::put(crate::store::secret(99, 1, "zero \0 inside"));
    steps.insert(10, Effects { evidence: vec![settled(PROJECT, START, "never")], ..unwritable });
    assert_eq!(committed(&bench.commit_all(steps).await), 20);
    assert_eq!(notes(&all(&*bench.store, PROJECT).await), (0..20).map(|n| n.to_string()).collect::<Vec<_>>());
}
