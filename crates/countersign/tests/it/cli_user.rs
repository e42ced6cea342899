//! `countersign user …`, through the built binary.

use crate::cli_folder::{Folder, PASSWORD, Served};
use serde_json::{Value, json};

fn sign_in(node: &Served, name: &str, password: &str) -> (u16, String) {
    let body = json!({ "name": name, "password": password }).to_string();
    let answer = node.ask("POST", "/session", "", &body);
    let cookie = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
    (answer.status, format!("Cookie: {}\r\n", cookie.unwrap_or_default()))
}

fn people(folder: &Folder) -> Vec<Value> {
    folder.json("user list").as_array().unwrap().clone()
}

#[test]
fn without_a_password_or_with_one_that_is_too_short_nobody_is_added() {
    let folder = Folder::ready("user-password");
    let ran = folder.run("user add alice").refused();
    let expected = "error: there is no terminal to ask for the password at\n\
                    hint: give it with --password-stdin or in the variable COUNTERSIGN_PASSWORD\n";
    assert_eq!(ran.err, expected);
    let ran = folder.run_fed("user add alice --password-stdin", "short\n");
    assert_eq!((ran.code, ran.err.as_str()), (1, "error: a password has at least 10 characters and at most 256\n"));
    assert_eq!(people(&folder), [] as [Value; 0]);
}

#[test]
fn a_role_without_a_project_adds_nobody() {
    let folder = Folder::ready("user-no-project");
    let ran = folder.run_with("user add alice --role user", &[("COUNTERSIGN_PASSWORD", PASSWORD)]).refused();
    assert!(ran.err.starts_with("error: there is no project yet\nhint: "), "{}", ran.err);
    assert_eq!(people(&folder), [] as [Value; 0]);
}

#[test]
fn a_name_that_is_taken_or_odd_is_refused() {
    let folder = Folder::with_project("user-taken");
    // The name is checked before the password prompt: there is no terminal here.
    let ran = folder.run("user add alice");
    assert!(ran.err.starts_with("error: an account named \"alice\" exists already\nhint: "), "{}", ran.err);
    for name in ["", "two words", "bell\u{7}"] {
        folder.run_words(&["user", "add", name], &[("COUNTERSIGN_PASSWORD", PASSWORD)]).refused();
    }
    assert_eq!(people(&folder).len(), 1);
}

#[test]
fn a_question_for_an_unknown_person_is_refused() {
    let folder = Folder::with_project("user-unknown");
    for arguments in
        ["user role bob --role user", "user disable bob", "user enable bob", "user password bob --password-stdin"]
    {
        let ran = folder.run(arguments).refused();
        let expected = "error: there is no account named \"bob\"\nhint: `countersign user list` lists the accounts\n";
        assert_eq!(ran.err, expected, "{arguments}");
    }
}

#[test]
fn roles_are_set_as_a_whole_and_must_be_named() {
    let folder = Folder::with_project("user-roles");
    for arguments in ["user role alice", "user role alice --role king", "user role alice --role user --none"] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
    assert_eq!(people(&folder)[0]["roles"], json!({ "calendar": ["user", "admin"] }));
    let said = folder.does("user role alice --role auditor --role approver --role auditor --project calendar");
    assert_eq!(said, "alice: approver, auditor in project calendar\n");
    assert_eq!(people(&folder)[0]["roles"], json!({ "calendar": ["approver", "auditor"] }));
    assert_eq!(folder.does("user role alice --none"), "alice: no role in project calendar\n");
    assert_eq!(people(&folder)[0]["roles"], json!({}));
}

#[test]
fn people_are_listed_for_eyes_ears_and_programs_without_their_passwords() {
    let folder = Folder::with_project("user-list");
    let environment = [("COUNTERSIGN_PASSWORD", PASSWORD)];
    let words = ["user", "add", "root", "--display", "The \u{1b}[31mroot", "--platform-admin"];
    assert_eq!(folder.run_words(&words, &environment).out, "added root: admin of every project\n");
    folder.does("user disable root");
    let seen = folder.does("user list");
    let expected = "name   called         roles                    may sign in\n\
                    alice  alice          user, admin in calendar  yes\n\
                    root   The ␛[31mroot  admin everywhere         no, disabled\n";
    assert_eq!(seen, expected);
    let heard = folder.run_with("user list", &[("ACCESSIBLE", "1")]).out;
    assert!(heard.starts_with("name alice, called alice, roles user, admin in calendar, may sign in yes.\n"));
    let read = folder.does("user list --json");
    assert!(!read.contains("argon2") && !read.contains("hash"), "{read}");
}

///
#[test]
fn a_password_is_stored_as_a_hash_only() {
    let folder = Folder::with_project("user-hash");
    assert!(folder.holds("$argon2id$") && !folder.holds(PASSWORD));
}

#[test]
fn a_running_node_knows_new_disabled_and_changed_users_at_once() {
    let folder = Folder::with_project("user-running");
    let node = folder.serve(&[]);
    assert_eq!(sign_in(&node, "bob", "bobs own password").0, 401);
    let added = folder.run_fed("user add bob --role user --password-stdin", "bobs own password\nand more");
    assert_eq!((added.code, added.out.as_str()), (0, "added bob: user in project calendar\n"));

    let (status, cookie) = sign_in(&node, "bob", "bobs own password");
    assert_eq!((status, node.ask("GET", "/session", &cookie, "").status), (201, 200));
    folder.does("user offboard bob");
    assert_eq!(node.ask("GET", "/session", &cookie, "").status, 401);
    assert_eq!(sign_in(&node, "bob", "bobs own password").0, 401);
    folder.does("user enable bob");
    assert_eq!(node.ask("GET", "/session", &cookie, "").status, 401, "an ended sign-in stays ended");

    let (status, cookie) = sign_in(&node, "bob", "bobs own password");
    assert_eq!(status, 201);
    assert_eq!(folder.run_fed("user password bob --password-stdin", "bobs next password\n").code, 0);
    assert_eq!(node.ask("GET", "/session", &cookie, "").status, 401);
    assert_eq!(sign_in(&node, "bob", "bobs own password").0, 401);
    assert_eq!(sign_in(&node, "bob", "bobs next password").0, 201);
}

///
#[test]
fn disabling_somebody_beside_a_running_node_ends_their_keys_and_tokens_and_says_so() {
    let folder = Folder::with_project("user-disabled");
    let node = folder.serve(&[]);
    let token = folder.json("token add --person alice --name phone")["secret"].as_str().unwrap().to_owned();
    let key = folder.json("key add --kind agent --principal bot --responsible alice --action events.delete");
    let key = key["secret"].as_str().unwrap().to_owned();
    let asks =
        |path: &str, secret: &str| node.ask("GET", path, &format!("Authorization: Bearer {secret}\r\n"), "").status;
    assert_eq!((asks("/aaep/v1/questions", &token), asks("/v1/decisions/dec_0", &key)), (200, 404));
    let told = folder.does("user disable alice");
    assert!(told.starts_with("alice cannot sign in any more, and is signed out everywhere\n"), "{told}");
    assert!(told.contains("API keys revoked: 1\n") && told.contains("subscriber tokens ended: 1\n"), "{told}");
    assert_eq!((asks("/aaep/v1/questions", &token), asks("/v1/decisions/dec_0", &key)), (401, 403));
    assert_eq!(folder.json("token list")[0]["state"], "ended");
    let told = folder.does("user enable alice");
    assert!(told.contains("have to be made again"), "{told}");
    assert_eq!((asks("/aaep/v1/questions", &token), asks("/v1/decisions/dec_0", &key)), (401, 403));
}
