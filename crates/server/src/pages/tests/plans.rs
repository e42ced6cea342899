//! Sample plans and standing approvals, for tests and for the gallery.

use super::{
    questions::{page, payment},
    samples::{NOW, frame, operator},
};
use crate::pages::*;
use countersign_protocol::{
    aaep::event::Risk,
    bounds::{Amount, Bound},
    mplp::{PlanStatus, StepStatus},
};
use serde_json::json;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn released() -> Vec<Bounded> {
    let money = Bound::Amount {
        least: None,
        most: amount("500.00"),
        sum: Some(amount("2000.00")),
        unit: Some("EUR".into()),
        unit_from: None,
    };
    let between = Bound::Amount { least: Some(amount("1")), most: amount("9"), sum: None, unit: None, unit_from: None };
    let named = |name: &str, bound| Bounded { name: name.into(), bound };
    vec![
        named("body.amount", money),
        named("body.priority", between),
        named("body.to", Bound::OneOf(vec![json!("acct-1"), json!("acct-2")])),
        named("body.note", Bound::Text { most: 140 }),
        named("body.mark", Bound::Text { most: 1 }),
    ]
}

fn step(number: usize, description: &str, after: &[usize], runs: Option<StepRuns>) -> StepAsked {
    StepAsked {
        id: format!("00000000-0000-4000-8000-00000000000{number}"),
        number,
        description: description.into(),
        after: after.to_vec(),
        role: None,
        runs,
        chosen: true,
        approved: None,
    }
}

fn steps() -> Vec<StepAsked> {
    let pays = StepRuns {
        shown: "Transfer at most 500.00 EUR to acct-1".into(),
        words: Author::Service,
        uses: 12,
        asks_again: false,
        risk: Risk::Medium,
        irreversible: true,
        bounds: released(),
        arguments: vec![Detail { name: "body".into(), value: "{\"amount\":\"500.00\"}".into() }],
    };
    let asks = StepRuns { asks_again: true, uses: 1, risk: Risk::High, words: Author::Plan, ..pays.clone() };
    let own = StepAsked { role: Some("bookkeeper".into()), ..step(3, "Write a report", &[1, 2], None) };
    vec![step(1, "Pay the invoices", &[], Some(pays)), step(2, "Close the books", &[1], Some(asks)), own]
}

pub(super) fn asked_plan() -> PlanAsked {
    PlanAsked {
        path: "/plans/calendar/00000000-0000-4000-8000-0000000000aa".into(),
        title: "November’s invoices".into(),
        objective: "Everybody is paid before the holidays.".into(),
        role: "agent".into(),
        reason: Some("Requesting approval for plan: November’s invoices".into()),
        lasts_s: 3600,
        steps: steps(),
        changes: Some(vec!["Step 1: its uses went from 10 to 12".into()]),
    }
}

pub(super) fn about_plan(language: Language) -> QuestionPage {
    let asked = QuestionSummary { words: Author::Plan, ..payment() };
    QuestionPage { asked: asked.told_by_plan(), plan: Some(asked_plan()), ..page(language) }
}

pub(super) fn offer() -> AllowMore {
    let amount = |name: &str, is: &str, counted| Releasable {
        name: name.into(),
        is: is.into(),
        counted,
        each: String::new(),
        sum: String::new(),
        unit_from: "currency".into(),
    };
    let choice = UnitChoice { name: "currency".into(), is: "EUR".into() };
    AllowMore {
        max_uses: 100,
        max_minutes: 1440,
        usual_s: 300,
        amounts: vec![
            amount("body.amount", "82.00", AmountUnit::In("EUR".into())),
            amount("seats", "4", AmountUnit::ByArgument(vec![choice])),
            amount("weight", "1.5", AmountUnit::ByArgument(Vec::new())),
        ],
        fixed: false,
        uses: String::new(),
        minutes: String::new(),
    }
}

pub(super) fn offering(language: Language) -> QuestionPage {
    let arguments = vec![
        Detail { name: "amount".into(), value: "82.00".into() },
        Detail { name: "to".into(), value: "acct-1".into() },
    ];
    QuestionPage { allow_more: Some(offer()), arguments, ..page(language) }
}

fn open_yes(step: Option<usize>) -> OpenStandingApproval {
    let sum =
        SumLeft { name: "body.amount".into(), left: "1500.00".into(), limit: "2000.00".into(), unit: "EUR".into() };
    OpenStandingApproval {
        id: format!("alw_000000000000000{}", step.unwrap_or_default()),
        project: "calendar".into(),
        step,
        what: "Transfer at most 500.00 EUR to acct-1".into(),
        words: Author::Service,
        uses: 12,
        used: 1,
        bounds: released(),
        sums: vec![sum],
        until: NOW.plus_secs(3600),
        typed: String::new(),
    }
}

