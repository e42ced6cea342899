use super::{super::*, read, read_environment};
use std::path::Path;
use table::{KEYS, SECTIONS};

#[test]
fn the_written_file_says_exactly_the_defaults() {
    let (path, nothing) = (Path::new("countersign.toml"), Environment::new());
    let defaults = from_text(None, &nothing).expect("the defaults are sound");
    for text in [template(), uncommented()] {
        let written = from_text(Some((path, &text)), &nothing).expect("the written file is sound");
        assert_eq!(written.config, defaults.config);
        assert_eq!(written.warnings, []);
    }
}

/// The file with every default uncommented.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(said) if !said.is_empty() && !said.starts_with(' ') => format!("{said}\n"),
        _ => format!("{line}\n"),
    };
    template().lines().map(line).collect()
}

#[test]
fn any_section_can_be_written_below_the_written_file() {
    for section in SECTIONS {
        let key = KEYS.iter().find(|key| key.section() == section.name).expect("a key");
        let text = format!("{}\n[{}]\n{} = {}\n", template(), section.name, key.name(), key.default);
        read(&text).unwrap_or_else(|why| panic!("{}: {why}", section.name));
    }
}

#[test]
fn the_written_file_names_every_key_and_only_known_ones() {
    let written = read(&uncommented()).expect("the written file is sound");
    for source in &written.sources {
        assert!(matches!(source.from, ValueOrigin::File { line: Some(_), .. }), "{} is not in the file", source.key);
    }
    assert_eq!(written.sources.len(), KEYS.len());
}

#[test]
fn the_project_that_the_written_file_suggests_is_sound() {
    let text = template();
    let suggestion = text.find("# [project]").expect("a suggestion");
    let project: String =
        text[suggestion..].lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    let project = project.replace("\n#\n", "\n\n");
    let loaded = read(&format!("{}{project}", &text[..suggestion])).expect("the suggestion is sound");
    let project = loaded.config.project.expect("a project");
    assert_eq!(project.routes.len(), 1);
    assert_eq!(countersign_engine::check_project(&project), []);
}

#[test]
fn every_line_of_the_written_file_is_readable_in_a_terminal() {
    for line in template().lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
}

#[test]
fn every_default_fits_its_own_key_and_every_key_has_a_section_and_a_description() {
    for key in KEYS {
        assert!(key.kind.accepts(&key.default_value()), "{}", key.path);
        assert!(key.about.ends_with('.'), "{}", key.path);
        assert!(key.section().is_empty() || SECTIONS.iter().any(|s| s.name == key.section()), "{}", key.path);
    }
}

#[test]
fn the_defaults_are_those_that_are_documented() {
    let config = read_environment(&[]).expect("the defaults").config;
    assert_eq!(config.listen.public.to_string(), "127.0.0.1:8420");
    assert_eq!(config.listen.operations.to_string(), "127.0.0.1:8421");
    assert_eq!(config.listen.max_body_bytes, 65536);
    assert_eq!(config.public.origin.as_str(), "http://localhost:8420");
    assert_eq!(config.store, node::Store::Sqlite { path: "countersign.db".into(), readers: 4 });
    assert_eq!(config.keys, node::KeySource::File("countersign.key".into()));
    assert!(!config.test_mode);
    assert_eq!(config.project, None);
}
