//! The pages about plans and standing approvals.

use super::{
    plans::{about_plan, allowances, asked_plan, offer, offering, plan},
    questions::page,
};
use crate::pages::*;
use countersign_protocol::{aaep::event::Risk, bounds::Bound};
use std::collections::BTreeSet;

fn plain(html: &str) -> String {
    html.replace("<wbr>", "").replace(['\u{2068}', '\u{2069}'], "")
}

///
#[test]
fn every_step_names_author_count_bounds_and_predecessors() {
    let html = plain(&about_plan(Language::English).html());
    for words in [
        "Pay the invoices",
        "In the agent’s own words. Nobody has checked them.",
        "The call, in the words of the service",
        "Transfer at most 500.00 EUR to acct-1",
        "Up to 12 times.",
        "body.amount</bdi>: at most 500.00 EUR, and altogether at most 2000.00 EUR",
        "body.priority</bdi>: 1 to 9",
        "body.to</bdi>: only one of &#34;acct-1&#34;, &#34;acct-2&#34;",
        "body.note</bdi>: any text of at most 140 characters",
        "You are asked again before each call.",
        "Only after step 1, 2.",
        "An approval permits no call for this step",
        "Changes since you were last asked",
        "its uses went from 10 to 12",
        "for 1 hour from then on",
    ] {
        assert!(html.contains(words), "the page does not say {words}: {html}");
    }
}

#[test]
fn every_step_has_a_ticked_box_and_the_rejection_still_comes_first() {
    let html = about_plan(Language::English).html();
    for (number, step) in (1..).zip(&asked_plan().steps) {
        let named =
            format!("id=\"step-{number}\" name=\"step:{}\" value=\"yes\" form=\"answer-form\" checked", step.id);
        assert!(html.contains(&named), "{html}");
    }
    assert!(html.contains("<form id=\"answer-form\""));
    assert!(html.find("value=\"reject\"") < html.find("value=\"accept\""));
    let over = QuestionPage { may: PersonOffer::Nothing, ..about_plan(Language::English) }.html();
    assert!(!over.contains("type=\"checkbox\"") && over.contains("Pay the invoices"));
}

#[test]
fn a_box_that_was_unticked_stays_so_when_the_form_comes_back() {
    let mut page = about_plan(Language::English);
    let before = page.shown();
    page.plan.iter_mut().flat_map(|plan| &mut plan.steps).for_each(|step| step.chosen = step.number == 1);
    assert_eq!(page.html().matches("\" checked>").count(), 1);
    assert_eq!(page.shown(), before, "what is ticked is said by the form, not by what was shown");
}

///
#[test]
fn every_change_of_a_step_changes_the_scope_of_an_approval() {
    let changes: [fn(&mut PlanAsked); 15] = [
        |plan| plan.title = "Another".into(),
        |plan| plan.objective = "Another".into(),
        |plan| plan.lasts_s = 3601,
        |plan| plan.role = "boss".into(),
        |plan| plan.changes = None,
        |plan| drop(plan.steps.pop()),
        |plan| plan.steps.swap(0, 1),
        |plan| plan.steps[0].description = "Another".into(),
        |plan| plan.steps[1].after.clear(),
        |plan| plan.steps[2].role = None,
        |plan| plan.steps[0].runs = None,
        |plan| of_first(plan).uses = 13,
        |plan| of_first(plan).asks_again = true,
        |plan| of_first(plan).risk = Risk::Low,
        |plan| of_first(plan).bounds[3].bound = Bound::Text { most: 141 },
    ];
    let digests: BTreeSet<_> = changes.iter().map(|change| digest_with(*change)).collect();
    assert_eq!(digests.len(), changes.len(), "two changes cannot be told apart");
    assert!(!digests.contains(&about_plan(Language::English).shown().digest));
    let more: [fn(&mut PlanAsked); 3] = [
        |plan| of_first(plan).shown = "Another".into(),
        |plan| of_first(plan).arguments[0].value = "{}".into(),
        |plan| of_first(plan).irreversible = false,
    ];
    let before = about_plan(Language::English).shown().digest;
    assert!(more.iter().all(|change| digest_with(*change) != before));
}

fn of_first(plan: &mut PlanAsked) -> &mut StepRuns {
    plan.steps[0].runs.as_mut().unwrap()
}

fn digest_with(change: fn(&mut PlanAsked)) -> countersign_protocol::hash::Digest {
    let mut plan = asked_plan();
    change(&mut plan);
    QuestionPage { plan: Some(plan), ..about_plan(Language::English) }.shown().digest
}

