//! Free text about a person's intent is not stored (AAP 12.4, C-14).

use super::story;
use countersign_engine::Role;
use countersign_testkit::{Plane, Setup, leaks::Haystack, on_both_stores};

on_both_stores! {
    /// AAP-12.4-01, AAP-19.3-04
    async fn no_words_about_a_persons_task_stay_in_the_database_the_audit_or_the_figures(kit) {
        let (place, _folder) = kit.readable_location().await;
        let plane = Plane::start(Setup::default(), place).await;
        let told = story::run(&plane).await;
        let stored = Haystack::stored(&plane.place).await;
        stored.assert_present("a structured type", "SCHEDULE_EVENT");

        let (_, delegation) = told.kept.iter().find(|(what, _)| *what == "a delegation's id").unwrap();
        let auditor = plane.person_in("calendar", "auditor", &[Role::Auditor]).await;
        let page = auditor.get(&plane, &format!("/agent/audit?delegation_id={delegation}")).await.expect(200);
        assert!(page.json()["entries"].as_array().unwrap().iter().all(|e| e.get("intent").is_none_or(|i| i.is_null())));
        let audit = Haystack::new("the audit", page.body);
        audit.assert_present("a structured type", "SCHEDULE_EVENT");
        let figures = countersign_testkit::send_to(
            &plane.operations,
            http::Request::get("/metrics").body(axum::body::Body::empty()).unwrap(),
        );
        let figures = Haystack::new("the figures", figures.await.expect(200).body);
        for (what, text) in &told.intents {
            stored.assert_absent(what, text);
            audit.assert_absent(what, text);
            figures.assert_absent(what, text);
        }
        for (what, secret) in &told.secrets {
            audit.assert_absent(what, secret);
            figures.assert_absent(what, secret);
        }
    }
}
