//! Questions of every kind and in every state, for tests and for the gallery.

use super::samples::{NOW, frame, operator, scopes};
use crate::pages::*;
use countersign_protocol::{
    aaep::event::{ResponseKind, Reversibility, Risk},
    hash::Digest,
    question::RequestFacts,
    request::{DetailPlace, RequestDetail, Text, ValueKind, WhatRuns},
    visible::{lookalikes, visible},
};

pub(super) fn payment() -> QuestionSummary {
    QuestionSummary {
        decision_id: "dec_5f0c2f9d8e7b41a6b3c2d1e0f9a8b7c6".into(),
        event_id: "evt_0b51c8f3a2de4a7790cc1d5e6f708192".into(),
        session_id: "sess_0b51c8f3a2de4a7790cc1d5e6f708192".into(),
        project: "calendar".into(),
        service: "Meridian Calendar".into(),
        by: AskedBy::Operator(operator()),
        words: Author::Agent,
        language: "en-GB".into(),
        what: ActionText::Action {
            action: "Pay 82,000 pounds to Harbour Estates Ltd".into(),
            consequence: "The money leaves the account today.\n\nThe bank does not give it back.".into(),
            summary: Some("The deposit for the house in Leith.".into()),
            details: vec![
                Detail { name: "amount".into(), value: "82000.00 GBP".into() },
                Detail { name: "beneficiary".into(), value: "{\n  \"name\": \"Harbour Estates Ltd\"\n}".into() },
            ],
            risk: Risk::High,
            irreversible: true,
            reversibility: Some(Reversibility::Irreversible),
            allowance_s: 300,
        },
        tool: Some("payments.send".into()),
        call: Some(CallShown::new(payment_runs())),
        request: None,
        unanswered: Unanswered::Rejected,
        asked_at: NOW,
        deadline: Some(NOW.plus_secs(287)),
        left_s: 287,
        last_ran: Some(NOW.plus_secs(-86_400)),
    }
}

/// A held request without a body.
pub(super) fn held(method: &str, target: &str) -> RequestFacts {
    RequestFacts {
        method: method.into(),
        target: target.into(),
        content_type: String::new(),
        body_bytes: 0,
        body_sha256: String::new(),
        values: Vec::new(),
    }
}

/// A reversible action, requested with an API key, in the service's own words.
fn booking() -> QuestionSummary {
    QuestionSummary {
        decision_id: "dec_booking".into(),
        by: AskedBy::Key("night-batch".into()),
        words: Author::Service,
        language: "not a language".into(),
        what: ActionText::Action {
            action: Prose::rendered("Book room “3”"),
            consequence: Prose::rendered("Others cannot have it then."),
            summary: None,
            details: vec![Detail { name: "seats".into(), value: "12".into() }],
            risk: Risk::Medium,
            irreversible: false,
            reversibility: Some(Reversibility::ReversibleWithEffort),
            allowance_s: 90,
        },
        tool: None,
        call: Some(CallShown::new(booking_runs())),
        request: Some(held("POST", "/bookings")),
        unanswered: Unanswered::Accepted,
        last_ran: None,
        left_s: 45,
        ..payment()
    }
}

pub(super) fn detail(place: DetailPlace, name: &str, value: &str) -> RequestDetail {
    RequestDetail {
        place,
        name: name.into(),
        value: visible(value),
        kind: ValueKind::Text,
        named_in: Vec::new(),
        step: None,
        lookalikes: lookalikes(value),
    }
}

fn payment_runs() -> WhatRuns {
    let literal = RequestDetail { kind: ValueKind::Literal, ..detail(DetailPlace::Argument, "urgent", "true") };
    WhatRuns {
        tool: Some("payments.send".into()),
        details: vec![detail(DetailPlace::Argument, "to.iban", "GB29 NWBK 6016 1331 9268 19"), literal],
        ..WhatRuns::default()
    }
}

fn booking_runs() -> WhatRuns {
    let named = RequestDetail { named_in: vec![Text::Action], ..detail(DetailPlace::Path, "room", "3") };
    WhatRuns { details: vec![named, detail(DetailPlace::Body, "for", "Аlice")], ..WhatRuns::default() }
}

fn question() -> QuestionSummary {
    QuestionSummary {
        decision_id: "dec_question".into(),
        what: ActionText::Question {
            question: "For how many people shall the table be?".into(),
            context: Some("The restaurant asks for a number.".into()),
            summary: None,
        },
        tool: None,
        call: None,
        unanswered: Unanswered::Response("4".into()),
        last_ran: None,
        left_s: 9000,
        ..payment()
    }
}

