//! The files in `examples/` and the README work as written.

use crate::cli_folder::{Folder, Ran};
use std::path::{Path, PathBuf};

const TRANSFER: &str = r#"{"reference":"inv-7","to":"Acme Supplies","amount":"82000.00","currency":"USD"}"#;

fn in_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}

fn checks(folder: &Folder, source: &[&str], request: &[&str]) -> Ran {
    let ran = folder.run_words(&[&["routes", "check"], source, request].concat(), &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran
}

fn says(ran: &Ran, line: &str) {
    assert!(ran.out.lines().any(|said| said == line), "{line} is not in {}", ran.out);
}

#[test]
fn the_banks_route_table_holds_irreversible_calls_and_nothing_else() {
    let folder = Folder::new("example-bank");
    let bank = in_the_repository("examples/bank.toml");
    let source = ["--project", bank.to_str().unwrap()];
    let held = checks(&folder, &source, &["POST", "/transfers", "-d", TRANSFER]);
    for line in [
        "held: until a person approves exactly this, because the route send-transfer requires it",
        "proof of possession (DPoP): needed",
        "risk: high",
        "time to answer: 600 s; an approval lasts 300 s",
        "runs once, in any request: transfer:inv-7",
        "  action: Transfer 82000.00 USD to “Acme Supplies”. Also sent: reference: “inv-7”",
    ] {
        says(&held, line);
    }
    let refund = checks(&folder, &source, &["POST", "/refunds", "-d", r#"{"payment_id":"p-1"}"#]);
    says(&refund, "runs once, in any request: refund:p-1");
    let read = checks(&folder, &source, &["GET", "/accounts/main"]);
    says(&read, "held: no, it is forwarded at once");
    let note = checks(&folder, &source, &["POST", "/notes", "-d", r#"{"text":"paid"}"#]);
    says(&note, "held: no, it is forwarded once its entry is durable");
}

#[test]
fn every_example_can_be_applied() {
    for example in ["bank", "calendar", "payments"] {
        let folder = Folder::ready(&format!("example-{example}-applied"));
        let file = in_the_repository(&format!("examples/{example}.toml"));
        let said = folder.does(&format!("project apply {}", file.display()));
        assert_eq!(said, format!("project {example}: version 1 is in force\n"));
    }
}

/// The two files of the README, as pasted.
#[test]
fn the_smallest_configuration_of_a_gateway_serves_and_holds() {
    let folder = Folder::ready("readme-gateway");
    folder.write("countersign.toml", &block("countersign.toml").replace("8422", "0"));
    folder.write("shop.toml", &block("shop.toml"));
    folder.does("project apply shop.toml");
    let held = checks(&folder, &[], &["POST", "/refunds", "-d", r#"{"payment_id":"p-1","amount":"19.90"}"#]);
    says(&held, "approvers: the person for whom the agent acts");
    says(&held, "  action: Refund 19.90 for payment “p-1”");
    let served = folder.serve(&[("SHOP_TOKEN", "Bearer secret")]);
    assert!(served.said.contains("\ngateway listener: 127.0.0.1:"), "{}", served.said);
    let read = checks(&folder, &[], &["GET", "/orders/7"]);
    says(&read, "held: no, it is forwarded at once");
}

/// The TOML block of the README with this file name in its first line.
fn block(file: &str) -> String {
    let readme = std::fs::read_to_string(in_the_repository("README.md")).unwrap();
    let begins = format!("```toml\n# {file}\n");
    let rest = readme.split_once(&begins).unwrap_or_else(|| panic!("the README has no {file}")).1;
    rest.split_once("```").unwrap().0.to_owned()
}
