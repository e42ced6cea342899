//! Decisions are kept for a time after they are settled, and never removed before.

use countersign_engine::ApiKeyKind;
use countersign_testkit::{
    Setup,
    decisions::{DecisionFixture, confirmation},
    on_both_stores, stored_evidence,
};
use http::Method;
use serde_json::{Value, json};

const DAY: i64 = 86_400;

on_both_stores! {
    ///
    async fn a_settled_decision_is_kept_for_its_time_and_an_unknown_one_for_good(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let claimed = async |n: u32| -> Value {
            let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": n })).await;
            alice.accepts(&plane, &asked).await;
            agent.claims(&plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
            asked
        };
        let (ran, unknown) = (claimed(1).await, claimed(2).await);
        agent.reports(&plane, &ran, "committed").await.expect(200);
        let admin = plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await;
        let events = async || admin.send(&plane.public, Method::GET, "/mplp/v1/events?limit=200", None).await.expect(200);
        let told = events().await.text().len();

        plane.advance_secs(89 * DAY).await;
        plane.engine.run_maintenance().await.unwrap();
        agent.reads_decision(&plane, &ran).await.expect(200);
        let again = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "amount": 1 }))).await.expect(201).json();
        assert!(again["last_ran_at"].is_string(), "{again}");
        assert!(events().await.text().len() >= told);

        plane.advance_secs(2 * DAY).await;
        plane.engine.run_maintenance().await.unwrap();
        let removed = agent.reads_decision(&plane, &ran).await;
        assert_eq!(removed.status, 404);
        assert!(removed.text().contains("not kept any more"), "{}", removed.text());
        agent.reads_decision(&plane, &again).await.expect(200);
        assert!(events().await.text().len() < told);
        let again = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "amount": 1 }))).await.expect(201).json();
        assert_eq!(again["last_ran_at"], Value::Null);

        plane.advance_secs(1000 * DAY).await;
        plane.engine.run_maintenance().await.unwrap();
        agent.reads_decision(&plane, &unknown).await.expect(200);
        let same = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "amount": 2 }))).await;
        assert_eq!(same.refusal(), (409, "conflict".into()), "nobody knows whether it ran");
        let project = plane.engine.projects().await.unwrap().remove(0);
        let leaves = stored_evidence(&plane.place).await;
        let heads = plane.engine.store().lane_heads(project.key).await.unwrap();
        let of_project = leaves.iter().filter(|entry| entry.project == project.key).count();
        assert_eq!(heads.iter().map(|head| head.next_seq - 1).sum::<i64>(), i64::try_from(of_project).unwrap());
    }
}
