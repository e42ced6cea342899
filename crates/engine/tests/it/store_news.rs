//! Signals: of committed changes only, once each, in order, on every node.

use crate::{
    postgres,
    store::{Bench, START, changed, committed, entry, on_both_stores, open_postgres, put, secret},
};
use countersign_core::{
    signals::{AaepSignal, Audience, Signal},
    step::Effects,
};
use countersign_engine::store::{Outcome, SignalBatch, Store};
use countersign_protocol::{aaep::event::Event, ids::RowKey, time::UnixMillis};
use futures_util::future::join_all;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::mpsc::UnboundedReceiver;

/// A timeout that only a failing test reaches.
const LONG: Duration = Duration::from_secs(30);

struct Listener(UnboundedReceiver<SignalBatch>);

impl Listener {
    fn of(store: &Arc<dyn Store>) -> Self {
        Self(store.listen())
    }

    /// The signals already received.
    fn heard(&mut self) -> Vec<Signal> {
        std::iter::from_fn(|| self.0.try_recv().ok()).flatten().map(|news| (*news).clone()).collect()
    }

    /// Every signal before this one or in its batch, without this one.
    async fn up_to(&mut self, last: &Signal) -> Vec<Signal> {
        let mut heard: Vec<Signal> = vec![];
        loop {
            let next = tokio::time::timeout(LONG, self.0.recv()).await;
            let next = next.unwrap_or_else(|_| panic!("{last:?} never came, after {} others", heard.len()));
            heard.extend(next.unwrap().iter().map(|news| (**news).clone()));
            if let Some(place) = heard.iter().rposition(|news| news == last) {
                heard.remove(place);
                return heard;
            }
        }
    }
}

fn telling(news: &[Signal]) -> Effects {
    Effects { news: news.to_vec(), ..Effects::default() }
}

fn said(session: RowKey, seq: i64) -> Signal {
    let event: Event = serde_json::from_value(json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.state.changed",
        "event_id": format!("evt_{session}_{seq}"),
        "session_id": format!("sess_{session}"),
        "timestamp": "2026-01-01T00:00:00.000Z",
        "producer": { "agent_id": "agent" },
        "aaep_version": "1.0.0",
        "urgency": "normal",
        "localization_hints": { "primary_language": "en" },
        "from_state": "idle",
        "to_state": "thinking",
        "summary_normal": "Thinking",
    }))
    .unwrap();
    let (to, translations) = (Audience { people: vec![1], roles: vec![] }, [("de".into(), event.clone())].into());
    let event = Arc::new(event);
    Signal::Said(Box::new(AaepSignal { project: 1, session, seq, to, event, translations }))
}

on_both_stores! {
    async fn a_listener_gets_every_committed_signal_and_no_other(bench) {
        let mut listener = Listener::of(&bench.store);
        let step = |key, version, name: &str, news| Effects { news, ..put(secret(key, version, name)) };
        let steps = vec![
            step(1, 1, "a", vec![changed(1), said(5, 0)]),
            step(2, 2, "b", vec![changed(2)]),
            step(3, 1, "a", vec![changed(3)]),
            step(4, 1, "d", vec![said(5, 1), changed(4)]),
        ];
        let outcomes = bench.commit_all(steps).await;
        let expected = [Outcome::Committed, Outcome::Stale, Outcome::Stale, Outcome::Committed];
        assert_eq!(outcomes, expected);
        assert_eq!(listener.heard(), [changed(1), said(5, 0), said(5, 1), changed(4)]);
    }

    async fn a_signal_can_be_read_from_the_feed(bench) {
        let mut listener = Listener::of(&bench.store);
        let writing = async {
            for key in 1..=50 {
                let step = Effects { news: vec![changed(key)], ..put(secret(key, 1, &key.to_string())) };
                assert_eq!(bench.store.commit(step).await, Outcome::Committed);
            }
        };
        let hearing = async {
            for key in 1..=50 {
                assert_eq!(listener.up_to(&changed(key)).await, []);
                assert!(bench.secret(&key.to_string()).await.is_some());
            }
        };
        tokio::join!(writing, hearing);
    }

    async fn every_listener_gets_every_signal_from_then_on(bench) {
        let tell = async |n| assert_eq!(bench.store.commit(telling(&[changed(n)])).await, Outcome::Committed);
        tell(1).await;
        let (mut early, leaving) = (Listener::of(&bench.store), Listener::of(&bench.store));
        tell(2).await;
        drop(leaving);
        let mut late = Listener::of(&bench.store);
        tell(3).await;
        assert_eq!(early.heard(), [changed(2), changed(3)]);
        assert_eq!(late.heard(), [changed(3)]);
    }
}

