//! The evidence log: no gaps, one chain, and pages that show everything once.

use crate::store::{Bench, START, committed, entry, on_both_stores};
use countersign_core::step::Effects;
use countersign_engine::store::{AuditBy, AuditPage, AuditQuery, AuditRow};
use countersign_protocol::{evidence, hash::Digest, ids::RowKey, time::UnixMillis};
use std::collections::BTreeSet;

const PROJECT: RowKey = 1;

fn query(by: AuditBy, limit: usize) -> AuditQuery {
    AuditQuery { project: PROJECT, by, from: None, to: None, event_type: None, after: None, limit }
}

fn of_delegation(delegation: RowKey) -> AuditQuery {
    query(AuditBy::Delegation(vec![delegation]), 1000)
}

async fn page(bench: &Bench, query: AuditQuery) -> AuditPage {
    bench.store.audit(query).await.unwrap()
}

async fn append(bench: &Bench, entries: Vec<countersign_core::step::EvidenceDraft>) {
    let steps: Vec<Effects> =
        entries.into_iter().map(|draft| Effects { evidence: vec![draft], ..Effects::default() }).collect();
    let outcomes = bench.commit_all(steps).await;
    assert_eq!(committed(&outcomes), outcomes.len());
}

fn note(row: &AuditRow) -> String {
    let leaf: serde_json::Value = serde_json::from_slice(&row.leaf).unwrap();
    leaf["note"].as_str().unwrap().to_owned()
}

on_both_stores! {
    ///
    async fn sequences_have_no_holes_for_each_project_and_the_chain_can_be_computed_again(bench) {
        let drafts = (0..300).map(|n| entry(1 + n % 3, START + n, 50 + n % 3, 60, &n.to_string())).collect();
        append(&bench, drafts).await;
        for project in 1..=3 {
            let by = AuditBy::Delegation(vec![49 + project]);
            let page = page(&bench, AuditQuery { project, ..query(by, 1000) }).await;
            let mut rows = page.rows;
            rows.sort_by_key(|row| row.place.seq);
            let seqs: Vec<i64> = rows.iter().map(|row| row.place.seq).collect();
            assert_eq!(seqs, (1..=100).collect::<Vec<_>>());
            let link = |chain: Digest, row: &AuditRow| {
                assert_eq!(evidence::leaf_hash(&row.leaf), row.hash);
                evidence::chain(&chain, row.place.seq, &row.hash)
            };
            let chain = rows.iter().fold(Digest([0; 32]), link);
            let heads = bench.store.lane_heads(project).await.unwrap();
            assert_eq!((heads.len(), heads[0].next_seq, heads[0].chain), (1, 101, chain));
        }
    }

    ///
    async fn paging_shows_every_entry_once_while_entries_are_indexed_and_appended(bench) {
        // Ten entries a millisecond, so that pages end inside equal times.
        append(&bench, (0..200).map(|n| entry(PROJECT, START + n / 10, 50, 60, &n.to_string())).collect()).await;
        let (mut seen, mut after, mut round) = (Vec::new(), None, 0);
        loop {
            let page = page(&bench, AuditQuery { after, limit: 7, ..of_delegation(50) }).await;
            assert_eq!(page.total, 200 + round);
            seen.extend(page.rows.iter().map(note));
            after = page.rows.last().map(|row| row.place);
            if !page.more {
                break;
            }
            // The boundary between index and tail moves, and so does the end, for a while.
            bench.store.index_evidence(11).await.unwrap();
            if round < 20 {
                append(&bench, vec![entry(PROJECT, START + 500, 50, 60, &(200 + round).to_string())]).await;
                round += 1;
            }
        }
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (220, 220));
    }

    async fn a_page_is_the_same_from_the_index_as_from_the_tail(bench) {
        append(&bench, (0..50).map(|n| entry(PROJECT, START + n, 50 + n % 2, 60 + n % 5, &n.to_string())).collect())
            .await;
        let from_tail = page(&bench, of_delegation(50)).await;
        while bench.store.index_evidence(20).await.unwrap() == 20 {}
        assert_eq!(bench.store.index_evidence(20).await.unwrap(), 0, "everything is indexed");
        assert_eq!(page(&bench, of_delegation(50)).await, from_tail);
        assert_eq!((from_tail.rows.len(), from_tail.total, from_tail.more), (25, 25, false));
    }

    ///
    async fn a_query_sees_only_rows_of_its_filter(bench) {
        let mut drafts: Vec<_> = (0..40).map(|n| entry(PROJECT, START + n, 50 + n % 4, 60, &n.to_string())).collect();
        drafts[10].event_type = "session_started";
        drafts.push(entry(PROJECT + 1, START, 50, 60, "another project's"));
        append(&bench, drafts).await;
        for indexed in [0, 15, 1000] {
            bench.store.index_evidence(indexed).await.unwrap();
            let count = async |query| page(&bench, query).await.rows.len();
            assert_eq!(count(of_delegation(99)).await, 0);
            assert_eq!(count(query(AuditBy::Delegation(vec![]), 10)).await, 0);
            assert_eq!(count(of_delegation(50)).await, 10);
            assert_eq!(count(query(AuditBy::Delegation(vec![50, 51, 51]), 100)).await, 20);
            assert_eq!(count(query(AuditBy::Session(vec![60]), 100)).await, 40);
            let (from, to) = (Some(UnixMillis(START + 4)), Some(UnixMillis(START + 12)));
            let spanned = AuditQuery { from, to, limit: 1, ..of_delegation(50) };
            let spanned = page(&bench, spanned).await;
            assert_eq!((note(&spanned.rows[0]), spanned.total, spanned.more), ("4".into(), 2, true));
            let typed = AuditQuery { event_type: Some("session_started".into()), ..of_delegation(52) };
            let typed = page(&bench, typed).await;
            assert_eq!((typed.rows.iter().map(note).collect::<Vec<_>>(), typed.total), (vec!["10".into()], 1));
        }
    }

    ///
    async fn erasing_takes_the_openings_and_leaves_leaf_hash_and_chain(bench) {
        append(&bench, vec![entry(PROJECT, START, 50, 60, "a"), entry(PROJECT, START, 50, 60, "b")]).await;
        let before = page(&bench, of_delegation(50)).await.rows;
        let heads = bench.store.lane_heads(PROJECT).await.unwrap();
        assert!(before[0].openings.as_ref().unwrap().contains("person of a"));
        let (lane, pos) = (before[0].place.lane, before[0].pos);
        assert!(!bench.store.erase(PROJECT + 1, lane, pos).await.unwrap(), "another project's is not ours to erase");
        assert!(bench.store.erase(PROJECT, lane, pos).await.unwrap());
        assert!(!bench.store.erase(PROJECT, lane, pos).await.unwrap(), "it is erased already");
        let after = page(&bench, of_delegation(50)).await.rows;
        assert_eq!(after[0], AuditRow { openings: None, ..before[0].clone() });
        assert_eq!(after[1], before[1]);
        assert_eq!(bench.store.lane_heads(PROJECT).await.unwrap(), heads);
    }
}
