//! The content of a question's page, and that an approval covers exactly that.

use super::{
    questions::{detail, held, inbox, page, payment},
    samples::NOW,
};
use crate::pages::*;
use countersign_protocol::{
    aaep::event::Risk,
    hash::Digest,
    request::{DetailPlace, RequestDetail, Text, WhatRuns},
};
use std::collections::BTreeSet;

fn plain(html: &str) -> String {
    html.replace("<wbr>", "").replace(['\u{2068}', '\u{2069}'], "")
}

/// A question with these call values.
fn running(decision_id: &str, details: Vec<RequestDetail>) -> QuestionSummary {
    let what = ActionText::Action {
        action: Prose::rendered("Transfer 82000.00 USD to “Acme Supplies”"),
        consequence: Prose::rendered("The money leaves."),
        summary: None,
        details: Vec::new(),
        risk: Risk::High,
        irreversible: true,
        reversibility: None,
        allowance_s: 300,
    };
    let call = Some(CallShown::new(WhatRuns { details, ..WhatRuns::default() }));
    QuestionSummary { decision_id: decision_id.into(), words: Author::Service, what, call, tool: None, ..payment() }
}

fn html_of(asked: QuestionSummary) -> String {
    plain(&QuestionPage { asked, ..page(Language::English) }.html())
}

///
#[test]
fn the_author_of_a_text_stands_beside_it() {
    let agents = html_of(payment());
    assert!(agents.contains("In the agent’s own words. Nobody has checked them."));
    let services = html_of(QuestionSummary { words: Author::Service, ..payment() });
    assert!(services.contains("Rendered by Meridian Calendar from the request"));
    assert!(!services.contains("own words"));
    assert!(plain(&inbox(Language::English).html()).contains("Rendered by Meridian Calendar from the request"));
}

/// the action comes first, as a question while it is pending, and the proven requester right below it.
#[test]
fn the_action_is_the_headline_and_the_proven_requester_stands_right_below_it() {
    let html = html_of(payment());
    let (heading, below) = html.split_once("<h1").unwrap().1.split_once("</h1>").unwrap();
    assert!(heading.ends_with("“<bdi class=\"quoted\">Pay 82,000 pounds to Harbour Estates Ltd</bdi>”?"), "{heading}");
    let below = below.trim_start();
    assert!(below.starts_with("<p class=\"by\">Requested by <bdi class=\"domain\""), "{below}");
    let by = below.split_once("</p>").unwrap().0;
    assert!(by.ends_with(">agents.northwind.example</bdi> (verified domain)"), "{by}");
    assert!(!html.contains("Northwind Assistant"));
    let by_key = html_of(QuestionSummary { by: AskedBy::Key("night-batch".into()), ..payment() });
    assert!(by_key.contains(">night-batch</bdi> (API key of this service)</p>"), "{by_key}");
}

/// the question mark is the page's; no value and no owner's word is lost for it.
#[test]
fn a_pending_confirmation_is_a_question_and_a_settled_one_is_not() {
    let heading = |action: &str, became: OutcomeText| {
        let mut asked = running("dec_1", Vec::new());
        if let ActionText::Action { action: words, .. } = &mut asked.what {
            *words = Prose::rendered(action);
        }
        let html = plain(&QuestionPage { asked, became, ..page(Language::English) }.html());
        let heading = html.split_once("<h1").unwrap().1.split_once("</h1>").unwrap().0;
        heading.split_once('>').unwrap().1.replace("<bdi class=\"quoted\">", "").replace("</bdi>", "")
    };
    for (action, question) in [
        ("Transfer 82000.00 USD to “Acme Supplies”", "Transfer 82000.00 USD to “Acme Supplies”?"),
        ("Transfer 82000.00 USD.", "Transfer 82000.00 USD?"),
        ("Transfer to “Acme. Inc.”", "Transfer to “Acme. Inc.”?"),
        ("Shall 5 USD be paid?", "Shall 5 USD be paid?"),
        ("Pay 5 USD. It is final.", "Pay 5 USD. It is final."),
    ] {
        assert_eq!(heading(action, OutcomeText::Open), question);
        let settled = OutcomeText::Accepted { by: DecidedBy::You, at: payment().asked_at };
        assert_eq!(heading(action, settled), action);
    }
}

/// an agent's text in a title cannot pass for the requester behind it.
#[test]
fn an_agents_text_in_the_title_stays_in_quotes_that_it_cannot_end() {
    let mut asked = payment();
    if let ActionText::Action { action, .. } = &mut asked.what {
        *action = "Pay”? Requested by bank.example".into();
    }
    let html = html_of(asked);
    let title = html.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    let expected = "“Pay[U+201D]? Requested by bank.example”? Requested by agents.northwind.example";
    assert!(title.starts_with(expected), "{title}");
}

