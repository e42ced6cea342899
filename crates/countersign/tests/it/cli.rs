//! Commands without a store, and rules for all commands, through the built binary.

use crate::cli_folder::Folder;
use serde_json::Value;
use std::{fs, path::Path};

#[test]
fn a_command_line_that_is_not_understood_ends_with_2_and_says_so() {
    let folder = Folder::new("usage");
    for arguments in
        ["", "nonsense", "config", "config check --nonsense", "completions none", "init --dir a --config b"]
    {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments}");
        assert!(!ran.err.is_empty());
    }
    assert!(folder.is_empty());
}

#[test]
fn a_configuration_that_is_wrong_ends_with_1_and_every_error_has_a_hint() {
    let folder = Folder::new("wrong");
    folder.write("countersign.toml", "tenancie = \"multi\"\n[store]\nkind = \"postgres\"\n");
    let ran = folder.run("config check").refused();
    let expected = "error: `store.url` is empty, but store.kind is \"postgres\"\n\
                    hint: set it to postgres://user@host/database, here or as COUNTERSIGN_STORE__URL\n\
                    error: countersign.toml:1: `tenancie` is not a known key\n\
                    hint: did you mean `tenancy`?\n";
    assert_eq!(ran.err, expected);
}

#[test]
fn a_file_that_is_named_and_missing_is_an_error() {
    let folder = Folder::new("missing");
    for ran in [
        folder.run("--config x.toml config check"),
        folder.run_with("config check", &[("COUNTERSIGN_CONFIG", "x.toml")]),
    ] {
        assert_eq!(ran.code, 1);
        assert!(ran.err.starts_with("error: x.toml: cannot be read: "), "{}", ran.err);
    }
}

