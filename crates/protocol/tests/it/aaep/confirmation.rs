//! The confirmation request, member by member (AAEP 6 and its schema).

use super::documents::{event, ingest, with, without};
use crate::judge;
use countersign_protocol::aaep::{
    check,
    event::Payload,
    ingest::{IngestedEvent, published},
};
use serde_json::{Value, json};

const NAME: &str = "agent.awaiting.confirmation";

/// Asserts that ingest and all validators of emitted events refuse the value and name the member.
#[track_caller]
fn refused(member: &str, value: Value) {
    let told = |problems: Vec<check::MemberProblem>| problems.iter().any(|problem| problem.member.starts_with(member));
    let event = with(event(NAME), member, value.clone());
    assert!(told(published(&with(ingest(NAME), member, value)).unwrap_err()), "{member} was not named");
    assert!(told(check::event(&event)), "{member} was not named");
    assert!(!judge::problems(NAME, &event).is_empty(), "our schema passes it");
}

#[track_caller]
fn taken(member: &str, value: Value) {
    accepted(&with(ingest(NAME), member, value.clone()));
    judge::judge_event(&with(event(NAME), member, value));
}

#[track_caller]
fn accepted(document: &Value) -> IngestedEvent {
    published(document).unwrap_or_else(|problems| panic!("refused: {problems:?}"))
}

#[track_caller]
fn texts(member: &str, most: usize) {
    refused(member, json!(""));
    refused(member, json!("a".repeat(most + 1)));
    refused(member, json!(7));
    taken(member, json!("a"));
    taken(member, json!("a".repeat(most)));
    // Characters, not bytes.
    taken(member, json!("ẹ".repeat(most / 2)));
}

/// AAEP-SCHEMA-06
#[test]
fn each_required_member_is_missed_by_every_judge() {
    let members = ["type", "action", "consequence", "reply_token", "timeout_seconds", "default_decision"];
    for member in members {
        let event = without(event(NAME), member);
        let found = check::event(&event);
        assert!(found.iter().any(|problem| problem.member == member), "{member}: {found:?}");
        assert!(!judge::problems(NAME, &event).is_empty(), "our schema does not miss {member}");
        if judge::published().is_some() {
            assert!(!judge::published_problems(NAME, &event).is_empty(), "the published schema does not miss {member}");
        }
    }
    for member in members.into_iter().filter(|member| *member != "reply_token") {
        assert!(published(&without(ingest(NAME), member)).is_err(), "{member} was not missed at ingest");
    }
}

/// AAEP-SCHEMA-07
#[test]
fn the_full_form_of_the_type_is_taken_for_the_compact_one_and_never_emitted() {
    for wrong in [
        json!("aaep:agent.awaiting.permission"),
        json!("agent.awaiting.confirmation"),
        json!("AAEP:agent.awaiting.confirmation"),
        json!("https://aaep-protocol.org/vocab/v1#agent.awaiting.confirmation"),
        json!("http://aaep-protocol.org/types/agent.awaiting.confirmation"),
        json!(""),
        json!(1),
    ] {
        refused("type", wrong);
    }
    let full = json!("https://aaep-protocol.org/types/agent.awaiting.confirmation");
    let taken = accepted(&with(ingest(NAME), "type", full.clone()));
    assert_eq!(serde_json::to_value(&taken.payload).unwrap()["type"], "aaep:agent.awaiting.confirmation");
    let emitted = with(event(NAME), "type", full);
    assert!(!check::event(&emitted).is_empty() && !judge::problems(NAME, &emitted).is_empty());
}

/// AAEP-SCHEMA-08
#[test]
fn urgency_is_required_and_critical() {
    for wrong in [json!("normal"), json!("background"), json!("Critical"), json!(null)] {
        refused("urgency", wrong);
    }
    assert!(published(&without(ingest(NAME), "urgency")).is_err());
    assert!(!check::event(&without(event(NAME), "urgency")).is_empty());
    taken("urgency", json!("critical"));
}

/// AAEP-SCHEMA-11, AAEP-SCHEMA-12
#[test]
fn action_and_consequence_have_1_to_16384_characters() {
    texts("action", 16384);
    texts("consequence", 16384);
}

/// AAEP-SCHEMA-17, AAEP-SCHEMA-18, AAEP-SCHEMA-19
#[test]
fn summaries_are_bounded_and_may_be_absent() {
    texts("summary_terse", 4096);
    texts("summary_normal", 16384);
    texts("summary_detailed", 16384);
    for member in ["summary_terse", "summary_normal", "summary_detailed"] {
        accepted(&without(ingest(NAME), member));
        judge::judge_event(&without(event(NAME), member));
    }
}

/// AAEP-SCHEMA-14, AAEP-6.2.1-01
#[test]
fn a_reply_token_is_rpl_and_1_to_64_letters_and_digits() {
    let of = |length: usize| json!(format!("rpl_{}", "a".repeat(length)));
    for wrong in [of(0), of(65), json!("rpl_a-b"), json!("rpl_a_b"), json!("rpl_ab\n"), json!("RPL_ab"), json!("rpl_ä")]
    {
        refused("reply_token", wrong);
    }
    taken("reply_token", of(1));
    taken("reply_token", of(64));
    taken("reply_token", json!("rpl_aZ09"));
}

/// AAEP-SCHEMA-15
#[test]
fn timeout_seconds_is_an_integer_from_1_to_86400() {
    for wrong in [json!(0), json!(86401), json!(1.5), json!("60"), json!(-1), json!(null)] {
        refused("timeout_seconds", wrong);
    }
    taken("timeout_seconds", json!(1));
    taken("timeout_seconds", json!(86400));
    // In JSON this is an integer, too.
    taken("timeout_seconds", json!(60.0));
    let Payload::AwaitingConfirmation(asked) = accepted(&with(ingest(NAME), "timeout_seconds", json!(60.0))).payload
    else {
        panic!("another event")
    };
    assert_eq!(asked.timeout_seconds, 60);
}

