//! Clarification on the pages: the source of each answer, and the operations a gap stops.

use super::{questions::page, samples::NOW};
use crate::pages::*;
use countersign_protocol::clarification::{GivenBy, Operation, Severity};
use std::collections::BTreeSet;

fn clarified() -> ClarificationBox {
    let own = ClarifiedAnswer {
        field: "account".into(),
        question: "Which account is charged?".into(),
        answer: "Reserve".into(),
        given_by: GivenBy::Own,
    };
    let persons = ClarifiedAnswer {
        field: "beneficiary".into(),
        question: "Who gets the money?".into(),
        answer: "Harbour Estates".into(),
        given_by: GivenBy::Person,
    };
    ClarificationBox { answers: vec![own, persons], more: 0, session_id: "00000000-0000-4000-8000-000000000001".into() }
}

fn resting(language: Language) -> QuestionPage {
    QuestionPage { clarified: Some(clarified()), ..page(language) }
}

fn gap() -> GapAsked {
    GapAsked {
        field: "beneficiary".into(),
        why: "Nobody gives it back.".into(),
        severity: Severity::Block,
        stops: vec![Operation::Planner, Operation::Build],
        said: Some(RefusedAnswer { answer: "The usual one".into(), why: "a person must answer this".into() }),
    }
}

fn asking(language: Language, gap: GapAsked) -> QuestionPage {
    let base = page(language);
    let what = ActionText::Question {
        question: "Who gets the money?".into(),
        context: Some("all of it at once".into()),
        summary: Some("The agent asks instead of guessing".into()),
    };
    let asked = QuestionSummary {
        words: Author::Rule,
        what,
        tool: None,
        unanswered: Unanswered::Stopped,
        ..base.asked.clone()
    };
    let choices = vec![Choosable { value: "Dock Ltd".into(), label: "Dock Ltd".into() }];
    let may = PersonOffer::Respond(vec![Field::Choices(choices), Field::Text]);
    QuestionPage { asked: asked.told_by_rule(gap.why.clone()), gap: Some(gap), may, ..base }
}

pub(super) fn all(language: Language) -> Vec<(&'static str, String)> {
    let more = ClarificationBox { more: 7, ..clarified() };
    let one_more = ClarificationBox { more: 1, ..clarified() };
    let warning = GapAsked { severity: Severity::Warn, said: None, ..gap() };
    let warned = asking(language, warning);
    let over = OutcomeText::Answered { by: DecidedBy::You, at: NOW, response: "Dock Ltd".into() };
    vec![
        ("question-clarified", resting(language).html()),
        ("question-clarified-more", QuestionPage { clarified: Some(more), ..page(language) }.html()),
        ("question-clarified-one-more", QuestionPage { clarified: Some(one_more), ..page(language) }.html()),
        ("question-gap", asking(language, gap()).html()),
        ("question-gap-warning", QuestionPage { may: PersonOffer::Respond(vec![Field::Text]), ..warned }.html()),
        ("question-gap-abandons", QuestionPage { abandons: true, ..asking(language, gap()) }.html()),
        ("question-gap-over", QuestionPage { became: over, gap: None, ..asking(language, gap()) }.html()),
    ]
}

/// R-14, WWA-6.2-06
#[test]
fn every_answer_names_its_author_in_words() {
    for (language, own, persons) in [
        (Language::English, "The agent’s own answer", "A person’s answer"),
        (Language::German, "Eigene Antwort des Agenten", "Antwort eines Menschen"),
    ] {
        let html = resting(language).html();
        let section = html.split_once("id=\"clarified-heading\"").unwrap().1.split_once("</section>").unwrap().0;
        let items: Vec<&str> = section.split("<li>").skip(1).collect();
        assert!(items[0].contains("Reserve") && items[0].contains(own) && !items[0].contains(persons), "{section}");
        assert!(items[1].contains("Harbour Estates") && items[1].contains(persons), "{section}");
    }
}

///
#[test]
fn a_gap_names_its_reason_the_blocked_steps_and_the_agents_own_words() {
    let html = asking(Language::English, gap()).html();
    for words in [
        "The agent is stopped until this is answered",
        "planning, carrying out",
        "<code translate=\"no\">beneficiary</code>",
        "Reason for the question",
        "Nobody gives it back.",
        "It stays open, and the agent stays stopped.",
        "value=\"Dock Ltd\"",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    let said = html.split_once("id=\"gap-said-heading\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(said.contains("class=\"unchecked\"") && said.contains("The usual one"), "{said}");
    assert!(!html.contains("all of it at once") && !html.contains("instead of guessing"), "said once, not twice");
    assert!(!html.contains("with the word accept"), "only a warning may be let stand");
    let warning = asking(Language::English, GapAsked { severity: Severity::Warn, ..gap() });
    assert!(!warning.html().contains("with the word accept"), "one of the choices says it");
    let typed = QuestionPage { may: PersonOffer::Respond(vec![Field::Text]), ..warning };
    assert!(typed.html().contains("with the word accept"));
}

///
#[test]
fn clarifications_and_the_agents_words_are_part_of_the_shown_text() {
    let of = |change: fn(&mut ClarificationBox)| {
        let mut clarified = clarified();
        change(&mut clarified);
        QuestionPage { clarified: Some(clarified), ..page(Language::English) }.shown().digest
    };
    let with = |change: fn(&mut GapAsked)| {
        let mut gap = gap();
        change(&mut gap);
        asking(Language::English, gap).shown().digest
    };
    let all = [
        page(Language::English).shown().digest,
        of(|_| {}),
        of(|clarified| clarified.answers[0].answer = "Operating".into()),
        of(|clarified| clarified.answers[0].given_by = GivenBy::Person),
        of(|clarified| clarified.answers[1].question = "Who pays?".into()),
        of(|clarified| clarified.more = 1),
        of(|clarified| clarified.answers.truncate(1)),
        with(|_| {}),
        with(|gap| gap.said = None),
        with(|gap| gap.said.as_mut().unwrap().answer = "Dock Ltd".into()),
        with(|gap| gap.why = "Because".into()),
        with(|gap| gap.field = "payee".into()),
        with(|gap| gap.stops.truncate(1)),
    ];
    let unique: BTreeSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}
