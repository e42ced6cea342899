use super::*;
use crate::aaep::{
    speech::Speech,
    testing::{Producer, at, described, received},
    trust::UnknownProducers,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn inbox() -> Inbox {
    Inbox::new(Trust::default())
}

fn apply(inbox: &mut Inbox, event: &Value, secs: i64) -> Vec<String> {
    described(&inbox.apply(&received(event), at(secs)))
}

fn open(inbox: &Inbox) -> Vec<&str> {
    inbox.questions().map(|question| question.event_id()).collect()
}

/// AAEP-SCHEMA-09
#[test]
fn a_question_is_announced_exactly_once_however_often_it_comes() {
    let (mut producer, mut inbox) = (Producer::ours(), inbox());
    let asked = producer.confirmation(1, 0, "rpl_A");
    assert_eq!(apply(&mut inbox, &asked, 0), ["asked evt_1"]);
    assert_eq!(apply(&mut inbox, &asked, 1), Vec::<String>::new());
    (0..5_000).for_each(|n| drop(apply(&mut inbox, &producer.progress(2, 2, n), 2)));
    assert_eq!(apply(&mut inbox, &asked, 3), Vec::<String>::new(), "not even after a flood");
    apply(&mut inbox, &producer.settlement(1, 4, "rpl_A", "accepted"), 4);
    assert_eq!(apply(&mut inbox, &asked, 5), Vec::<String>::new(), "nor when it is over");
    assert_eq!(open(&inbox), Vec::<&str>::new());
}

/// AAEP-6.8-05, AAEP-6.8-06
#[test]
fn a_cancelled_session_cancels_its_questions_with_one_event_each() {
    for producer in [Producer::ours(), Producer::foreign()] {
        let (mut producer, mut inbox) = (producer, inbox());
        for (session, token) in [(1, "rpl_A"), (1, "rpl_B"), (2, "rpl_C")] {
            apply(&mut inbox, &producer.confirmation(session, 0, token), 0);
        }
        let over = json!({ "cancelled_by": "user", "summary_normal": "Stopped." });
        let cancelled = producer.event(1, 1, "session.cancelled", over);
        assert_eq!(apply(&mut inbox, &cancelled, 1), ["over evt_1 withdrawn", "over evt_2 withdrawn"]);
        assert_eq!(apply(&mut inbox, &cancelled, 2), Vec::<String>::new());
        assert_eq!(open(&inbox), ["evt_3"], "what is asked elsewhere stays");
    }
}

/// AAEP-6.8-05
#[test]
fn every_other_end_of_a_session_ends_its_questions_too() {
    for (kind, more) in [("session.completed", json!({})), ("session.errored", json!({ "error_category": "unknown" }))]
    {
        let (mut producer, mut inbox) = (Producer::foreign(), inbox());
        apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 0);
        let mut over = more;
        over["summary_normal"] = json!("The end.");
        let ended = producer.event(1, 1, kind, over);
        assert_eq!(apply(&mut inbox, &ended, 1), ["over evt_1 session_over", "said The end."], "{kind}");
        assert!(inbox.question("evt_1").is_none());
    }
}

/// AAEP-6.8-05, AAEP-6.8-06
#[test]
fn a_foreign_agent_that_goes_on_no_longer_waits_for_a_person() {
    let (mut producer, mut inbox) = (Producer::foreign(), inbox());
    apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 0);
    let elsewhere = producer.state_change(2, 1, "awaiting_input", "thinking");
    assert_eq!(apply(&mut inbox, &elsewhere, 1), ["said Now thinking."]);
    let waiting = producer.state_change(1, 1, "thinking", "awaiting_input");
    assert_eq!(apply(&mut inbox, &waiting, 1), ["said Now awaiting_input."]);
    assert_eq!(open(&inbox), ["evt_1"]);
    let gone_on = producer.state_change(1, 2, "awaiting_input", "thinking");
    assert_eq!(apply(&mut inbox, &gone_on, 2), ["over evt_1 settled"]);
}

