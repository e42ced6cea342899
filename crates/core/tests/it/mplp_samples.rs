//! Learning samples of a decision, and the details they must not contain (MPLP 5).

use crate::mplp_rows::{
    CONFIRM_ID, CONTEXT_ID, DECIDED, PLAN_ID, STEPS, accepted, asked, asked_about, asked_plan, ballot, cancelled,
    clarification, every_end, expired, plan, project, rejected, settled, sound,
};
use countersign_core::{
    mplp::{
        question,
        samples::{WITHHELD, samples},
    },
    records::{Decision, Plan, Question},
};
use countersign_protocol::{hash::Digest, project::ProjectDocument};
use serde_json::{Value, json};

const NOTHING: [Value; 0] = [];

fn consenting() -> ProjectDocument {
    project(json!({ "learning": { "personal_data": true } }))
}

fn written(decision: &Decision, plan: Option<&Plan>, project: &ProjectDocument) -> Vec<Value> {
    let all = samples(decision, plan, project, &Digest::of(b"leaf"));
    all.iter().map(|sample| sound("learning-sample", sample)).collect()
}

/// One sample of each family, for a decision about the plan.
fn of_plan(decision: &Decision) -> (Value, Value) {
    let all = written(decision, Some(&asked_plan(CONFIRM_ID)), &consenting());
    let [confirm, intent] = <[Value; 2]>::try_from(all).unwrap();
    sound("learning-sample-intent", &intent);
    (confirm, intent)
}

/// MPLP-5-01
#[test]
fn nothing_is_learned_before_a_decision_nor_from_an_answer_in_words() {
    assert_eq!(written(&asked(), None, &consenting()), NOTHING);
    let answered = json!({ "is": "answered", "by": ballot("approver"), "response": "The second", "confidence": null });
    assert_eq!(written(&settled(&clarification(), answered), None, &consenting()), NOTHING);
    assert_eq!(written(&cancelled(&clarification(), "revoked", None), None, &consenting()), NOTHING);
}

/// MPLP-5-01, MPLP-5-02
#[test]
fn every_decision_is_one_sample_and_that_of_a_plan_one_of_each_family() {
    for target in ["context", "trace", "extension", "other"] {
        for decision in every_end(&asked_about(target, PLAN_ID)) {
            let families: Vec<Value> = written(&decision, Some(&plan()), &consenting());
            assert_eq!(families.iter().map(|one| &one["sample_family"]).collect::<Vec<_>>(), ["confirm_decision"]);
        }
    }
    for decision in every_end(&asked_about("plan", PLAN_ID)) {
        let (confirm, intent) = of_plan(&decision);
        assert_eq!(
            (&confirm["sample_family"], &intent["sample_family"]),
            (&json!("confirm_decision"), &json!("intent_resolution"))
        );
        assert_ne!(confirm["sample_id"], intent["sample_id"]);
        assert_eq!(confirm["created_at"], json!(DECIDED.to_rfc3339()));
    }
    // A decision about another plan yields no sample of this one.
    let other = written(&accepted(&asked_about("plan", STEPS[0]), None), Some(&plan()), &consenting());
    assert_eq!(other.len(), 1);
}

/// MPLP-5-02
#[test]
fn a_sample_is_the_same_one_whenever_it_is_rendered() {
    let (decision, project) = (rejected(&asked_about("plan", PLAN_ID), None), consenting());
    let of = |seed: &[u8]| samples(&decision, Some(&asked_plan(CONFIRM_ID)), &project, &Digest::of(seed));
    assert_eq!(of(b"leaf"), of(b"leaf"));
    assert_ne!(of(b"leaf")[0].sample_id, of(b"another")[0].sample_id);
}

/// MPLP-5-03
#[test]
fn a_plans_sample_names_the_plan_and_its_objective() {
    let (_, intent) = of_plan(&accepted(&asked_about("plan", PLAN_ID), None));
    let input = json!({
        "intent_id": PLAN_ID, "raw_request_summary": "Carol is paid", "intent_text": "Carol is paid",
        "context": { "context_id": CONTEXT_ID },
    });
    assert_eq!(intent["input"], input);
    assert_eq!(intent["output"]["final_intent_summary"], "Carol is paid");
    assert_eq!(intent["output"]["plan_id"], PLAN_ID);
    assert_eq!(intent["output"]["plan_step_count"], 3);
    assert_eq!(intent["output"]["plan_structure"][1]["step_id"], STEPS[1]);
}

