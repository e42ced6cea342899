use super::*;
use serde_json::json;

fn asked(more: Value) -> View {
    let mut open = json!({
        "decision_id": "dec_1", "event_id": "evt_1", "session_id": "sess_1", "kind": "confirmation",
        "action": "Pay $82,000\u{1b}[2J to Acme", "consequence": "The money leaves", "words": "agent",
        "agent_id": "robot", "operator": "acme.example", "risk_level": "high", "irreversible": true,
        "default_decision": "reject", "language": "en", "asked_at": "2026-09-21T14:13:20Z",
        "deadline": "2026-09-21T14:23:20Z", "latest": "2026-09-21T14:23:20Z", "assurance": "token", "page": "p",
        "offer": { "kind": "decide", "approve": true, "reject": true },
    });
    open.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    View::from(&serde_json::from_value::<OpenQuestion>(open).unwrap())
}

fn at(text: &str) -> UnixMillis {
    UnixMillis::parse_rfc3339(text).unwrap()
}

#[test]
fn a_confirmation_is_read_out_with_everything_that_decides_it() {
    let lines = asked(json!({})).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Question 1 needs your approval: “Pay $82,000␛[2J to Acme”",
        "Requested by: acme.example (verified domain)",
        "Consequence: “The money leaves”",
        "Risk: high. This cannot be undone",
        "Text: the agent's own words, which nobody has checked",
        "Time left: 3 minutes 20 seconds. Without an answer it does not run",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn rendered_text_and_the_default_without_an_answer_are_labelled() {
    let view = asked(json!({ "words": "owner", "default_decision": "accept", "operator": null, "irreversible": false,
        "risk_level": "low", "last_ran_at": "2026-09-20T00:00:00Z" }));
    let lines = view.lines("Question 2", at("2026-09-21T14:23:19Z"));
    for line in [
        "Requested by: the agent robot",
        "Text: rendered by the service from the request; values of the request are in quotes",
        "Risk: low. This can be undone",
        "Ran before: exactly this last ran at 2026-09-20T00:00:00.000Z",
        "Time left: 1 second. Without an answer it may run",
    ] {
        assert!(lines.iter().any(|told| told == line), "{line}: {lines:?}");
    }
}

///
#[test]
fn a_request_for_scopes_is_read_out_with_each_scope_and_its_end() {
    let scopes = json!([{ "id": "calendar.write", "description": "Change events\u{1b}[2J" }]);
    let view = asked(
        json!({ "kind": "scope_expansion", "words": "owner", "irreversible": false, "risk_level": "medium",
        "action": "Allow more for one task: Change events (calendar.write)", "consequence": "The task may then do this.",
        "scope_expansion": { "session_id": "sess_9", "scopes": scopes, "until": "2026-09-22T00:00:00Z" } }),
    );
    let expected = [
        "Question 1 needs your approval: Allow more for one task: Change events (calendar.write)",
        "Requested by: acme.example (verified domain)",
        "Consequence: The task may then do this.",
        "Scope calendar.write: Change events␛[2J",
        "An approval ends with the task “sess_9”, at 2026-09-22T00:00:00.000Z at the latest. Calls that need an approval are still held",
        "Text: the service's, about its own permissions",
        "Time left: 3 minutes 20 seconds. Without an answer nothing more is allowed",
    ];
    assert_eq!(view.lines("Question 1", at("2026-09-21T14:20:00Z")), expected);
    assert_eq!(view.how("1"), asked(json!({})).how("1"));
    let json = view.json(at("2026-09-21T14:20:00Z"));
    assert_eq!((&json["kind"], &json["scope_expansion"]["scopes"]), (&json!("scope_expansion"), &scopes));
}

#[test]
fn a_clarification_is_read_out_with_its_numbered_choices() {
    let view = asked(json!({ "kind": "clarification", "action": null, "consequence": null, "risk_level": null,
        "question": "Which one?", "accepted_response_kinds": ["multiple_choice"],
        "choices": [{ "value": "a", "label": "London" }, { "value": "b", "label": "Lagos" }] }));
    let lines = view.lines("Question 1", at("2026-09-21T14:13:20Z"));
    assert_eq!(lines[0], "Question 1 asks: “Which one?”");
    assert!(lines.contains(&"Choice 2: “Lagos”".to_owned()), "{lines:?}");
    assert_eq!(view.how("1"), "To answer: 1 and one of its choices. For more time: 1 more");
    let confirmation = "To answer: 1 approve, or 1 reject and your reason. For more time: 1 more";
    assert_eq!(asked(json!({})).how("1"), confirmation);
}

#[test]
fn a_duration_is_words() {
    let told: Vec<String> = [0, 1, 59, 60, 61, 3600, 7265].map(duration).to_vec();
    let expected = ["none", "1 second", "59 seconds", "1 minute", "1 minute 1 second", "1 hour", "2 hours 1 minute"];
    assert_eq!(told, expected);
}

fn clarified(answers: Value, more: usize) -> Value {
    json!({ "session_id": ID, "rounds": 1, "chain_head": format!("sha256:{}", "0".repeat(64)), "answers": answers, "more": more })
}

const ID: &str = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";

///
#[test]
fn a_deviation_from_a_plan_is_read_out_line_by_line() {
    let argument =
        json!({ "kind": "argument", "name": "amount", "is": "101 EUR", "was": { "within": { "at_most": "100 EUR" } } });
    let deviation = json!({ "plan_id": ID, "plan_title": "“Pay”", "step_id": ID, "deviations": [argument, { "kind": "asks_again" }] });
    let view = asked(json!({ "deviation": deviation }));
    let lines = view.lines("Question 1", at("2026-09-21T14:20:00Z"));
    for line in ["amount is 101 EUR, at most 100 EUR", "its risk requires an approval of every call"] {
        assert!(lines.contains(&format!("Deviation from the plan: {line}")), "{lines:?}");
    }
    assert_eq!(view.json(at("2026-09-21T14:20:00Z"))["plan_difference"][0], "amount is 101 EUR, at most 100 EUR");
}

/// WWA-6.2-06
#[test]
fn clarifications_are_read_out_with_the_author_of_each_answer() {
    let answer = |answer: &str, by: &str| json!({ "field": "from", "question": "?", "answer": answer, "given_by": by });
    let clarified = clarified(json!([answer("main\u{1b}", "person"), answer("accept", "own")]), 3);
    let lines = asked(json!({ "clarification": clarified })).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Answered by a person: for “from” the answer is “main␛”",
        "Answered by the agent itself: for “from” the answer is “accept”",
        "Clarified: and 3 more",
    ];
    assert_eq!(lines.get(4..7).unwrap(), expected);
}

/// an agent's answer cannot end its quotes, begin a line or imitate the statement of its source.
#[test]
fn an_agents_answer_never_looks_like_a_persons() {
    let forged = "main”, answered by a person\nAnswered by a person: for “from” the answer is “main";
    let answer = json!({ "field": "from", "question": "?", "answer": forged, "given_by": "own" });
    let clarified = clarified(json!([answer]), 0);
    let lines = asked(json!({ "clarification": clarified })).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("by a person")).collect();
    let [line] = told.as_slice() else { panic!("{lines:?}") };
    assert!(
        line.starts_with("Answered by the agent itself: for “from” the answer is “main[U+201D], answered"),
        "{line}"
    );
    assert_eq!((line.matches('“').count(), line.matches('”').count(), line.contains('\n')), (2, 2, false), "{line}");
}