/// AAEP-6.8-05
#[test]
fn of_several_questions_in_one_session_only_the_one_that_was_settled_goes() {
    for settled in ["accepted", "rejected", "answered", "expired"] {
        let (mut producer, mut inbox) = (Producer::ours(), inbox());
        apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 0);
        apply(&mut inbox, &producer.confirmation(1, 0, "rpl_B"), 0);
        let other = producer.settlement(2, 1, "rpl_B", settled);
        assert_eq!(
            apply(&mut inbox, &other, 1),
            ["said Now calling_tool."],
            "another session's word counts for nothing"
        );
        assert_eq!(
            apply(&mut inbox, &producer.settlement(1, 1, "rpl_B", settled), 1),
            [format!("over evt_2 {settled}")]
        );
        apply(&mut inbox, &producer.state_change(1, 2, "awaiting_input", "thinking"), 2);
        assert_eq!(open(&inbox), ["evt_1"], "a state that names no decision settles none of ours");
    }
}

/// AAEP-6.4.3-04
#[test]
fn expiry_follows_timeout_seconds_and_is_no_rejection() {
    let (mut producer, mut inbox) = (Producer::ours(), inbox());
    apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 5);
    assert_eq!(inbox.question("dec_A").unwrap().deadline(), at(120), "from the event's time, not from when it came");
    assert!(inbox.tick(at(121)).is_empty(), "the producer's own word may still come");
    assert_eq!(inbox.next_due(), Some(at(122)));
    assert_eq!(described(&inbox.tick(at(122))), ["over evt_1 expired"]);
    assert_eq!(apply(&mut inbox, &producer.settlement(1, 120, "rpl_A", "expired"), 123), ["said Now calling_tool."]);
}

/// AAEP-6.4.3-03, AAEP-6.4.3-04
#[test]
fn countdown_events_are_surfaced_and_change_nothing() {
    let (mut producer, mut with, mut without) = (Producer::ours(), inbox(), inbox());
    let events = [
        producer.confirmation(1, 0, "rpl_A"),
        producer.time_left(1, 60, "rpl_A", 60_000),
        producer.confirmation(1, 70, "rpl_B"),
        producer.time_left(1, 108, "rpl_A", 12_000),
        producer.settlement(1, 110, "rpl_A", "rejected"),
    ];
    let mut heard = [Vec::new(), Vec::new()];
    for (event, secs) in events.iter().zip([0, 60, 70, 108, 110]) {
        heard[0].extend(apply(&mut with, event, secs));
        if event["type"] != "aaep:agent.progress.updated" {
            heard[1].extend(apply(&mut without, event, secs));
        }
        let deadlines = |inbox: &Inbox| inbox.questions().map(|q| q.deadline()).collect::<Vec<_>>();
        assert_eq!(deadlines(&with), deadlines(&without));
        assert_eq!(with.next_due(), without.next_due());
    }
    assert_eq!(heard[0], ["asked evt_1", "left evt_1 60", "asked evt_3", "left evt_1 12", "over evt_1 rejected"]);
    assert_eq!(heard[1], ["asked evt_1", "asked evt_3", "over evt_1 rejected"]);
}

#[test]
fn more_time_moves_the_deadline_and_a_smaller_number_never_does() {
    let (mut producer, mut inbox) = (Producer::ours(), inbox());
    apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 0);
    assert_eq!(apply(&mut inbox, &producer.time_left(1, 100, "rpl_A", 300_000), 100), ["more evt_1"]);
    assert_eq!(inbox.question("dec_A").unwrap().deadline(), at(400));
    apply(&mut inbox, &producer.time_left(1, 101, "rpl_A", 5_000), 101);
    assert_eq!(inbox.question("dec_A").unwrap().deadline(), at(400));
    let foreign = producer.time_left(2, 101, "rpl_A", 900_000);
    apply(&mut inbox, &foreign, 101);
    assert_eq!(inbox.question("dec_A").unwrap().deadline(), at(400), "another session cannot");
}

