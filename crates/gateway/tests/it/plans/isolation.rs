//! An approval is for the project and the session that asked, and for the action that was shown (R-7, R-12).

use super::{held, held_as, unconfirmed};
use crate::proxy_fixture::{refused, status};
use countersign_engine::{Role, Tenancy};
use countersign_testkit::{
    Plane, Registered, Setup, TestAgent,
    bank::{Bank, BankFixture, GATEWAY, GatewayListener, GatewayRequest, PlanDraft, SCOPES, bank, paying, payouts},
    on_both_stores,
};
use serde_json::json;

struct Two {
    plane: Plane,
    bank: Bank,
    node: GatewayListener,
}

/// A person's agent in one of the two projects, and the person's device for decisions.
struct Tenant {
    project: &'static str,
    agent: Registered,
    device: TestAgent,
}

impl Two {
    async fn open(kit: countersign_testkit::Kit) -> Self {
        let service = Bank::open().await;
        let projects = ["north", "south"].map(|id| {
            let mut document = bank(id, &service.url());
            payouts(&mut document);
            document
        });
        let setup = Setup {
            tenancy: Tenancy::Multi,
            subdomains: true,
            gateway: Some(GATEWAY.into()),
            projects: projects.to_vec(),
            ..Setup::default()
        };
        let plane = kit.plane_with(setup).await;
        let node = GatewayListener::open(&plane.engine, |settings| settings.subdomains = true).await;
        Self { plane, bank: service, node }
    }

    async fn tenant(&self, project: &'static str) -> Tenant {
        let person = self.plane.person_in(project, &format!("alice-{project}"), &[Role::User]).await;
        let prefix = format!("/projects/{project}");
        let connected = self.plane.connect_at(&prefix, &person, self.plane.acme(), SCOPES).await;
        let body = self.plane.register_body(self.plane.acme(), &connected);
        let answer = self.plane.post(&format!("{prefix}/agent/register"), &body).await.expect(200).json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        let agent = Registered {
            access_token: text("access_token"),
            session_id: text("session_id"),
            delegation_id: Some(connected.delegation_id),
            answer: answer.clone(),
        };
        let path = format!("{prefix}/aaep/v1/subscriber-tokens");
        let token = person
            .post(&self.plane, &path, &json!({ "name": "telephone", "approves_high_risk": true }))
            .await
            .expect(201)
            .json();
        let device = TestAgent { token: token["token"].as_str().unwrap().to_owned(), principal: String::new() };
        Tenant { project, agent, device }
    }

    /// Writes and proposes a plan in the agent's own project; returns the path of its decisions.
    async fn proposed(&self, tenant: &Tenant, draft: &PlanDraft) -> String {
        let base = format!("/projects/{}/mplp/v1", tenant.project);
        let agent = tenant.agent.as_test_agent();
        agent.post(&self.plane, &format!("{base}/plans"), &draft.submission()).await.expect(201);
        let path = format!("{base}/plans/{}/propose", draft.id());
        let proposed = agent.post(&self.plane, &path, &json!({})).await.expect(201);
        format!("{base}/confirms/{}/decisions", proposed.header("countersign-confirm").unwrap())
    }

    async fn pays(&self, tenant: &Tenant, host: &str) -> String {
        let body = r#"{"from":"ours","to":"theirs","amount":"100.00","currency":"USD"}"#;
        let request = format!(
            "POST /transfers HTTP/1.1\r\nHost: {host}.bank.example.test\r\nConnection: close\r\nAap-Version: 2.0\r\n\
             Authorization: Bearer {}\r\nX-Agent-Mode: user_delegated\r\nX-Agent-Intent-Type: PAY\r\n\
             X-Agent-Session: {}\r\nX-Agent-Delegation: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            tenant.agent.access_token,
            tenant.agent.session_id,
            tenant.agent.delegation_id.as_deref().unwrap_or_default(),
            body.len(),
        );
        self.node.raw(request.as_bytes()).await
    }
}