async fn nodes<const N: usize>() -> (String, [Arc<dyn Store>; N]) {
    let url = postgres::fresh_database().await;
    let mut nodes = Vec::new();
    for _ in 0..N {
        nodes.push(open_postgres(&url).await);
    }
    (url, nodes.try_into().unwrap_or_else(|_| panic!("{N} nodes")))
}

/// One event of the session after the other, each at the next node.
async fn speak(nodes: &[Arc<dyn Store>], session: RowKey, events: i64) {
    for (seq, node) in (0..events).zip(nodes.iter().cycle()) {
        let row = secret(session, seq + 1, &format!("session {session}"));
        let step = Effects { news: vec![said(session, seq), changed(session)], ..put(row) };
        assert_eq!(node.commit(step).await, Outcome::Committed);
    }
}

/// Each session's events, in the order received.
fn by_session(heard: &[Signal]) -> BTreeMap<RowKey, Vec<i64>> {
    let mut sessions: BTreeMap<RowKey, Vec<i64>> = BTreeMap::new();
    for news in heard {
        if let Signal::Said(said) = news {
            sessions.entry(said.session).or_default().push(said.seq);
        }
    }
    sessions
}

fn in_full(sessions: i64, events: i64) -> BTreeMap<RowKey, Vec<i64>> {
    (1..=sessions).map(|session| (session, (0..events).collect())).collect()
}

const END: RowKey = 999_999;

