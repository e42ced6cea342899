//! The egress limit of a session (AAP 14.2): counted to the byte, and never above the receipt's limit.

use countersign_testkit::{
    Answer,
    bank::{BankFixture, GATEWAY, GatewayRequest, Holder, Manner},
    on_sqlite,
};
use futures_util::future::join_all;
use serde_json::json;

on_sqlite! {
    /// AAP-14.2-08
    async fn an_answer_that_says_it_is_longer_than_the_rest_is_refused_and_costs_nothing(kit) {
        let (scene, agent) = limited(kit, 2).await;
        scene.bank.set_manner(Manner::Sized(2049));
        assert_used_up(&scene.sends_as(&agent, statement()).await);
        scene.bank.set_manner(Manner::Sized(2048));
        assert_eq!(scene.sends_as(&agent, statement()).await.expect(200).body.len(), 2048);
        assert_over(&scene, &agent).await;
    }

    /// AAP-14.2-08
    async fn an_answer_without_a_length_is_cut_at_the_limit_to_the_byte(kit) {
        let (scene, agent) = limited(kit, 3).await;
        scene.bank.set_manner(Manner::Unsized(1200));
        for _ in 0..2 {
            assert_eq!(scene.sends_as(&agent, statement()).await.expect(200).body.len(), 1200);
        }
        assert_eq!(scene.sends_as(&agent, statement()).await.expect(200).body.len(), 3072 - 2400);
        assert_over(&scene, &agent).await;
    }

    /// AAP-14.2-08
    async fn an_answer_that_ends_at_the_limit_is_whole(kit) {
        let (scene, agent) = limited(kit, 3).await;
        scene.bank.set_manner(Manner::Unsized(3072));
        assert!(on_the_wire(&scene, &agent).await.ends_with("\r\n0\r\n\r\n"));
        assert_over(&scene, &agent).await;
    }

    /// AAP-14.2-08
    async fn a_reader_sees_that_an_answer_was_cut(kit) {
        for kb in [1, 70, 900] {
            let (scene, agent) = limited(kit, kb).await;
            scene.bank.set_manner(Manner::Unsized(1_000_000));
            let wire = on_the_wire(&scene, &agent).await;
            assert!(wire.starts_with("HTTP/1.1 200 OK\r\n"));
            assert!(!wire.ends_with("0\r\n\r\n"), "cut after {kb} KB, and it looks whole");
            let left = wire.split_once("\r\n\r\n").unwrap().1.matches('x').count();
            assert!(left <= kb * 1024, "{left} bytes left where {kb} KB might");
        }
    }

    /// AAP-14.2-08
    async fn the_answer_of_a_write_is_never_cut_but_counted(kit) {
        for manner in [Manner::Sized(3000), Manner::Unsized(3000)] {
            let (scene, agent) = limited(kit, 1).await;
            scene.bank.set_manner(manner);
            assert_eq!(scene.sends_as(&agent, note()).await.expect(200).body.len(), 3000);
            assert_over(&scene, &agent).await;
        }
    }

    /// AAP-14.2-08
    async fn an_answer_without_a_body_counts_nothing_at_any_announced_length(kit) {
        let scene = kit.bank_with(|document| {
            let mut head = document.routes.iter().find(|route| route.id == "statement").unwrap().clone();
            (head.id, head.method) = ("statement-head".into(), "HEAD".into());
            document.routes.push(head);
        }).await;
        let agent = scene.limited(json!({ "max_data_egress_kb": 1 })).await;
        scene.bank.set_manner(Manner::Sized(1000));
        for _ in 0..2 {
            let head = scene.sends_as(&agent, GatewayRequest::new("HEAD", "/statements/ours")).await.expect(200);
            assert_eq!((head.header("content-length"), head.body.len()), (Some("1000"), 0));
        }
        scene.bank.set_manner(Manner::Status(304));
        for _ in 0..2 {
            scene.sends_as(&agent, statement()).await.expect(304);
        }
        scene.bank.set_manner(Manner::Sized(1024));
        scene.sends_as(&agent, statement()).await.expect(200);
        assert_over(&scene, &agent).await;
    }

    /// AAP-14.2-03, AAP-14.2-08
    async fn answers_that_come_at_once_do_not_have_the_rest_twice(kit) {
        let (scene, agent) = limited(kit, 1).await;
        scene.bank.set_manner(Manner::Sized(300));
        let answers = join_all((0..12).map(|_| scene.sends_as(&agent, statement()))).await;
        let (passed, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Answer::is_success);
        assert_eq!(passed.len(), 3);
        refused.iter().for_each(assert_used_up);
        scene.bank.set_manner(Manner::Unsized(300));
        let answers = join_all((0..6).map(|_| scene.sends_as(&agent, statement()))).await;
        let left: usize = answers.iter().filter(|answer| answer.is_success()).map(|answer| answer.body.len()).sum();
        assert!(left <= 124, "{left} bytes left where 124 might");
    }

    /// AAP-14.2-05, AAP-14.2-08
    async fn another_session_has_bytes_of_its_own_and_the_same_receipt_has_none_left(kit) {
        let (scene, agent) = limited(kit, 1).await;
        scene.bank.set_manner(Manner::Sized(1024));
        scene.sends_as(&agent, statement()).await.expect(200);
        scene.plane.advance_secs(2 * 3600 - 4000).await;
        assert_over(&scene, &agent).await;
        let other = scene.limited(json!({ "max_data_egress_kb": 1 })).await;
        scene.bank.set_manner(Manner::Sized(1024));
        scene.sends_as(&other, statement()).await.expect(200);
        assert_over(&scene, &other).await;
    }
}

async fn limited(kit: countersign_testkit::Kit, kb: usize) -> (BankFixture, Holder) {
    let scene = kit.bank().await;
    let agent = scene.limited(json!({ "max_data_egress_kb": kb })).await;
    (scene, agent)
}

fn statement() -> GatewayRequest {
    GatewayRequest::new("GET", "/statements/ours")
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}

fn assert_used_up(answer: &Answer) {
    assert_eq!(answer.refusal(), (429, "usage_limit_reached".into()));
    assert_eq!(answer.header("x-agent-limit-reason"), Some("max_data_egress_kb"));
    assert!(answer.header("retry-after").is_some());
}

/// No call of this session passes any more, read or write or held, and none reaches the bank.
async fn assert_over(scene: &BankFixture, agent: &Holder) {
    scene.bank.set_manner(Manner::Obliging);
    let arrived = scene.bank.got().len();
    for sent in [statement(), note(), GatewayRequest::new("GET", "/accounts"), BankFixture::transfer()] {
        assert_used_up(&scene.sends_as(agent, sent).await);
    }
    assert_eq!(scene.bank.got().len(), arrived);
}

/// The response to a statement, byte by byte, until the connection is closed.
async fn on_the_wire(scene: &BankFixture, agent: &Holder) -> String {
    let sent = scene.authenticated(agent, statement());
    let mut text = format!("{} {} HTTP/1.1\r\nHost: {}\r\n", sent.method, sent.target, &GATEWAY["https://".len()..]);
    for (name, value) in sent.headers.iter().chain([&("connection".to_owned(), "close".to_owned())]) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    scene.gateway.raw(text.as_bytes()).await
}
