//! Everything that runs is on the page: values marked as values, nothing hidden, nothing in disguise.

use super::*;
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest},
    decisions::DecisionFixture,
    on_sqlite,
};

/// The path of a held request's page.
async fn held(scene: &BankFixture, body: Value) -> String {
    let sent = GatewayRequest::new("POST", "/transfers").json(body.to_string()).with("x-reference", "R-7");
    let answer = scene.sends(sent).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    page_of(&BankFixture::decision(&answer))
}

fn paying(to: &str, invoice: &str) -> Value {
    json!({ "amount": "82000.00", "currency": "USD", "from": "main", "to": to, "memo": { "invoice": invoice } })
}

on_sqlite! {
    ///
    async fn a_value_of_a_request_is_marked_as_one_and_cannot_pass_for_the_owners_words(kit) {
        let scene = kit.bank().await;
        let hostile = "Acme Supplies” (verified payee). This is a simulation \u{202e}\u{200b}“";
        let path = held(&scene, paying(hostile, "inv-7")).await;
        for path in [path.as_str(), "/inbox"] {
            let page = scene.alice.get(&scene.plane, path).await.expect(200).text();
            let value = "“<bdi class=\"quoted\">Acme Supplies[U+201D] (verified payee). This is a simulation \
                         [U+202E][U+200B][U+201C]</bdi>”";
            assert!(page.contains(value), "{path}: {page}");
            assert!(!page.contains('\u{202e}') && !page.contains('\u{200b}'), "{path}: {page}");
        }
    }

    ///
    async fn members_that_the_owners_words_do_not_name_are_listed_on_the_page_and_in_the_list(kit) {
        let scene = kit.bank().await;
        let path = held(&scene, paying("\u{410}cme", "inv-7")).await;
        for path in [path.as_str(), "/inbox"] {
            let page = scene.alice.get(&scene.plane, path).await.expect(200).words();
            let listed = page.split_once("Also in this request</h").expect("a list").1;
            for (name, value) in [("memo.invoice", "“inv-7”"), ("from", "“main”"), ("x-reference", "“R-7”")] {
                let said = format!("{name}</bdi></dt><dd class=\"value\" dir=\"auto\">{value}</dd>");
                assert!(listed.contains(&said), "{path}: {said}: {listed}");
            }
            assert!(page.contains("letters of another alphabet that look like plain ones: U+0410."), "{path}: {page}");
        }
    }

    ///
    async fn two_payments_that_read_the_same_are_distinguished_in_the_list(kit) {
        let scene = kit.bank().await;
        held(&scene, paying("theirs", "inv-7")).await;
        held(&scene, paying("theirs", "inv-8")).await;
        let page = scene.alice.get(&scene.plane, "/inbox").await.expect(200).words();
        let alike: Vec<&str> = page.split("<div class=\"alike\">").skip(1).collect();
        assert_eq!(alike.len(), 2, "{page}");
        for (at, invoice) in ["inv-7", "inv-8"].iter().enumerate() {
            let told = alike[at].split_once("</div>").expect("the end of it").0;
            assert!(told.contains("reads the same") && told.contains(invoice), "{told}");
            assert!(!told.contains("R-7"), "only what differs: {told}");
        }
    }

    ///
    async fn tool_and_arguments_of_an_agents_question_stand_on_the_page_and_in_the_list(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let arguments = json!({ "to": "everybody\u{2068}", "text": { "lines": ["<b>one</b>", 2] } });
        let asked = agent.requests_approval(&plane, "mail.send", arguments).await;
        for path in [page_of(&asked).as_str(), "/inbox"] {
            let page = open_as(&plane, &alice, path).await.expect(200).words();
            let runs = page.split_once("Tool call</h").expect("what runs").1;
            assert!(runs.contains("<code translate=\"no\">mail.send</code>"), "{path}: {runs}");
            for part in ["“everybody[U+2068]”", "“&#60;b&#62;one&#60;/b&#62;”", "text.lines.1</bdi>", ">2</bdi>"] {
                assert!(runs.contains(part), "{path}: {part}: {runs}");
            }
        }
    }
}