#[test]
fn consequence_irreversibility_and_time_left_come_before_the_values_and_the_values_before_the_buttons() {
    let html = html_of(payment());
    let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("{words}: {html}"));
    let order = [
        "</h1>",
        "<p class=\"by\">Requested by",
        ">Consequence</dt>",
        ">Cannot be undone<",
        ">Time left</dt>",
        ">Tool call</h2>",
        "value=\"reject\">Reject</button>",
        "value=\"accept\">Approve</button>",
        "<details class=\"technical\">",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{places:?}");
}

/// only digests, ids and values that the sentence already names are behind the closed details.
#[test]
fn technical_details_are_closed_and_hide_no_value_of_the_request() {
    let named = RequestDetail { named_in: vec![Text::Action], ..detail(DetailPlace::Body, "to.name", "Acme Supplies") };
    let asked = running("dec_1", vec![named, detail(DetailPlace::Body, "to.iban", "GB29")]);
    let html = html_of(asked);
    let (open, closed) =
        html.split_once("<details class=\"technical\">\n<summary>Technical details</summary>").unwrap();
    assert!(open.contains(">to.iban</bdi>") && open.contains("GB29"), "{open}");
    assert!(!closed.contains("GB29") && closed.contains(">to.name</bdi>"), "{closed}");
    for technical in ["dec_1</code>", &Digest::of(b"what would run").hex()] {
        assert!(closed.contains(technical), "{technical}: {closed}");
    }
}

#[test]
fn risk_and_irreversibility_are_written_in_words() {
    for html in [html_of(payment()), plain(&inbox(Language::English).html())] {
        assert!(html.contains(">High risk<") && html.contains(">Cannot be undone<"));
    }
    let mut mild = payment();
    if let ActionText::Action { risk, irreversible, reversibility, .. } = &mut mild.what {
        (*risk, *irreversible, *reversibility) = (Risk::Low, false, None);
    }
    let html = html_of(mild);
    assert!(html.contains(">Low risk<") && html.contains(">Can be undone<") && !html.contains("Cannot be undone"));
}

#[test]
fn reject_comes_first_and_weighs_the_same_as_approve() {
    let html = page(Language::English).html();
    let (no, yes) = (html.find("value=\"reject\"").unwrap(), html.find("value=\"accept\"").unwrap());
    assert!(no < yes, "the first button is the one that the Enter key presses");
    assert_eq!(html.matches("class=\"button answer-button\"").count(), 2);
}

/// AAEP-6.8-05
#[test]
fn a_settled_question_offers_no_way_to_answer_it() {
    for became in [
        OutcomeText::Over,
        OutcomeText::Withdrawn { at: payment().asked_at },
        OutcomeText::Accepted { by: DecidedBy::SomebodyElse, at: payment().asked_at },
    ] {
        let html = QuestionPage { became, ..page(Language::English) }.html();
        assert!(!html.contains("<form") && !html.contains("<button") && !html.contains("data-answering"));
    }
}

#[test]
fn a_person_entitled_only_to_reject_is_offered_nothing_else_and_reads_the_reason() {
    let html = QuestionPage { may: PersonOffer::Decide { yes: false, no: true }, ..page(Language::English) }.html();
    assert!(html.contains("value=\"reject\"") && !html.contains("value=\"accept\""));
    assert!(html.contains("You cannot approve this; somebody else has to."));
}

#[test]
fn the_form_carries_the_digest_of_the_shown_text() {
    let page = page(Language::German);
    assert!(page.html().contains(&format!("name=\"shown\" value=\"{}\"", page.shown().digest.hex())));
}

#[test]
fn every_change_of_the_scope_of_an_approval_changes_the_digest() {
    let digests: BTreeSet<_> = changed().iter().map(|p| p.shown().digest).collect();
    assert_eq!(digests.len(), changed().len(), "two changes cannot be told apart");
    assert!(!digests.contains(&page(Language::English).shown().digest));
}

#[test]
fn more_time_and_typed_text_do_not_change_the_digest() {
    let page = page(Language::English);
    let asked = QuestionSummary { deadline: Some(payment().asked_at.plus_secs(900)), left_s: 3, ..payment() };
    let later = QuestionPage { asked, csrf: "another".into(), typed: "No".into(), more: Vec::new(), ..page.clone() };
    assert_eq!(later.shown(), page.shown());
}