pub(super) fn page(language: Language) -> QuestionPage {
    QuestionPage {
        frame: frame(language),
        asked: payment(),
        became: OutcomeText::Open,
        runs: None,
        open: None,
        plan: None,
        arguments: Vec::new(),
        difference: None,
        wider: None,
        clarified: None,
        gap: None,
        abandons: false,
        undo: None,
        may: PersonOffer::Decide { yes: true, no: true },
        locked: false,
        allow_more: None,
        more: vec![60, 300],
        latest: NOW.plus_secs(3600),
        digest: Digest::of(b"what would run"),
        listening: listening(),
        csrf: "token".into(),
        typed: String::new(),
        error: None,
        notice: None,
    }
}

fn asking(language: Language) -> QuestionPage {
    let choices = vec![
        Choosable { value: "2".into(), label: "Two of us".into() },
        Choosable { value: "4".into(), label: "All four".into() },
    ];
    let fields = vec![Field::Choices(choices), Field::Number, Field::YesNo, Field::Text];
    QuestionPage { asked: question(), may: PersonOffer::Respond(fields), more: vec![60], ..page(language) }
}

fn listening() -> Listening {
    let place = |project: &str| ListenAt { prefix: format!("/projects/{project}"), project: project.into() };
    Listening { here: "/inbox".into(), places: vec![place("calendar"), place("mail")] }
}

/// A request for scopes beyond a consent receipt.
fn widening(language: Language) -> QuestionPage {
    let asked = QuestionSummary {
        decision_id: "dec_scopes".into(),
        words: Author::Scopes,
        language: "en".into(),
        what: ActionText::Action {
            action: Prose::rendered("Allow more for one task: Create and change events (calendar.write)"),
            consequence: Prose::rendered("The task may then do this until it ends."),
            summary: None,
            details: Vec::new(),
            risk: Risk::Medium,
            irreversible: false,
            reversibility: None,
            allowance_s: 300,
        },
        tool: None,
        call: None,
        last_ran: None,
        ..payment()
    };
    let wider = WiderAccess { scopes: scopes(), session: "sess_0b51c8f3".into(), until: NOW.plus_secs(86_400) };
    QuestionPage { asked, wider: Some(wider), ..page(language) }
}

///
#[test]
fn a_request_for_scopes_shows_their_definitions_and_an_approval_covers_them() {
    let html = widening(Language::English).html();
    assert!(html.contains("events.create") && html.contains("sess_0b51c8f3"), "{html}");
    assert!(!html.contains("Medium risk"), "nothing runs");
    let shown = |change: fn(&mut WiderAccess)| {
        let mut page = widening(Language::English);
        page.wider.iter_mut().for_each(change);
        page.shown().digest
    };
    let same = shown(|_| {});
    assert_ne!(shown(|wider| wider.scopes[1].allows.push("events.delete".into())), same);
    assert_ne!(shown(|wider| drop(wider.scopes.pop())), same);
}

pub(super) fn inbox(language: Language) -> InboxPage {
    let unreported = Unreported {
        execution_id: "exe_1".into(),
        decision_id: "dec_earlier".into(),
        project: "calendar".into(),
        service: "Meridian Calendar".into(),
        by: AskedBy::Operator(operator()),
        action: "Send the invitation to everybody".into(),
        claimed_at: NOW.plus_secs(-120),
        since: NOW.plus_secs(-60),
        asked_until: None,
        sees_question: true,
        may_reconcile: true,
        typed: Typed::default(),
    };
    let not_mine = Unreported {
        execution_id: "exe_2".into(),
        asked_until: Some(NOW.plus_secs(254)),
        sees_question: false,
        may_reconcile: false,
        by: AskedBy::Key("night-batch".into()),
        ..unreported.clone()
    };
    InboxPage {
        frame: frame(language),
        questions: vec![payment(), booking(), question()],
        undoable: Vec::new(),
        undoable_more: false,
        unreported: vec![unreported, not_mine],
        open_yeses: 2,
        listening: listening(),
        csrf: "token".into(),
        error: None,
    }
}

fn settled(language: Language, became: OutcomeText, runs: Option<Runs>) -> String {
    let asked = QuestionSummary { deadline: None, ..payment() };
    QuestionPage { asked, became, runs, ..page(language) }.html()
}