///
#[test]
fn arguments_amounts_and_deviations_are_part_of_the_shown_text() {
    let before = offering(Language::English);
    let with = |change: fn(&mut QuestionPage)| {
        let mut page = offering(Language::English);
        change(&mut page);
        page.shown().digest
    };
    let lines = vec!["body.amount is missing".into()];
    let differs = QuestionPage {
        difference: Some(DeviationLines { lines, plan_path: "/plans/a/b".into() }),
        ..offering(Language::English)
    };
    let changed = [
        with(|page| page.arguments[0].value = "83.00".into()),
        with(|page| page.arguments.clear()),
        with(|page| page.allow_more = None),
        with(|page| page.allow_more.as_mut().unwrap().amounts[0].counted = AmountUnit::In("USD".into())),
        differs.shown().digest,
    ];
    let unique: BTreeSet<_> = changed.iter().collect();
    assert_eq!(unique.len(), changed.len());
    assert!(!unique.contains(&before.shown().digest));
    assert_eq!(with(|page| page.allow_more.as_mut().unwrap().uses = "3".into()), before.shown().digest);
}

#[test]
fn a_standing_approval_is_a_form_of_its_own_behind_a_summary() {
    let html = plain(&offering(Language::English).html());
    let details = html.split_once("<details class=\"allow-more\">").unwrap().1.split_once("</details>").unwrap().0;
    assert!(details.contains("<summary>Give a standing approval</summary>"));
    assert!(details.contains("name=\"answer\" value=\"accept-more\"") && !details.contains("value=\"reject\""));
    for words in ["Each up to, in EUR", "Altogether up to, in EUR", "body.amount: now 82.00 EUR", "As currency says"] {
        assert!(details.contains(words), "{words}: {details}");
    }
    // A sum needs a unit.
    assert!(details.contains("name=\"sum:seats\"") && !details.contains("name=\"sum:weight\""));
    let only_no =
        QuestionPage { may: PersonOffer::Decide { yes: false, no: true }, ..offering(Language::English) }.html();
    assert!(!only_no.contains("allow-more"));
}

#[test]
fn an_error_stands_beside_its_field_and_the_typed_text_stays() {
    let mut typed = AllowMore { uses: "3".into(), ..offer() };
    typed.amounts[1].sum = "9".into();
    let error = Some(QuestionError::More(MoreError::NoUnit { field: "sum:seats".into() }));
    let html = plain(&QuestionPage { allow_more: Some(typed), error, ..offering(Language::English) }.html());
    assert!(html.contains("<details class=\"allow-more\" open>"));
    assert!(html.contains("value=\"9\" aria-invalid=\"true\" aria-describedby=\"sum-2-wrong\""), "{html}");
    assert!(html.contains("id=\"sum-2-wrong\"><strong class=\"wrong\">A sum needs a unit"));
    assert!(html.contains("<a href=\"#sum-2\">") && html.contains("name=\"uses\" type=\"text\""));
    assert!(html.contains("autocomplete=\"off\" value=\"3\""));
    assert_eq!(html.matches("class=\"wrong\"").count(), 1);
}

#[test]
fn a_locked_question_says_so_and_offers_answers_only_for_an_override() {
    let locked = QuestionPage { locked: true, may: PersonOffer::Locked, ..page(Language::English) }.html();
    assert!(
        locked.contains(">Locked<")
            && locked.contains("This approval is locked.")
            && !locked.contains("value=\"accept\"")
    );
    let may = QuestionPage { locked: true, ..page(Language::English) }.html();
    assert!(may.contains("name=\"override\" value=\"yes\"") && may.contains("value=\"accept\""));
}

#[test]
fn a_standing_approval_says_how_much_is_left_until_when_and_each_differs_from_the_others_by_name() {
    let html = plain(&allowances(Language::English).html());
    for words in [
        "Uses left: 11 of 12.",
        "1500.00 EUR of 2000.00 EUR left",
        "November’s invoices",
        "aria-label=\"Revoke step 1: Transfer at most 500.00 EUR to acct-1\"",
        "aria-label=\"Revoke: Transfer at most 500.00 EUR to acct-1\"",
        "action=\"/allowances/calendar/alw_0000000000000001/take-back\"",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
}

#[test]
fn progress_is_a_number_for_machines_and_words_for_people() {
    let html = plain(&plan(Language::English).html());
    assert!(
        html.contains("<progress max=\"12\" value=\"3\" aria-labelledby=\"step-1\">3 of 12 calls completed</progress>")
    );
    assert!(html.contains("0 of 3 steps completed</progress>") && html.contains("1 call is in progress."));
    assert!(html.contains("Step 1: Skipped <q") && html.contains("The plan: Approved"));
}

#[test]
fn words_of_a_plan_stay_text() {
    let hostile = "<script>alert(1)</script>\u{202E}dne";
    let mut plan = asked_plan();
    plan.title = hostile.into();
    plan.steps[0].description = hostile.into();
    plan.steps[0].role = Some(hostile.into());
    of_first(&mut plan).shown = hostile.into();
    of_first(&mut plan).bounds[2].bound = Bound::OneOf(vec![hostile.into()]);
    let html = QuestionPage { plan: Some(plan), ..about_plan(Language::English) }.html();
    assert!(!html.contains("<script>alert") && !html.contains('\u{202E}'));
    assert!(html.matches("&#60;script&#62;alert(1)").count() >= 5, "{html}");
}
