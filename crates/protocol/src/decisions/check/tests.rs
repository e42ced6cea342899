#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;

fn asked(change: Value) -> Vec<MemberProblem> {
    let mut body = json!({ "action": "Pay the invoice", "consequence": "82 leave the account" });
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    serde_json::from_value::<ConfirmationRequest>(body).unwrap().problems()
}

fn clarified(change: Value) -> Vec<MemberProblem> {
    let mut body = json!({ "question": "Which account?" });
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    serde_json::from_value::<ClarificationRequest>(body).unwrap().problems()
}

fn named(problems: &[MemberProblem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.member.as_str()).collect()
}

/// AAEP-SCHEMA-11, AAEP-SCHEMA-12, AAEP-SCHEMA-17, AAEP-SCHEMA-18, AAEP-SCHEMA-19
#[test]
fn texts_and_times_have_the_bounds_of_the_event() {
    for (member, least, most) in [
        ("action", 1, 16384),
        ("consequence", 1, 16384),
        ("summary_terse", 1, 4096),
        ("summary_normal", 1, 16384),
        ("summary_detailed", 1, 16384),
        ("idempotency_key", 1, 256),
        ("correlation_id", 0, 256),
    ] {
        for (length, fits) in [(least, true), (most, true), (most + 1, false)] {
            let found = asked(json!({ member: "ä".repeat(length) }));
            assert_eq!(found.is_empty(), fits, "{member} of {length}: {found:?}");
        }
        let nothing = asked(json!({ member: "" }));
        assert_eq!(nothing.is_empty(), least == 0, "{member}: {nothing:?}");
    }
    for (seconds, fits) in [(0, false), (1, true), (86_400, true), (86_401, false)] {
        assert_eq!(asked(json!({ "timeout_seconds": seconds })).is_empty(), fits, "{seconds}");
        assert_eq!(clarified(json!({ "timeout_seconds": seconds })).is_empty(), fits, "{seconds}");
    }
}

/// AAEP-SCHEMA-28
#[test]
fn allowed_replies_are_some_and_each_once_and_the_default_is_one_of_them() {
    assert_eq!(named(&asked(json!({ "allowed_replies": [] }))), ["allowed_replies", "default_decision"]);
    assert_eq!(named(&asked(json!({ "allowed_replies": ["reject", "reject"] }))), ["allowed_replies"]);
    let found = asked(json!({ "allowed_replies": ["reject"], "default_decision": "accept" }));
    assert_eq!(named(&found), ["default_decision"]);
    assert!(asked(json!({ "allowed_replies": ["accept"] })).is_empty(), "policy may have a default that fits");
}

/// AAEP-6.5.2-07
#[test]
fn choices_are_offered_where_one_may_be_the_answer() {
    let choices = |n: usize| (0..n).map(|n| json!({ "value": n.to_string(), "label": "x" })).collect::<Vec<_>>();
    let chosen = |n| clarified(json!({ "accepted_response_kinds": ["multiple_choice"], "choices": choices(n) }));
    for (n, fits) in [(1, false), (2, true), (32, true), (33, false)] {
        assert_eq!(chosen(n).is_empty(), fits, "{n}");
    }
    assert_eq!(named(&clarified(json!({ "accepted_response_kinds": ["multiple_choice"] }))), ["choices"]);
    assert_eq!(named(&clarified(json!({ "choices": choices(2) }))), ["choices"]);
    assert!(!clarified(json!({ "question": "" })).is_empty());
}

#[test]
fn members_outside_of_events_are_judged_too_under_their_own_names() {
    for (member, wrong) in [
        ("tool", json!("9lives")),
        ("tool", json!("")),
        ("tool", json!("t".repeat(257))),
        ("language", json!("not a tag")),
        ("language", json!("")),
    ] {
        assert_eq!(named(&asked(json!({ member: wrong }))), [member], "{wrong}");
    }
    assert!(asked(json!({ "tool": "payments.send", "arguments": { "n": 1 }, "language": "de-CH" })).is_empty());
}

#[test]
fn credentials_in_words_for_people_are_refused_by_the_members_name_alone() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for member in ["action", "consequence", "summary_normal", "correlation_id"] {
        let found = asked(json!({ member: format!("use {secret}") }));
        assert_eq!(named(&found), [member]);
        assert!(!format!("{found:?}").contains(secret));
    }
    assert_eq!(named(&asked(json!({ "extra_context": { "note": secret } }))), ["extra_context"]);
    assert_eq!(named(&clarified(json!({ "context": secret }))), ["context"]);
}

#[test]
fn members_of_the_body_alone_are_no_part_of_the_event() {
    let id = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
    let body = json!({ "tool": "payments.send", "arguments": {}, "language": "de", "clarification_session_id": id });
    assert_eq!(named(&asked(body)), [""; 0]);
}
