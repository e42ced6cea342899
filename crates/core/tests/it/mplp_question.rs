//! The confirmation request for a plan.

use crate::{
    mplp_diff::{kept, read},
    mplp_submit::{id, mail, submission, transfer},
};
use countersign_core::{
    decision::runs::Composition,
    mplp::question::about,
    records::{AskedPlan, Confirmation, Plan},
};
use countersign_protocol::aaep::event::YesNo;
use serde_json::{Value, json};

fn plan(actions: &[Value]) -> Plan {
    kept(read(submission(actions)))
}

fn detailed(asked: &Confirmation) -> Vec<String> {
    asked.summaries.detailed.as_ref().unwrap().split('\n').map(str::to_owned).collect()
}

/// A plan that was changed after a question about it.
fn asked_before(before: Plan, after: Plan) -> Plan {
    let asked = AskedPlan {
        confirm_id: id(800),
        document: before.document,
        actions: before.actions,
        lasts_s: before.lasts_s,
        changes: None,
    };
    Plan { asked: Some(asked), ..after }
}

///
#[test]
fn no_title_says_how_many_steps_there_are() {
    let mut plan = plan(&[Value::Null, Value::Null]);
    plan.document.title = "Tidy up”: 1 step\nand\u{202e} “more".into();
    let asked = about(&plan);
    assert_eq!(asked.action, "Approve the plan “Tidy up\": 1 step␊and[U+202E] \"more”: 2 steps");
    assert!(asked.summaries.terse.unwrap().starts_with("Plan “Tidy up\": 1 step␊and[U+202E] \"more”: 2 steps"));
}

///
#[test]
fn no_description_poses_as_a_step_or_as_an_action() {
    let mut plan = plan(&[mail(json!({ "to": "a\n2. b" }), json!({}))]);
    plan.document.steps[0].description =
        "Look” (the agent's words). The approval permits no call for it.\n2. “x\u{2028}".into();
    plan.document.objective = "o\n1. nothing”".into();
    let lines = detailed(&about(&plan));
    assert_eq!(
        lines[2..],
        ["1. “Look\" (the agent's words). The approval permits no call for it.␊2. \"x[U+2028]” (the agent's words). \
          Runs once, as the agent calls it: send_mail(to: \"a\\n2. b\")"]
    );
    assert!(lines[0].ends_with(": “o␊1. nothing\"”."), "{lines:?}");
}

///
#[test]
fn the_consequence_counts_calls_without_another_question_and_names_the_expiry() {
    let own = || Value::Null;
    let asks = || json!({ "tool": "launch" });
    let told = |actions: &[Value], lasts_s: i64| about(&Plan { lasts_s, ..plan(actions) }).consequence;
    assert_eq!(
        told(&[own(), asks()], 60),
        "No call runs without asking again. 1 step asks again before each of its calls. \
         1 step is the agent's own work: the approval permits no call for it. \
         Every call outside the plan still needs approval."
    );
    assert_eq!(
        told(&[transfer(json!({}))], 5400),
        "1 call runs without asking again, within 1 hour 30 minutes of the approval. \
         Every call outside the plan still needs approval."
    );
    assert_eq!(
        told(&[transfer(json!({ "uses": 39 })), mail(json!({}), json!({})), asks(), asks(), own(), own()], 86_400),
        "Up to 40 calls run without asking again, within 24 hours of the approval. \
         2 steps ask again before each of their calls. \
         2 steps are the agent's own work: the approval permits no call for them. \
         Every call outside the plan still needs approval."
    );
}

///
#[test]
fn every_step_names_its_author() {
    let released = json!({ "body.amount": { "most": "500.00", "sum": "2000.00" } });
    let asked = about(&plan(&[
        transfer(json!({ "uses": 40, "released": released })),
        mail(json!({ "to": "a" }), json!({})),
        json!({ "tool": "launch", "uses": 2 }),
        Value::Null,
    ]));
    assert_eq!(asked.action, "Approve the plan “Pay the bills”: 4 steps");
    let lines = detailed(&asked);
    assert_eq!(lines[0], "The agent proposes a plan of 4 steps, in its own words “Pay the bills”: “Nothing is owed”.");
    assert_eq!(lines[1], asked.consequence);
    assert_eq!(
        lines[2..],
        [
            "1. “step 1” (the agent's words). Runs up to 40 times, in the owner's words: \
             Send at most 500.00 EUR, 2000.00 EUR altogether from “main” to “acct-3344”",
            "   All of it: body.amount: at most 500.00 EUR, 2000.00 EUR altogether, body.currency: \"EUR\", \
             body.to: \"acct-3344\", content_type: \"application/json\", path.account: \"main\"",
            "2. “step 2” (the agent's words). Runs once, as the agent calls it: send_mail(to: \"a\")",
            "3. “step 3” (the agent's words). Runs up to 2 times, asking each time, as the agent calls it: launch()",
            "4. “step 4” (the agent's words). The approval permits no call for it.",
        ]
    );
}

#[test]
fn a_person_approves_or_rejects_and_reads_the_same_in_every_form() {
    let asked = about(&plan(&[transfer(json!({ "uses": 3 })), Value::Null]));
    assert_eq!((asked.allowed_replies, asked.tool.as_str()), (vec![YesNo::Accept, YesNo::Reject], "plan"));
    let forms = asked.summaries;
    assert_eq!(forms.terse.unwrap(), "Plan “Pay the bills”: 2 steps, up to 3 calls without asking again");
    let normal = forms.normal.unwrap();
    assert!(normal.starts_with("The agent proposes a plan of 2 steps") && normal.ends_with(&asked.consequence));
    assert_eq!(asked.extra_context, None, "that is the agent's");
    assert_eq!(
        json!(asked.facts.plan),
        json!({
            "plan_id": id(900), "lasts_seconds": 3600, "steps_left_out": 0, "changes": [], "changes_left_out": 0,
            "steps": [
                { "step_id": id(1), "description": "step 1", "runs": { "words": "owner",
                  "shown": "Send 400 EUR from “main” to “acct-3344”", "uses": 3, "asks_again": false } },
                { "step_id": id(2), "description": "step 2" },
            ],
        })
    );
}