///
#[test]
fn an_agents_words_stand_in_quotes_and_turn_nothing_round() {
    let view =
        asked(json!({ "action": "Pay 1 USD”. Text: rendered by the service\n\u{202e}", "consequence": "None." }));
    let lines = view.lines("Question 1", at("2026-09-21T14:20:00Z"));
    assert_eq!(lines[0], "Question 1 needs your approval: “Pay 1 USD[U+201D]. Text: rendered by the service␊[U+202E]”");
    assert_eq!(crate::table::sentence(&lines[1]), "Requested by: acme.example (verified domain).");
    assert_eq!(crate::table::sentence(&lines[2]), "Consequence: “None.”");
}

fn of_a_request() -> Value {
    json!({
        "sentence": "Transfer 82000.00 USD to “Acme Supplies”", "consequence": "The money leaves.",
        "details": [
            { "place": "body", "name": "to.name", "value": "Acme Supplies", "kind": "text", "named_in": ["action"] },
            { "place": "body", "name": "to.iban", "value": "GB29 \u{202e}”. Risk: low", "kind": "text" },
            { "place": "query", "name": "dry", "value": "false", "kind": "literal" },
            { "place": "header", "name": "if-match", "value": "\u{410}cme", "kind": "text",
              "lookalikes": [{ "word": "\u{410}cme", "reads_as": "Acme", "characters": ["U+0410"] }] },
        ],
    })
}

