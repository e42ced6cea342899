use super::{AnswerableGap, BadRule, CaseFailed, Finding, Rules, TooManyGaps, Unusable};
use countersign_protocol::clarification::{AnswerKind, ClarificationPolicy, Operation, Severity};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Arbitrary JSON with awkward names and texts.
pub(super) fn plans() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[ab~/0.]{0,3}", ".{0,8}", Just("the usual one".to_owned()), Just("gdpr".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let name = prop_oneof![
        "[ab~/0]{0,2}",
        ".{0,4}",
        Just("components".to_owned()),
        Just("compliance".to_owned()),
        Just("build".to_owned()),
        Just("mode".to_owned()),
        Just("languages".to_owned()),
    ];
    leaf.prop_recursive(5, 60, 6, move |below| {
        prop_oneof![
            proptest::collection::vec(below.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(name.clone(), below, 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

fn policy(rules: Value) -> ClarificationPolicy {
    serde_json::from_value(json!({ "pack": false, "rules": rules })).unwrap()
}

/// A rule with a default question and context.
fn rule(id: &str, with: Value) -> Value {
    let mut rule = json!({ "id": id, "question": "what about {field}?", "context": "because" });
    rule.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    rule
}

fn found(rules: Value, plan: Value) -> Vec<Finding> {
    Rules::compile(&policy(rules)).unwrap().findings(&plan).unwrap()
}

fn fields(rules: Value, plan: Value) -> Vec<String> {
    found(rules, plan).into_iter().map(|finding| finding.field).collect()
}

fn bad(with: Value) -> BadRule {
    Rules::compile(&policy(json!([rule("r", with)]))).unwrap_err()
}

#[test]
fn a_rule_that_cannot_be_applied_is_refused_by_rule_and_member() {
    let base = |with: Value| {
        let mut rule = json!({ "kind": "required", "field": "a.b" });
        rule.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        rule
    };
    for (with, member) in [
        (base(json!({ "field": "a..b" })), "field"),
        (base(json!({ "field": "a[*]" })), "field"),
        (base(json!({ "question": " \u{200b}" })), "question"),
        (base(json!({ "question": "{value}?" })), "question"),
        (base(json!({ "context": "" })), "context"),
        (base(json!({ "context": "x".repeat(2001) })), "context"),
        (base(json!({ "suggestions": ["a", "A "] })), "suggestions"),
        (base(json!({ "suggestions": [" "] })), "suggestions"),
        (base(json!({ "suggestions": ["Accept"] })), "suggestions"),
        (base(json!({ "suggestions": ["ten"], "answer": "number" })), "suggestions"),
        (base(json!({ "suggestions_exclusive": true })), "suggestions_exclusive"),
        (base(json!({ "when": [{ "field": "a" }] })), "when"),
        (base(json!({ "when": [{ "field": "a", "one_of": [] }] })), "when"),
        (base(json!({ "when": [{ "field": "a", "one_of": [1], "present": true }] })), "when"),
        (base(json!({ "when": [{ "field": "", "present": true }] })), "when"),
        (json!({ "kind": "ambiguous", "fields": [], "phrases": ["x"] }), "fields"),
        (json!({ "kind": "ambiguous", "fields": ["**"], "phrases": [] }), "phrases"),
        (json!({ "kind": "ambiguous", "fields": ["**"], "phrases": ["…"] }), "phrases"),
        (
            json!({ "kind": "ambiguous", "fields": ["**"], "phrases": ["some"], "suggestions": ["some one"] }),
            "suggestions",
        ),
        (json!({ "kind": "overlap", "field": "a", "pairs": [], "confirmed_in": "b" }), "pairs"),
        (
            json!({ "kind": "overlap", "field": "a", "pairs": [{ "selected": "x", "overlaps": "" }], "confirmed_in": "b" }),
            "pairs",
        ),
        (
            json!({ "kind": "overlap", "field": "a", "pairs": [{ "selected": "x", "overlaps": "y" }], "confirmed_in": "b[*]" }),
            "confirmed_in",
        ),
        (
            json!({ "kind": "mismatch", "fields": ["a"], "jurisdictions": { "x": "US" }, "decided_in": "b" }),
            "jurisdictions",
        ),
        (
            json!({ "kind": "mismatch", "fields": ["a"], "jurisdictions": { "x": "US", "y": " " }, "decided_in": "b" }),
            "jurisdictions",
        ),
        (
            json!({ "kind": "mismatch", "fields": ["a"], "jurisdictions": { "x": "US", "y": "UK" }, "decided_in": "**" }),
            "decided_in",
        ),
        (
            json!({ "kind": "layout", "field": "a", "languages": ["ar-sa"], "layout_in": "b", "layout": "rtl" }),
            "languages",
        ),
        (json!({ "kind": "layout", "field": "a", "languages": ["ar"], "layout_in": "b", "layout": "" }), "layout"),
        (json!({ "kind": "input", "field": "a", "equals": [], "needs": ["b"] }), "equals"),
        (json!({ "kind": "input", "field": "a", "equals": [1], "needs": [] }), "needs"),
        (json!({ "kind": "input", "field": "a[*].b", "equals": [1], "needs": ["c[*].d"] }), "needs"),
        (json!({ "kind": "input", "field": "a.**", "equals": [1], "needs": ["b"] }), "field"),
    ] {
        let why = bad(with.clone());
        assert_eq!((why.rule.as_str(), why.member.as_str()), ("r", member), "{with}: {why}");
    }
}

#[test]
fn an_id_is_one_rules_alone_and_every_problem_is_named() {
    let required = json!({ "kind": "required", "field": "a" });
    let twice = policy(json!([rule("r", required.clone()), rule("r", required.clone())]));
    assert_eq!(Rules::compile(&twice).unwrap_err().member, "id");
    let several = policy(json!([
        rule("a b", required.clone()),
        rule("ok", required),
        rule("c", json!({ "kind": "required", "field": "" }))
    ]));
    let problems: Vec<_> = Rules::problems(&several).into_iter().map(|bad| (bad.rule, bad.member)).collect();
    assert_eq!(problems, [("a b".into(), "id".into()), ("c".into(), "field".into())]);
}

#[test]
fn a_projects_rule_takes_the_place_of_the_built_in_one_with_its_id() {
    let own = rule("component-type", json!({ "kind": "required", "field": "parts[*].type" }));
    let policy: ClarificationPolicy = serde_json::from_value(json!({ "rules": [own] })).unwrap();
    let rules = Rules::compile(&policy).unwrap();
    let plan = json!({ "components": [{}], "parts": [{}], "x": "the usual one" });
    let found: Vec<_> = rules.findings(&plan).unwrap().into_iter().map(|found| found.field).collect();
    assert_eq!(found, ["x", "parts[0].type"]);
    let off = ClarificationPolicy { pack: false, ..ClarificationPolicy::default() };
    assert_eq!(Rules::compile(&off).unwrap().findings(&plan), Ok(vec![]));
}

#[test]
fn a_required_member_is_asked_for_in_every_parent_that_is_there() {
    let rules = || json!([rule("r", json!({ "kind": "required", "field": "a.*.b" }))]);
    for plan in [
        json!({}),
        json!({ "a": [] }),
        json!({ "a": { "x": "text" } }),
        json!({ "a": { "x": { "b": 0 } } }),
        json!(null),
    ] {
        assert!(fields(rules(), plan.clone()).is_empty(), "{plan}");
    }
    let plan = json!({ "a": { "x": {}, "y": { "b": "\t" }, "z.w": { "b": null }, "ok": { "b": [] } } });
    assert_eq!(fields(rules(), plan), ["a.x.b", "a.y.b", r#"a["z.w"].b"#]);
}

#[test]
fn a_phrase_is_found_only_where_its_rule_looks() {
    let rules = || {
        json!([
            rule("named", json!({ "kind": "ambiguous", "fields": ["env", "hosts[*]"], "phrases": ["prod"] })),
            rule("anywhere", json!({ "kind": "ambiguous", "fields": ["**"], "phrases": ["that one"] })),
        ])
    };
    let plan =
        json!({ "env": "prod", "hosts": ["a", "Prod!"], "note": "prod", "deep": [{ "x": "that  one" }], "prod": 1 });
    assert_eq!(fields(rules(), plan), ["env", "hosts[1]", "deep[0].x"]);
    assert!(fields(rules(), json!({ "env": "production", "note": "that" })).is_empty());
}

#[test]
fn an_overlap_is_asked_about_until_it_is_confirmed() {
    let pairs = json!([{ "selected": "A 1", "overlaps": "B" }, { "selected": "A 1", "overlaps": "C" }]);
    let rules = || {
        json!([rule(
            "r",
            json!({
                "kind": "overlap", "field": "list", "pairs": pairs, "confirmed_in": "ok",
                "question": "{value}: {selected} and {overlaps}?",
            })
        )])
    };
    for plan in [json!({ "list": ["a"] }), json!({ "list": { "x": "a-1" } }), json!({ "list": "a-11" })] {
        assert!(fields(rules(), plan.clone()).is_empty(), "{plan}");
    }
    let all = found(rules(), json!({ "list": ["a-1"], "ok": { "a-1-c": true } }));
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].pointer.as_str(), all[0].severity), ("/ok/a-1-b", Severity::Warn));
    assert_eq!(all[0].question, "“a-1”: A 1 and B?");
    assert_eq!(fields(rules(), json!({ "list": "A_1" })), ["ok.a-1-b", "ok.a-1-c"]);
}

#[test]
fn values_of_different_jurisdictions_are_asked_about_until_it_is_decided() {
    let rules = || {
        json!([rule(
            "r",
            json!({
                "kind": "mismatch", "fields": ["a", "b[*].c"], "decided_in": "d.e",
                "jurisdictions": { "x": "US", "x y": "US", "z": "UK" }, "suggestions": ["{each} wins", "ask", "{all}"],
            })
        )])
    };
    for plan in [
        json!({ "a": "x" }),
        json!({ "a": ["x", "x y"] }),
        json!({ "a": "x", "d": { "e": "x" } }),
        json!({ "a": "x", "c": "z" }),
    ] {
        let plan_fields = fields(rules(), json!({ "p": plan.clone() }));
        assert!(plan_fields.is_empty());
        assert!(fields(rules(), plan.clone()).is_empty(), "{plan}");
    }
    let all = found(rules(), json!({ "a": "X", "b": [{ "c": "the Z rules" }] }));
    assert_eq!(all[0].field, "d.e");
    assert_eq!(all[0].suggestions, ["x wins", "z wins", "ask", "both"]);
}

#[test]
fn a_language_is_asked_about_until_its_layout_is_named() {
    let rules = || {
        json!([rule(
            "r",
            json!({
                "kind": "layout", "field": "l", "languages": ["ar", "arab"], "layout_in": "d", "layout": "rtl",
                "question": "{values}, {layout}?",
            })
        )])
    };
    for plan in [
        json!({ "l": ["en", "arc", "en-ar"] }),
        json!({ "l": "ar", "d": "RTL" }),
        json!({ "l": "ar", "d": ["ltr", "rtl"] }),
        json!({ "l": "ar", "d": "accept" }),
    ] {
        assert!(fields(rules(), plan.clone()).is_empty(), "{plan}");
    }
    let all = found(rules(), json!({ "l": ["AR_sa", "en", "az-Arab-IR"], "d": "ltr" }));
    assert_eq!((all[0].field.as_str(), all[0].question.as_str()), ("d", "“AR_sa” and “az-Arab-IR”, rtl?"));
    let block = rule(
        "r",
        json!({ "kind": "layout", "severity": "BLOCK", "field": "l", "languages": ["ar"], "layout_in": "d", "layout": "rtl" }),
    );
    assert_eq!(fields(json!([block]), json!({ "l": "ar", "d": "accept" })), ["d"], "accept settles no BLOCK");
}

#[test]
fn an_input_is_needed_by_the_very_item_that_causes_it() {
    let rules = || {
        json!([rule(
            "r",
            json!({
                "kind": "input", "field": "builds[*].mode", "equals": ["real", 1], "needs": ["builds[*].out.dir", "key"],
                "question": "{cause} is {value}: {field}?",
            })
        )])
    };
    let plan = json!({ "builds": [{ "mode": "dry" }, { "mode": "Real" }, { "mode": 1.0, "out": { "dir": "x" } }], "key": "k" });
    let all = found(rules(), plan);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].pointer, "/builds/1/out/dir");
    assert_eq!(all[0].question, "“builds[1].mode” is “Real”: “builds[1].out.dir”?");
    assert_eq!(fields(rules(), json!({ "builds": [{ "mode": 1, "out": { "dir": "x" } }] })), ["key"]);
}

#[test]
fn a_rule_counts_only_where_all_its_conditions_hold() {
    let with = |when: Value| json!([rule("r", json!({ "kind": "required", "field": "a", "when": when }))]);
    let both = json!([{ "field": "kind", "one_of": ["web", 2] }, { "field": "tags[*]", "present": false }]);
    assert_eq!(fields(with(both.clone()), json!({ "kind": "WEB" })), ["a"]);
    assert_eq!(fields(with(both.clone()), json!({ "kind": ["x", 2], "tags": [" "] })), ["a"]);
    for plan in [json!({}), json!({ "kind": "webs" }), json!({ "kind": "web", "tags": ["x"] })] {
        assert!(fields(with(both.clone()), plan.clone()).is_empty(), "{plan}");
    }
}

#[test]
fn one_place_is_asked_about_once_by_the_most_severe_rule_and_all_that_any_blocks_is_blocked() {
    let at_a = |id: &str, severity: &str, with: Value| {
        let mut all = json!({ "kind": "required", "field": "a", "severity": severity, "question": id });
        all.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        rule(id, all)
    };
    let one = |rules: Value| {
        let mut all = found(rules, json!({}));
        assert_eq!(all.len(), 1);
        all.remove(0)
    };
    let warn = at_a("warn", "WARN", json!({ "blocked_operations": ["attest"], "person": true }));
    let block = at_a("block", "BLOCK", json!({ "blocked_operations": ["build"], "person": false }));
    for rules in [json!([warn, block]), json!([block, warn])] {
        let merged = one(rules);
        assert_eq!(
            (merged.rule.as_str(), merged.severity, merged.question.as_str()),
            ("block", Severity::Block, "block")
        );
        assert_eq!(merged.blocked, [Operation::Build, Operation::Attest]);
        assert_eq!(merged.person, Some(true), "R-14: who demands a person gets one");
    }
    let open = at_a("open", "WARN", json!({}));
    assert_eq!(one(json!([block, open])).person, Some(false), "a WARN without a word about it demands nobody");
    assert_eq!(one(json!([block, at_a("by-case", "BLOCK", json!({}))])).person, None);
    assert_eq!(one(json!([open, at_a("late", "WARN", json!({}))])).rule, "open");
}

/// WWA-4-23
#[test]
fn more_gaps_than_a_message_carries_are_refused_and_as_many_are_not() {
    let rules = Rules::compile(&policy(json!([rule("r", json!({ "kind": "required", "field": "a[*].b" }))]))).unwrap();
    let plan = |n: usize| json!({ "a": vec![json!({}); n] });
    assert_eq!(rules.findings(&plan(64)).unwrap().len(), 64);
    assert_eq!(rules.findings(&plan(65)), Err(TooManyGaps::Gaps));
    let deep = json!({ "a": { "x".repeat(16_385): {} } });
    let rules = Rules::compile(&policy(json!([rule("r", json!({ "kind": "required", "field": "a.*.b" }))]))).unwrap();
    assert!(matches!(rules.findings(&deep), Err(TooManyGaps::Text { member: "pointer", .. })));
}

#[test]
fn the_same_finding_has_the_same_fingerprint_and_any_other_another() {
    let one = |value: &str, with: Value| {
        let mut all = json!({ "kind": "ambiguous", "fields": ["**"], "phrases": ["that"], "question": "{value}?" });
        all.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        found(json!([rule("r", all)]), json!({ "a": value, "other": 1 })).remove(0).fingerprint()
    };
    let plain = one("that", json!({}));
    assert_eq!(plain, one("that", json!({})));
    for other in [
        one("that there", json!({})),
        one("that", json!({ "context": "else" })),
        one("that", json!({ "suggestions": ["x"] })),
        one("that", json!({ "severity": "WARN" })),
        one("that", json!({ "person": true })),
        one("that", json!({ "answer": "number" })),
        one("that", json!({ "blocked_operations": ["build"] })),
    ] {
        assert_ne!(plain, other);
    }
}

fn judge(
    severity: Severity,
    suggestions: &[&str],
    exclusive: bool,
    answer: AnswerKind,
    text: &str,
) -> Result<String, Unusable> {
    let suggestions: Vec<String> = suggestions.iter().map(|text| (*text).to_owned()).collect();
    let asked = AnswerableGap { severity, suggestions: &suggestions, exclusive, answer };
    Rules::built_in().judge(&asked, text).map(|accepted| accepted.text)
}

#[test]
fn an_answer_that_says_nothing_is_none() {
    use AnswerKind::{Boolean, Number, Text};
    let block = |text: &str| judge(Severity::Block, &["x"], false, Text, text);
    assert_eq!(block(" \u{200b}\n"), Err(Unusable::Blank));
    assert_eq!(block(" ACCEPT "), Err(Unusable::AcceptOfBlock));
    assert_eq!(block("just take the  Usual one"), Err(Unusable::Ambiguous("the usual one".into())));
    assert_eq!(block(&"x".repeat(16_385)), Err(Unusable::Long));
    assert_eq!(
        judge(Severity::Warn, &["x", "y"], true, Text, "z"),
        Err(Unusable::NotSuggested(vec!["x".into(), "y".into()]))
    );
    for text in ["ten", "1,5", "0x10", "1e999", "NaN", "[1]", "9007199254740992"] {
        assert_eq!(judge(Severity::Block, &[], false, Number, text), Err(Unusable::NotANumber), "{text}");
    }
    assert_eq!(judge(Severity::Block, &[], false, Boolean, "yes"), Err(Unusable::NotABoolean));
}

#[test]
fn an_answer_is_a_suggestion_in_its_own_spelling_or_verbatim() {
    use AnswerKind::{Boolean, Number, Text};
    assert_eq!(judge(Severity::Block, &["JSP-440 only"], true, Text, " jsp-440  ONLY"), Ok("JSP-440 only".into()));
    assert_eq!(judge(Severity::Block, &["x"], false, Text, " A thing. "), Ok(" A thing. ".into()));
    assert_eq!(judge(Severity::Warn, &["x"], true, Text, "Accept"), Ok("accept".into()));
    assert_eq!(judge(Severity::Warn, &[], false, Number, "accept"), Ok("accept".into()));
    assert_eq!(judge(Severity::Block, &[], false, Number, "-12.50"), Ok("-12.50".into()));
    assert_eq!(judge(Severity::Block, &[], false, Boolean, "False"), Ok("False".into()));
    let long = "x".repeat(16_384);
    assert_eq!(judge(Severity::Block, &[], false, Text, &long), Ok(long.clone()));
}

#[test]
fn a_case_that_does_not_hold_names_missing_and_surplus_members() {
    let rules = Rules::compile(&policy(json!([rule("r", json!({ "kind": "required", "field": "a" }))]))).unwrap();
    let case = |gaps: Value| serde_json::from_value(json!({ "name": "c", "plan": {}, "gaps": gaps })).unwrap();
    let gap = |field: &str, severity: &str| json!({ "rule": "r", "field": field, "severity": severity });
    assert_eq!(rules.run_case(&case(json!([gap("a", "BLOCK")]))), Ok(()));
    let failed = |gaps: Value| rules.run_case(&case(gaps)).unwrap_err().to_string();
    assert_eq!(failed(json!([])), r#"case "c": found BLOCK of r at "a" as well"#);
    let twice = failed(json!([gap("a", "BLOCK"), gap("a", "BLOCK")]));
    assert_eq!(twice, r#"case "c": did not find BLOCK of r at "a""#);
    let other = failed(json!([gap("a", "WARN")]));
    assert_eq!(other, r#"case "c": did not find WARN of r at "a"; found BLOCK of r at "a" as well"#);
    let many = serde_json::from_value(json!({ "name": "m", "plan": { "a": "x", "b": 1 }, "gaps": [] })).unwrap();
    assert_eq!(rules.run_case(&many), Ok(()));
    assert!(matches!(rules.run_case(&case(json!([]))), Err(CaseFailed::Differs { .. })));
}

/// Resolves a dotted path, independently of the rules' own parser.
fn follow<'v>(plan: &'v Value, field: &str) -> Option<&'v Value> {
    let mut value = plan;
    let mut rest = field;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inside) = rest.strip_prefix("[\"") {
            let mut end = 0;
            let bytes = inside.as_bytes();
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            let name: String = serde_json::from_str(&format!("\"{}\"", &inside[..end])).unwrap();
            value = value.as_object()?.get(&name)?;
            rest = &inside[end + 2..];
        } else if let Some(inside) = rest.strip_prefix('[') {
            let (index, behind) = inside.split_once(']').unwrap();
            value = value.as_array()?.get(index.parse::<usize>().unwrap())?;
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            value = value.as_object()?.get(&rest[..end])?;
            rest = &rest[end..];
        }
    }
    Some(value)
}

proptest! {
    /// WWA-4-09
    #[test]
    fn in_every_plan_both_spellings_lead_to_one_place_that_exists_or_belongs_there(plan in plans()) {
        let rules = json!([
            rule("text", json!({ "kind": "ambiguous", "fields": ["**"], "phrases": ["a", "b", "0", "the usual one"] })),
            rule("a", json!({ "kind": "required", "field": "*.*.components" })),
            rule("b", json!({ "kind": "required", "field": "[*].mode" })),
        ]);
        let rules = Rules::compile(&policy(rules)).unwrap();
        for found in rules.findings(&plan).unwrap_or_default() {
            prop_assert!(!found.field.is_empty() && !found.pointer.is_empty());
            let (by_field, by_pointer) = (follow(&plan, &found.field), plan.pointer(&found.pointer));
            prop_assert_eq!(by_field.map(std::ptr::from_ref), by_pointer.map(std::ptr::from_ref));
            if by_pointer.is_none() {
                let (parent, _) = found.pointer.rsplit_once('/').unwrap();
                prop_assert!(plan.pointer(parent).is_some_and(Value::is_object));
            }
            let unseen = found.question.chars().any(|c| c.is_control() || c == char::from_u32(0x202e).unwrap());
            prop_assert!(!unseen, "{}", found.question);
        }
    }

    #[test]
    fn the_built_in_rules_read_any_plan(plan in plans()) {
        let first = Rules::built_in().findings(&plan);
        prop_assert_eq!(first, Rules::built_in().findings(&plan));
    }
}