#[tokio::test(flavor = "multi_thread")]
async fn another_node_hears_two_thousand_steps_once_each_and_every_session_in_order() {
    let (_, [left, right]) = nodes().await;
    let mut listeners = [Listener::of(&left), Listener::of(&right)];
    let speaking = std::slice::from_ref(&left);
    join_all((1..=50).map(|session| speak(speaking, session, 40))).await;
    assert_eq!(left.commit(telling(&[changed(END)])).await, Outcome::Committed);
    for listener in &mut listeners {
        let heard = listener.up_to(&changed(END)).await;
        assert_eq!(by_session(&heard), in_full(50, 40));
        assert_eq!(heard.len(), 4000);
    }
    assert_eq!(right.commit(telling(&[changed(END + 1)])).await, Outcome::Committed);
    for listener in &mut listeners {
        assert_eq!(listener.up_to(&changed(END + 1)).await, [], "nothing came twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_spoken_in_from_several_nodes_is_heard_in_order_on_all_of_them() {
    let (_, [left, right, third]) = nodes().await;
    let mut listeners = [Listener::of(&left), Listener::of(&right), Listener::of(&third)];
    let speaking = [left.clone(), right.clone()];
    join_all((1..=50).map(|session| speak(&speaking, session, 20))).await;
    assert_eq!(left.commit(telling(&[changed(END)])).await, Outcome::Committed);
    for listener in &mut listeners {
        let heard = listener.up_to(&changed(END)).await;
        assert_eq!(by_session(&heard), in_full(50, 20));
        assert_eq!(heard.len(), 2000);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_listening_connection_is_cut_misses_nothing_and_hears_nothing_twice() {
    let (url, [left, right]) = nodes().await;
    let mut listener = Listener::of(&right);
    let speaking = std::slice::from_ref(&left);
    let cutting = async {
        let mut cut = 0;
        while cut < 3 {
            cut += cut_the_listening(&url).await;
        }
    };
    let said = join_all((1..=50).map(|session| speak(speaking, session, 40)));
    tokio::join!(said, cutting);
    cut_the_listening(&url).await;
    assert_eq!(left.commit(telling(&[changed(END)])).await, Outcome::Committed);
    let heard = listener.up_to(&changed(END)).await;
    assert_eq!(by_session(&heard), in_full(50, 40));
    assert_eq!(heard.len(), 4000);
}

/// Cuts the connections that read signals; returns their number.
async fn cut_the_listening(url: &str) -> usize {
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
               AND datname = current_database() AND query LIKE '%unseen.doc%' AND application_name = 'countersign'";
    postgres::run(url, cut).await.lines().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_opens_later_hears_nothing_old() {
    let (url, [left]) = nodes().await;
    assert_eq!(left.commit(telling(&[changed(1), said(5, 0)])).await, Outcome::Committed);
    let right = open_postgres(&url).await;
    let mut listener = Listener::of(&right);
    assert_eq!(left.commit(telling(&[said(5, 1), changed(2)])).await, Outcome::Committed);
    assert_eq!(listener.up_to(&changed(2)).await, [said(5, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_comes_later_is_heard_from_its_first_word() {
    let (url, [left]) = nodes().await;
    let mut listener = Listener::of(&left);
    for n in 1..=5 {
        let late = open_postgres(&url).await;
        assert_eq!(late.commit(telling(&[said(n, 0), changed(n)])).await, Outcome::Committed);
        assert_eq!(listener.up_to(&changed(n)).await, [said(n, 0)]);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_lane_that_was_taken_over_goes_on_where_it_was() {
    let (url, [asleep, third]) = nodes().await;
    let mut listeners = [Listener::of(&asleep), Listener::of(&third)];
    assert_eq!(asleep.commit(telling(&[changed(1)])).await, Outcome::Committed);
    // Another owner as well, or the current one with its short interval might renew its lease just now.
    postgres::run(&url, "UPDATE lanes SET heartbeat = 0, owner = 'nobody' WHERE lane = 0").await;
    let successor = open_postgres(&url).await;
    assert_eq!(successor.lane(), 0);
    let mut of_successor = Listener::of(&successor);
    for (node, n) in [(&successor, 2), (&asleep, 3), (&successor, 4), (&third, 5)] {
        let step = Effects { evidence: vec![entry(1, START, 5, 6, "x")], ..telling(&[changed(n)]) };
        assert_eq!(node.commit(step).await, Outcome::Committed);
        for listener in &mut listeners {
            let before = if n == 2 { vec![changed(1)] } else { vec![] };
            assert_eq!(listener.up_to(&changed(n)).await, before);
        }
        assert_eq!(of_successor.up_to(&changed(n)).await, []);
    }
    assert_ne!(asleep.lane(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn news_that_everybody_has_heard_is_swept_after_ten_minutes() {
    let bench = Bench::postgres().await;
    let mut listener = Listener::of(&bench.store);
    let tell = async |n| assert_eq!(bench.store.commit(telling(&[changed(n)])).await, Outcome::Committed);
    let many = (1..=1500).map(|n| telling(&[changed(n)])).collect();
    assert_eq!(committed(&bench.commit_all(many).await), 1500);
    bench.set_now(START + 1).await;
    tell(END).await;
    assert_eq!(bench.store.sweep(UnixMillis(START + 600_000)).await.unwrap(), 0);
    assert_eq!(bench.store.sweep(UnixMillis(START + 600_001)).await.unwrap(), 1500);
    assert_eq!(bench.store.sweep(UnixMillis(START + 600_002)).await.unwrap(), 1);
    tell(END + 1).await;
    assert_eq!(listener.heard().len(), 1502, "each of them, and none again");
}
