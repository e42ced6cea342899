//! The accepted plan: the submission and the answers, and no invented value.

use countersign_testkit::{
    clarification::{Clarifying, proven, python_finds},
    on_sqlite,
};
use serde_json::{Value, json};

on_sqlite! {
    /// WWA-1-04, WWA-5-04, WWA-7-16
    async fn an_accepted_plan_is_the_submitted_one_with_the_answers_in_their_places(kit) {
        let stage = Clarifying::set(kit).await;
        let plan = json!({
            "title": "Ü\u{0308} & <b>", "n": [1, 2.5, -0.0, null, true, { "": "empty name" }],
            "components": [{ "name": "a", "type": "x" }, { "name": "b" }],
            "a/b": { "c~d": "as usual" },
            "languages": ["ar-sa"],
            "hosting": { "region": "  " },
            "backup": {},
        });
        let asked = stage.submits(&plan).await;
        let answers = [
            ("components[1].type", "button"),
            ("a/b.c~d", "exactly this"),
            ("layout.direction", "RTL"),
            ("hosting.region", "Us"),
            ("backup.copies", "3"),
        ];
        let gaps = asked["gaps"].as_array().unwrap();
        assert_eq!(gaps.len(), answers.len(), "{asked:#}");
        for gap in gaps {
            let pointer = gap["pointer"].as_str().unwrap();
            let (_, answer) = answers.iter().find(|(field, _)| pointer_of(field) == pointer)
                .unwrap_or_else(|| panic!("nobody expects {pointer}"));
            assert_eq!(stage.answers(&asked, gap["id"].as_str().unwrap(), answer).await["status"], "resolved");
        }
        let mut expected = plan.clone();
        expected["components"][1]["type"] = json!("button");
        expected["a/b"]["c~d"] = json!("exactly this");
        expected["layout"] = json!({ "direction": "rtl" });
        expected["hosting"]["region"] = json!("us");
        expected["backup"]["copies"] = json!(3);
        let accepted = stage.confirms(&asked).await;
        assert_eq!((&accepted["status"], &accepted["plan"]), (&json!("plan_accepted"), &expected));
        let audit = stage.audit(&asked).await;
        assert_eq!((&audit["accepted_plan"], &audit["submitted_plans"][0]["plan_object"]), (&expected, &plan));
    }

    /// WWA-7-16, WWA-1-04
    async fn a_value_that_nobody_gave_is_found_in_the_accepted_plan(kit) {
        let stage = Clarifying::set(kit).await;
        let plan = json!({ "hosting": {}, "title": "Rent", "steps": [{ "pay": 1 }] });
        let asked = stage.submits(&plan).await;
        stage.answers(&asked, "gap-001", "eu").await;
        stage.confirms(&asked).await;
        let (keys, audit) = (stage.keys().await, stage.audit(&asked).await);
        let with = |change: &dyn Fn(&mut Value)| {
            let mut forged = audit.clone();
            change(&mut forged["accepted_plan"]);
            forged
        };
        let forged = [
            ("a member more", with(&|plan| plan["hosting"]["size"] = json!("large"))),
            ("another answer", with(&|plan| plan["hosting"]["region"] = json!("us"))),
            ("no answer", with(&|plan| plan["hosting"] = json!({}))),
            ("another value", with(&|plan| plan["title"] = json!("Bribe"))),
            ("a number as a text", with(&|plan| plan["steps"][0]["pay"] = json!("1"))),
            ("a step more", with(&|plan| plan["steps"] = json!([{ "pay": 1 }, { "pay": 1 }]))),
            ("a member less", with(&|plan| drop(plan.as_object_mut().unwrap().remove("title")))),
        ];
        for (what, forged) in forged {
            let ours = proven(&keys, &forged).expect_err(what);
            assert!(ours.place.starts_with("accepted_plan"), "{what}: {ours}");
            assert!(python_finds(Some(&keys), &forged).is_some(), "{what}");
        }
    }

    /// WWA-1-04
    async fn optional_values_that_nobody_gave_stay_absent(kit) {
        let stage = Clarifying::set(kit).await;
        for plan in [json!({}), json!({ "transfer": null, "hosting": [], "backup": "x" }), json!({ "deep": [[[]]] })] {
            let asked = stage.submits(&plan).await;
            let accepted = stage.confirms(&asked).await;
            assert_eq!((&accepted["status"], &accepted["plan"]), (&json!("plan_accepted"), &plan));
            assert_eq!(accepted["attestation"]["clarification"]["rounds"], 0);
        }
    }

    /// WWA-7-16, WWA-4-22
    async fn two_spellings_of_one_text_are_two_plans(kit) {
        let stage = Clarifying::set(kit).await;
        let composed = stage.submits(&json!({ "title": "Caf\u{e9}" })).await;
        let decomposed = stage.submits(&json!({ "title": "Cafe\u{301}" })).await;
        assert_ne!(composed["session_id"], decomposed["session_id"]);
        let digest = async |asked| stage.audit(asked).await["submitted_plans"][0]["plan_digest"].clone();
        assert_ne!(digest(&composed).await, digest(&decomposed).await);
    }
}

/// The pointer of a field that is spelled without brackets around names.
fn pointer_of(field: &str) -> String {
    let escaped = field.replace('~', "~0").replace('/', "~1").replace('[', ".").replace(']', "");
    format!("/{}", escaped.replace('.', "/"))
}