/// Copies of the page, each with one change that matters for an approval.
fn changed() -> Vec<QuestionPage> {
    let with = |change: fn(&mut QuestionPage)| {
        let mut page = page(Language::English);
        change(&mut page);
        page
    };
    let action = |change: fn(&mut ActionText)| {
        let mut page = page(Language::English);
        change(&mut page.asked.what);
        page
    };
    vec![
        with(|p| p.frame = Frame::new(Language::German, "Meridian Calendar", Some("Alice Okafor"))),
        with(|p| p.digest = Digest::of(b"something else")),
        with(|p| p.asked.decision_id = "dec_other".into()),
        with(|p| p.asked.service = "Another".into()),
        with(|p| p.asked.by = AskedBy::Key("night-batch".into())),
        with(|p| p.asked.words = Author::Service),
        with(|p| p.asked.tool = None),
        with(|p| p.asked.call = None),
        with(|p| p.asked.call.as_mut().unwrap().runs.details[0].value = "GB00".into()),
        with(|p| p.asked.request = Some(held("PUT", "/payments"))),
        with(|p| p.asked.unanswered = Unanswered::Accepted),
        with(|p| p.asked.last_ran = None),
        action(|w| {
            if let ActionText::Action { action, .. } = w {
                *action = "Pay nothing".into()
            }
        }),
        action(|w| {
            if let ActionText::Action { consequence, .. } = w {
                *consequence = "None".into()
            }
        }),
        action(|w| {
            if let ActionText::Action { summary, .. } = w {
                *summary = None
            }
        }),
        action(|w| {
            if let ActionText::Action { details, .. } = w {
                details[0].value = "1 GBP".into()
            }
        }),
        action(|w| {
            if let ActionText::Action { details, .. } = w {
                details.clear()
            }
        }),
        action(|w| {
            if let ActionText::Action { risk, .. } = w {
                *risk = Risk::Medium
            }
        }),
        action(|w| {
            if let ActionText::Action { allowance_s, .. } = w {
                *allowance_s = 301
            }
        }),
    ]
}

#[test]
fn an_agents_words_stay_text_in_their_place_and_are_never_cut_on_their_own_page() {
    let hostile = "<script>alert(1)</script>\u{202E}dne\u{0007}";
    let long = format!("{hostile} {}end", "word ".repeat(3000));
    let mut asked = payment();
    if let ActionText::Action { action, details, .. } = &mut asked.what {
        *action = long.as_str().into();
        *details = vec![Detail { name: hostile.into(), value: hostile.into() }];
    }
    let html = html_of(asked.clone());
    assert!(!html.contains("<script>alert") && !html.contains('\u{202E}') && !html.contains('\u{7}'));
    assert!(html.contains("&#60;script&#62;alert(1)&#60;/script&#62;[U+202E]dne␇"), "nothing vanishes");
    assert!(html.contains("word end"), "the page of a question shows all of it");
    let list = plain(&InboxPage { questions: vec![asked], ..inbox(Language::English) }.html());
    assert!(!list.contains("word end") && list.contains('…') && !list.contains("<script>alert"));
}

///
#[test]
fn only_the_gateways_members_of_a_request_are_named_in_our_words() {
    let mut asked = payment();
    let target = Detail { name: "target".into(), value: "/payments".into() };
    let ours = "Address</dt>";
    let services =
        html_of(QuestionSummary { words: Author::Service, request: Some(held("PUT", "/payments")), ..asked.clone() });
    assert!(services.split_once("<summary>Technical details</summary>").unwrap().1.contains(ours), "{services}");
    if let ActionText::Action { details, .. } = &mut asked.what {
        *details = vec![target];
    }
    let agents = html_of(asked);
    assert!(!agents.contains(ours) && agents.contains("<dt dir=\"auto\">target</dt>"));
}

#[test]
fn an_invalid_language_tag_is_not_given_to_a_screen_reader() {
    assert!(html_of(payment()).contains("<blockquote lang=\"en-GB\">"));
    for no_language in ["", "x", "not a language", "en\" onload=\"", "12-34", "toolongtag123-en"] {
        let html = html_of(QuestionSummary { language: no_language.into(), ..payment() });
        assert!(html.contains("<blockquote>"), "{no_language}");
    }
}

#[test]
fn the_time_left_never_promises_too_much() {
    let frame = Frame::new(Language::English, "", None);
    let left = |left_s| plain(&QuestionSummary { left_s, ..payment() }.left(&frame));
    assert_eq!(
        [left(-5), left(1), left(119), left(120), left(179)].join("|"),
        "0 seconds|1 second|119 seconds|2 minutes|2 minutes"
    );
    assert_eq!([left(7199), left(7200), left(172_800)].join("|"), "119 minutes|2 hours|2 days");
}

