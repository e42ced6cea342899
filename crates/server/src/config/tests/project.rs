use super::{super::*, Folder, read};

const SOUND: &str = r#"
id = "calendar"
display_name = "Calendar"

[[scopes]]
id = "calendar.read"
description = "Read your calendar"
allows = ["events.list"]
intent_types = ["scheduling"]

[[scopes]]
id = "calendar.write"
description = "Change your calendar"
allows = ["events.create"]
intent_types = ["scheduling"]

[[routes]]
id = "list"
method = "GET"
path = "/events"
action = "events.list"
"#;

fn problems(name: &str, text: &str) -> Vec<ConfigProblem> {
    let folder = Folder::new(&name.replace('.', "-"));
    project_file::read(&folder.write(name, text)).expect_err("a refused document").problems
}

fn line(problem: &ConfigProblem) -> Option<usize> {
    if let ValueOrigin::File { line, .. } = &problem.place { *line } else { None }
}

#[test]
fn an_unknown_key_of_a_project_is_refused_with_its_path_its_line_and_the_nearest_name() {
    let text = SOUND.replace("allows = [\"events.create\"]", "allows = []\nalows = []");
    let found = problems("unknown.toml", &text);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].key.as_str(), line(&found[0])), ("scopes[1].alows", Some(15)));
    assert_eq!(found[0].hint, "did you mean `allows`?");
}

#[test]
fn unknown_keys_on_all_levels_and_misfits_in_all_parts_are_reported_at_once() {
    let text = SOUND
        .replace("display_name", "displayname")
        .replace("id = \"calendar.read\"", "id = 7")
        .replace("intent_types = [\"scheduling\"]\n\n[[routes]]", "intent_type = []\n\n[[routes]]")
        .replace("method", "methods");
    let found = problems("many.toml", &text);
    let keys: Vec<&str> = found.iter().map(|problem| problem.key.as_str()).collect();
    let expected = ["displayname", "routes[0].methods", "scopes[0].id", "scopes[1]", "scopes[1].intent_type"];
    assert_eq!(keys, expected);
    assert_eq!(found[2].wrong, "invalid type: integer `7`, expected a string");
    assert_eq!(found[3].wrong, "lacks `intent_types`");
}

#[test]
fn a_project_in_the_nodes_own_file_is_held_to_the_same() {
    let text = format!("[project]{}", SOUND.replace("[[", "[[project.").replace("alows", "allows"));
    assert_eq!(read(&text).expect("sound").config.project.expect("a project").scopes.len(), 2);
    let wrong = text.replace("allows = [\"events.create\"]", "alows = [\"events.create\"]");
    let found = read(&wrong).expect_err("refused").problems;
    let keys: Vec<&str> = found.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["project.scopes[1]", "project.scopes[1].alows"]);
    assert_eq!(found[1].hint, "did you mean `allows`?");
}

#[test]
fn json_and_toml_give_the_same_document() {
    let folder = Folder::new("same");
    let from_toml = project_file::read(&folder.write("p.toml", SOUND)).expect("sound");
    let json = serde_json::to_string(&from_toml).expect("JSON");
    assert_eq!(project_file::read(&folder.write("p.json", &json)).expect("sound"), from_toml);
}

#[test]
fn json_is_read_strictly() {
    assert!(problems("twice.json", r#"{"id":"a","id":"b"}"#)[0].wrong.contains("occurs twice"));
    assert_eq!(problems("list.json", "[]")[0].wrong, "is not a JSON object");
    assert_eq!(problems("unknown.json", r#"{"id":"a","scops":[]}"#)[0].hint, "did you mean `scopes`?");
}

#[test]
fn other_endings_missing_files_and_bad_ids_are_refused() {
    assert_eq!(problems("project.yaml", SOUND)[0].wrong, "ends neither in .toml nor in .json");
    assert!(project_file::read(std::path::Path::new("nowhere.toml")).is_err());
    let found = problems("bad-id.toml", "id = \"Not One\"");
    assert_eq!(found[0].key, "id");
    assert!(found[0].wrong.starts_with("a project id is"), "{}", found[0].wrong);
}
