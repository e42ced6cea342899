use super::producer::{accepting, answer, at, listen, piece, question, subscriber};
use crate::service::Piece;
use countersign_client::{
    aaep::{Answer, NotAnAnswer, ReplyError},
    transport::{FetchError, Unreachable},
};
use countersign_protocol::aaep::reply;
use serde_json::{Value, json};

const REPLIES: &str = "/aaep/v1/replies";

fn yes() -> Answer {
    Answer::Approve { rationale: None }
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_nothing_is_sent() {
    let producer = accepting();
    producer.streams([Ok(vec![piece(&question(1, "rpl_a"))])]);
    let mut subscriber = subscriber(&producer).await;
    let inbox = listen(&mut subscriber, 1).await;
    let late = subscriber.replier().reply(inbox.question("evt_1").unwrap(), &yes(), at(600)).await;
    assert_eq!(late, Err(ReplyError::NotAnAnswer(NotAnAnswer::TooLate)));
    assert!(producer.bodies(REPLIES).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_arrival_is_not_known_is_sent_again_and_a_refusal_is_not() {
    let producer = accepting();
    producer.streams([Ok(vec![piece(&question(1, "rpl_a"))])]);
    let mut subscriber = subscriber(&producer).await;
    let inbox = listen(&mut subscriber, 1).await;
    let asked = inbox.question("evt_1").unwrap();
    let lost = || Err(Unreachable::Fetch(FetchError::Http));
    producer.results(REPLIES, [lost(), lost(), Ok(answer(204, &Value::Null))]);
    subscriber.replier().reply(asked, &yes(), at(1)).await.unwrap();
    let sent = producer.bodies(REPLIES);
    assert!(sent.len() == 3 && sent[0] == sent[2]);
    producer.results(REPLIES, [lost()]);
    let error = subscriber.replier().reply(asked, &yes(), at(1)).await;
    assert!(matches!(error, Err(ReplyError::Unreachable(_))));
    producer.answers(REPLIES, [answer(401, &json!({ "error": "sign_in_required" }))]);
    let error = subscriber.replier().reply(asked, &yes(), at(1)).await;
    assert!(matches!(error, Err(ReplyError::Refused(_))));
    assert_eq!(producer.bodies(REPLIES).len(), 3 + 3 + 1);
}

/// AAEP-6.2.3-01, AAEP-6.2.3-02, AAEP-6.2.3-03, AAEP-6-02
#[tokio::test(start_paused = true)]
async fn in_a_whole_session_tokens_stand_in_replies_only_and_only_those_that_were_received() {
    let producer = accepting();
    let tokens = ["rpl_x".to_owned(), format!("rpl_{}", "Zz9".repeat(22).split_at(64).0), "rpl_MiXeDcAsE0".to_owned()];
    let events: Vec<Piece> = tokens.iter().enumerate().map(|(n, token)| piece(&question(n, token))).collect();
    let rest = events[2..].to_vec();
    producer.streams([Ok([&events[..2], &[Piece::Broken]].concat()), Ok(rest)]);
    let mut subscriber = subscriber(&producer).await;
    let inbox = listen(&mut subscriber, 3).await;
    for (n, answer) in [yes(), Answer::Reject { reason: Some("why".into()) }, yes()].iter().enumerate() {
        let asked = inbox.question(&format!("evt_{n}")).unwrap();
        subscriber.replier().reply(asked, answer, at(1)).await.unwrap();
    }
    subscriber.replier().close().await.unwrap();
    let replies = producer.bodies(REPLIES);
    let echoed: Vec<&str> = replies.iter().filter_map(|reply| reply["reply_token"].as_str()).collect();
    assert_eq!(echoed, tokens, "byte for byte");
    replies[..3].iter().for_each(|sent| drop(reply::parse(sent, false).unwrap()));
    for request in producer.received() {
        let (head, body) = (format!("{} {:?}", request.url, request.headers), String::from_utf8_lossy(&request.body));
        assert!(!head.contains("rpl_"), "{head}");
        assert!(!body.contains("rpl_") || request.url.ends_with(REPLIES), "{body}");
    }
}
