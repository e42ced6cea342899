//! Changes of a plan since its last question, and deviations of a call from the plan.

use crate::mplp_submit::{bank, id, mail, sending, submission, transfer};
use countersign_core::{
    bounded::{ActionTarget, Arguments, Units},
    mplp::{
        diff::{changes, deviation},
        submit::planned,
    },
    records::{Plan, PlannedAction, Raiser, StepTally},
};
use countersign_protocol::{
    mplp::{MplpId, PlanStatus, PlanSubmission, StepStatus},
    project::ProjectDocument,
    question::{AllowedValue, ArgumentDifference, Deviation, Was},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) type Read = (PlanSubmission, BTreeMap<MplpId, PlannedAction>);

pub(crate) fn read(submission: PlanSubmission) -> Read {
    // Allows the maximum number of steps.
    read_in(&bank(json!({ "plans": { "max_uses": 10_000 } })), submission)
}

pub(crate) fn read_in(bank: &ProjectDocument, submission: PlanSubmission) -> Read {
    let actions = planned(bank, &submission).unwrap();
    (submission, actions)
}

/// A plan as stored.
pub(crate) fn kept((submission, actions): Read) -> Plan {
    Plan {
        key: 1,
        version: 1,
        project: 1,
        id: submission.plan.plan_id.clone(),
        by: Raiser {
            principal: "del_1".into(),
            person: 1,
            delegation: Some(1),
            session: Some(1),
            api_key: None,
            operator: None,
        },
        document: submission.plan,
        actions,
        lasts_s: 3600,
        revision: 1,
        confirm: None,
        asked: None,
        feedback: None,
        clarified: None,
        approved: None,
        until: None,
    }
}

fn changed(before: &Read, after: &Read) -> Vec<String> {
    changes((&before.0.plan, &before.1), (&after.0.plan, &after.1))
}

/// The changes between two versions of one step.
fn step_changed(before: Value, after: Value) -> Vec<String> {
    changed(&read(submission(&[before])), &read(submission(&[after])))
}

fn edited(with: impl FnOnce(&mut PlanSubmission)) -> Vec<String> {
    let actions = [Value::Null, Value::Null, Value::Null];
    let mut after = submission(&actions);
    with(&mut after);
    changed(&read(submission(&actions)), &read(after))
}

#[test]
fn a_plans_outcome_is_no_change_of_it() {
    let before = read(submission(&[transfer(json!({}))]));
    let mut after = before.clone();
    after.0.plan.status = PlanStatus::Approved;
    after.0.plan.steps[0].status = StepStatus::Completed;
    after.1.get_mut(&id(1)).unwrap().tally.done = 1;
    assert_eq!(changed(&before, &after), [""; 0]);
}

#[test]
fn other_words_are_shown_beside_the_old_ones() {
    assert_eq!(
        edited(|after| {
            after.plan.title = "Pay".into();
            after.plan.objective = "All is paid".into();
            after.plan.steps[1].description = "Step two".into();
        }),
        [
            "The title was “Pay the bills” and is “Pay”",
            "The objective was “Nothing is owed” and is “All is paid”",
            "Step 2: its description was “step 2” and is “Step two”",
        ]
    );
    assert_eq!(
        edited(|after| {
            after.plan.context_id = id(7);
            after.plan.steps[0].agent_role = Some("payer".into());
            after.plan.steps[0].order_index = Some(4);
        }),
        [
            format!("The context was {} and is {}", id(901), id(7)),
            "Step 1: its role was nobody's and is “payer”".into(),
            "Step 1: its order_index was none and is 4".into(),
        ]
    );
}

///
#[test]
fn nobodys_words_can_pose_as_a_line_of_ours() {
    let lines = edited(|after| after.plan.title = "x” and is “y\nStep 1 is gone\u{202e}".into());
    assert_eq!(lines, ["The title was “Pay the bills” and is “x\" and is \"y␊Step 1 is gone[U+202E]”"]);
    let lines = edited(|after| after.plan.title = "שלום".into());
    assert_eq!(lines, ["The title was “Pay the bills” and is “\u{2068}שלום\u{2069}”"]);
}

#[test]
fn a_change_behind_a_long_beginning_is_seen() {
    let mut before = submission(&[Value::Null]);
    let mut after = before.clone();
    let long = "a".repeat(5000);
    before.plan.steps[0].description = format!("{long} to Ann");
    after.plan.steps[0].description = format!("{long} to Bob");
    let lines = changed(&read(before), &read(after));
    assert!(lines[0].contains(" to Ann” and is “…") && lines[0].ends_with(" to Bob”"), "{lines:?}");

    let memo = |end: &str| mail(json!({ "memo": format!("{long}{end}") }), json!({}));
    let lines = step_changed(memo("1"), memo("2"));
    assert!(lines[0].starts_with("Step 1: memo differs, further on than is shown here: "), "{lines:?}");
}

