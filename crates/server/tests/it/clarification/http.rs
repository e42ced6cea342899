//! Submitting, answering, confirming, and reading the outcome.

use super::world::{World, complete, gap, of, open, plan, session, without_account};
use countersign_testkit::on_both_stores;
use serde_json::json;

on_both_stores! {
    /// WWA-6.1-01, WWA-6.1-03, WWA-2-04
    async fn a_plan_with_gaps_is_refused_with_all_of_them_and_the_same_bytes_come_again(kit) {
        let world = World::made(kit).await;
        let body = json!({ "plan_object": plan(&json!({})) });
        let first = world.post(&world.agent, "submit-clarification", &body).await.expect(200);
        let told = first.json();
        assert_eq!(told["status"], "needs_clarification");
        assert_eq!(open(&told), ["account", "region", "beneficiary"]);
        let message = &told["clarification"];
        assert_eq!((&told["blocking_count"], &told["warning_count"]), (&json!(2), &json!(1)));
        assert_eq!(told["blocking_count"], message["blocking_gaps"]);
        assert_eq!(told["warning_count"], message["warning_gaps"]);
        assert_eq!((&told["session_id"], &told["gaps"]), (&message["session_id"], &message["gaps"]));
        assert_eq!(first.header("cache-control"), Some("no-store"));

        world.plane.advance_secs(30).await;
        let again = world.post(&world.agent, "submit-clarification", &body).await.expect(200);
        assert_eq!(first.text(), again.text());
        let named = json!({ "plan_object": plan(&json!({})), "session_id": told["session_id"] });
        let named = world.post(&world.agent, "submit-clarification", &named).await.expect(200);
        assert_eq!(first.text(), named.text());
        assert_eq!(first.text(), world.get(&world.agent, &of("list-gaps", &told)).await.expect(200).text());

        let changed = json!({ "plan_object": without_account(), "session_id": told["session_id"] });
        let changed = world.post(&world.agent, "submit-clarification", &changed).await.expect(200).json();
        assert_eq!((open(&changed), &changed["session_id"]), (vec!["account".to_owned()], &told["session_id"]));
    }

    /// WWA-6.1-01
    async fn a_plan_without_gaps_is_ready_but_no_plan_comes_before_it_is_confirmed(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&complete()).await;
        assert_eq!((&told["status"], &told["gaps"]), (&json!("ready_to_proceed"), &json!([])));
        let body = json!({ "plan_object": complete() });
        for ready in [
            world.post(&world.agent, "scaffold-plan", &body).await,
            world.post(&world.agent, "attest", &session(&told)).await,
        ] {
            let ready = ready.expect(200).json();
            assert_eq!((&ready["status"], &ready["session_id"]), (&json!("ready_to_proceed"), &told["session_id"]));
            assert!(ready["next"].as_str().unwrap().contains("confirm-plan"));
            assert!(ready.get("plan").is_none() && ready.get("attestation").is_none(), "{ready}");
        }
        world.confirms(&told).await.expect(200);
        let scaffolded = world.post(&world.agent, "scaffold-plan", &body).await.expect(200).json();
        assert_eq!((&scaffolded["status"], &scaffolded["plan"]), (&json!("plan_accepted"), &complete()));
    }

    /// WWA-6.2-01, WWA-5-02
    async fn gaps_are_answered_one_by_one_and_the_plan_has_submitted_and_answered_members(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "beneficiary": "Harbour Estates" }))).await;
        let resolved = world.answers(&told, "account", " reserve ").await.expect(200).json();
        assert_eq!((&resolved["status"], &resolved["accepted_answer"]), (&json!("resolved"), &json!("Reserve")));
        assert_eq!((&resolved["given_by"], &resolved["open_gaps"]), (&json!("own"), &json!(1)));
        let again = world.answers(&told, "account", " reserve ").await.expect(200).json();
        assert_eq!(again, resolved);

        let left = world.get(&world.agent, &of("list-gaps", &told)).await.expect(200).json();
        assert_eq!(left["gaps"], json!([gap(&told, "region")]));
        assert_eq!(world.answers(&told, "region", "the EU").await.expect(200).json()["open_gaps"], 0);
        let status = world.get(&world.agent, &of("session-status", &told)).await.expect(200).json();
        assert_eq!((&status["status"], &status["state"]), (&json!("ready_to_proceed"), &json!("open")));
        assert_eq!((&status["accepted_gaps"], &status["total_rounds"]), (&json!(2), &json!(2)));

        let accepted = world.confirms(&told).await.expect(200);
        let plan = plan(&json!({ "beneficiary": "Harbour Estates", "account": "Reserve", "region": "the EU" }));
        assert_eq!((&accepted.json()["status"], &accepted.json()["plan"]), (&json!("plan_accepted"), &plan));
        assert_eq!(world.confirms(&told).await.expect(200).text(), accepted.text(), "confirming again changes nothing");
        let attested = world.post(&world.agent, "attest", &session(&told)).await.expect(200).json();
        assert_eq!((&attested["status"], &attested["attestation"]), (&json!("attested"), &accepted.json()["attestation"]));
        let handoff = world.get(&world.agent, &of("handoff", &told)).await.expect(200).json();
        let audit = world.get(&world.agent, &of("audit", &told)).await.expect(200).json();
        assert_eq!((&handoff["plan"], &handoff["context"]["clarification"]), (&plan, &audit["record"]));
        assert_eq!((&audit["accepted_plan"], &audit["record"]["total_rounds"]), (&plan, &json!(2)));
    }

    /// WWA-6.2-03
    async fn another_answer_to_a_resolved_gap_is_refused_and_so_is_everything_after_the_end(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        world.answers(&told, "account", "Operating").await.expect(200);
        let audit = world.get(&world.agent, &of("audit", &told)).await.expect(200).text();
        assert_eq!(world.answers(&told, "account", "Operating").await.expect(200).json()["status"], "resolved");
        let other = world.answers(&told, "account", "Reserve").await;
        assert_eq!(other.refusal(), (409, "already_resolved".into()));
        assert_eq!(world.get(&world.agent, &of("audit", &told)).await.expect(200).text(), audit);

        world.confirms(&told).await.expect(200);
        let anew = json!({ "plan_object": plan(&json!({})), "session_id": told["session_id"] });
        for closed in [
            world.answers(&told, "account", "Operating").await,
            world.post(&world.agent, "submit-clarification", &anew).await,
        ] {
            assert_eq!(closed.refusal(), (409, "conflict".into()));
        }
    }

    async fn a_session_that_ran_out_takes_nothing_more_but_can_still_be_proven(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        world.plane.advance_secs(3600).await;
        for over in [world.answers(&told, "account", "Operating").await, world.confirms(&told).await] {
            assert_eq!(over.refusal(), (409, "conflict".into()));
        }
        let status = world.get(&world.agent, &of("session-status", &told)).await.expect(200).json();
        assert_eq!(status["state"], "expired");
        let audit = world.get(&world.agent, &of("audit", &told)).await.expect(200).json();
        assert_eq!(audit["message"], told["clarification"]);
        assert_ne!(world.submits(&without_account()).await["session_id"], told["session_id"]);
    }

    /// W-20
    async fn another_key_asks_after_a_rotation_that_the_old_one_signed(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&without_account()).await;
        let before = world.plane.get("/v1/clarification/keys").await.expect(200).json();
        assert_eq!((&before["agent_id"], &before["rotations"]), (&json!("meridian-asks"), &json!([])));
        assert_eq!(before["keys"][0]["public_key"], told["clarification"]["agent_public_key"]);
        let headers = [("aap-version", "2.0")];
        let rotated = world.rotates(&world.admin_key().await, &headers).await.expect(200).json();
        assert_eq!(rotated["rotations"][0]["old_public_key"], before["keys"][0]["public_key"]);
        assert_eq!(rotated["rotations"][0]["new_public_key"], rotated["keys"][1]["public_key"]);
        assert_eq!(world.plane.get("/v1/clarification/keys").await.expect(200).json(), rotated);
        let now = world.get(&world.agent, &of("list-gaps", &told)).await.expect(200).json();
        assert_eq!(now["clarification"]["agent_public_key"], rotated["keys"][1]["public_key"]);
    }

    async fn everything_is_also_reached_under_the_project(kit) {
        let world = World::made(kit).await;
        let body = json!({ "plan_object": without_account() });
        let path = "/projects/calendar/v1/clarification";
        let told = world.agent.post(&world.plane, &format!("{path}/submit-clarification"), &body).await.expect(200).json();
        assert_eq!(told, world.submits(&without_account()).await);
        let keys = world.plane.get(&format!("{path}/keys")).await.expect(200).json();
        assert_eq!(keys, world.plane.get("/v1/clarification/keys").await.expect(200).json());
        assert_eq!(world.plane.get("/projects/none/v1/clarification/keys").await.refusal(), (404, "project_not_found".into()));
    }
}
