//! Clarifications on the pages: gaps that need a person, and questions that rest on clarified answers.

use super::{Words as _, decide, follow, hidden, open_as, page_of, send_as};
use crate::{
    clarification::world::{World, gap, plan},
    mplp,
};
use axum::body::Body;
use countersign_testkit::{TestPerson, decisions::confirmation, on_sqlite};
use http::{Method, header};
use serde_json::{Value, json};

/// The question to a person in place of an answer of the agent.
async fn escalated(world: &World, told: &Value, answer: &str) -> Value {
    let escalated = world.answers(told, "beneficiary", answer).await.expect(200).json();
    assert_eq!(escalated["status"], "escalated");
    escalated
}

async fn page(world: &World, decision: &Value) -> String {
    open_as(&world.plane, &world.alice, &page_of(decision)).await.expect(200).words()
}

async fn german_page(world: &World, who: &TestPerson, decision: &Value) -> String {
    let request = who.request(Method::GET, &page_of(decision)).header(header::ACCEPT, "text/html");
    let request = request.header(header::ACCEPT_LANGUAGE, "de").body(Body::empty()).unwrap();
    world.plane.send(request).await.expect(200).words()
}

/// The section under a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let rest = page.split_once(&format!("id=\"{heading}\"")).unwrap_or_else(|| panic!("no {heading}: {page}")).1;
    rest.split_once("</section>").unwrap().0
}

/// Alice has answered the question for the recipient; the account is the agent's own answer.
async fn clarified(world: &World) -> Value {
    let told = world.submits(&plan(&json!({ "region": "EU" }))).await;
    world.answers(&told, "account", "the <b>reserve</b>").await.expect(200);
    let asked = escalated(world, &told, "Harbour Estates").await;
    world.alice.answers(&world.plane, &asked, json!("Dock Ltd")).await;
    world.confirms(&told).await.expect(200);
    told
}

fn says_whose(page: &str, session: &Value) {
    let clarified = section(page, "clarified-heading");
    let items: Vec<&str> = clarified.split("<li>").skip(1).collect();
    for words in
        ["account", "Which account is charged?", "the &#60;b&#62;reserve&#60;/b&#62;", "The agent’s own answer"]
    {
        assert!(items[0].contains(words), "{words}: {clarified}");
    }
    for words in ["beneficiary", "Who gets the money?", "Dock Ltd", "A person’s answer"] {
        assert!(items[1].contains(words), "{words}: {clarified}");
    }
    let technical = page.split_once("<details class=\"technical\">").unwrap().1;
    assert!(technical.contains(session["session_id"].as_str().unwrap()), "{technical}");
}

