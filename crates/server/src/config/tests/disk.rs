use super::{super::*, Folder, environment};
use key_encryption_key::{KeyUnreadable, create, read};
use node::KeySource;

#[test]
fn a_file_that_is_named_must_be_there() {
    let errors = load(Some("nowhere/countersign.toml".as_ref()), &Environment::new()).expect_err("missing");
    assert!(errors.problems[0].wrong.starts_with("cannot be read"), "{errors}");
    assert!(load(None, &environment(&[(CONFIG_VARIABLE, "nowhere.toml")])).is_err());
}

#[test]
fn a_named_file_wins_over_the_variable() {
    let folder = Folder::new("named");
    let (named, other) = (folder.write("a.toml", "tenancy = \"multi\""), folder.write("b.toml", ""));
    let variables = environment(&[(CONFIG_VARIABLE, other.to_str().expect("UTF-8"))]);
    let tenancy = |loaded: Loaded| loaded.config.tenancy;
    assert_eq!(tenancy(load(Some(&named), &variables).expect("sound")), node::Tenancy::Multi);
    assert_eq!(tenancy(load(None, &variables).expect("sound")), node::Tenancy::Single);
}

#[test]
fn certificates_that_are_not_there_are_refused_and_a_missing_key_is_warned_about() {
    let folder = Folder::new("certificates");
    let file = folder.write("a.toml", "[outbound]\nextra_roots = [\"roots.pem\"]");
    let errors = load(Some(&file), &Environment::new()).expect_err("missing");
    assert_eq!(errors.problems[0].place, ValueOrigin::File { path: file.clone(), line: Some(2) });
    folder.write("roots.pem", "");
    let warnings = load(Some(&file), &Environment::new()).expect("sound").warnings;
    assert_eq!(warnings[0].key, "keys.file");
}

///
#[test]
fn a_new_key_file_is_for_its_owner_only_and_never_overwrites_one() {
    let folder = Folder::new("key");
    let path = folder.0.join("countersign.key");
    assert!(create(&path, &[7; 32]).expect("written"));
    assert!(!create(&path, &[8; 32]).expect("left alone"));
    assert_eq!(read(&KeySource::File(path.clone()), &Environment::new()).expect("a key"), [7; 32]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let config = folder.write("countersign.toml", "");
        assert_eq!(load(Some(&config), &Environment::new()).expect("sound").warnings, []);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("changed");
        let warned = load(Some(&config), &Environment::new()).expect("sound").warnings;
        assert!(warned[0].what.starts_with("others can read"), "{warned:?}");
    }
}

///
#[test]
fn the_key_comes_from_a_variable_or_a_command_as_well() {
    let digits = "0b".repeat(32);
    let variables = environment(&[("SEALING", &digits)]);
    assert_eq!(read(&KeySource::Environment("SEALING".into()), &variables).expect("a key"), [11; 32]);
    let echo = KeySource::Command(vec!["echo".into(), digits]);
    assert_eq!(read(&echo, &Environment::new()).expect("a key"), [11; 32]);
}

///
#[test]
fn a_key_that_is_missing_or_malformed_is_refused_without_being_shown() {
    let nothing = Environment::new();
    let command = |words: &[&str]| KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect());
    assert!(matches!(read(&KeySource::File("nowhere".into()), &nothing), Err(KeyUnreadable::File { .. })));
    assert!(matches!(read(&KeySource::Environment("GONE".into()), &nothing), Err(KeyUnreadable::Variable(_))));
    assert!(matches!(read(&command(&["false"]), &nothing), Err(KeyUnreadable::Failed { .. })));
    assert!(matches!(read(&command(&["no such program"]), &nothing), Err(KeyUnreadable::NotRun { .. })));
    let short = read(&command(&["echo", "c0ffee"]), &nothing).expect_err("too short");
    assert_eq!(short.to_string(), "the key is not 64 hex digits");
}