pub(super) fn all(language: Language) -> Vec<(&'static str, String)> {
    let mut pages = open(language);
    pages.extend(over(language));
    pages.extend(ran(language));
    pages
}

fn open(language: Language) -> Vec<(&'static str, String)> {
    let inbox_with = |error| InboxPage { error: Some(error), ..inbox(language) }.html();
    let of = |id: &str| id.to_owned();
    let may = |may| QuestionPage { may, ..page(language) }.html();
    let told = |error| QuestionPage { error: Some(error), typed: "Too much".into(), ..page(language) }.html();
    let unclear = |kind| QuestionPage { error: Some(QuestionError::NoResponse(kind)), ..asking(language) }.html();
    vec![
        ("inbox", inbox(language).html()),
        (
            "inbox-none",
            InboxPage { questions: Vec::new(), unreported: Vec::new(), open_yeses: 0, ..inbox(language) }.html(),
        ),
        ("inbox-expired", inbox_with(InboxError::FormExpired)),
        ("inbox-unchosen", inbox_with(InboxError::NothingChosen { execution_id: of("exe_1") })),
        ("inbox-no-reason", inbox_with(InboxError::NoReason { execution_id: of("exe_1") })),
        ("inbox-not-entitled", inbox_with(InboxError::NotEntitled)),
        ("inbox-known", inbox_with(InboxError::KnownAlready)),
        ("question", page(language).html()),
        ("question-booking", QuestionPage { asked: booking(), more: Vec::new(), ..page(language) }.html()),
        ("question-scopes", widening(language).html()),
        ("question-no-only", may(PersonOffer::Decide { yes: false, no: true })),
        ("question-prove", may(PersonOffer::ProveFirst { path: "/sign-in?fresh&next=%2Finbox".into() })),
        ("question-not-here", may(PersonOffer::NotHere)),
        ("question-locked", QuestionPage { locked: true, may: PersonOffer::Locked, ..page(language) }.html()),
        ("question-overridable", QuestionPage { locked: true, ..page(language) }.html()),
        ("question-nothing", may(PersonOffer::Nothing)),
        ("question-expired-form", told(QuestionError::FormExpired)),
        ("question-changed", told(QuestionError::ChangedSince)),
        ("question-not-entitled", told(QuestionError::NotEntitled)),
        ("question-not-allowed", told(QuestionError::NotAllowed)),
        ("question-long-reason", told(QuestionError::ReasonTooLong)),
        ("question-more-time", QuestionPage { notice: Some(QuestionNotice::MoreTime), ..page(language) }.html()),
        ("question-asking", asking(language).html()),
        ("question-no-number", unclear(ResponseKind::Numeric)),
        ("question-no-text", unclear(ResponseKind::Freetext)),
        ("question-no-yes", unclear(ResponseKind::YesNo)),
        ("question-no-choice", unclear(ResponseKind::MultipleChoice)),
    ]
}

fn over(language: Language) -> Vec<(&'static str, String)> {
    let at = NOW.plus_secs(60);
    let by = |who| OutcomeText::Accepted { by: who, at };
    let reason = Some("Not before the survey.\nAsk again on Monday.".into());
    let late = QuestionPage { became: OutcomeText::Over, error: Some(QuestionError::TooLate), ..page(language) };
    let second = by(DecidedBy::SomebodyElse);
    let beaten = QuestionPage { became: second.clone(), error: Some(QuestionError::Settled), ..page(language) };
    let expired = |as_if| settled(language, OutcomeText::Expired { at, as_if }, None);
    let just = QuestionPage { became: by(DecidedBy::You), notice: Some(QuestionNotice::Answered), ..page(language) };
    let answered = |by, response: &str| OutcomeText::Answered { by, at, response: response.into() };
    vec![
        ("question-too-late", late.html()),
        ("question-beaten", beaten.html()),
        ("question-just-accepted", just.html()),
        ("question-accepted-other", settled(language, second, None)),
        ("question-rejected", settled(language, OutcomeText::Rejected { by: DecidedBy::You, at, reason }, None)),
        (
            "question-rejected-other",
            settled(language, OutcomeText::Rejected { by: DecidedBy::SomebodyElse, at, reason: None }, None),
        ),
        ("question-answered", settled(language, answered(DecidedBy::You, "4"), None)),
        ("question-answered-other", settled(language, answered(DecidedBy::SomebodyElse, "true"), None)),
        ("question-expired", expired(Unanswered::Rejected)),
        ("question-expired-accept", expired(Unanswered::Accepted)),
        ("question-expired-response", expired(Unanswered::Response("4".into()))),
        ("question-expired-unavailable", expired(Unanswered::Unavailable)),
        ("question-withdrawn", settled(language, OutcomeText::Withdrawn { at }, None)),
        (
            "question-you-called-off",
            settled(
                language,
                OutcomeText::CalledOff { by: DecidedBy::You, at, reason: Some("Not today".into()) },
                None,
            ),
        ),
        (
            "question-called-off-other",
            settled(language, OutcomeText::CalledOff { by: DecidedBy::SomebodyElse, at, reason: None }, None),
        ),
        ("question-session-over", settled(language, OutcomeText::SessionOver { at }, None)),
        ("question-revoked", settled(language, OutcomeText::Revoked { at }, None)),
    ]
}