///
#[test]
fn an_unknown_outcome_says_until_when_the_service_is_asked_for_it() {
    let text = |language, asked_until| {
        let became = OutcomeText::Accepted { by: DecidedBy::You, at: NOW };
        let runs = Some(Runs::Unknown { since: NOW.plus_secs(60), asked_until });
        QuestionPage { became, runs, ..page(language) }.html()
    };
    let asking = [
        (Language::English, "The outcome is unknown", "The service is being asked until <time"),
        (Language::German, "Das Ergebnis ist unbekannt", "Der Dienst wird gefragt bis <time"),
    ];
    for (language, unknown, asked) in asking {
        let until = NOW.plus_secs(314);
        let page = text(language, Some(until));
        assert!(page.contains(unknown) && page.contains(asked), "{page}");
        let time = page.split_once(asked).unwrap().1;
        assert!(time.split_once('>').unwrap().0.contains(&until.to_rfc3339()), "{time}");
        let page = text(language, None);
        assert!(page.contains(unknown) && !page.contains(asked), "{page}");
    }
}

///
#[test]
fn a_value_never_passes_for_the_owners_words() {
    let mut asked = running("dec_1", Vec::new());
    if let ActionText::Action { action, .. } = &mut asked.what {
        *action = Prose::rendered("Transfer 82000.00 USD to “Acme (verified payee). This is a simulation”");
    }
    let value = "to “<bdi class=\"quoted\">Acme (verified payee). This is a simulation</bdi>”";
    assert!(html_of(asked.clone()).contains(value));
    let list = InboxPage { questions: vec![asked], ..inbox(Language::English) };
    assert!(list.html().contains(value), "{}", list.html());
}

///
#[test]
fn everything_that_runs_is_listed_on_the_page_of_a_question_and_in_the_list() {
    let details = vec![
        detail(DetailPlace::Body, "to.iban", "GB29\u{202e}\u{2068}\u{200b}\n”. Checked"),
        detail(DetailPlace::Query, "notify", "<b>no</b>"),
        detail(DetailPlace::Header, "if-match", "\u{410}cme"),
    ];
    let asked = running("dec_1", details);
    let list = InboxPage { questions: vec![asked.clone()], ..inbox(Language::English) };
    for html in [html_of(asked), list.html()] {
        assert!(html.contains(">Also in this request</h"), "{html}");
        let iban = "<dt>Body <bdi class=\"exact\" translate=\"no\">to.iban</bdi></dt><dd class=\"value\" dir=\"auto\">\
                    “<bdi class=\"quoted\" translate=\"no\">GB29[U+202E][U+2068][U+200B]␊[U+201D]. Checked</bdi>”</dd>";
        assert!(html.contains(iban), "{html}");
        assert!(html.contains("&#60;b&#62;no&#60;/b&#62;") && !html.contains("<b>no"));
        let warning = plain(&html);
        assert!(warning.contains("Look twice: Header if-match has letters of another alphabet"), "{warning}");
        assert!(warning.contains("U+0410. It reads like Acme and is not."), "{warning}");
    }
    let tool = html_of(payment());
    let runs = tool.split_once(">Tool call</h2>").unwrap().1;
    assert!(runs.contains("<code translate=\"no\">payments.send</code>") && runs.contains("GB29 NWBK 6016"), "{runs}");
    assert!(runs.contains("not from the agent’s words"), "{runs}");
}

///
#[test]
fn questions_that_read_the_same_name_their_differences() {
    let invoice = |n: &str| vec![detail(DetailPlace::Body, "to", "x"), detail(DetailPlace::Body, "invoice", n)];
    let questions = vec![running("dec_1", invoice("inv-7")), running("dec_2", invoice("inv-8")), payment()];
    let mut list = InboxPage { questions, ..inbox(Language::English) };
    list.tell_apart();
    let html = plain(&list.html());
    assert_eq!(html.matches("Another question in this list reads the same. This one differs in:").count(), 2, "{html}");
    let alike: Vec<&str> =
        html.split("<div class=\"alike\">").skip(1).map(|at| at.split_once("</div>\n").unwrap().0).collect();
    let [first, second] = alike.as_slice() else { panic!("{alike:?}") };
    assert!(first.contains("inv-7") && second.contains("inv-8"), "{alike:?}");
    let mut same = InboxPage { questions: vec![payment(), payment()], ..inbox(Language::English) };
    same.tell_apart();
    assert_eq!(same.html().matches("permits exactly the same call.").count(), 2);
}