/// AAEP-SCHEMA-16, AAEP-SCHEMA-20, AAEP-SCHEMA-22
#[test]
fn a_word_that_the_protocol_does_not_have_is_refused() {
    for member in ["default_decision", "risk_level", "reversibility"] {
        for wrong in [json!("maybe"), json!(""), json!("Reject"), json!("High"), json!(true), json!(["reject"])] {
            refused(member, wrong);
        }
    }
    for risk in ["low", "medium", "high"] {
        taken("risk_level", json!(risk));
    }
    for word in ["reversible", "reversible_with_effort", "irreversible"] {
        taken("reversibility", json!(word));
    }
}

/// AAEP-SCHEMA-21
#[test]
fn irreversible_is_true_or_false() {
    for wrong in [json!("true"), json!(1), json!(null)] {
        refused("irreversible", wrong);
    }
    taken("irreversible", json!(false));
}

/// AAEP-SCHEMA-23, AAEP-SCHEMA-24
#[test]
fn allowed_replies_are_accept_and_reject_or_one_of_them() {
    let many: Vec<String> = (0..33).map(|n| format!("reply_{n}")).collect();
    for wrong in [json!([]), json!(["reject", "reject"]), json!(many), json!(["reject", "snooze"]), json!("reject")] {
        refused("allowed_replies", wrong);
    }
    taken("allowed_replies", json!(["reject"]));
    taken("allowed_replies", json!(["reject", "accept"]));
    let Payload::AwaitingConfirmation(asked) = accepted(&without(ingest(NAME), "allowed_replies")).payload else {
        panic!("another event")
    };
    assert_eq!(asked.allowed_replies, None);
}

/// AAEP-SCHEMA-28
#[test]
fn the_default_is_one_of_the_allowed_replies() {
    let mild =
        without(with(with(ingest(NAME), "irreversible", json!(false)), "risk_level", json!("low")), "reversibility");
    let asked = |allowed: Value, default: &str| {
        with(with(mild.clone(), "allowed_replies", allowed), "default_decision", json!(default))
    };
    assert!(published(&asked(json!(["reject"]), "accept")).is_err());
    assert!(published(&asked(json!(["accept"]), "reject")).is_err());
    accepted(&asked(json!(["reject"]), "reject"));
    accepted(&asked(json!(["accept"]), "accept"));
}

/// AAEP-SCHEMA-25
#[test]
fn extra_context_is_an_object_if_it_is_there() {
    for wrong in [json!([]), json!("x"), json!(null), json!(1)] {
        refused("extra_context", wrong);
    }
    accepted(&without(ingest(NAME), "extra_context"));
    taken("extra_context", json!({}));
}

/// AAEP-SCHEMA-27
#[test]
fn a_member_at_the_top_that_nobody_defines_is_refused_by_name() {
    refused("amount_raw", json!(82_000));
    taken("extra_context", json!({ "amount_raw": 82_000 }));
    taken("extensions", json!({ "org_shop": { "amount_raw": 82_000 } }));
    for translation in ["summary_normal_yo", "summary_terse_de-CH", "summary_detailed_zh_Hant_TW"] {
        let taken = accepted(&with(ingest(NAME), translation, json!("Ṣé kí n san?")));
        assert!(!serde_json::to_string(&taken.payload).unwrap().contains(translation), "it is not passed on");
        assert!(!check::event(&with(event(NAME), translation, json!("x"))).is_empty(), "nobody emits it");
    }
    refused("summary_normal_", json!("x"));
    refused("summary_short_yo", json!("x"));
}

/// Every combination of reversibility, risk and default decision.
///
/// AAEP-6.4.1-01, AAEP-6.4.1-02, AAEP-6.4.1-03, AAEP-6.4.1-04, AAEP-6.4.1-08, AAEP-6.4.1-09, AAEP-SCHEMA-04
#[test]
fn nothing_irreversible_and_nothing_of_high_risk_is_done_when_nobody_answers() {
    let maybe = |values: &[Value]| values.iter().cloned().map(Some).chain([None]).collect::<Vec<_>>();
    let flags = maybe(&[json!(true), json!(false)]);
    let words = maybe(&[json!("reversible"), json!("reversible_with_effort"), json!("irreversible")]);
    let risks = maybe(&[json!("low"), json!("medium"), json!("high")]);
    for (flag, word, risk) in product(&flags, &words, &risks) {
        let irreversible = flag == Some(json!(true)) || word == Some(json!("irreversible"));
        let harmless = !irreversible && risk != Some(json!("high"));
        let of = |default: &str| {
            let mut event = with(event(NAME), "default_decision", json!(default));
            for (member, value) in [("irreversible", &flag), ("reversibility", &word), ("risk_level", &risk)] {
                match value {
                    Some(value) => event[member] = value.clone(),
                    None => event = without(event, member),
                }
            }
            event
        };
        judge::judge_event(&of("reject"));
        let hopeful = of("accept");
        assert_eq!(published(&hopeful).is_ok(), harmless, "{hopeful:#}");
        assert_eq!(check::event(&hopeful).is_empty(), harmless, "{hopeful:#}");
        assert_eq!(judge::problems(NAME, &hopeful).is_empty(), harmless, "{hopeful:#}");
    }
}

fn product<T: Clone>(a: &[T], b: &[T], c: &[T]) -> Vec<(T, T, T)> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| c.iter().map(move |c| (a.clone(), b.clone(), c.clone()))).collect()
}