fn ran(language: Language) -> Vec<(&'static str, String)> {
    let at = NOW.plus_secs(120);
    let accepted = OutcomeText::Accepted { by: DecidedBy::You, at: NOW };
    let runs = |runs| settled(language, accepted.clone(), Some(runs));
    let why = || Some("The statement shows it.".into());
    let asked = QuestionSummary { deadline: None, ..payment() };
    let found_out = Some(Runs::Ran { at, told_by: ToldBy::You, why: why() });
    let reconciled = QuestionPage {
        asked,
        became: accepted.clone(),
        runs: found_out,
        notice: Some(QuestionNotice::Reconciled),
        ..page(language)
    };
    vec![
        ("question-may-run", runs(Runs::May { until: at })),
        ("question-lapsed", runs(Runs::Lapsed { at })),
        ("question-called-off", runs(Runs::Cancelled { at })),
        ("question-begun", runs(Runs::Begun { at: NOW, report_by: at, run_by: RunBy::Agent })),
        ("question-begun-gateway", runs(Runs::Begun { at: NOW, report_by: at, run_by: RunBy::Gateway })),
        ("question-ran", runs(Runs::Ran { at, told_by: ToldBy::Agent, why: None })),
        ("question-ran-gateway", runs(Runs::Ran { at, told_by: ToldBy::Gateway, why: None })),
        ("question-failed-gateway", runs(Runs::Failed { at, told_by: ToldBy::Gateway, why: why() })),
        ("question-ran-upstream", runs(Runs::Ran { at, told_by: ToldBy::Upstream, why: None })),
        ("question-failed-upstream", runs(Runs::Failed { at, told_by: ToldBy::Upstream, why: None })),
        ("question-ran-other", runs(Runs::Ran { at, told_by: ToldBy::SomebodyElse, why: why() })),
        ("question-failed", runs(Runs::Failed { at, told_by: ToldBy::Agent, why: why() })),
        ("question-failed-you", runs(Runs::Failed { at, told_by: ToldBy::You, why: why() })),
        ("question-failed-other", runs(Runs::Failed { at, told_by: ToldBy::SomebodyElse, why: why() })),
        ("question-released", runs(Runs::Released { at })),
        ("question-unknown", runs(Runs::Unknown { since: at, asked_until: None })),
        ("question-unknown-asked", runs(Runs::Unknown { since: at, asked_until: Some(at.plus_secs(254)) })),
        ("question-reconciled", reconciled.html()),
    ]
    .into_iter()
    .chain(undone(language, &accepted))
    .collect()
}

/// A call that its upstream can undo, or was asked to.
fn undone(language: Language, accepted: &OutcomeText) -> Vec<(&'static str, String)> {
    let at = NOW.plus_secs(240);
    let shown = |undo: CallUndo| {
        let asked = QuestionSummary { deadline: None, ..payment() };
        let runs = Some(Runs::Ran { at: NOW, told_by: ToldBy::Gateway, why: None });
        let notice = Some(QuestionNotice::UndoAsked).filter(|_| !matches!(undo, CallUndo::Offered { .. }));
        let became = accepted.clone();
        QuestionPage { asked, became, runs, undo: Some(undo), notice, ..page(language) }.html()
    };
    vec![
        ("question-undo-offered", shown(CallUndo::Offered { call_id: Some("call_1".into()) })),
        ("question-undoing", shown(CallUndo::Undoing)),
        ("question-undone-sent", shown(CallUndo::Undone { at })),
        ("question-remains", shown(CallUndo::Remains { at, why: "the service refused to undo it: 409".into() })),
        ("question-undo-unknown", shown(CallUndo::Unknown { at })),
    ]
}
