use super::producer::{accepting, answer, at, listen, next_event, piece, question, resumed, subscriber};
use crate::service::{Piece, ScriptedStream};
use countersign_client::aaep::{Inbox, Received, SubscribeError, SubscriberClient, SubscriberEvent, Trust};
use serde_json::json;
use std::time::Duration;

fn refused(status: u16) -> ScriptedStream {
    Err(Box::new(answer(status, &json!(null))))
}

async fn heard(subscriber: &mut SubscriberClient, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(match subscriber.next().await.unwrap() {
            SubscriberEvent::Connected { anew } => format!("connected {anew}"),
            SubscriberEvent::Received(received) => received.event_id().unwrap_or("closed").to_owned(),
            SubscriberEvent::Unreadable => "unreadable".into(),
            SubscriberEvent::Lost { next } => format!("lost {}", next.as_secs()),
        });
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_refused_credential_is_the_end_and_not_a_reason_to_try_again() {
    let producer = accepting();
    producer.streams([refused(401)]);
    let mut subscriber = subscriber(&producer).await;
    let SubscribeError::Refused(refused) = subscriber.next().await.unwrap_err() else { panic!() };
    assert_eq!(refused.status, 401);
    assert_eq!(resumed(&producer).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_goes_on_after_the_last_event_and_repeats_nothing() {
    let producer = accepting();
    let (first, second, third) = (question(1, "rpl_a"), question(2, "rpl_b"), question(3, "rpl_c"));
    producer.streams([
        Ok(vec![Piece::Text(": hello\n\n".into()), piece(&first), piece(&second), Piece::Broken]),
        Ok(vec![piece(&second), piece(&third)]),
    ]);
    let mut subscriber = subscriber(&producer).await;
    let mut inbox = Inbox::new(Trust::default());
    let mut told = 0;
    while inbox.questions().count() < 3 {
        told += inbox.apply(&next_event(&mut subscriber).await, at(1)).len();
    }
    assert_eq!(told, 3, "one announcement each");
    let expected = [("sub_1", ""), ("sub_1", "evt_2")].map(|(sub, id)| (sub.to_owned(), id.to_owned()));
    assert_eq!(resumed(&producer), expected);
}

#[tokio::test(start_paused = true)]
async fn attempts_come_slower_and_slower_until_one_works() {
    let producer = accepting();
    producer.streams([refused(503), refused(502), refused(500), Ok(vec![piece(&question(1, "rpl_a"))]), refused(503)]);
    let mut subscriber = subscriber(&producer).await;
    let expected = ["lost 1", "lost 2", "lost 4", "connected true", "evt_1", "lost 1", "lost 2"];
    assert_eq!(heard(&mut subscriber, 7).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_is_silent_for_half_a_minute_is_left_and_a_sign_of_life_keeps_it() {
    let producer = accepting();
    let beat = || Piece::Text(":\n\n".into());
    producer.streams([Ok(vec![Piece::Silence(29), beat(), Piece::Silence(29), beat(), Piece::Silence(31)])]);
    let mut subscriber = subscriber(&producer).await;
    let listening = async { heard(&mut subscriber, 2).await };
    let early = tokio::time::timeout(Duration::from_secs(87), listening).await;
    assert!(early.is_err(), "it was left too early");
    let late = tokio::time::timeout(Duration::from_secs(3), heard(&mut subscriber, 1)).await;
    assert_eq!(late.unwrap(), ["lost 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_the_producer_forgot_or_closed_is_made_anew() {
    let producer = accepting();
    let close = json!({ "type": "subscription.close", "subscription_id": "sub_2", "reason_code": "too_slow" });
    let closed = Piece::Text(format!("event: aaep.close\ndata: {close}\n\n"));
    producer.streams([
        refused(404),
        Ok(vec![piece(&question(1, "rpl_a")), closed]),
        Ok(vec![piece(&question(1, "rpl_a"))]),
    ]);
    let mut subscriber = subscriber(&producer).await;
    let expected = ["lost 1", "connected true", "evt_1", "closed", "lost 1", "connected true", "evt_1"];
    assert_eq!(heard(&mut subscriber, 7).await, expected);
    assert_eq!(subscriber.accepted().subscription_id, "sub_3");
    let subscriptions: Vec<String> = resumed(&producer).into_iter().map(|(sub, _)| sub).collect();
    assert_eq!(subscriptions, ["sub_1", "sub_2", "sub_3"]);
    assert_eq!(resumed(&producer)[2].1, "", "another subscription's event ids mean nothing there");
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_no_longer_wants_us_ends_it() {
    let producer = accepting();
    producer.streams([refused(404)]);
    let mut subscriber = subscriber(&producer).await;
    let no = json!({ "type": "subscription.rejected", "reason_code": "authorization_denied", "reason_message": "No." });
    producer.answers("/aaep/v1/subscriptions", [answer(403, &no)]);
    assert_eq!(heard(&mut subscriber, 1).await, ["lost 1"]);
    assert!(matches!(subscriber.next().await, Err(SubscribeError::Rejected(_))));
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_entry_is_reported_and_does_not_stop_the_rest() {
    let producer = accepting();
    producer.streams([Ok(vec![Piece::Text("data: nonsense\n\n".into()), piece(&question(1, "rpl_a"))])]);
    let mut subscriber = subscriber(&producer).await;
    assert_eq!(heard(&mut subscriber, 3).await, ["connected true", "unreadable", "evt_1"]);
}

#[tokio::test(start_paused = true)]
async fn to_stop_waiting_and_to_go_on_loses_nothing() {
    let producer = accepting();
    let whole = match piece(&question(1, "rpl_a")) {
        Piece::Text(text) => text,
        other => panic!("{other:?}"),
    };
    let (begin, rest) = whole.split_at(40);
    producer.streams([Ok(vec![Piece::Text(begin.into()), Piece::Silence(10), Piece::Text(rest.into())])]);
    let mut subscriber = subscriber(&producer).await;
    let early = tokio::time::timeout(Duration::from_secs(1), listen(&mut subscriber, 1)).await;
    assert!(early.is_err());
    let Received::Event(event) = next_event(&mut subscriber).await else { panic!() };
    assert_eq!(event.envelope.event_id, "evt_1");
}