/// MPLP-5-03
#[test]
fn a_sample_has_the_plan_of_its_decision_and_no_later_edit() {
    let mut edited = asked_plan(CONFIRM_ID);
    edited.document.objective = "Something else".into();
    let asked = Decision { question: Question::Confirmation(question::about(&plan())), ..about_plan() };
    let all = written(&rejected(&asked, None), Some(&edited), &consenting());
    assert_eq!(all[1]["input"]["raw_request_summary"], "Carol is paid");
    // After a new proposal the stored plan differs; the old question still has the old content.
    let mut later = asked_plan(STEPS[0]);
    later.document.objective = "Something else".into();
    later.document.steps.truncate(1);
    later.asked.as_mut().unwrap().document = later.document.clone();
    let all = written(&rejected(&asked, None), Some(&later), &consenting());
    sound("learning-sample-intent", &all[1]);
    assert!(all[1]["input"]["raw_request_summary"].as_str().unwrap().contains("Carol is paid"));
    assert!(!all[1].to_string().contains("Something else"));
    assert_eq!(all[1]["output"]["plan_step_count"], 3);
    assert_eq!(all[1]["output"]["plan_structure"][2]["step_id"], STEPS[2]);
    let silent = written(&rejected(&asked, None), Some(&later), &project(json!({})));
    assert!(!serde_json::to_string(&silent).unwrap().contains("Carol"));
}

fn about_plan() -> Decision {
    asked_about("plan", PLAN_ID)
}

/// MPLP-5-04
#[test]
fn an_approval_is_good_and_a_rejection_poor_with_the_reason_of_that_decision() {
    let about = asked_about("plan", PLAN_ID);
    let feedback = |kind, quality, details| json!({ "source": "user", "type": kind, "quality_label": quality, "details": details });
    let cases = [
        (accepted(&about, Some("As agreed")), feedback("approval", "good", "As agreed"), "good", "approved", "approve"),
        (rejected(&about, Some("Too much")), feedback("rejection", "poor", "Too much"), "bad", "rejected", "reject"),
    ];
    for (decision, feedback, quality, label, word) in cases {
        let (confirm, intent) = of_plan(&decision);
        for sample in [&confirm, &intent] {
            assert_eq!(sample["feedback"], feedback);
            assert_eq!(sample["meta"]["human_feedback_label"], label);
        }
        assert_eq!(intent["output"]["resolution_quality_label"], quality);
        assert_eq!(
            confirm["output"],
            json!({ "decision": word, "reasoning": feedback["details"], "decided_by_role": "approver" })
        );
    }
    let (_, silent) = of_plan(&accepted(&about, None));
    assert_eq!(silent["feedback"], json!({ "source": "user", "type": "approval", "quality_label": "good" }));
}

/// MPLP-5-05
#[test]
fn a_cancellation_is_no_judgement() {
    let about = asked_about("plan", PLAN_ID);
    for decision in [expired(&about, "accept"), expired(&about, "reject"), cancelled(&about, "withdrawn", Some("No"))] {
        let (confirm, intent) = of_plan(&decision);
        for sample in [&confirm, &intent] {
            assert_eq!(sample["meta"]["human_feedback_label"], "not_reviewed");
            assert_eq!(sample.get("feedback"), None);
        }
        assert_eq!(intent["output"]["resolution_quality_label"], "unknown");
        assert_eq!(confirm["output"]["decision"], "cancel");
    }
}

/// MPLP-5-01
#[test]
fn the_sample_of_a_decision_has_the_question_and_its_risk() {
    let [sample] = <[Value; 1]>::try_from(written(&accepted(&asked(), None), None, &consenting())).unwrap();
    let input =
        json!({ "confirm_id": CONFIRM_ID, "target_type": "other", "target_id": CONFIRM_ID, "risk_label": "high" });
    assert_eq!(sample["input"], input);
    let mut by = ballot("admin");
    by["by_override"] = json!(true);
    let accepted = json!({ "is": "accepted", "by": by });
    let locked = Decision { governance: serde_json::from_value(json!({ "locked": true })).unwrap(), ..asked() };
    assert_eq!(written(&settled(&locked, accepted.clone()), None, &consenting())[0]["output"]["decision"], "override");
    assert_eq!(written(&settled(&asked(), accepted), None, &consenting())[0]["output"]["decision"], "approve");
}

/// MPLP-5-02, MPLP-5-03
#[test]
fn without_consent_no_word_of_people_or_agents_is_exported() {
    let about = asked_about("plan", PLAN_ID);
    let reason = Some("Carol's words");
    for decision in [accepted(&about, reason), rejected(&about, reason), cancelled(&about, "withdrawn", reason)] {
        let all = written(&decision, Some(&asked_plan(CONFIRM_ID)), &project(json!({})));
        sound("learning-sample-intent", &all[1]);
        let text = serde_json::to_string(&all).unwrap();
        for word in ["Carol", "bob", "Robert", "82,000", "Move"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert_eq!(all[1]["input"]["intent_text"], WITHHELD);
        assert_eq!(all[1]["output"]["final_intent_summary"], WITHHELD);
        assert_eq!(all[1]["output"]["plan_structure"][1]["dependencies"], json!([STEPS[0]]));
        assert_eq!(all[1]["output"]["plan_structure"][1]["description"], WITHHELD);
    }
}