#[test]
fn steps_that_come_and_go_are_named() {
    let before = read(submission(&[transfer(json!({})), Value::Null, mail(json!({}), json!({}))]));
    let mut after = before.clone();
    let gone = after.0.plan.steps.remove(0);
    after.1.remove(&gone.step_id);
    assert_eq!(
        changed(&before, &after),
        [
            "The former step 1 was removed: “step 1”, which ran once, in the owner's words: Send 400 EUR from “main” to “acct-3344”"
        ]
    );
    assert_eq!(
        changed(
            &(submission(&[Value::Null]), BTreeMap::new()),
            &read(submission(&[Value::Null, mail(json!({}), json!({}))]))
        ),
        ["Step 2 is new: “step 2”, which runs once, as the agent calls it: send_mail()"]
    );
}

#[test]
fn dependencies_are_named_by_the_numbers_of_their_own_plan() {
    let lines = edited(|after| after.plan.steps[2].dependencies = vec![id(2), id(1)]);
    assert_eq!(lines, ["Step 3: it depended on nothing and depends on step 1 and step 2"]);
    let mut before = submission(&[Value::Null, Value::Null]);
    before.plan.steps[1].dependencies = vec![id(1)];
    let mut after = before.clone();
    after.plan.steps.swap(0, 1);
    after.plan.steps[0].dependencies.clear();
    let lines = changed(&read(before), &read(after));
    assert_eq!(lines[1..], ["Step 1: it depended on step 1 and depends on nothing"]);
}

#[test]
fn another_order_is_a_change() {
    let lines = edited(|after| after.plan.steps.swap(0, 2));
    assert_eq!(lines, ["The steps are in another order, by their former numbers: 3, 2, 1"]);
}

#[test]
fn an_action_is_compared_argument_by_argument() {
    let with = |body: Value| transfer(json!({ "arguments": { "path": { "account": "main" }, "body": body } }));
    let before = with(json!({ "to": "acct-3344", "amount": 400, "currency": "EUR", "note": "rent" }));
    let after = with(json!({ "to": "acct-3345", "amount": 4000, "currency": "EUR", "memo": "a\nb" }));
    assert_eq!(
        step_changed(before, after),
        [
            "Step 1: body.amount was 400 and is 4000",
            "Step 1: body.memo is new: \"a\\nb\"",
            "Step 1: body.note is gone",
            "Step 1: body.to was \"acct-3344\" and is \"acct-3345\"",
        ]
    );
}

#[test]
fn another_action_is_described_as_a_whole() {
    let sends = "once, in the owner's words: Send 400 EUR from “main” to “acct-3344”";
    let mails = "once, as the agent calls it: send_mail(to: \"a\")";
    let mail = || mail(json!({ "to": "a" }), json!({}));
    assert_eq!(step_changed(transfer(json!({})), mail()), [format!("Step 1: it ran {sends} and now runs {mails}")]);
    assert_eq!(step_changed(Value::Null, mail()), [format!("Step 1: it ran nothing and now runs {mails}")]);
    assert_eq!(
        step_changed(transfer(json!({})), Value::Null),
        [format!("Step 1: it ran {sends} and now runs nothing")]
    );
}

///
#[test]
fn uses_and_bounds_are_compared() {
    let with = |most: &str, uses: u32| {
        transfer(json!({ "uses": uses, "released": { "body.amount": { "most": most, "sum": "2000", "unit": "EUR" } } }))
    };
    assert_eq!(
        step_changed(with("500", 3), with("1000.00", 40)),
        [
            "Step 1: the bound of body.amount is wider: it was at most 500 EUR, 2000 EUR altogether \
             and is at most 1000.00 EUR, 2000 EUR altogether",
            "Step 1: its uses went from 3 to 40",
        ]
    );
    let lines = step_changed(with("500", 1), with("450", 1));
    assert!(lines[0].contains("body.amount is narrower"), "{lines:?}");
    assert_eq!(
        step_changed(transfer(json!({})), with("500", 1)),
        ["Step 1: body.amount may now differ: at most 500 EUR, 2000 EUR altogether"]
    );
    assert_eq!(
        step_changed(with("500", 1), transfer(json!({}))),
        ["Step 1: body.amount may no longer differ: it was at most 500 EUR, 2000 EUR altogether and is 400"]
    );
}