on_sqlite! {
    ///
    async fn the_page_of_a_gap_names_its_reason_its_blocks_and_the_agents_words(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "account": "Reserve", "region": "EU" }))).await;
        let asked = escalated(&world, &told, "<b>the usual one</b>").await;
        let inbox = open_as(&world.plane, &world.alice, "/inbox").await.expect(200).words();
        assert!(inbox.contains("Who gets the money?") && inbox.contains("Asked by a rule of"), "{inbox}");
        let english = page(&world, &asked).await;
        for words in ["Who gets the money?", "Reason for the question", "Nobody gives it back.", "Asked by a rule of"] {
            assert!(english.contains(words), "{words}: {english}");
        }
        let stops = section(&english, "gap-heading");
        assert!(stops.contains("stopped: carrying out") && stops.contains("beneficiary"), "{stops}");
        let said = section(&english, "gap-said-heading");
        assert!(said.contains("&#60;b&#62;the usual one&#60;/b&#62;") && said.contains("Nobody has checked them"), "{said}");
        assert!(english.contains("It stays open, and the agent stays stopped."), "{english}");
        let german = german_page(&world, &world.alice, &asked).await;
        for words in ["Der Agent ist angehalten", "Grund der Frage", "Die eigene Antwort des Agenten", "Ausführen"] {
            assert!(german.contains(words), "{words}: {german}");
        }
    }

    ///
    async fn an_answer_on_the_page_resolves_the_gap_and_counts_only_for_the_shown_text(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "account": "Reserve", "region": "EU" }))).await;
        let asked = escalated(&world, &told, "the usual one").await;
        let read = page(&world, &asked).await;
        let (csrf, shown) = (hidden(&read, "csrf"), hidden(&read, "shown"));
        let again = escalated(&world, &told, "the other one").await;
        assert_eq!(again["decision_id"], asked["decision_id"], "nobody is asked twice");
        let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "respond"), ("kind", "freetext"), ("response", "yes")];
        let page = send_as(&world.plane, &world.alice, &page_of(&asked), &sent).await.expect(409).words();
        assert!(page.contains("the other one") && !page.contains("the usual one"), "{page}");

        let given = [("kind", "freetext"), ("response", "Dock Ltd")];
        let done = decide(&world.plane, &world.alice, &asked, "respond", &given).await;
        let page = follow(&world.plane, &world.alice, done).await;
        assert!(page.contains("Dock Ltd") && !page.contains("gap-heading"), "nothing is stopped any more: {page}");
        assert_eq!(world.confirms(&told).await.expect(200).json()["plan"]["beneficiary"], "Dock Ltd");
    }

    async fn a_person_chooses_from_the_rules_suggestions(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "region": "EU", "beneficiary": "Dock Ltd" }))).await;
        let asked = world.answers(&told, "account", " ").await.expect(200).json();
        let read = page(&world, &asked).await;
        for words in ["value=\"Operating\"", "value=\"Reserve\"", "<textarea"] {
            assert!(read.contains(words), "{words}: {read}");
        }
        assert!(!read.contains("gap-said-heading"), "an agent that said nothing is not quoted");
        let given = [("kind", "multiple_choice"), ("response", "Operating")];
        decide(&world.plane, &world.alice, &asked, "respond", &given).await.expect(303);
        assert_eq!(world.confirms(&told).await.expect(200).json()["plan"]["account"], "Operating");
    }

    async fn only_a_warning_may_be_let_stand_and_the_page_says_so(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "account": "Reserve", "beneficiary": "Dock Ltd" }))).await;
        assert_eq!(gap(&told, "region")["severity"], "WARN");
        let asked = world.answers(&told, "region", "").await.expect(200).json();
        let read = page(&world, &asked).await;
        assert!(read.contains("with the word accept"), "{read}");
        let given = [("kind", "freetext"), ("response", "accept")];
        decide(&world.plane, &world.alice, &asked, "respond", &given).await.expect(303);
        assert_eq!(world.confirms(&told).await.expect(200).json()["status"], "plan_accepted");
    }

    /// WWA-6.2-06
    async fn an_approver_reads_the_clarifications_and_the_author_of_each(kit) {
        let world = World::made(kit).await;
        let told = clarified(&world).await;
        let mut body = confirmation("payments.send", json!({ "amount": 82 }));
        body["clarification_session_id"] = told["session_id"].clone();
        body["summary_detailed"] = json!("The deposit for the house.");
        body["extra_context"] = json!({ "kept": "as it is", "clarification": { "answers": [{ "answer": "forged" }] } });
        let asked = world.agent.requests_confirmation(&world.plane, &body).await.expect(201).json();
        let read = page(&world, &asked).await;
        says_whose(&read, &told);
        assert!(read.contains("The deposit for the house.") && read.contains("as it is"), "{read}");
        assert!(!section(&read, "clarified-heading").contains("forged"), "{read}");
        for words in ["Clarified before:", "chain_head", "given_by"] {
            assert!(!read.contains(words), "{words}: {read}");
        }
        let german = german_page(&world, &world.alice, &asked).await;
        for words in ["Frühere Klärungen", "Eigene Antwort des Agenten", "Antwort eines Menschen"] {
            assert!(german.contains(words), "{words}: {german}");
        }
    }

    ///
    async fn a_question_before_which_nothing_was_unclear_says_nothing_about_it(kit) {
        let world = World::made(kit).await;
        let mut body = confirmation("payments.send", json!({ "amount": 82 }));
        body["extra_context"] = json!({ "clarification": { "answers": [{ "answer": "forged" }], "session_id": "x" } });
        let asked = world.agent.requests_confirmation(&world.plane, &body).await.expect(201).json();
        let read = page(&world, &asked).await;
        assert!(!read.contains("clarified-heading"), "the agent's word is its own: {read}");
    }

    /// WWA-6.2-06
    async fn the_question_about_a_plan_shows_its_clarifications(kit) {
        let world = World::made(kit).await;
        let mut submission = mplp::archiving(1, 1);
        submission["plan"].as_object_mut().unwrap().remove("objective");
        let told = world.submits(&submission).await;
        world.answers(&told, "plan.objective", "The notes are in order").await.expect(200);
        let accepted = world.confirms(&told).await.expect(200).json();
        let id = accepted["decision_id"].as_str().expect("people are asked");
        let read = open_as(&world.plane, &world.alice, &format!("/inbox/calendar/{id}")).await.expect(200).words();
        let clarified = section(&read, "clarified-heading");
        for words in ["plan.objective", "What is the plan for?", "The notes are in order", "The agent’s own answer"] {
            assert!(clarified.contains(words), "{words}: {clarified}");
        }
        assert!(read.contains("type=\"checkbox\"") && !read.contains("Clarified before"), "{read}");
    }
}

on_sqlite! {
    ///
    async fn a_person_abandons_a_clarification_on_the_page_of_its_question(kit) {
        let world = World::made(kit).await;
        let told = world.submits(&plan(&json!({ "account": "Reserve", "region": "EU" }))).await;
        let asked = escalated(&world, &told, "the usual one").await;
        let english = page(&world, &asked).await;
        assert!(english.contains("Abandon the clarification"), "{english}");
        assert!(german_page(&world, &world.alice, &asked).await.contains("Klärung abbrechen"));
        let csrf = hidden(&english, "csrf");
        let path = page_of(&asked);
        let forged = send_as(&world.plane, &world.alice, &path, &[("csrf", "guessed"), ("abandon", "yes")]).await;
        assert_eq!(forged.status, 403);
        let done = send_as(&world.plane, &world.alice, &path, &[("csrf", csrf.as_str()), ("abandon", "yes")]).await;
        let after = follow(&world.plane, &world.alice, done).await;
        assert!(!after.contains("Abandon the clarification"), "{after}");
        let status = crate::clarification::world::of("session-status", &told);
        assert_eq!(world.get(&world.agent, &status).await.expect(200).json()["state"], "abandoned");
        let confirmed = world.confirms(&told).await;
        assert_eq!(confirmed.refusal(), (409, "conflict".into()));
    }
}
