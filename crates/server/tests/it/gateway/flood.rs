//! Held calls do not flood people either.

use super::held::*;
use countersign_testkit::{
    Answer,
    bank::{BankScene, GatewayRequest, SCOPES},
    on_sqlite,
};
use serde_json::json;

fn amount(n: u32) -> GatewayRequest {
    BankScene::transfer_of(&format!("{n}.00"))
}

/// The refusal's `Retry-After`.
fn wait_of(answer: &Answer) -> i64 {
    assert_eq!(answer.refusal(), (429, "too_many_requests".into()), "{}", answer.text());
    answer.header("retry-after").expect("Retry-After").parse().unwrap()
}

on_sqlite! {
    ///
    async fn after_three_rejections_an_action_rests_for_any_amount_and_nobody_is_disturbed(kit) {
        let scene = kit.bank().await;
        for n in 1..=3 {
            let decision = asked(&scene, amount(n)).await;
            scene.alice.rejects(&scene.plane, &decision, Some("not now")).await;
        }
        for sent in [amount(4), amount(4).confirmed("true"), amount(1), amount(4).waits(50)] {
            assert_eq!(wait_of(&scene.sends(sent).await), 600);
        }
        let other = scene.another(|_| {}).await;
        assert_eq!(wait_of(&scene.sends_as(&other, amount(5)).await), 600, "another session is the same agent");
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 0);
        asked(&scene, refund("p-1", "another action")).await;
        scene.plane.advance_secs(599).await;
        wait_of(&scene.sends(amount(4)).await);
        scene.plane.advance_secs(2).await;
        asked(&scene, amount(4)).await;
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn an_agent_has_only_so_many_questions_open_and_the_same_one_is_none_more(kit) {
        let scene = kit.bank_with(|document| document.decisions.max_open_per_agent = 2).await;
        let first = asked(&scene, amount(1)).await;
        asked(&scene, amount(2)).await;
        assert!(wait_of(&scene.sends(amount(3)).await) > 0);
        let other = scene.another(|_| {}).await;
        assert!(wait_of(&scene.sends_as(&other, amount(3)).await) > 0);
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 2);
        assert_eq!(id(&asked(&scene, amount(1)).await), id(&first));
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.alice.accepts(&scene.plane, &first).await;
        asked(&scene, amount(3)).await;
    }

    ///
    async fn a_person_is_asked_only_so_much_at_a_time_by_all_agents_together(kit) {
        let scene = kit.bank_with(|document| document.decisions.max_open_per_person = 2).await;
        let connected = scene.plane.connect(&scene.alice, scene.plane.acme(), SCOPES).await;
        let second = scene.plane.holder(&connected, |_| {}).await;
        asked(&scene, amount(1)).await;
        assert_eq!(scene.sends_as(&second, amount(1)).await.refusal(), unconfirmed());
        assert!(wait_of(&scene.sends(amount(2)).await) > 0);
        assert!(wait_of(&scene.sends_as(&second, amount(2)).await) > 0);
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 2);
    }

    ///
    async fn nobody_is_asked_about_a_call_that_a_limit_would_refuse_anyway(kit) {
        let scene = kit.bank().await;
        let limited = scene.limited(json!({ "writes_per_session": 1 })).await;
        let held = scene.sends_as(&limited, amount(1)).await;
        assert_eq!(held.refusal(), unconfirmed());
        scene.alice.accepts(&scene.plane, &BankScene::decision(&held)).await;
        scene.sends_as(&limited, amount(1).confirmed("true")).await.expect(201);
        let refused = scene.sends_as(&limited, amount(2)).await;
        assert_eq!(refused.refusal(), (429, "usage_limit_reached".into()), "{}", refused.text());
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 0);
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
