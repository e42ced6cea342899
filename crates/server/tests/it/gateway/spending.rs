//! A claim decides everything again: the basis of the approval must still hold (R-4, R-5).

use super::held::*;
use countersign_engine::{Assurance, NotCounted, Role};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    TestPerson,
    bank::{BankFixture, GatewayRequest},
    on_sqlite,
};

fn closure() -> GatewayRequest {
    GatewayRequest::new("POST", "/closures").json(r#"{"account":"ours"}"#)
}

/// Asserts that every way to claim the approved transfer is refused without an effect.
async fn is_refused(scene: &BankFixture, decision: &serde_json::Value, with: (u16, &str)) {
    let confirm = scene.plane.confirm_token(id(decision)).await;
    let named = BankFixture::transfer().confirmed(&confirm);
    for sent in [redeem(decision), named, confirmed_transfer(), BankFixture::transfer().waits(1)] {
        let refused = scene.sends(sent.clone()).await;
        assert_eq!(refused.refusal(), (with.0, with.1.into()), "{sent:?}: {}", refused.text());
    }
    assert_eq!(scene.bank.got().len(), 0);
}

/// The bank's current document, with a change.
async fn applies(scene: &BankFixture, change: impl FnOnce(&mut ProjectDocument)) {
    let mut document = (*scene.plane.at().await.project.document).clone();
    change(&mut document);
    scene.plane.engine.apply_project(document, "test").await.expect("a sound document");
}

on_sqlite! {
    /// R-5
    async fn an_approval_lapses_after_five_minutes(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.plane.advance_secs(299).await;
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["allowance"]["state"], "open");
        scene.plane.advance_without_settling(1).await;
        let confirm = scene.plane.confirm_token(id(&decision)).await;
        for sent in [redeem(&decision), BankFixture::transfer().confirmed(&confirm), confirmed_transfer()] {
            assert_eq!(scene.sends(sent).await.refusal(), unconfirmed());
        }
        assert_eq!(scene.bank.effects().len(), 0);
        let in_time = scene.approved(BankFixture::transfer_of("1.00")).await;
        scene.plane.advance_secs(299).await;
        scene.sends(redeem(&in_time)).await.expect(201);
    }

    /// R-5
    async fn a_route_may_give_its_approval_another_lifetime(kit) {
        let scene = kit.bank_with(|document| document.routes[4].allowance_seconds = Some(30)).await;
        scene.approved(BankFixture::transfer()).await;
        scene.plane.advance_secs(30).await;
        asked(&scene, confirmed_transfer()).await;
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// R-5
    async fn an_approval_ends_with_the_delegation(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        revoke(&scene).await;
        is_refused(&scene, &decision, (401, "delegation_revoked")).await;
    }

    /// R-5
    async fn an_approval_ends_with_the_receipt(kit) {
        let mut scene = kit.bank().await;
        let ends = scene.plane.now().secs() + 60;
        scene.agent = scene.with_receipt(|claims| claims["exp"] = ends.into()).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        // Receipts are accepted five minutes beyond their end, as other clocks may be wrong by that much.
        scene.plane.advance_secs(299).await;
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["allowance"]["state"], "open");
        let decision = scene.approved(BankFixture::transfer_of("1.00")).await;
        scene.plane.advance_secs(62).await;
        let refused = scene.sends(redeem(&decision)).await;
        assert_eq!(refused.refusal(), (401, "consent_expired".into()), "an approval ends with the receipt");
        let refused = scene.sends(BankFixture::transfer_of("1.00").confirmed("true")).await;
        assert_eq!(refused.refusal(), (401, "consent_expired".into()));
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// R-5
    async fn an_approval_ends_with_its_approvers_account(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.plane.engine.people().set_disabled("alice", true).await.unwrap();
        for sent in [redeem(&decision), confirmed_transfer()] {
            assert_eq!(scene.sends(sent).await.code(), "auto_revoked");
        }
        assert_eq!(scene.bank.got().len(), 0);
    }

    /// R-4, R-5
    async fn an_approval_ends_with_the_role_that_entitled_to_it_and_another_person_may_be_asked(kit) {
        let scene = kit.bank().await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let dave = scene.plane.person_in("bank", "dave", &[Role::Approver]).await;
        let decision = asked(&scene, closure()).await;
        carol.accepts(&scene.plane, &decision).await;
        scene.plane.give_roles("bank", "carol", &[Role::User]).await;
        assert_eq!(scene.sends(redeem(&decision)).await.refusal(), unconfirmed());
        let anew = asked(&scene, closure().confirmed("true")).await;
        assert_ne!(id(&anew), id(&decision), "a yes that is worth nothing any more is in the way");
        assert_eq!(scene.bank.effects().len(), 0);
        dave.accepts(&scene.plane, &anew).await;
        scene.sends(closure().confirmed("true")).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// R-4
    async fn a_call_that_needs_an_approver_with_a_fresh_sign_in_takes_nobody_elses_approval(kit) {
        let scene = kit.bank().await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        scene.plane.advance_secs(301).await;
        let decision = asked(&scene, closure()).await;
        assert_eq!(scene.alice.tries(&scene.plane, &decision, true).await, Some(NotCounted::NotEntitled));
        let stale = carol.tries(&scene.plane, &decision, true).await;
        assert_eq!(stale, Some(NotCounted::TooWeak(Assurance::Fresh)));
        assert_eq!(asked(&scene, closure().confirmed("true")).await["state"], "pending");
        assert_eq!(scene.bank.effects().len(), 0);
        TestPerson::sign_in(&scene.plane, "carol").await.accepts(&scene.plane, &decision).await;
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["assurance"], "fresh");
        scene.sends(closure().confirmed("true")).await.expect(201);
    }

    /// R-5
    async fn an_approval_is_not_claimed_for_a_removed_route_or_under_a_reduced_scope(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        applies(&scene, |document| {
            let scope = document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap();
            let mut wires = scope.clone();
            scope.allows.retain(|action| action != "transfers.send");
            (wires.id, wires.allows) = ("bank.wire".into(), vec!["transfers.send".into()]);
            document.scopes.push(wires);
        })
        .await;
        is_refused(&scene, &decision, (403, "scope_not_granted")).await;
        applies(&scene, |document| document.routes.retain(|route| route.id != "transfers")).await;
        is_refused(&scene, &decision, (404, "route_not_found")).await;
    }

    /// R-5
    async fn an_approval_by_the_old_rules_is_not_claimed_under_new_ones(kit) {
        let scene = kit.bank().await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        applies(&scene, |document| document.routes[4].approvers = vec!["role:approver".into()]).await;
        assert_eq!(scene.sends(redeem(&decision)).await.refusal(), unconfirmed());
        let anew = asked(&scene, confirmed_transfer()).await;
        assert_ne!(id(&anew), id(&decision));
        assert_eq!(scene.bank.got().len(), 0);
        carol.accepts(&scene.plane, &anew).await;
        scene.sends(confirmed_transfer()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