#[test]
fn a_late_subscriber_has_the_extended_deadline_and_can_still_answer() {
    let mut producer = Producer::ours();
    let asked = producer.confirmation(1, 0, "rpl_A");
    let mut again = asked.clone();
    again["extensions"]["dev_countersign"]["deadline"] = json!(at(400).to_rfc3339());
    let mut late = inbox();
    assert_eq!(apply(&mut late, &again, 200), ["asked evt_1"]);
    assert_eq!(late.question("dec_A").unwrap().deadline(), at(400));
    let mut back = inbox();
    apply(&mut back, &asked, 0);
    assert_eq!(apply(&mut back, &again, 100), ["more evt_1"]);
    let mut gone = inbox();
    apply(&mut gone, &asked, 0);
    assert_eq!(described(&gone.tick(at(130))), ["over evt_1 expired"], "as far as was known");
    assert_eq!(apply(&mut gone, &asked, 131), Vec::<String>::new());
    assert_eq!(apply(&mut gone, &again, 132), ["more evt_1"]);
    assert_eq!(gone.question("dec_A").unwrap().deadline(), at(400));
    apply(&mut gone, &producer.settlement(1, 133, "rpl_A", "rejected"), 133);
    assert_eq!(apply(&mut gone, &again, 134), Vec::<String>::new(), "what was settled stays so");
}

#[test]
fn after_a_new_subscription_questions_that_do_not_come_again_are_gone() {
    let (mut producer, mut inbox) = (Producer::foreign(), inbox());
    let (first, second) = (producer.confirmation(1, 0, "rpl_A"), producer.confirmation(2, 0, "rpl_B"));
    apply(&mut inbox, &first, 0);
    apply(&mut inbox, &second, 0);
    inbox.reset(at(10));
    assert_eq!(apply(&mut inbox, &second, 11), Vec::<String>::new());
    assert_eq!(inbox.next_due(), Some(at(20)));
    assert_eq!(described(&inbox.tick(at(20))), ["over evt_1 missed"]);
    assert_eq!(open(&inbox), ["evt_2"]);
}

#[test]
fn questions_that_the_service_does_not_list_are_no_longer_open() {
    let (mut producer, mut inbox) = (Producer::ours(), inbox());
    apply(&mut inbox, &producer.confirmation(1, 0, "rpl_A"), 0);
    apply(&mut inbox, &producer.confirmation(1, 0, "rpl_B"), 0);
    assert_eq!(described(&inbox.reconcile(&BTreeSet::from(["dec_B"]))), ["over evt_1 missed"]);
    assert_eq!(open(&inbox), ["evt_2"]);
}

/// AAEP-6.9-04
#[test]
fn unknown_producers_are_shown_marked_or_refused_as_the_person_decided() {
    let mut producer = Producer::ours();
    let events = [producer.confirmation(1, 0, "rpl_A"), producer.state_change(1, 0, "idle", "thinking")];
    let with = |unknown| Inbox::new(Trust { known: Some(vec!["other.example".into()]), unknown });
    let mut marking = with(UnknownProducers::ShowMarked);
    assert_eq!(apply(&mut marking, &events[0], 0), ["asked evt_1"]);
    assert!(!marking.question("dec_A").unwrap().is_of_known_producer());
    let Some(Announcement::Said(said)) = marking.apply(&received(&events[1]), at(0)).pop() else { panic!() };
    assert!(!said.known_producer);
    let mut refusing = with(UnknownProducers::Refuse);
    assert_eq!(apply(&mut refusing, &events[0], 0), ["refused acme.example"]);
    assert_eq!(apply(&mut refusing, &events[1], 0), Vec::<String>::new(), "told once");
    assert!(refusing.question("dec_A").is_none(), "there is nothing to answer");
    let mut knowing = Inbox::new(Trust { known: Some(vec!["acme.example".into()]), unknown: UnknownProducers::Refuse });
    assert_eq!(apply(&mut knowing, &events[0], 0), ["asked evt_1"]);
    assert!(knowing.question("dec_A").unwrap().is_of_known_producer());
}