pub(super) fn allowances(language: Language) -> AllowancesPage {
    let plan = OpenGroup {
        decision_id: "dec_1".into(),
        service: "Meridian Calendar".into(),
        by: AskedBy::Operator(operator()),
        title: "November’s invoices".into(),
        unchecked: true,
        plan_path: Some(asked_plan().path),
        question_path: Some("/inbox/calendar/dec_1".into()),
        open: vec![open_yes(Some(1)), OpenStandingApproval { words: Author::Plan, ..open_yes(Some(2)) }],
    };
    let once = OpenGroup {
        decision_id: "dec_2".into(),
        by: AskedBy::Key("night-batch".into()),
        title: "Book a room".into(),
        plan_path: None,
        question_path: None,
        open: vec![OpenStandingApproval { words: Author::Agent, ..open_yes(None) }],
        ..plan.clone()
    };
    AllowancesPage {
        frame: frame(language),
        groups: vec![plan, once],
        csrf: "token".into(),
        error: None,
        taken_back: false,
    }
}

pub(super) fn plan(language: Language) -> PlanPage {
    let statuses = [StepStatus::InProgress, StepStatus::Pending, StepStatus::Blocked];
    let progress = |(asked, status): (StepAsked, StepStatus)| StepProgress {
        open: asked.runs.as_ref().map(|_| open_yes(Some(asked.number))),
        asked: StepAsked { approved: Some(true), ..asked },
        status,
        done: 3,
        under_way: 1,
        lost: 2,
    };
    let all = [StepStatus::Completed, StepStatus::Skipped, StepStatus::Failed];
    let moved =
        |to| PlanEvent { at: NOW, change: PlanChangeMark::Step { number: 1, to }, reason: Some("not approved".into()) };
    let approved = PlanEvent { at: NOW, change: PlanChangeMark::Plan { to: PlanStatus::Approved }, reason: None };
    PlanPage {
        frame: frame(language),
        path: asked_plan().path,
        id: "00000000-0000-4000-8000-0000000000aa".into(),
        service: "Meridian Calendar".into(),
        by: AskedBy::Operator(operator()),
        title: "November’s invoices".into(),
        objective: "Everybody is paid before the holidays.".into(),
        status: PlanStatus::InProgress,
        until: Some(NOW.plus_secs(3600)),
        question_path: Some("/inbox/calendar/dec_1".into()),
        feedback: None,
        steps: steps().into_iter().zip(statuses).map(progress).collect(),
        events: all.map(moved).into_iter().chain([approved]).collect(),
        may_take_back: true,
        csrf: "token".into(),
        typed: String::new(),
        error: None,
        taken_back: false,
    }
}

pub(super) fn all(language: Language) -> Vec<(&'static str, String)> {
    let mut pages = questions(language);
    pages.extend(lists(language));
    pages
}

fn questions(language: Language) -> Vec<(&'static str, String)> {
    let told = |error| QuestionPage { error: Some(error), ..about_plan(language) }.html();
    let wrong = |error| {
        let typed = AllowMore { uses: "many".into(), ..offer() };
        QuestionPage { allow_more: Some(typed), error: Some(QuestionError::More(error)), ..offering(language) }.html()
    };
    let field = |name: &str| name.to_owned();
    let first = PlanAsked { changes: None, reason: None, ..asked_plan() };
    let unchanged = PlanAsked { changes: Some(Vec::new()), ..asked_plan() };
    let over = OutcomeText::Accepted { by: DecidedBy::You, at: NOW };
    let lines = vec!["body.amount is 600.00, at most 500.00 EUR".into()];
    let difference = Some(DeviationLines { lines, plan_path: asked_plan().path });
    let fixed = AllowMore { fixed: true, amounts: Vec::new(), max_uses: 1, ..offer() };
    vec![
        ("question-plan", about_plan(language).html()),
        ("question-plan-first", QuestionPage { plan: Some(first), ..about_plan(language) }.html()),
        ("question-plan-unchanged", QuestionPage { plan: Some(unchanged), ..about_plan(language) }.html()),
        ("question-plan-not-mine", QuestionPage { may: PersonOffer::Nothing, ..about_plan(language) }.html()),
        ("question-plan-over", QuestionPage { became: over.clone(), ..about_plan(language) }.html()),
        ("question-plan-none", told(QuestionError::NoStep)),
        ("question-plan-needs", told(QuestionError::StepNeeds { step: 2, needs: 1 })),
        ("question-plan-refused", told(QuestionError::OutOfBounds("only a plan has steps".into()))),
        ("question-plan-locked", QuestionPage { locked: true, ..told_locked(language) }.html()),
        ("question-differs", QuestionPage { difference, ..page(language) }.html()),
        ("question-more", offering(language).html()),
        ("question-more-fixed", QuestionPage { allow_more: Some(fixed), ..offering(language) }.html()),
        ("question-more-empty", wrong(MoreError::Empty)),
        ("question-more-uses", wrong(MoreError::Uses)),
        ("question-more-minutes", wrong(MoreError::Minutes)),
        ("question-more-amount", wrong(MoreError::NotAnAmount { field: field("each:body.amount") })),
        ("question-more-small", wrong(MoreError::TooSmall { field: field("sum:body.amount"), is: field("82.00") })),
        ("question-more-unit", wrong(MoreError::NoUnit { field: field("sum:seats") })),
        ("question-more-refused", wrong(MoreError::Refused(field("an approval here covers 1 to 100 calls")))),
        ("question-more-given", QuestionPage { became: over, open: Some(open_yes(None)), ..page(language) }.html()),
    ]
}

