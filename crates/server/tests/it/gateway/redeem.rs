//! Redeeming a stored request by the id of its decision (R-5).

use super::held::*;
use countersign_testkit::{
    Backend, Kit, Setup,
    bank::{Bank, BankFixture, GatewayRequest, SCOPES},
    leaks::{Folder, Haystack},
    on_both_stores,
};

/// A plane with rows that can be read from outside.
async fn lasting(kit: Kit) -> (BankFixture, Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
    (BankFixture::on(plane, bank).await, folder)
}

/// Part of the body, and of nothing that a person is shown.
const MEMO: &str = "for the surgery of our eldest";

fn with_memo() -> GatewayRequest {
    let body = format!(r#"{{"from":"ours","to":"theirs","amount":"1.00","currency":"USD","memo":"{MEMO}"}}"#);
    GatewayRequest::new("POST", "/transfers").json(body).with("x-reference", "R-1")
}

on_both_stores! {
    /// R-5
    async fn an_approved_request_runs_by_its_id_once_and_as_it_was_sent(kit) {
        let scene = kit.bank().await;
        let decision = asked(&scene, with_memo()).await;
        let address = decision["redeem"].as_str().unwrap();
        assert!(address.ends_with(&redeem(&decision).target), "{address}");
        let early = scene.sends(redeem(&decision)).await;
        assert_eq!(early.refusal(), unconfirmed());
        assert_eq!(BankFixture::decision(&early)["state"], "pending");
        scene.alice.accepts(&scene.plane, &decision).await;
        scene.sends(redeem(&decision)).await.expect(201);
        let effects = scene.bank.effects();
        assert_eq!((effects[0].method.as_str(), effects[0].target.as_str()), ("POST", "/transfers"));
        assert_eq!(effects[0].body, with_memo().body);
        assert_eq!(effects[0].headers["x-reference"], "R-1");
        assert_eq!(execution(&scene, &decision).await, "committed");
        assert_eq!(scene.sends(redeem(&decision)).await.refusal(), (404, "not_found".into()));
        assert_eq!(scene.sends(with_memo().confirmed("true")).await.refusal(), unconfirmed());
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// R-5
    async fn nobody_else_redeems_it_and_nobody_learns_of_it(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let other = scene.another(|_| {}).await;
        assert_eq!(scene.sends_as(&other, redeem(&decision)).await.refusal(), unconfirmed(), "another session");
        let bob = scene.plane.person("bob").await;
        let connected = scene.plane.connect(&bob, scene.plane.acme(), SCOPES).await;
        let stranger = scene.plane.holder(&connected, |_| {}).await;
        let refused = scene.sends_as(&stranger, redeem(&decision)).await;
        assert_eq!(refused.refusal(), (404, "not_found".into()), "another agent");
        let unknown = serde_json::json!({ "decision_id": "dec_00000000000000000000000000000000" });
        let unknown = scene.sends_as(&stranger, redeem(&unknown)).await;
        let told = |answer: &countersign_testkit::Answer| answer.json()["error_description"].clone();
        assert_eq!((unknown.refusal(), told(&unknown)), (refused.refusal(), told(&refused)));
        let nobody = scene.sends_raw(redeem(&decision).with("aap-version", "2.0")).await;
        assert_eq!(nobody.refusal(), (401, "agent_auth_required".into()));
        let unproven = scene.authenticated(&scene.agent, redeem(&decision));
        let headers = unproven.headers.iter().filter(|(name, _)| name != "dpop").cloned().collect();
        assert_eq!(scene.sends_raw(GatewayRequest { headers, ..unproven }).await.refusal(), (401, "dpop_missing".into()));
        assert_eq!(scene.bank.effects().len(), 0);
        scene.sends(redeem(&decision)).await.expect(201);
    }

    /// R-5
    async fn a_rejected_expired_lapsed_or_revoked_request_is_not_redeemed(kit) {
        let scene = kit.bank().await;
        let rejected = asked(&scene, BankFixture::transfer()).await;
        scene.alice.rejects(&scene.plane, &rejected, None).await;
        let expired = asked(&scene, BankFixture::transfer()).await;
        scene.plane.advance_secs(300).await;
        let lapsed = scene.approved(BankFixture::transfer()).await;
        scene.plane.advance_secs(300).await;
        for (what, over) in [("rejected", rejected), ("expired", expired), ("lapsed", lapsed)] {
            assert_eq!(scene.sends(redeem(&over)).await.refusal(), (404, "not_found".into()), "{what}");
        }
        let unseen = scene.approved(BankFixture::transfer()).await;
        scene.plane.advance_without_settling(300).await;
        assert_eq!(scene.sends(redeem(&unseen)).await.refusal(), unconfirmed(), "lapsed, and nobody has tidied up");
        let cut_off = scene.approved(BankFixture::transfer_of("1.00")).await;
        revoke(&scene).await;
        assert_eq!(scene.sends(redeem(&cut_off)).await.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// R-5, R-26. The rendered request stays with the question (R-29); the request itself does not.
    async fn a_stored_request_is_sealed_and_gone_once_it_is_settled(kit) {
        let (scene, _folder) = lasting(kit).await;
        let first = asked(&scene, with_memo()).await;
        assert_eq!(scene.sealed_requests().await.len(), 1);
        Haystack::stored(&scene.plane.place).await.assert_absent("the kept request", &with_memo().body);
        scene.alice.accepts(&scene.plane, &first).await;
        let kept = scene.sealed_requests().await;
        assert_eq!(kept.len(), 1, "a yes needs it still");
        let haystack = Haystack::stored(&scene.plane.place).await;
        haystack.assert_absent("the kept request", &with_memo().body);
        haystack.assert_present("the id of the decision", id(&first));
        scene.sends(redeem(&first)).await.expect(201);
        assert_eq!(scene.sealed_requests().await.len(), 0, "redeemed");

        let rejected = asked(&scene, BankFixture::transfer()).await;
        scene.alice.rejects(&scene.plane, &rejected, None).await;
        assert_eq!(scene.sealed_requests().await.len(), 0, "rejected");
        asked(&scene, BankFixture::transfer()).await;
        scene.plane.advance_secs(300).await;
        assert_eq!(scene.sealed_requests().await.len(), 0, "expired");
        scene.approved(BankFixture::transfer()).await;
        scene.plane.advance_secs(300).await;
        assert_eq!(scene.sealed_requests().await.len(), 0, "lapsed");
        scene.approved(BankFixture::transfer()).await;
        scene.sends(confirmed_transfer()).await.expect(201);
        assert_eq!(scene.sealed_requests().await.len(), 0, "sent again, with a word about it");
        scene.approved(BankFixture::transfer_of("2.00")).await;
        asked(&scene, BankFixture::transfer_of("3.00")).await;
        assert_eq!(scene.sealed_requests().await.len(), 2);
        revoke(&scene).await;
        assert_eq!(scene.sealed_requests().await.len(), 0, "cut off");
    }

    /// R-5
    async fn it_is_redeemed_by_a_bare_post_and_by_nothing_else(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let path = redeem(&decision).target;
        let body = redeem(&decision).json("{}");
        assert_eq!(scene.sends(body).await.refusal(), (400, "invalid_request".into()));
        for (method, path) in [("GET", path.as_str()), ("POST", &format!("{path}/")), ("POST", "/.countersign")] {
            let answer = scene.sends(GatewayRequest::new(method, path)).await;
            assert_eq!(answer.refusal(), (404, "not_found".into()), "{method} {path}");
        }
        assert_eq!(scene.bank.effects().len(), 0);
        scene.sends(redeem(&decision)).await.expect(201);
    }
}

/// R-5, R-6
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_that_redeem_or_repeat_at_once_one_runs() {
    let scene = Kit(Backend::Sqlite).bank().await;
    let decision = scene.approved(BankFixture::transfer()).await;
    let all = (0..50).map(|n| if n % 2 == 0 { redeem(&decision) } else { confirmed_transfer() });
    let answers = futures_util::future::join_all(all.map(|sent| scene.sends(sent))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(scene.bank.effects().len(), 1);
}
