//! Live events: a stream that resumes after an interruption, and ends with the credential.

use super::{Stage, id, of_bus, plan};
use countersign_testkit::{TestAgent, aaep::ReceivedEvents, mplp_judge::problems, on_both_stores};
use http::{Method, Request, header};
use serde_json::Value;
use std::time::Duration;

async fn follows(stage: &Stage, who: &TestAgent, after: &str, last: Option<&str>) -> ReceivedEvents {
    let path = format!("/mplp/v1/events?after={after}");
    let mut request = Request::builder().method(Method::GET).uri(path).header(header::ACCEPT, "text/event-stream");
    request = request.header(header::AUTHORIZATION, format!("Bearer {}", who.token));
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    ReceivedEvents::open(&stage.plane.public, request.body("".into()).unwrap()).await
}

/// The next event with the position after it, if it has one.
async fn hears(heard: &mut ReceivedEvents) -> (Value, Option<String>) {
    loop {
        let line = heard.line().await.expect("the stream goes on");
        let Some(data) = line.data else { continue };
        assert_eq!(line.event.as_deref(), Some("mplp.event"));
        let event: Value = serde_json::from_str(&data).unwrap();
        for (name, event) in of_bus(event.clone()) {
            assert_eq!(problems(name, &event), Vec::<String>::new());
        }
        return (event, line.id);
    }
}

/// Nothing more arrives, and the stream ends soon; keep-alives would continue for ever.
async fn ends(heard: &mut ReceivedEvents) {
    let rest = tokio::time::timeout(Duration::from_secs(8), heard.rest()).await.expect("the stream ends");
    assert!(rest.iter().all(|line| line.data.is_none()), "{rest:?}");
}

on_both_stores! {
    ///
    async fn past_and_new_events_are_one_stream_in_order(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let mut heard = follows(&stage, &stage.agent, "", None).await;
        assert_eq!(heard.headers["content-type"], "text/event-stream");
        assert_eq!(heard.headers["x-accel-buffering"], "no");
        assert_eq!(hears(&mut heard).await.0["event_type"], "plan_created");
        let asked = stage.proposed(&plan(1, 1)).await;
        stage.says(&asked, "approved", None).await;
        let all = stage.told(&stage.agent).await;
        let mut found = vec![all[0].clone()];
        while found.len() < all.len() {
            found.push(hears(&mut heard).await.0);
        }
        assert_eq!(found, all);
    }

    ///
    async fn a_stream_that_broke_off_goes_on_behind_the_last_place_that_arrived(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 1)).await;
        stage.says(&asked, "approved", None).await;
        let all = stage.told(&stage.agent).await;
        let mut heard = follows(&stage, &stage.agent, "", None).await;
        let mut places = Vec::new();
        for at in 1..=all.len() {
            let (_, place) = hears(&mut heard).await;
            places.extend(place.map(|place| (at, place)));
        }
        drop(heard);
        assert!(places.len() > 2 && places.last().unwrap().0 == all.len(), "{places:?}");
        let beginning = places[0].1.clone();
        for (at, place) in &places[..places.len() - 1] {
            // The header takes precedence over the query, which a client does not change when it reconnects.
            let mut heard = follows(&stage, &stage.agent, &beginning, Some(place)).await;
            assert_eq!(hears(&mut heard).await.0, all[*at]);
        }
        let mut heard = follows(&stage, &stage.agent, &beginning, None).await;
        assert_eq!(hears(&mut heard).await.0, all[places[0].0]);
    }

    ///
    async fn a_stream_ends_when_the_credential_counts_no_more(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let mut heard = follows(&stage, &stage.agent, "", None).await;
        hears(&mut heard).await;
        let admin = stage.admin_key().await;
        let mut admins = follows(&stage, &admin, "", None).await;
        hears(&mut admins).await;
        stage.plane.revoke_key(&stage.agent).await;
        stage.plane.revoke_key(&admin).await;
        ends(&mut heard).await;
        ends(&mut admins).await;

        let connected = stage.plane.connect(&stage.alice, stage.plane.acme(), &["calendar.read"]).await;
        let other = stage.plane.register(stage.plane.acme(), &connected).await.as_test_agent();
        stage.post(&other, "plans", &plan(2, 1)).await.expect(201);
        let mut heard = follows(&stage, &other, "", None).await;
        assert!(hears(&mut heard).await.0.to_string().contains(&id(2)));
        let revoke = serde_json::json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        stage.alice.post(&stage.plane, "/agent/revoke", &revoke).await.expect(200);
        ends(&mut heard).await;
    }
}
