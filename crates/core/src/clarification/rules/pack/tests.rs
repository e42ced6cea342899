use crate::clarification::rules::{AnswerableGap, Finding, Rules, accepted_plan};
use countersign_protocol::clarification::{AnswerKind, Operation, Severity};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

fn only(plan: Value) -> Finding {
    let mut found = Rules::built_in().findings(&plan).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn asked(finding: &Finding) -> AnswerableGap<'_> {
    AnswerableGap {
        severity: finding.severity,
        suggestions: &finding.suggestions,
        exclusive: finding.exclusive,
        answer: finding.answer,
    }
}

/// The plan of each condition in Clarification 3, with its one expected gap.
fn conditions() -> [(Value, &'static str, Severity); 6] {
    [
        (json!({ "components": [{ "name": "button" }] }), "components[0].type", Severity::Block),
        (json!({ "library": "use the standard one" }), "library", Severity::Block),
        (json!({ "compliance": { "standards": ["GDPR"] } }), "compliance.overlaps.gdpr-lgpd", Severity::Warn),
        (
            json!({ "patterns": ["va.gov"], "compliance": { "standards": ["uk-mod"] } }),
            "compliance.jurisdiction",
            Severity::Block,
        ),
        (json!({ "languages": ["ar-sa"] }), "layout.direction", Severity::Warn),
        (json!({ "build": { "mode": "real" } }), "build.output_directory", Severity::Block),
    ]
}

/// WWA-3-01, WWA-3-02, WWA-3-03, WWA-3-04, WWA-3-05, WWA-3-06
#[test]
fn each_condition_gives_exactly_one_gap_at_its_field() {
    for (plan, field, severity) in conditions() {
        let found = only(plan);
        assert_eq!((found.field.as_str(), found.severity), (field, severity));
    }
}

/// WWA-3-01, WWA-3-02, WWA-3-03, WWA-3-04, WWA-3-05, WWA-3-06
#[test]
fn every_case_of_the_pack_holds_and_every_rule_has_one_that_finds_and_one_that_does_not() {
    for case in Rules::built_in_cases() {
        assert_eq!(Rules::built_in().run_case(case), Ok(()));
    }
    let found: HashSet<&str> =
        Rules::built_in_cases().iter().flat_map(|case| &case.gaps).map(|gap| gap.rule.as_str()).collect();
    let rules: HashSet<&str> = super::rules().iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(found, rules);
    assert!(Rules::built_in_cases().iter().filter(|case| case.gaps.is_empty()).count() >= rules.len());
}

/// WWA-4-11, WWA-4-12
#[test]
fn every_gap_asks_about_its_field_and_says_why() {
    let mut questions = HashSet::new();
    for (plan, field, _) in conditions() {
        let found = only(plan);
        let both = format!("{} {}", found.question, found.context);
        assert!(both.contains(&format!("“{field}”")), "{both}");
        assert!(found.question.ends_with('?') || found.question.contains("? "), "{}", found.question);
        assert!(!found.context.trim().is_empty());
        assert!(questions.insert(found.question), "two conditions ask the same");
    }
    let typeless = |components: Value| only(json!({ "components": components })).question;
    assert_ne!(typeless(json!([{}])), typeless(json!([{ "type": "a" }, {}])));
}

#[test]
fn the_published_plan_is_asked_about_with_the_published_suggestions() {
    let plan = json!({
        "compliance": { "standards": ["jsp-440"] }, "deployment_target": "uswds", "languages": ["en-gb"],
    });
    let found = only(plan);
    assert_eq!(found.suggestions, ["jsp-440-only", "uswds-only", "both"]);
    assert_eq!(found.blocked, [Operation::Planner, Operation::Developer, Operation::Build]);
    assert!(found.question.contains("“jsp-440” (UK) and “uswds” (US)"), "{}", found.question);
    let three = json!({ "standards": ["JSP 440", "VA.gov", "VS-NfD"] });
    assert_eq!(only(three).suggestions, ["jsp-440-only", "va-gov-only", "vs-nfd-only", "all"]);
}

#[test]
fn every_accepted_answer_settles_the_gap() {
    for (plan, ..) in conditions() {
        let found = only(plan.clone());
        let accept = (found.severity == Severity::Warn).then(|| "ACCEPT".to_owned());
        let own = (!found.exclusive).then(|| "something that is named".to_owned());
        for answer in found.suggestions.iter().cloned().chain(accept).chain(own) {
            let text = Rules::built_in().judge(&asked(&found), &answer).unwrap().text;
            let answers = [(found.pointer.as_str(), found.answer, text.as_str())];
            let accepted = accepted_plan(&plan, answers.into_iter()).unwrap();
            assert_eq!(Rules::built_in().findings(&accepted), Ok(vec![]), "{answer}");
        }
    }
}

/// Plans that meet any of the conditions, several times and together.
fn plans() -> impl Strategy<Value = Value> {
    let text = |texts: &'static [&'static str]| proptest::sample::select(texts);
    let component = proptest::option::of(text(&["banner", " ", "whatever fits", "input"]))
        .prop_map(|kind| kind.map_or(json!({ "name": "x" }), |kind| json!({ "type": kind })));
    let standards = text(&["gdpr", "EU GDPR", "jsp-440", "uk-mod", "VA.gov", "vs-nfd", "iso-27001"]);
    let languages = text(&["en", "ar-sa", "he", "az-Arab", "de-CH", "wie immer"]);
    (
        proptest::collection::vec(component, 0..4),
        proptest::collection::vec(standards, 0..4),
        proptest::collection::vec(languages, 0..3),
        text(&["uswds", "gov.uk", "the usual", "aws"]),
        proptest::option::of(text(&["real", "REAL", "dry-run"])),
        proptest::option::of(text(&["ltr", "rtl", "", "tbd"])),
    )
        .prop_map(|(components, standards, languages, target, mode, direction)| {
            let mut plan = json!({
                "components": components, "compliance": { "standards": standards }, "languages": languages,
                "deployment_target": target, "build": { "mode": mode },
            });
            if let Some(direction) = direction {
                plan["layout"] = json!({ "direction": direction });
            }
            plan
        })
}

proptest! {
    /// WWA-4-09, WWA-4-10, WWA-4-11, WWA-4-12
    #[test]
    fn every_plan_is_clear_once_its_gaps_are_answered(plan in plans(), picks in proptest::collection::vec(0_usize..8, 64)) {
        let rules = Rules::built_in();
        let mut plan = plan;
        // An answer may open another gap; four passes settle every plan.
        for _ in 0..4 {
            let found = rules.findings(&plan).unwrap();
            for (finding, pick) in found.iter().zip(&picks) {
                prop_assert!(!finding.question.trim().is_empty() && !finding.context.trim().is_empty());
                prop_assert!(!finding.field.is_empty() && finding.pointer.starts_with('/'));
                let own = "named-exactly".to_owned();
                let answer = finding.suggestions.get(pick % (finding.suggestions.len() + 1));
                let answer = answer.or(finding.suggestions.first()).unwrap_or(&own);
                let accepted = rules.judge(&asked(finding), answer).unwrap();
                plan = accepted_plan(&plan, [(finding.pointer.as_str(), AnswerKind::Text, accepted.text.as_str())].into_iter()).unwrap();
                // Another rule may ask at the same place, now that the value differs.
                let same = |left: &Finding| left.pointer == finding.pointer && left.rule == finding.rule;
                prop_assert!(!rules.findings(&plan).unwrap().iter().any(same), "{finding:?} is still there");
            }
        }
        prop_assert_eq!(rules.findings(&plan), Ok(vec![]));
    }
}
