//! `countersign routes …`, through the built binary.

use crate::cli_folder::{Folder, example};
use serde_json::{Value, json};

const BANK: &str = r#"
id = "bank"

[[scopes]]
id = "transfers.write"
description = "Send money"
allows = ["transfers.send"]
intent_types = ["PAY"]

[[upstreams]]
id = "core"
url = "http://127.0.0.1:9000"

[[routes]]
id = "send"
method = "POST"
path = "/accounts/{account}/transfers"
action = "transfers.send"
irreversible = true
approvers = ["role:approver"]
headers = ["if-match"]
effect = "transfer:{body.id}"
describe.action = "Send {body.amount} to {body.to}"
"#;

const BODY: &str = r#"{"id":7,"to":"acct-3344","amount":82000.10}"#;

fn bank(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("bank.toml", BANK);
    folder
}

const CHECK: [&str; 6] =
    ["routes", "check", "--project", "bank.toml", "post", "https://api.bank.example/accounts/main/transfers"];

#[test]
fn a_request_without_a_route_ends_with_1_and_the_nearest() {
    let folder = bank("routes-none");
    let ran = folder.run("routes check --project bank.toml GET /accounts/main/transfers").refused();
    assert_eq!(
        ran.err,
        "error: no route matches GET /accounts/main/transfers\nhint: the nearest is POST /accounts/{account}/transfers; \
         `countersign routes list` shows all of them\n"
    );
    let ran = folder.run("routes check --project bank.toml --json GET /accounts/main/transfers");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &told["route"]), (1, &Value::Null));
}

#[test]
fn a_request_that_would_be_refused_ends_with_1_and_the_reason() {
    let folder = bank("routes-refused");
    let ran = folder.run_words(&[&CHECK[..], &["-d", r#"{"id":7,"id":8}"#]].concat(), &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.ends_with("\nrefused: the body is not unambiguous JSON: the member \"id\" occurs twice\n"));
    let ran = folder.run_words(&[&CHECK[..], &["-d", "@gone.json"]].concat(), &[]);
    assert!(ran.code == 1 && ran.err.starts_with("error: gone.json cannot be read: "), "{}", ran.err);
    let ran = folder.run_words(&[&CHECK[..], &["-H", "nonsense"]].concat(), &[]);
    assert!(ran.code == 2 && ran.err.contains("a header reads NAME: VALUE"), "{}", ran.err);
}

#[test]
fn a_document_with_problems_explains_nothing() {
    let folder = bank("routes-problems");
    folder.write("bank.toml", &BANK.replace("{body.to}", "{body.to"));
    let ran = folder.run_words(&CHECK, &[]).refused();
    assert!(ran.err.starts_with("error: bank.toml: routes[0]: describe.action: a { has no } after it"), "{}", ran.err);
}

#[test]
fn a_held_request_is_explained_with_approvers_and_their_text() {
    let folder = bank("routes-held");
    folder.write("body.json", BODY);
    for body in [BODY, "@body.json"] {
        let ran = folder.run_words(&[&CHECK[..], &["-d", body, "-H", "If-Match: \"v7\""]].concat(), &[]).silent();
        for line in [
            "route send, action transfers.send",
            "scope: transfers.write",
            "counts as: writing",
            "upstream: core at http://127.0.0.1:9000",
            "held: until a person approves exactly this, because the route send requires it",
            "risk: high",
            "can be undone: no",
            "approvers: role:approver",
            "time to answer: 300 s; an approval lasts 300 s",
            "runs once, in any request: transfer:7",
            "  action: Send 82000.10 to “acct-3344”. Also sent: path account: “main”; \
             header if-match: “[U+0022]v7[U+0022]”; id: 7",
            "    header if-match: “[U+0022]v7[U+0022]”",
            "    id: 7",
        ] {
            assert!(ran.out.lines().any(|said| said == line), "{line} is not in {}", ran.out);
        }
    }
    let ran = folder.run_words(&[&CHECK[..], &["-d", BODY, "--json"]].concat(), &[]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        told["held"]["question"]["terse"],
        "Send 82000.10 to “acct-3344”. Also sent: path account: “main”; id: 7"
    );
    assert_eq!((&told["tier"], &told["problem"]), (&json!(2), &Value::Null));
    assert!(!folder.0.join("countersign.db").exists());
}

#[test]
fn a_form_is_read_where_a_header_says_so() {
    let folder = bank("routes-form");
    let form = ["-d", "id=7&to=Z%C3%BCrich&amount=1.50", "-H", "Content-Type: application/x-www-form-urlencoded"];
    let ran = folder.run_words(&[&CHECK[..], &form].concat(), &[]);
    assert!(
        ran.code == 0 && ran.out.contains("\n  action: Send 1.50 to “Zürich”. Also sent: "),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn without_a_file_the_policy_in_force_counts() {
    let folder = Folder::ready("routes-force");
    let ran = folder.run("routes list").refused();
    assert!(ran.err.starts_with("error: there is no project yet\n"));
    folder.does(&format!("project apply {}", example().display()));
    let told = folder.does("routes check DELETE /events/81");
    assert!(
        told.contains(
            "\nheld: until a person approves exactly this, because the scope calendar.delete is irreversible\n"
        )
    );
    assert!(told.contains("\n  terse: DELETE /events/81. Also sent: path event: “81”\n"), "{told}");
    assert!(folder.does("routes check GET /events").contains("\nheld: no, it is forwarded at once\n"));
    let listed = folder.does("routes list");
    assert!(
        listed.lines().any(|line| line == "DELETE  /events/{event}  events.delete   needs approval  delete-event"),
        "{listed}"
    );
    assert_eq!(
        folder.json("routes list")[0],
        json!({
            "id": "list-events", "method": "GET", "path": "/events", "action": "events.list", "writes": false, "held": false,
        })
    );
}