#[test]
fn problems_are_json_when_asked_for() {
    let ran = Folder::new("wrong-json").run_with("config check --json", &[("COUNTERSIGN_LOG__LEVL", "info")]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_eq!(json["sound"], false);
    assert_eq!(json["problems"][0]["hint"], "did you mean `COUNTERSIGN_LOG__LEVEL`?");
}

#[test]
fn init_with_a_wrong_environment_writes_nothing() {
    let folder = Folder::new("init-wrong");
    assert_eq!(folder.run_with("init", &[("COUNTERSIGN_TENANCY", "none")]).code, 1);
    assert!(folder.is_empty());
}

#[test]
fn init_into_a_read_only_folder_names_a_remedy() {
    let folder = Folder::new("init-file");
    folder.write("taken", "");
    let ran = folder.run("init --dir taken/below");
    assert_eq!(ran.code, 1);
    assert!(ran.err.ends_with("\nhint: use --dir to name a folder that you may write to\n"), "{}", ran.err);
}

/// R-26
#[test]
fn init_makes_a_sound_configuration_and_a_key_that_only_its_owner_can_read() {
    let folder = Folder::new("init");
    let ran = folder.run("init").silent();
    assert!(ran.out.starts_with("wrote countersign.toml\nwrote countersign.key: keep a copy"), "{}", ran.out);
    let key = folder.read("countersign.key");
    assert!(key.trim_end().len() == 64 && key.trim_end().bytes().all(|b| b.is_ascii_hexdigit()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(folder.0.join("countersign.key")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let check = folder.run("config check").silent();
    assert!(check.out.starts_with("countersign.toml is valid\n") && !check.out.contains("warning"), "{}", check.out);
}

/// README readers append its blocks to the file written by `init`.
#[test]
fn the_blocks_of_the_readme_can_be_pasted_behind_the_file_of_init() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let (node, projects): (Vec<&str>, Vec<&str>) =
        blocks.iter().partition(|block| block.starts_with("# countersign.toml\n"));
    assert!(!node.is_empty() && !projects.is_empty(), "{blocks:?}");
    let folder = Folder::new("init-readme");
    folder.does("init");
    let written = folder.read("countersign.toml");
    folder.write("countersign.toml", &format!("{written}\n{}", node.concat()));
    let check = folder.run_with("config check", &[("SHOP_TOKEN", "Bearer x")]).silent();
    assert!(check.out.contains("127.0.0.1:8422"), "{}", check.out);
    for project in projects {
        folder.write("shop.toml", project);
        let ran = folder.run_with("project apply shop.toml", &[("SHOP_TOKEN", "Bearer x")]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

/// A shell may have variables for other tools, so only commands that start or check a node reject unknown ones.
#[test]
fn an_unknown_variable_is_a_warning_unless_a_node_is_started() {
    let folder = Folder::ready("unknown-variable");
    let odd = [("COUNTERSIGN_LOG__LEVL", "debug")];
    let warning = "warning: COUNTERSIGN_LOG__LEVL: is not a known variable; did you mean `COUNTERSIGN_LOG__LEVEL`?\n";
    for command in ["project list", "user list --json", "keys list", "init --dir other"] {
        let ran = folder.run_with(command, &odd);
        assert!(ran.code == 0 && ran.err.contains(warning), "{command}: {} {}", ran.code, ran.err);
        assert!(!ran.out.contains("LEVL"), "{}", ran.out);
    }
    for command in ["serve", "config check"] {
        let ran = folder.run_with(command, &odd);
        assert!(ran.code == 1 && ran.err.starts_with("error: COUNTERSIGN_LOG__LEVL: is not"), "{}", ran.err);
    }
}

/// R-26
#[test]
fn init_never_overwrites_and_makes_only_missing_files() {
    let folder = Folder::new("init-twice");
    folder.run("init --dir node/here");
    let (config, key) = (folder.read("node/here/countersign.toml"), folder.read("node/here/countersign.key"));
    folder.write("node/here/countersign.toml", "tenancy = \"multi\"\n");
    let again = folder.run("init --dir node/here");
    assert_eq!(again.code, 0);
    assert_eq!(folder.read("node/here/countersign.toml"), "tenancy = \"multi\"\n");
    assert_eq!(folder.read("node/here/countersign.key"), key);
    let other = Folder::new("init-other");
    other.run("init");
    assert_eq!(other.read("countersign.toml"), config);
    assert_ne!(other.read("countersign.key"), key, "two keys are never the same");
}

#[test]
fn init_makes_no_key_file_when_the_key_comes_from_elsewhere() {
    let folder = Folder::new("init-variable");
    let ran = folder.run_with("init --config own.toml", &[("COUNTERSIGN_KEYS__ENVIRONMENT", "SEALING")]).silent();
    assert!(ran.out.contains("made no key: it comes from the variable SEALING\n"), "{}", ran.out);
    assert!(folder.0.join("own.toml").exists() && !folder.0.join("countersign.key").exists());
}

#[test]
fn config_check_says_where_each_value_comes_from_without_secrets() {
    let folder = Folder::new("check");
    folder.write("countersign.toml", "[store]\nkind = \"postgres\"\nurl = \"postgres://app:hunter2@db/plane\"\n");
    let variables = [("COUNTERSIGN_STORE__PASSWORD", "hunter3")];
    for arguments in ["config check", "config check --json"] {
        let ran = folder.run_with(arguments, &variables);
        assert_eq!(ran.code, 0);
        assert!(!ran.out.contains("hunter"), "{}", ran.out);
        assert!(ran.out.contains("COUNTERSIGN_STORE__PASSWORD"));
    }
    let json: Value = serde_json::from_str(&folder.run_with("config check --json", &variables).out).unwrap();
    assert_eq!((&json["sound"], &json["file"]), (&true.into(), &"countersign.toml".into()));
}

#[test]
fn without_a_file_the_defaults_are_explained() {
    let ran = Folder::new("defaults").run("config check");
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("no file was read; the configuration below is valid\n"), "{}", ran.out);
    assert!(ran.out.ends_with("warning: keys.file: there is no countersign.key yet: `countersign init` makes it\n"));
}

#[test]
fn accessible_output_has_sentences_instead_of_columns() {
    let ran = Folder::new("accessible").run_with("config check", &[("ACCESSIBLE", "1")]);
    assert!(ran.out.contains("\nlisten.public is \"127.0.0.1:8420\", by default.\n"), "{}", ran.out);
    assert!(!ran.out.contains("  "), "{}", ran.out);
}

#[test]
fn nothing_is_coloured_where_colour_is_not_wanted() {
    let folder = Folder::new("colour");
    for variables in [[("NO_COLOR", "1")], [("ACCESSIBLE", "1")], [("TERM", "dumb")]] {
        for arguments in ["--help", "nonsense", "--config gone.toml config check"] {
            let ran = folder.run_with(arguments, &[&variables[..], &[("CLICOLOR_FORCE", "1")]].concat());
            assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{arguments}");
        }
    }
}

#[test]
fn completions_are_made_for_every_shell_and_know_the_commands() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = folder.run(&format!("completions {shell}")).silent();
        assert!(ran.out.contains("completions") && ran.out.contains("init"), "{shell}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let folder = Folder::new("version");
    assert_eq!(folder.run("--version").out, format!("countersign {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_command_that_the_help_names_exists_and_explains_itself() {
    let folder = Folder::new("help");
    let mut open = vec![String::new()];
    let mut seen = 0;
    while let Some(command) = open.pop() {
        let ran = folder.run(&format!("{command} --help")).silent();
        assert!(!ran.out.starts_with("Usage"), "{command} does not say what it does");
        let listed =
            ran.out.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        open.extend(names.map(|name| format!("{command} {name}")));
        seen += 1;
    }
    assert!(seen > 25, "the help of {seen} commands was read");
    assert!(folder.is_empty());
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = Folder::new("man");
    folder.run("man pages").silent();
    for page in [
        "countersign",
        "countersign-serve",
        "countersign-project-apply",
        "countersign-keys-rotate",
        "countersign-inbox-answer",
    ] {
        assert!(folder.read(&format!("pages/{page}.1")).contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn init_names_the_next_commands_with_the_file_that_it_wrote() {
    let here = Folder::new("init-next").run("init").out;
    assert!(here.ends_with(
        "next:\n  edit countersign.toml, then countersign config check\n  countersign project apply FILE\n  \
         countersign user add NAME --role admin --role user\n  countersign serve\n"
    ));
    let there = Folder::new("init-next-there").run("init --dir etc").out;
    assert!(there.ends_with("  countersign --config etc/countersign.toml serve\n"), "{there}");
}

/// R-26
#[test]
fn without_the_key_no_command_touches_the_store_and_each_says_how_to_get_one() {
    let folder = Folder::new("no-key");
    for arguments in ["serve", "project list", "user list", "key list", "keys list", "keys rotate", "user disable bob"]
    {
        let ran = folder.run(arguments).refused();
        assert!(ran.err.starts_with("error: the key file countersign.key cannot be read: "), "{}", ran.err);
        assert!(ran.err.contains("\nhint: `countersign init` makes it; "), "{}", ran.err);
    }
    assert!(folder.is_empty());
}

/// R-26
#[test]
fn with_another_key_nothing_can_be_opened() {
    let folder = Folder::ready("other-key");
    folder.write("countersign.key", &"ab".repeat(32));
    for arguments in ["serve", "keys list"] {
        let ran = folder.run(arguments).refused();
        assert!(ran.err.contains("were sealed with another key-encryption key"), "{}", ran.err);
        assert!(ran.err.contains("hint: "), "{}", ran.err);
    }
}
