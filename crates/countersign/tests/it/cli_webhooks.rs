//! `countersign webhooks …`, through the built binary.

use crate::cli_folder::Folder;
use serde_json::json;

#[test]
fn what_is_not_there_is_refused_with_the_command_that_lists_it() {
    let folder = Folder::with_project("webhooks-refused");
    for arguments in ["webhooks", "webhooks show", "webhooks secret create", "webhooks secret create Not_A_Domain"] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
    for (arguments, error, hint) in [
        ("webhooks show msg_0", "there is no such webhook message", "`countersign webhooks list`"),
        ("webhooks replay msg_0", "there is no such webhook message", "`countersign webhooks list`"),
        ("webhooks secret retire acme.test whs_0", "the operator has no active", "`countersign webhooks secret list`"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments}");
        assert!(ran.err.starts_with(&format!("error: {error}")) && ran.err.contains(hint), "{}", ran.err);
    }
    assert_eq!(folder.json("webhooks list"), json!([]));
    assert_eq!(folder.json("webhooks list --dead"), json!([]));
    assert_eq!(folder.does("webhooks list --dead"), "no message was given up\n");
}

/// AAP-17.8-07, R-26
#[test]
fn a_webhook_secret_is_shown_once_rotated_and_retired() {
    let folder = Folder::with_project("webhooks-secret");
    let ran = folder.run("webhooks secret create acme.test");
    assert_eq!(ran.code, 0);
    let secret = ran.out.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
    assert!(secret.starts_with("whsec_") && ran.err.contains("cannot be shown again"), "{}", ran.err);
    let node = folder.serve(&[]);
    let second = folder.json("webhooks secret create acme.test");
    let third = folder.run("webhooks secret create acme.test");
    assert!(third.code == 1 && third.err.contains("retire the older one first"), "{}", third.err);
    let listed = folder.json("webhooks secret list");
    assert_eq!((&listed[0]["id"], &listed[1]["operator"]), (&second["id"], &json!("acme.test")));
    let old = listed[1]["id"].as_str().unwrap();
    let said = folder.does(&format!("webhooks secret retire acme.test {old}"));
    assert!(said.ends_with(&format!("{} signs\n", second["id"].as_str().unwrap())), "{said}");
    assert_eq!(folder.json("webhooks secret list").as_array().unwrap().len(), 1);
    drop(node);
    assert!(!folder.holds(secret) && !folder.holds(second["secret"].as_str().unwrap()));
}