///
#[test]
fn only_a_bound_that_lets_all_of_the_other_through_is_wider() {
    let told = |was: Value, is: Value| {
        let of = |bound: Value| mail(json!({ "n": "5", "unit": "EUR" }), json!({ "n": bound }));
        let lines = step_changed(of(was), of(is));
        let (_, word) = lines[0].split_once(" is ").unwrap();
        word.split_once(':').unwrap().0.to_owned()
    };
    let sum = |sum: &str| json!({ "most": "10", "sum": sum, "unit_from": "unit" });
    for (was, is, word) in [
        (json!({ "text": 5 }), json!({ "text": 9 }), "wider"),
        (json!({ "text": 5 }), json!({ "text": 4 }), "narrower"),
        (json!({ "text": 5 }), json!({ "one_of": ["5"] }), "another one"),
        (json!({ "one_of": ["5"] }), json!({ "one_of": ["5", "6"] }), "wider"),
        (json!({ "one_of": ["5", "7"] }), json!({ "one_of": ["5", "6"] }), "another one"),
        (json!({ "one_of": ["5", "6"] }), json!({ "one_of": ["6", "5"] }), "written differently"),
        (json!({ "most": "10" }), json!({ "least": "1", "most": "10" }), "narrower"),
        (json!({ "least": "1", "most": "10" }), json!({ "most": "10" }), "wider"),
        (json!({ "least": "1", "most": "10" }), json!({ "least": "2", "most": "11" }), "another one"),
        (sum("50"), sum("60"), "wider"),
        (sum("50"), sum("40"), "narrower"),
        (json!({ "most": "10", "unit_from": "unit" }), sum("50"), "narrower"),
        (json!({ "most": "10" }), json!({ "most": "10", "unit_from": "unit" }), "another one"),
    ] {
        assert_eq!(told(was.clone(), is.clone()), word, "{was} {is}");
    }
}

#[test]
fn changes_by_the_owner_are_reported_too() {
    let read_by =
        |with: Value| read_in(&bank(json!({ "routes": [sending(with)] })), submission(&[transfer(json!({}))]));
    let before = read_by(json!({}));
    assert_eq!(
        changed(&before, &read_by(json!({ "risk": "high" }))),
        ["Step 1: each of its calls now needs approval", "Step 1: the project's rules for it have changed"]
    );
    assert_eq!(
        changed(&before, &read_by(json!({ "describe": { "action": "Transfer" } }))),
        [
            "Step 1: the owner's words for it were “Send 400 EUR from \"main\" to \"acct-3344\"” and are “Transfer”",
            "Step 1: the project's rules for it have changed",
        ]
    );
}

// Deviations.

fn running(actions: &[Value]) -> Plan {
    let mut plan = kept(read(submission(actions)));
    plan.document.status = PlanStatus::Approved;
    plan
}

fn deviates(plan: &Plan, arguments: Value) -> Option<(MplpId, Vec<String>)> {
    let what = ActionTarget::Tool { name: "send_mail".into() };
    let found = deviation(plan, &what, &Arguments::of_tool(arguments.as_object().unwrap()), &Units::of_tool());
    found.map(|(step, deviations)| (step, deviations.iter().map(|one| one.text("en")).collect()))
}

fn spend(plan: &mut Plan, n: usize, tally: StepTally) {
    plan.actions.get_mut(&id(n)).unwrap().tally = tally;
}

#[test]
fn a_call_of_another_action_deviates_from_nothing() {
    assert_eq!(deviates(&running(&[transfer(json!({})), Value::Null]), json!({})), None);
}

///
#[test]
fn a_call_is_compared_with_the_nearest_step() {
    let far = mail(json!({ "to": "x", "n": 1 }), json!({}));
    let near = mail(json!({ "to": "a", "n": 5 }), json!({ "n": { "most": "10" } }));
    let plan = running(&[Value::Null, far, near]);
    let (step, lines) = deviates(&plan, json!({ "to": "a", "n": 11, "cc": "eve" })).unwrap();
    assert_eq!((step, lines), (id(3), vec!["cc is not in the plan".into(), "n is 11, at most 10".into()]));
    assert_eq!(deviates(&plan, json!({ "to": "a", "n": 10 })), Some((id(3), Vec::new())));
}

///
#[test]
fn a_call_beyond_the_count_is_a_named_deviation() {
    let action = |uses: u32| json!({ "tool": "send_mail", "arguments": { "to": "a" }, "uses": uses });
    let mut plan = running(&[action(40), mail(json!({ "to": "b" }), json!({}))]);
    spend(&mut plan, 1, StepTally { under_way: 1, done: 38, lost: 0 });
    assert_eq!(deviates(&plan, json!({ "to": "a" })), Some((id(1), Vec::new())));
    spend(&mut plan, 1, StepTally { under_way: 1, done: 38, lost: 1 });
    assert_eq!(deviates(&plan, json!({ "to": "a" })), Some((id(1), vec!["all 40 uses are claimed".into()])));
    let mut once = running(&[action(1)]);
    spend(&mut once, 1, StepTally { under_way: 0, done: 1, lost: 0 });
    assert_eq!(deviates(&once, json!({ "to": "a" })).unwrap().1, ["its one use is claimed"]);
}

