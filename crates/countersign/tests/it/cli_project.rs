//! `countersign project …`, through the built binary.

use crate::cli_folder::{Folder, example};
use serde_json::json;
use std::fs;

/// The example with one replacement.
fn changed(from: &str, to: &str) -> String {
    let text = fs::read_to_string(example()).unwrap();
    assert!(text.contains(from), "the example does not say {from}");
    text.replace(from, to)
}

///
#[test]
fn a_document_with_problems_changes_nothing_and_each_is_listed_with_where_and_why() {
    let folder = Folder::with_project("project-problems");
    let text = changed("minimum_tier = 2", "minimum_tier = 4").replace("\"READ_CALENDAR\", ", "\"looking\", ");
    folder.write("bad.toml", &text.replace("method = \"PATCH\"", "method = \"patch\""));
    let ran = folder.run("project apply bad.toml").refused();
    for line in [
        "error: bad.toml: minimum_tier: 4 needs trusted_providers",
        "error: bad.toml: scopes[0] (\"calendar.read\"): intent types are 1 to 64 of A-Z, 0-9 and _",
        "error: bad.toml: routes[4] (\"update-event\"): method must be an upper-case HTTP method",
        "hint: nothing was applied",
    ] {
        assert!(ran.err.lines().any(|said| said.starts_with(line)), "{line} is not in {}", ran.err);
    }
    assert_eq!(folder.json("project list")[0]["version"], 1);
}

#[test]
fn a_file_that_is_no_document_is_refused_with_the_line_and_a_hint() {
    let folder = Folder::ready("project-shape");
    folder.write("typo.toml", "id = \"calendar\"\n\n[[scopes]]\nid = \"a.b\"\nalows = []\n");
    let ran = folder.run("project apply typo.toml").refused();
    assert!(ran.err.contains("error: typo.toml:5: `scopes[0].alows` "), "{}", ran.err);
    assert!(ran.err.contains("hint: did you mean `allows`?"), "{}", ran.err);
    for (name, text) in [("gone.toml", None), ("project.txt", Some("id = \"a\"")), ("list.json", Some("[]"))] {
        text.inspect(|text| folder.write(name, text));
        let ran = folder.run(&format!("project apply {name}")).refused();
        assert!(ran.err.contains(&format!("error: {name}: ")) && ran.err.contains("hint: "), "{}", ran.err);
    }
}

#[test]
fn of_several_files_none_is_applied_if_one_is_bad() {
    let folder = Folder::ready("project-several");
    folder.write("good.toml", "id = \"good\"\n");
    folder.write("bad.toml", "id = \"bad\"\nminimum_tier = 9\n");
    assert_eq!(folder.run("project apply good.toml bad.toml").code, 1);
    assert_eq!(folder.json("project list"), json!([]));
}

///
#[test]
fn a_single_tenant_has_one_project_and_no_second() {
    let folder = Folder::with_project("project-second");
    folder.write("other.toml", "id = \"other\"\n");
    let ran = folder.run("project apply other.toml").refused();
    assert!(ran.err.contains("has one already\nhint: give the document the id of that project, or set tenancy"));
}

#[test]
fn a_missing_entry_is_an_error_with_the_existing_ones() {
    let folder = Folder::ready("project-absent");
    for arguments in ["project show", "project versions", "project show calendar", "key list"] {
        let ran = folder.run(arguments).refused();
        let expected = "error: there is no project yet\nhint: make one with `countersign project apply FILE`\n";
        assert_eq!(ran.err, expected, "{arguments}");
    }
    folder.does(&format!("project apply {}", example().display()));
    assert_eq!(folder.run("project show other").err, "error: there is no such project\nhint: known are: calendar\n");
    let ran = folder.run("project show --version 2");
    assert!(ran.err.starts_with("error: project calendar never had a version 2\nhint: "), "{}", ran.err);
}

