//! `/audit`: the page of an auditor, with a timeline of each decision.

use crate::pages::{Words as _, open_as};
use countersign_engine::Role;
use countersign_testkit::{Setup, decisions::DecisionFixture, on_sqlite};
use serde_json::json;

on_sqlite! {
    ///
    async fn an_auditor_sees_a_decision_as_a_timeline_with_a_table_and_nobody_else_sees_the_page(kit) {
        let plane = kit.plane_with(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let ines = plane.person_in("calendar", "ines", &[Role::Auditor]).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "n": 1 })).await;
        alice.accepts(&plane, &asked).await;
        agent.claims(&plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
        agent.reports(&plane, &asked, "committed").await.expect(200);
        let id = asked["decision_id"].as_str().unwrap();
        let whole = open_as(&plane, &ines, "/audit").await.expect(200).words();
        assert!(whole.contains(&format!("href=\"/audit?decision={id}\"")), "{whole}");
        let page = open_as(&plane, &ines, &format!("/audit?decision={id}")).await.expect(200).words();
        assert_eq!(page.matches("<circle class=").count(), 4, "{page}");
        assert_eq!(page.matches("<tr role=\"row\">").count(), 5, "a head, and a row for each point");
        for told in ["<bdi>alice</bdi>", "fresh (password, 0 s before), page", ">Approved<", ">Carried out<"] {
            assert!(page.contains(told), "{told}: {page}");
        }
        assert_eq!(open_as(&plane, &ines, "/audit?person=alice&outcome=accepted").await.expect(200).words().matches("decision_settled").count(), 1);
        assert_eq!(open_as(&plane, &alice, "/audit").await.status, 403);
    }
}