///
#[test]
fn every_part_of_a_request_missing_in_the_sentence_is_read_out_as_running() {
    let view = asked(json!({ "action": "all of it", "words": "owner", "runs": of_a_request() }));
    let lines = view.lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Question 1 needs your approval: Transfer 82000.00 USD to “Acme Supplies”",
        "Requested by: acme.example (verified domain)",
        "Consequence: The money leaves.",
        "Risk: high. This cannot be undone",
        "Also sent: body to.iban: “GB29 [U+202E][U+201D]. Risk: low”",
        "Also sent: query dry: false",
        "Also sent: header if-match: “\u{410}[U+0410]cme”",
        "Beware: “\u{410}[U+0410]cme” in header if-match reads like “Acme” and has letters of another alphabet: U+0410",
    ];
    assert_eq!(lines.get(..8).unwrap(), expected);
    assert_eq!(view.json(at("2026-09-21T14:20:00Z"))["runs"]["details"].as_array().unwrap().len(), 4);
}

///
#[test]
fn tool_and_arguments_of_an_agents_question_stand_apart_from_its_words() {
    let detail = json!({ "place": "argument", "name": "to", "value": "acct-9", "kind": "text" });
    let runs = json!({ "sentence": "Say hello", "consequence": "None", "tool": "payments.send", "details": [detail] });
    let lines = asked(json!({ "runs": runs })).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Question 1 needs your approval: “Say hello”",
        "Requested by: acme.example (verified domain)",
        "Consequence: “None”",
        "Risk: high. This cannot be undone",
        "Tool: payments.send",
        "Tool argument to: “acct-9”",
    ];
    assert_eq!(lines.get(..6).unwrap(), expected);
}

///
#[test]
fn questions_that_read_the_same_name_their_differences() {
    let paying = |invoice: &str| {
        let mut runs = of_a_request();
        let detail = json!({ "place": "body", "name": "invoice", "value": invoice, "kind": "text" });
        runs["details"].as_array_mut().unwrap().push(detail);
        asked(json!({ "words": "owner", "runs": runs }))
    };
    let named = |n: usize, view: View| (format!("Question {n}"), view);
    let mut views = [named(1, paying("inv-7")), named(2, paying("inv-8")), named(3, asked(json!({})))];
    tell_apart(&mut views);
    let told = views.map(|(name, view)| view.lines(&name, at("2026-09-21T14:20:00Z")));
    assert!(
        told[0].contains(&"Reads like Question 2. This one differs in: body invoice: “inv-7”".to_owned()),
        "{told:?}"
    );
    assert!(
        told[1].contains(&"Reads like Question 1. This one differs in: body invoice: “inv-8”".to_owned()),
        "{told:?}"
    );
    assert!(!told[2].iter().any(|line| line.starts_with("Reads like")), "{told:?}");
    let mut same = [named(1, paying("inv-7")), named(2, paying("inv-7"))];
    tell_apart(&mut same);
    let line = "Reads like Question 2, and permits exactly the same call".to_owned();
    assert!(same[0].1.lines("Question 1", at("2026-09-21T14:20:00Z")).contains(&line));
}

/// The transcript in the README is this output, line by line.
#[test]
fn the_readme_shows_a_held_refund_as_the_inbox_prints_it() {
    let detail = |name: &str, value: &str, kind: &str| json!({ "place": "body", "name": name, "value": value, "kind": kind, "named_in": ["action"] });
    let runs = json!({
        "sentence": "Refund 19.90 for payment “p-1”", "consequence": "The service receives exactly this request, once.",
        "details": [detail("payment_id", "p-1", "text"), detail("amount", "19.90", "text")],
    });
    let view = asked(json!({ "words": "owner", "runs": runs }));
    let mut lines = view.lines("Question 1", at("2026-09-21T14:18:28Z"));
    lines.push(view.how("1"));
    let (first, rest) = lines.split_first().unwrap();
    let rest: String = rest.iter().map(|line| format!("  {}\n", crate::table::sentence(line))).collect();
    let printed = format!("\n{}\n{rest}\n", crate::table::sentence(first));
    let readme = include_str!("../../../../../../README.md");
    assert!(readme.contains(&printed), "{printed}");
}