fn told_locked(language: Language) -> QuestionPage {
    QuestionPage { error: Some(QuestionError::Locked), ..about_plan(language) }
}

/// The second step was not approved.
fn in_part(language: Language) -> PlanPage {
    let mut page = plan(language);
    let second = &mut page.steps[1];
    (second.asked.approved, second.status, second.open) = (Some(false), StepStatus::Skipped, None);
    page
}

/// An approval of some steps is never presented as an approval of all.
#[test]
fn a_plan_that_was_approved_in_part_says_which_steps_were_and_which_were_not() {
    let html = in_part(Language::English).html().replace(['\u{2068}', '\u{2069}'], "");
    assert!(html.contains(">In progress, approved in part</p>"), "{html}");
    assert!(html.contains(">Only 2 of 3 steps were approved. The others do not run.</p>"), "{html}");
    assert_eq!(html.matches(">Not approved: it does not run</p>").count(), 1);
    assert!(html.contains(">Approved. In progress</p>") && !plan(Language::English).html().contains("in part"));
    let over = OutcomeText::Accepted { by: DecidedBy::You, at: NOW };
    let mut asked = QuestionPage { became: over, ..about_plan(Language::English) };
    let steps = &mut asked.plan.as_mut().unwrap().steps;
    steps.iter_mut().zip([true, false, true]).for_each(|(step, approved)| step.approved = Some(approved));
    let html = asked.html();
    assert_eq!(html.matches(">Approved</p>").count(), 3, "two steps, and the question itself: {html}");
    assert_eq!(html.matches(">Not approved: it does not run</p>").count(), 1, "{html}");
}

fn lists(language: Language) -> Vec<(&'static str, String)> {
    let list = |error| AllowancesPage { error: Some(error), ..allowances(language) }.html();
    let told = |error| PlanPage { error: Some(error), ..plan(language) }.html();
    let in_status = |status| PlanPage { status, may_take_back: false, until: None, ..plan(language) };
    let back =
        PlanPage { feedback: Some("Too much at once".into()), events: Vec::new(), ..in_status(PlanStatus::Draft) };
    vec![
        ("allowances", allowances(language).html()),
        ("allowances-none", AllowancesPage { groups: Vec::new(), ..allowances(language) }.html()),
        ("allowances-taken-back", AllowancesPage { taken_back: true, ..allowances(language) }.html()),
        ("allowances-expired", list(AllowancesError::FormExpired)),
        ("allowances-long", list(AllowancesError::ReasonTooLong { id: open_yes(None).id })),
        ("allowances-nothing-left", list(AllowancesError::NothingLeft)),
        ("allowances-not-yours", list(AllowancesError::NotYours)),
        ("plan", plan(language).html()),
        ("plan-draft", back.html()),
        ("plan-in-part", in_part(language).html()),
        ("plan-proposed", in_status(PlanStatus::Proposed).html()),
        ("plan-completed", in_status(PlanStatus::Completed).html()),
        ("plan-failed", in_status(PlanStatus::Failed).html()),
        ("plan-taken-back", PlanPage { taken_back: true, ..in_status(PlanStatus::Cancelled) }.html()),
        ("plan-expired", told(PlanError::FormExpired)),
        ("plan-long", told(PlanError::ReasonTooLong)),
        ("plan-nothing-left", told(PlanError::NothingLeft)),
        ("plan-not-yours", told(PlanError::NotYours)),
    ]
}