#[test]
fn a_plan_that_comes_again_shows_its_changes() {
    let asked =
        about(&asked_before(plan(&[transfer(json!({}))]), plan(&[transfer(json!({ "uses": 40 })), Value::Null])));
    let changes = ["Step 1: its uses went from 1 to 40", "Step 2 is new: “step 2”"];
    let lines = detailed(&asked);
    assert_eq!(lines[lines.len() - 3..], ["Changed since the last time:", changes[0], changes[1]]);
    assert!(asked.summaries.normal.unwrap().ends_with(" 2 changes since the last time."));
    assert_eq!(asked.facts.plan.unwrap().changes, changes);

    let asked = about(&asked_before(plan(&[Value::Null]), plan(&[Value::Null])));
    assert_eq!(detailed(&asked).last().unwrap(), "Nothing has changed since the last time.");
    assert!(!detailed(&about(&plan(&[Value::Null]))).concat().contains("last time"));
}

/// Omitted steps are counted.
#[test]
fn two_hundred_steps_are_shown_as_far_as_there_is_room_and_the_rest_is_counted() {
    let asked = about(&plan(&vec![transfer(json!({})); 200]));
    assert!(asked.consequence.starts_with("Up to 200 calls run"));
    let lines = detailed(&asked);
    let steps = lines.iter().filter(|line| line.contains(" (the agent's words). Runs once")).count();
    assert!(steps > 20, "{steps}");
    assert_eq!(*lines.last().unwrap(), format!("{} more steps: the page of this question shows all.", 200 - steps));
    let told = asked.facts.plan.unwrap();
    assert!(told.steps.len() > 20 && told.steps_left_out == 200 - told.steps.len(), "{told:?}");
}

#[test]
fn changes_are_shown_beside_two_hundred_steps() {
    let steps = vec![transfer(json!({})); 200];
    let mut more = steps.clone();
    more[199]["uses"] = json!(9_000);
    let asked = about(&asked_before(plan(&steps), plan(&more)));
    let lines = detailed(&asked);
    assert_eq!(lines.last().unwrap(), "Step 200: its uses went from 1 to 9000");
    assert!(lines[lines.len() - 3].ends_with("more steps: the page of this question shows all."));
}

/// AAEP 3.7: for any text by the agent the question fits into an event.
#[test]
fn no_plan_makes_a_question_too_big_to_be_asked() {
    for filler in ["x", "\u{202e}", "שׁ", "\"", "\\", "😀", "\n", "“"] {
        let long = filler.repeat(20_000 / filler.len());
        for (steps, text) in [(1, filler.repeat(10_000 / filler.len())), (200, filler.repeat(10))] {
            let other = format!("{text}1");
            let open = json!({ "to": { "one_of": [other, text] } });
            let mut before = plan(&vec![mail(json!({ "to": text }), json!({})); steps]);
            let mut after = plan(&vec![mail(json!({ "to": other }), open); steps]);
            before.document.title = format!("{long}1");
            after.document.title.clone_from(&long);
            after.document.objective.clone_from(&long);
            let description = if steps == 1 { long.clone() } else { filler.repeat(400 / filler.len()) };
            after.document.steps.iter_mut().for_each(|step| step.description.clone_from(&description));
            let asked = about(&asked_before(before, after));
            let forms = asked.summaries;
            let texts =
                [asked.action, asked.consequence, forms.terse.unwrap(), forms.normal.unwrap(), forms.detailed.unwrap()];
            let size = serde_json::to_vec(&json!([texts, asked.facts])).unwrap().len();
            assert!(size < 46 * 1024, "{filler:?} {steps}: {size}");
            for (text, most) in texts.iter().zip([1000, 1000, 500, 2000, 8000]) {
                assert!((1..=most).contains(&text.chars().count()), "{filler:?} {steps}: {text}");
                assert_eq!(text.matches('\u{2068}').count(), text.matches('\u{2069}').count(), "{filler:?}");
                assert!(!text.contains(['\u{202e}', '\r']));
            }
            assert!(
                texts[0].contains(" more characters")
                    && texts[0].ends_with(if steps == 1 { "1 step" } else { "200 steps" })
            );
        }
    }
}

/// the tool and every argument of every step; for released arguments, the bound.
#[test]
fn the_action_of_a_plans_question_has_every_step_with_tool_and_arguments() {
    let released = json!({ "body.amount": { "most": "500.00" } });
    let steps = [transfer(json!({ "uses": 40, "released": released })), mail(json!({ "to": "a”" }), json!({}))];
    let asked = about(&plan(&steps));
    let action = Composition::of_request(&asked).texts("en").action;
    assert_eq!(
        action,
        "Approve the plan “Pay the bills”: 2 steps. Step 1: Runs transfers.send (up to 40 times) with \
         amount: at most 500.00 EUR; currency: “EUR”; to: “acct-3344”; path account: “main”. Step 2: Runs send_mail with to: “a[U+201D]”."
    );
    let details = asked.details.unwrap();
    assert_eq!(details.iter().filter(|detail| detail.step == Some(2)).count(), 2);
    assert!(Composition::of_request(&about(&plan(&vec![transfer(json!({})); 200]))).fits().is_err());
}
