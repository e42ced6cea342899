//! `countersign token …`, through the built binary.

use crate::cli_folder::{Folder, PASSWORD};
use serde_json::json;

#[test]
fn a_token_needs_a_name_and_a_person_of_the_project() {
    let folder = Folder::with_project("token-refused");
    for arguments in ["token add", "token add --person alice", "token add --person alice --name x --days 0"] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
    folder.does_as("user add bob");
    for (arguments, error) in [
        ("--person carol --name phone", "the person has no account here"),
        ("--person alice --name phone --project no", "there is no such project"),
        ("--person bob --name phone", ""),
    ] {
        let ran = folder.run(&format!("token add {arguments}")).refused();
        assert!(ran.err.starts_with(&format!("error: {error}")), "{}", ran.err);
    }
    let ran = folder.run("token revoke tok_00");
    assert!(
        ran.code == 1 && ran.err.starts_with("error: there is no such token in this project\nhint: "),
        "{}",
        ran.err
    );
    assert_eq!(folder.json("token list"), json!([]));
}

///
#[test]
fn a_tokens_secret_is_shown_once_and_kept_nowhere() {
    let folder = Folder::with_project("token-secret");
    let ran = folder.run("token add --person alice --name phone");
    let secret = ran.out.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
    assert!(ran.code == 0 && secret.starts_with("cst_") && ran.err.contains("cannot be shown again"), "{}", ran.err);
    assert!(!folder.does("token list").contains(secret) && !folder.does("token list --json").contains(secret));
    assert!(!folder.holds(secret));
}

#[test]
fn tokens_are_listed_with_their_permissions_and_end_when_they_are_revoked() {
    let folder = Folder::with_project("token-list");
    let added = folder.json("token add --person alice --name phone");
    folder.does("token add --person alice --name speaker --reads-only --days 30");
    let listed = folder.json("token list --person alice");
    let phone = listed.as_array().unwrap().iter().find(|token| token["id"] == added["id"]).unwrap();
    assert_eq!(
        (&phone["name"], &phone["may_answer"], &phone["person"]),
        (&json!("phone"), &json!(true), &json!("alice"))
    );
    let speaker = listed.as_array().unwrap().iter().find(|token| token["id"] != added["id"]).unwrap();
    assert!(speaker["may_answer"] == false && speaker["expires_at"].is_string(), "{speaker}");
    assert!(folder.does("token list").contains("only listen"));
    let revoke = format!("token revoke {}", added["id"].as_str().unwrap());
    assert_eq!(folder.does(&revoke), folder.does(&revoke), "ending it twice changes nothing");
    assert!(folder.does("token list").contains("revoked "));
}

///
#[test]
fn a_token_for_the_highest_risk_needs_the_password_and_all_end_with_a_new_one() {
    let folder = Folder::with_project("token-high-risk");
    let add = "token add --person alice --name phone --approves-high-risk";
    assert_eq!(folder.run(&format!("{add} --reads-only")).code, 2);
    folder.run_with(add, &[("COUNTERSIGN_PASSWORD", "not the one that it is")]).refused();
    let ran = folder.run_with(add, &[("COUNTERSIGN_PASSWORD", PASSWORD)]);
    assert!(ran.code == 0 && ran.out.contains("\nends: "), "{} {}", ran.out, ran.err);
    let listed = folder.json("token list");
    assert_eq!((&listed[0]["approves_high_risk"], &listed[0]["state"]), (&json!(true), &json!("active")));
    assert!(folder.does("token list").contains("answer, also high risk"));
    let ran = folder.run_fed("user password alice --password-stdin", "a wholly new password\n");
    assert!(ran.out.contains("their subscriber tokens ended"), "{} {}", ran.out, ran.err);
    assert_eq!(folder.json("token list")[0]["state"], "ended");
    assert!(folder.does("token list").contains("ended with its person's sign-ins"));
}