#[test]
fn where_there_are_several_projects_one_must_be_named() {
    let folder = Folder::new("project-multi");
    folder.write("countersign.toml", "tenancy = \"multi\"\n");
    folder.does("init");
    folder.write("a.toml", "id = \"alpha\"\ndisplay_name = \"Alpha\"\n");
    folder.write("b.json", "{ \"id\": \"beta\" }");
    let said = folder.does("project apply a.toml b.json");
    assert_eq!(said, "project alpha: version 1 is in force\nproject beta: version 1 is in force\n");
    for arguments in ["project show", "project versions", "key list"] {
        let ran = folder.run(arguments);
        assert_eq!(ran.err, "error: there are several projects\nhint: name one of: alpha, beta\n", "{arguments}");
    }
    assert!(folder.does("project show beta").contains("id = \"beta\"\n"));
    assert_eq!(folder.json("key list --project beta"), json!([]));
    let listed = folder.does("project list");
    assert!(listed.starts_with("project  version  applied") && listed.contains("\nalpha    1 "), "{listed}");
}

#[test]
fn the_example_is_applied_and_its_output_can_be_applied_again() {
    let folder = Folder::ready("project-example");
    let apply = format!("project apply {}", example().display());
    assert_eq!(folder.does(&apply), "project calendar: version 1 is in force\n");
    let again = "project calendar: version 1 stays in force: the document says the same\n";
    assert_eq!(folder.does(&apply), again);
    folder.write("shown.toml", &folder.does("project show"));
    assert_eq!(folder.does("project apply shown.toml"), again);
    folder.write("shown.json", &folder.json("project show")["document"].to_string());
    assert_eq!(folder.does("project apply shown.json"), again);
}

///
#[test]
fn every_version_that_was_in_force_can_be_seen() {
    let folder = Folder::with_project("project-versions");
    folder.write("next.toml", &changed("display_name = \"Calendar\"", "display_name = \"Diary\""));
    folder.does("project apply next.toml");
    let versions = folder.json("project versions calendar");
    assert_eq!((versions.as_array().unwrap().len(), &versions[1]["version"]), (2, &2.into()));
    assert!(versions[0]["changed_at"].as_str() <= versions[1]["changed_at"].as_str());
    let (old, new) = (folder.json("project show --version 1"), folder.json("project show"));
    assert_eq!((&old["document"]["display_name"], &old["version"]), (&"Calendar".into(), &1.into()));
    assert_eq!((&new["document"]["display_name"], &new["version"]), (&"Diary".into(), &2.into()));
}

#[test]
fn a_comparison_ends_with_0_if_nothing_would_change_and_with_1_otherwise() {
    let folder = Folder::with_project("project-diff");
    let same = folder.run(&format!("project diff {}", example().display()));
    let expected = "project calendar: the file equals the document in force, version 1\n";
    assert_eq!((same.code, same.out.as_str(), same.err.as_str()), (0, expected, ""));

    folder.write("next.toml", &changed("max_duration = \"30d\"", "max_duration = \"60d\""));
    let differs = folder.run("project diff next.toml");
    assert_eq!((differs.code, differs.err.as_str()), (1, ""));
    assert!(differs.out.contains("\n- max_duration = \"30d\"\n+ max_duration = \"60d\"\n"), "{}", differs.out);
    assert!(!differs.out.contains("[[routes]]"), "{}", differs.out);
    let listened = folder.run_with("project diff next.toml", &[("ACCESSIBLE", "1")]).out;
    assert!(listened.ends_with("\nremoved: max_duration = \"30d\"\nadded: max_duration = \"60d\"\n"), "{listened}");

    let ran = folder.run("project diff next.toml --json");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &json["same"], &json["version_in_force"]), (1, &false.into(), &1.into()));
    assert_eq!(json["changes"][1], json!({ "added": "max_duration = \"60d\"" }));
    assert_eq!(folder.json("project list")[0]["version"], 1, "a comparison changes nothing");
}

#[test]
fn an_unfinished_document_can_be_compared_and_its_problems_are_listed() {
    let folder = Folder::ready("project-diff-new");
    folder.write("new.toml", "id = \"calendar\"\nminimum_tier = 9\n");
    let ran = folder.run("project diff new.toml");
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("project calendar: is not there yet, so all of it is new\n+ id"), "{}", ran.out);
    assert_eq!(ran.err, "warning: it cannot be applied as it is: minimum_tier: must be 1 to 4\n");
}
