//! An operator with too many requests is asked to wait, and its requests are not stored.

use countersign_testkit::{Answer, Plane, Setup, on_sqlite};

fn five_a_minute() -> Setup {
    Setup { connect_requests_per_minute: 5, operators: vec!["acme.test", "other.test"], ..Setup::multi() }
}

async fn ask(plane: &Plane, project: &str, domain: &str) -> Answer {
    let body = plane.connect_body(plane.operator(domain), &["calendar.read"]);
    plane.post(&format!("/projects/{project}/agent/delegate/requests"), &body).await
}

on_sqlite! {
    ///
    async fn an_operator_that_asks_too_often_waits_and_neither_others_nor_other_projects_do(kit) {
        let plane = kit.plane_with(five_a_minute()).await;
        for _ in 0..5 {
            ask(&plane, "north", "acme.test").await.expect(201);
        }
        plane.advance_secs(17).await;
        let refused = ask(&plane, "north", "acme.test").await;
        assert_eq!(refused.refusal(), (429, "too_many_requests".into()));
        assert_eq!(refused.header("retry-after"), Some("43"));
        assert!(refused.json()["hint"].as_str().unwrap().contains("Retry-After"), "{}", refused.text());
        ask(&plane, "north", "other.test").await.expect(201);
        ask(&plane, "south", "acme.test").await.expect(201);
        plane.advance_secs(43).await;
        ask(&plane, "north", "acme.test").await.expect(201);
    }

    /// a request without proof of its domain does not count against the domain's limit.
    async fn a_refused_request_does_not_count_against_the_operator(kit) {
        let plane = kit.plane_with(five_a_minute()).await;
        for _ in 0..20 {
            let mut body = plane.connect_body(plane.operator("acme.test"), &["calendar.read"]);
            body["operator_jwt"] = plane.operator("acme.test").jwt("https://elsewhere.test", plane.now()).into();
            assert_eq!(plane.post("/projects/north/agent/delegate/requests", &body).await.status, 401);
        }
        ask(&plane, "north", "acme.test").await.expect(201);
    }

    ///
    async fn requests_that_nobody_answered_are_removed_in_the_background(kit) {
        let plane = kit.plane_with(five_a_minute()).await;
        let mut asked = Vec::new();
        for _ in 0..5 {
            asked.push(ask(&plane, "north", "acme.test").await.expect(201).json()["request_id"].clone());
        }
        let id = |n: usize| asked[n].as_str().unwrap();
        plane.engine.run_maintenance().await.unwrap();
        assert!(plane.engine.agents().connectable(id(0)).await.is_ok());
        // Ten minutes to answer, and an hour in which a late answer is told of the expiry.
        plane.advance_secs(600 + 3600 + 1).await;
        plane.engine.run_maintenance().await.unwrap();
        for n in 0..5 {
            assert!(plane.engine.agents().connectable(id(n)).await.is_err(), "a row stays for ever");
        }
    }
}