on_both_stores! {
    /// R-7
    async fn another_session_of_the_same_delegation_may_not_use_the_plan(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let plans = fixture.planned(&draft).await;
        let other = fixture.another(|_| {}).await;
        for sent in [BankFixture::transfer_of("100.00"), BankFixture::transfer_of("100.00").confirmed("true")] {
            let decision = held_as(&fixture, &other, sent).await;
            assert!(decision.get("plan_difference").is_none(), "the plan is not this session's: {decision}");
        }
        // Not even with the id of the decision that approved it.
        let token = fixture.plane.confirm_token(plans["decision_id"].as_str().unwrap()).await;
        let named = fixture.sends_as(&other, BankFixture::transfer_of("100.00").confirmed(&token)).await;
        assert_eq!(named.refusal(), unconfirmed());
        assert_eq!((fixture.bank.got().len(), fixture.uses_left(&draft, 1).await), (0, 3));
    }

    /// R-7, R-10
    async fn another_delegation_may_neither_use_the_plan_nor_see_it(kit) {
        let mut fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        fixture.planned(&draft).await;
        let bob = fixture.plane.person("bob").await;
        let of_bob = fixture.plane.connect(&bob, fixture.plane.acme(), SCOPES).await;
        let other = fixture.plane.holder(&of_bob, |_| {}).await;
        let decision = held_as(&fixture, &other, BankFixture::transfer_of("100.00")).await;
        assert!(decision.get("plan_difference").is_none(), "{decision}");
        let path = format!("/mplp/v1/plans/{}", draft.id());
        assert_eq!(fixture.requests(&other, http::Method::GET, &path).await.status, 404);
        assert_eq!(fixture.uses_left(&draft, 1).await, 3);
        // The id is taken, and cannot be overwritten.
        let own = std::mem::replace(&mut fixture.agent, other);
        assert_eq!(fixture.writes(&draft).await.status, 409);
        fixture.agent = own;
        assert_eq!(fixture.bank.got().len(), 0);
    }

    /// R-7
    async fn another_route_with_the_same_arguments_is_another_action(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        fixture.planned(&draft).await;
        for target in ["/orders", "/closures"] {
            let sent = GatewayRequest { target: target.into(), ..BankFixture::transfer_of("100.00") };
            let decision = held(&fixture, sent).await;
            assert!(decision.get("plan_difference").is_none(), "the plan says nothing of it: {decision}");
        }
        assert_eq!((fixture.bank.got().len(), fixture.uses_left(&draft, 1).await), (0, 3));
    }

    /// R-2
    async fn what_an_agent_planned_as_a_tool_of_its_own_is_no_yes_at_the_gateway(kit) {
        let fixture = kit.bank_with(|document| {
            payouts(document);
            let actions = json!([{ "name": "transfers.send", "irreversible": true, "risk": "medium" }]);
            document.actions = serde_json::from_value(actions).unwrap();
        })
        .await;
        let mut tool = paying(3);
        tool["tool"] = "transfers.send".into();
        tool.as_object_mut().unwrap().remove("route");
        let draft = PlanDraft::of(tool);
        fixture.planned(&draft).await;
        let decision = held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert!(decision.get("plan_difference").is_none(), "{decision}");
        assert_eq!((fixture.bank.got().len(), fixture.uses_left(&draft, 1).await), (0, 3));
    }

    /// R-7, R-12
    async fn a_plan_of_one_project_lets_nothing_run_in_another(kit) {
        let two = Two::open(kit).await;
        let (north, south) = (two.tenant("north").await, two.tenant("south").await);
        let draft = PlanDraft::of(paying(3));
        let decisions = two.proposed(&north, &draft).await;
        let yes = json!({ "status": "approved" });
        // A decider of the other project does not decide here, nor by that project's path.
        let elsewhere = decisions.replacen("north", "south", 1);
        assert!(!south.device.post(&two.plane, &decisions, &yes).await.is_success());
        assert_eq!(south.device.post(&two.plane, &elsewhere, &yes).await.status, 404);
        north.device.post(&two.plane, &decisions, &yes).await.expect(201);
        // The same plan under the same id is another one there, and pending.
        two.proposed(&south, &draft).await;
        assert_eq!(refused(&two.pays(&south, "south").await).0, 403);
        assert_eq!(refused(&two.pays(&north, "south").await).0, 401);
        assert_eq!(two.bank.got().len(), 0);
        let answer = two.pays(&north, "north").await;
        assert_eq!(status(&answer), 201, "{answer}");
        assert_eq!(two.bank.effects().len(), 1);
    }
}