/// AAEP-6.9-05, AAEP-6.9-06, AAEP-SCHEMA-09, AAEP-SCHEMA-10
#[test]
fn in_a_flood_of_ten_thousand_events_every_question_is_surfaced_in_order_and_first() {
    let (mut producer, mut inbox, mut speech) = (Producer::ours(), inbox(), Speech::default());
    let mut asked = Vec::new();
    for n in 0..10_000 {
        let event = match n % 3 {
            0 => producer.progress(n % 7, 0, n),
            1 => producer.state_change(n % 200, 0, "idle", &format!("state{n}")),
            _ => producer.event(
                n % 200,
                0,
                "tool.completed",
                json!({ "tool": "t", "status": "success", "summary_normal": "Done." }),
            ),
        };
        speech.push(inbox.apply(&received(&event), at(0)));
        if n % 500 == 250 {
            let question = producer.confirmation(n, 0, &format!("rpl_{n}"));
            asked.push(format!("asked {}", question["event_id"].as_str().unwrap()));
            speech.push(inbox.apply(&received(&question), at(0)));
        }
        assert!(speech.len() < 200, "what waits has a bound");
    }
    assert!(speech.take_dropped_count() > 9_000);
    let said = described(&std::iter::from_fn(|| speech.next_announcement()).collect::<Vec<_>>());
    assert_eq!(said[..asked.len()], asked);
    assert!(said[asked.len()..].iter().all(|rest| rest.starts_with("said")));
    assert_eq!(inbox.questions().count(), asked.len());
}

#[derive(Clone, Debug)]
enum Move {
    Ask(usize),
    Settle(usize, usize),
    Again(usize),
    Chatter(usize),
    CountDown(usize),
    End(usize),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        3 => (0..4_usize).prop_map(Move::Ask),
        2 => (0..4_usize, 0..20_usize).prop_map(|(session, which)| Move::Settle(session, which)),
        2 => (0..60_usize).prop_map(Move::Again),
        4 => (0..4_usize).prop_map(Move::Chatter),
        2 => (0..20_usize).prop_map(Move::CountDown),
        1 => (0..4_usize).prop_map(Move::End),
    ];
    proptest::collection::vec(one, 0..60)
}

proptest! {
    /// For any events in any order: a question is announced once when asked, once when over, in this order, and can be
    /// answered exactly in between.
    #[test]
    fn every_question_is_raised_once_and_ended_once(moves in moves()) {
        let (mut producer, mut inbox) = (Producer::ours(), inbox());
        let (mut sent, mut asked, mut heard) = (Vec::new(), Vec::new(), Vec::new());
        for step in moves {
            let event = match step {
                Move::Ask(session) => {
                    let token = format!("rpl_{}", asked.len());
                    let event = producer.confirmation(session, 0, &token);
                    asked.push((session, token));
                    event
                }
                Move::Settle(session, which) => producer.settlement(session, 0, &format!("rpl_{which}"), "accepted"),
                Move::Again(which) => match sent.get(which) { Some(event) => Value::clone(event), None => continue },
                Move::Chatter(session) => producer.progress(session, 0, 1),
                Move::CountDown(which) => match asked.get(which) {
                    Some((session, token)) => producer.time_left(*session, 0, token, 60_000),
                    None => continue,
                },
                Move::End(session) => producer.event(session, 0, "session.completed", json!({ "summary_normal": "x" })),
            };
            heard.extend(apply(&mut inbox, &event, 0));
            sent.push(event);
        }
        let questions = sent.iter().filter(|event| event["type"] == "aaep:agent.awaiting.confirmation");
        let ids: BTreeSet<&str> = questions.map(|event| event["event_id"].as_str().unwrap()).collect();
        for id in ids {
            prop_assert_eq!(heard.iter().filter(|h| **h == format!("asked {id}")).count(), 1);
            let over = heard.iter().filter(|h| h.starts_with(&format!("over {id} "))).count();
            prop_assert_eq!(over + usize::from(inbox.question(id).is_some()), 1);
        }
    }
}
