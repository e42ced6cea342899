//! Sign-in: a refusal does not reveal which accounts exist.

use super::{RIGHT, WRONG, another_device, browser, enter, holds};
use countersign_engine::Throttle;
use countersign_testkit::{Answer, Setup, TestPerson, on_both_stores};
use serde_json::{Value, json};

/// Every part of a response except the request id.
fn shape(answer: &Answer) -> (u16, Value, Vec<String>) {
    let mut body = answer.json();
    body["request_id"] = Value::Null;
    let mut headers: Vec<String> =
        answer.headers.iter().filter(|(name, _)| *name != "x-request-id").map(|pair| format!("{pair:?}")).collect();
    headers.sort();
    (answer.status, body, headers)
}

on_both_stores! {
    ///
    async fn a_wrong_name_a_wrong_password_and_a_disabled_account_get_one_and_the_same_answer(kit) {
        let plane = kit.plane().await;
        plane.account("alice").await;
        plane.account("carol").await;
        plane.engine.people().set_disabled("carol", true).await.unwrap();
        let wrong_name = enter(&plane, "nobody", RIGHT).await;
        assert_eq!(wrong_name.refusal(), (401, "sign_in_failed".into()));
        assert!(wrong_name.header("set-cookie").is_none());
        for (what, name, password) in [
            ("a wrong password", "alice", WRONG),
            ("a disabled account with the right password", "carol", RIGHT),
            ("a disabled account with a wrong one", "carol", WRONG),
            ("a name in capitals", "Alice", RIGHT),
            ("an empty name", "", RIGHT),
            ("an empty password", "alice", ""),
            ("a name beyond all measure", &"a".repeat(10_000), RIGHT),
            ("a password beyond all measure", "alice", &RIGHT.repeat(1000)),
        ] {
            assert_eq!(shape(&enter(&plane, name, password).await), shape(&wrong_name), "{what}");
        }
        enter(&plane, "alice", RIGHT).await.expect(201);
    }

    ///
    async fn a_disabled_account_is_out_at_once_and_its_old_sign_ins_stay_dead(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        plane.engine.people().set_disabled("alice", true).await.unwrap();
        assert!(!holds(&plane, &alice).await);
        let revoke = json!({ "delegation_id": connected.delegation_id });
        assert_eq!(alice.post(&plane, "/agent/revoke", &revoke).await.status, 401);
        plane.engine.people().set_disabled("alice", false).await.unwrap();
        assert!(!holds(&plane, &alice).await);
        let again = TestPerson::sign_in(&plane, "alice").await;
        assert!(holds(&plane, &again).await);
    }

    ///
    async fn a_new_password_ends_every_sign_in_and_the_old_one_is_wrong_from_then_on(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let phone = another_device(&plane, &alice).await;
        plane.engine.people().set_password("alice", "a wholly new password").await.unwrap();
        assert!(!holds(&plane, &alice).await && !holds(&plane, &phone).await);
        assert!(holds(&plane, &bob).await);
        assert_eq!(enter(&plane, "alice", RIGHT).await.refusal(), (401, "sign_in_failed".into()));
        let back = enter(&plane, "alice", "a wholly new password").await.expect(201);
        assert!(holds(&plane, &browser("alice", &back)).await);
    }

    ///
    async fn a_sign_in_with_the_old_password_that_was_under_way_does_not_outlive_the_change(kit) {
        let throttle = Throttle::all(1000);
        let plane = kit.plane_with(Setup { throttle, ..Setup::default() }).await;
        plane.account("alice").await;
        let mut password = RIGHT.to_owned();
        for round in 0..6 {
            let next = format!("password number {round}");
            let changing = async {
                plane.engine.people().set_password("alice", &next).await.unwrap();
                plane.advance_secs(1).await;
            };
            let old = || enter(&plane, "alice", &password);
            let (_, one, two, three) = tokio::join!(changing, old(), old(), old());
            for entered in [one, two, three].iter().filter(|answer| answer.status == 201) {
                assert!(!holds(&plane, &browser("alice", entered)).await, "round {round}");
            }
            password = next;
        }
    }

    ///
    async fn bodies_that_are_no_sign_in_are_refused_without_a_cookie(kit) {
        let plane = kit.plane().await;
        plane.account("alice").await;
        for body in [json!({}), json!({ "name": "alice" }), json!({ "name": "alice", "password": 7 }), json!([])] {
            let answer = plane.post("/session", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
            assert!(answer.header("set-cookie").is_none());
        }
    }
}
