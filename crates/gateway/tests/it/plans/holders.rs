//! An approval is for the session that asked, and for the action that was shown.

use super::{held, held_as, unconfirmed};
use countersign_testkit::{
    bank::{BankScene, GatewayRequest, PlanDraft, paying, payouts},
    on_both_stores,
};

on_both_stores! {
    ///
    async fn another_session_of_the_same_delegation_may_not_use_the_plan(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let plans = scene.planned(&draft).await;
        let other = scene.another(|_| {}).await;
        for sent in [BankScene::transfer_of("100.00"), BankScene::transfer_of("100.00").confirmed("true")] {
            let decision = held_as(&scene, &other, sent).await;
            assert!(decision.get("plan_difference").is_none(), "the plan is not this session's: {decision}");
        }
        // Not even with the id of the decision that approved it.
        let token = scene.plane.confirm_token(plans["decision_id"].as_str().unwrap()).await;
        let named = scene.sends_as(&other, BankScene::transfer_of("100.00").confirmed(&token)).await;
        assert_eq!(named.refusal(), unconfirmed());
        assert_eq!((scene.bank.got().len(), scene.uses_left(&draft, 1).await), (0, 3));
    }

    ///
    async fn another_delegation_may_neither_use_the_plan_nor_see_it(kit) {
        let mut scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        scene.planned(&draft).await;
        let bob = scene.plane.person("bob").await;
        let of_bob = scene.plane.connect(&bob, scene.plane.acme(), countersign_testkit::bank::SCOPES).await;
        let other = scene.plane.holder(&of_bob, |_| {}).await;
        let decision = held_as(&scene, &other, BankScene::transfer_of("100.00")).await;
        assert!(decision.get("plan_difference").is_none(), "{decision}");
        let path = format!("/mplp/v1/plans/{}", draft.id());
        assert_eq!(scene.own(&other, http::Method::GET, &path).await.status, 404);
        assert_eq!(scene.uses_left(&draft, 1).await, 3);
        // The id is taken, and cannot be overwritten.
        let own = std::mem::replace(&mut scene.agent, other);
        assert_eq!(scene.writes(&draft).await.status, 409);
        scene.agent = own;
        assert_eq!(scene.bank.got().len(), 0);
    }

    ///
    async fn another_route_with_the_same_arguments_is_another_action(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        scene.planned(&draft).await;
        for target in ["/orders", "/closures"] {
            let sent = GatewayRequest { target: target.into(), ..BankScene::transfer_of("100.00") };
            let decision = held(&scene, sent).await;
            assert!(decision.get("plan_difference").is_none(), "the plan says nothing of it: {decision}");
        }
        assert_eq!((scene.bank.got().len(), scene.uses_left(&draft, 1).await), (0, 3));
    }

    ///
    async fn an_approval_of_an_agents_own_tool_is_none_at_the_gateway(kit) {
        let scene = kit.bank_with(|document| {
            payouts(document);
            let actions = serde_json::json!([{ "name": "transfers.send", "irreversible": true, "risk": "medium" }]);
            document.actions = serde_json::from_value(actions).unwrap();
        })
        .await;
        let mut tool = paying(3);
        tool["tool"] = "transfers.send".into();
        tool.as_object_mut().unwrap().remove("route");
        let draft = PlanDraft::of(tool);
        scene.planned(&draft).await;
        let decision = held(&scene, BankScene::transfer_of("100.00")).await;
        assert!(decision.get("plan_difference").is_none(), "{decision}");
        assert_eq!((scene.bank.got().len(), scene.uses_left(&draft, 1).await), (0, 3));
    }
}
