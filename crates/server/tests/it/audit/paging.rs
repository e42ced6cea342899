//! Cursors: every entry once, in one order, at any page size and despite concurrent writes.

use super::{filter::many_calls, hashes};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::{AgentFixture, Answer, Backend, Kit, Setup, on_both_stores};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Follows the cursors to the end and calls `meanwhile` after every page.
async fn walk(scene: &AgentFixture, filter: &str, mut meanwhile: impl AsyncFnMut(usize)) -> Vec<Value> {
    let (mut entries, mut cursor) = (Vec::new(), String::new());
    for page_number in 0.. {
        let page = scene.audit(&format!("{filter}{cursor}")).await;
        entries.extend(page["entries"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else {
            assert_eq!(page["next_cursor"], Value::Null);
            assert_eq!(page["total_count"], entries.len(), "at the end all are seen");
            break;
        };
        cursor = format!("&cursor={next}");
        meanwhile(page_number).await;
    }
    entries
}

on_both_stores! {
    /// AAP-17.4-08, AAP-17.4-04, C-90
    async fn entries_of_one_moment_come_in_one_order_on_every_page_size(kit) {
        let scene = kit.fixture().await;
        many_calls(&scene, 20).await;
        scene.plane.advance_secs(1).await;
        many_calls(&scene, 20).await;
        let all = scene.audit("limit=200").await;
        let whole = hashes(&all);
        assert_eq!(whole.len(), 42);
        for indexed in [false, true] {
            if indexed {
                scene.plane.engine.run_maintenance().await.unwrap();
            }
            for size in [1, 2, 3, 7, 41, 42, 43] {
                let entries = walk(&scene, &format!("limit={size}"), async |_| ()).await;
                assert_eq!(hashes(&json!({ "entries": entries })), whole, "{size} a page");
            }
        }
        let places: Vec<(String, i64, i64)> = all["entries"].as_array().unwrap().iter().map(place).collect();
        assert!(places.is_sorted() && places.iter().collect::<BTreeSet<_>>().len() == 42);
    }

    /// AAP-17.4-04, AAP-17.4-05, C-90
    async fn every_entry_is_seen_once_while_entries_are_appended_and_indexed(kit) {
        let scene = kit.fixture().await;
        many_calls(&scene, 30).await;
        let entries = walk(&scene, "limit=4", async |page: usize| {
            if page < 10 {
                scene.read().await.expect(200);
                scene.write().await.expect(201);
            }
            if page % 3 == 1 {
                scene.plane.engine.run_maintenance().await.unwrap();
            }
            if page % 4 == 2 {
                scene.plane.advance_secs(1).await;
            }
        })
        .await;
        let seen: BTreeSet<String> = hashes(&json!({ "entries": entries })).into_iter().collect();
        assert_eq!((entries.len(), seen.len()), (52, 52));
    }

    /// AAP-17.4-04
    async fn a_cursor_fits_only_the_query_it_was_given_for(kit) {
        let scene = kit.fixture().await;
        let plane = &scene.plane;
        many_calls(&scene, 5).await;
        let other = plane.connect(&scene.alice, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &other).await;
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        let cursor = scene.audit("limit=2").await["next_cursor"].as_str().unwrap().to_owned();
        let ask = async |query: String| scene.alice.get(plane, &format!("/agent/audit?{query}")).await;
        let own = &scene.connected.delegation_id;
        let now = plane.now().to_rfc3339();
        for query in [
            format!("delegation_id={}&cursor={cursor}", other.delegation_id),
            format!("session_id={}&cursor={cursor}", scene.agent.session_id),
            format!("delegation_id={own}&event_type=call&cursor={cursor}"),
            format!("delegation_id={own}&from={now}&cursor={cursor}"),
            format!("delegation_id={own}&to={now}&cursor={cursor}"),
        ] {
            assert_eq!(ask(query.clone()).await.refusal(), (400, "invalid_request".into()), "{query}");
        }
        ask(format!("delegation_id={own}&limit=3&cursor={cursor}")).await.expect(200);
    }

    /// AAP-17.4-04
    async fn a_forged_cursor_is_refused(kit) {
        let scene = kit.fixture().await;
        many_calls(&scene, 3).await;
        let cursor = scene.audit("limit=2").await["next_cursor"].as_str().unwrap().to_owned();
        let bytes = URL_SAFE_NO_PAD.decode(&cursor).unwrap();
        let mut forged = vec!["".to_owned(), "x".into(), "0".into(), "AAAA".into(), format!("{cursor}A"), cursor[1..].into()];
        for n in 0..bytes.len() {
            let mut other = bytes.clone();
            other[n] ^= 1;
            forged.push(URL_SAFE_NO_PAD.encode(other));
        }
        for forged in forged {
            let answer = by_cursor(&scene, &forged).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{forged}");
        }
        by_cursor(&scene, &cursor).await.expect(200);
    }
}

/// AAP-17.4-04, R-26
#[tokio::test]
async fn a_cursor_of_one_node_is_good_on_another_and_another_installations_is_not() {
    let scene = Kit(Backend::Postgres).fixture().await;
    many_calls(&scene, 3).await;
    let whole = hashes(&scene.audit("").await);
    let first = scene.audit("limit=2").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let (_engine, second) = scene.plane.second_node().await;
    let query = format!("/agent/audit?delegation_id={}&cursor={cursor}", scene.connected.delegation_id);
    let request = scene.alice.request(Method::GET, &query).body(axum::body::Body::empty()).unwrap();
    let rest = countersign_testkit::send_to(&second, request).await.expect(200).json();
    assert_eq!([hashes(&first), hashes(&rest)].concat(), whole);
    let setup = Setup { seed: 70, ..Setup::default() };
    let elsewhere = Kit(Backend::Sqlite).fixture_with(setup, &["calendar.read"]).await;
    assert_eq!(by_cursor(&elsewhere, cursor).await.refusal(), (400, "invalid_request".into()));
}

async fn by_cursor(scene: &AgentFixture, cursor: &str) -> Answer {
    let query = format!("/agent/audit?delegation_id={}&cursor={cursor}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await
}

fn place(entry: &Value) -> (String, i64, i64) {
    let text = entry["timestamp"].as_str().unwrap().to_owned();
    (text, entry["lane"].as_i64().unwrap(), entry["seq"].as_i64().unwrap())
}