#[test]
fn a_step_with_something_left_is_nearer_than_one_without() {
    let action = || mail(json!({ "to": "a" }), json!({}));
    let mut plan = running(&[action(), action()]);
    spend(&mut plan, 1, StepTally { under_way: 0, done: 1, lost: 0 });
    assert_eq!(deviates(&plan, json!({ "to": "a" })), Some((id(2), Vec::new())));
}

#[test]
fn a_call_before_its_turn_names_the_steps_before_it() {
    let mut plan = running(&[Value::Null, mail(json!({ "to": "a" }), json!({}))]);
    plan.document.steps[1].dependencies = vec![id(1)];
    let why = || vec!["step 1, which it depends on, is not completed".to_owned()];
    assert_eq!(deviates(&plan, json!({ "to": "a" })).unwrap().1, why());
    plan.document.steps[0].status = StepStatus::Completed;
    assert_eq!(deviates(&plan, json!({ "to": "a" })).unwrap().1, [""; 0]);
}

#[test]
fn a_plan_or_step_that_does_not_run_has_an_event_that_says_so() {
    let mut plan = running(&[mail(json!({ "to": "a" }), json!({}))]);
    plan.document.steps[0].status = StepStatus::Skipped;
    assert_eq!(deviates(&plan, json!({ "to": "a" })).unwrap().1, ["the step is skipped"]);
    plan.document.status = PlanStatus::Cancelled;
    assert_eq!(deviates(&plan, json!({ "to": "a" })).unwrap().1, ["the plan is cancelled"]);
}

#[test]
fn a_step_that_asks_again_says_why() {
    let plan = running(&[json!({ "tool": "launch" })]);
    let what = ActionTarget::Tool { name: "launch".into() };
    let (_, found) = deviation(&plan, &what, &Arguments::of_tool(&serde_json::Map::new()), &Units::of_tool()).unwrap();
    assert_eq!(found, [Deviation::AsksAgain]);
    assert_eq!(found[0].text("en"), "its risk requires an approval of every call");
}

///
#[test]
fn every_deviation_has_a_text_of_its_own_in_every_language() {
    let argument = |is: Option<&str>, was| {
        Deviation::Argument(ArgumentDifference { name: "n".into(), is: is.map(str::to_owned), was })
    };
    let within = |allowed| argument(Some("11"), Was::Within(allowed));
    let all = [
        (argument(None, Was::Exactly("1".into())), "n fehlt"),
        (argument(Some("1"), Was::Nothing), "n ist nicht im Plan"),
        (argument(Some("1"), Was::Exactly("2".into())), "n ist 1 statt 2"),
        (argument(Some("1"), Was::Exactly("1".into())), "n weicht weiter hinten ab, als hier zu sehen ist: 1"),
        (within(AllowedValue::AtMost("10 EUR".into())), "n ist 11, erlaubt ist höchstens 10 EUR"),
        (within(AllowedValue::Between { least: "1".into(), most: "10".into() }), "n ist 11, erlaubt ist 1 bis 10"),
        (within(AllowedValue::OneOf(vec!["1".into(), "2".into()])), "n ist 11, erlaubt ist nur 1 oder 2"),
        (within(AllowedValue::Characters(1)), "n ist 11, erlaubt ist ein Text von höchstens 1 Zeichen"),
        (Deviation::PlanStatus { status: PlanStatus::Cancelled }, "der Plan ist abgebrochen"),
        (Deviation::StepStatus { status: StepStatus::Skipped }, "der Schritt ist übersprungen"),
        (Deviation::UsesClaimed { uses: 1 }, "der eine Aufruf des Schritts ist vergeben"),
        (Deviation::UsesClaimed { uses: 40 }, "alle 40 Aufrufe des Schritts sind vergeben"),
        (Deviation::DependsOn { step: 1 }, "Schritt 1, der vorher nötig ist, ist nicht abgeschlossen"),
        (Deviation::AsksAgain, "wegen des Risikos ist jeder Aufruf einzeln zu genehmigen"),
    ];
    for (deviation, german) in all {
        assert_eq!(deviation.text("de-AT"), german);
        assert_ne!(deviation.text("en"), german);
        let written = serde_json::to_value(&deviation).unwrap();
        assert_eq!(serde_json::from_value::<Deviation>(written).unwrap(), deviation);
    }
}

///
#[test]
fn nothing_invisible_in_a_call_misleads() {
    let plan = running(&[mail(json!({ "to": "a" }), json!({}))]);
    let (_, lines) = deviates(&plan, json!({ "to": "a\u{200b}\u{202e}" })).unwrap();
    assert_eq!(lines, ["to is \"a[U+200B][U+202E]\" instead of \"a\""]);
}
