//! References in documents resolve.

use super::{assert_none, crates, files, read, root};
use std::{collections::BTreeSet, path::Path};

#[test]
fn every_requirement_that_a_file_names_exists() {
    let csv = read("tests/data/requirements.csv");
    let known: BTreeSet<&str> = csv.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    assert!(known.contains("AAP-2-01"), "requirements.csv has no AAP-2-01");
    let mut strays = Vec::new();
    for file in files().into_iter().filter(|file| is_code(file)) {
        let text = read(&file);
        let unknown = requirement_ids(&text).filter(|id| !known.contains(id));
        strays.extend(unknown.map(|id| format!("{file} names {id}")));
    }
    assert_none("requirements that requirements.csv does not list", &strays);
}

#[test]
fn requirement_ids_are_found_in_running_text() {
    let text = ["/// AAP", "-20.1-03, (AAEP", "-6.3.5-01), MPLP", "-2.4-1; WWA", "-9-01a. AAP", "-2 and XAAP", "-2-01"]
        .concat();
    let found: Vec<_> = requirement_ids(&text).map(|id| id.split_once('-').unwrap().1).collect();
    assert_eq!(found, ["20.1-03", "6.3.5-01", "2.4-1", "9-01a"]);
}

/// `AAP-2-01`: a protocol, a section, and a number that may end in a letter.
fn requirement_ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    words.map(|word| word.trim_matches(['.', '-'])).filter(|word| {
        let parts: Vec<_> = word.split('-').collect();
        let [protocol, section, number] = parts[..] else { return false };
        let number = number.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(number);
        let digits = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
        ["AAP", "AAEP", "MPLP", "WWA"].contains(&protocol) && !section.is_empty() && digits
    })
}

fn is_code(file: &str) -> bool {
    [".rs", ".mjs", ".js", ".py", ".sh"].iter().any(|ending| file.ends_with(ending))
}

#[test]
fn the_architecture_names_every_crate() {
    let architecture = read("ARCHITECTURE.md");
    let missing: Vec<_> =
        crates().into_iter().filter(|name| !architecture.contains(&format!("| `{name}` |"))).collect();
    assert_none("crates without a row in ARCHITECTURE.md", &missing);
}

/// Every test named in THREATS.md (`crate::file::test`) exists in that file.
#[test]
fn the_threats_name_tests_that_exist() {
    let sources: Vec<(String, String)> =
        files().into_iter().filter(|file| file.ends_with(".rs")).map(|file| (read(&file), file)).collect();
    let threats = read("docs/THREATS.md");
    let named = threats.split('`').skip(1).step_by(2).filter(|code| code.contains("::"));
    let exists = |path: &&str| {
        let test = path.rsplit("::").next().unwrap();
        sources.iter().any(|(text, file)| is_in(file, path) && text.contains(&format!("fn {test}(")))
    };
    let strays: Vec<_> = named.filter(|path| !exists(path)).map(String::from).collect();
    assert_none("tests that do not exist", &strays);
}

/// Whether the file is in the crate and its path contains each module of the test path in order.
fn is_in(file: &str, path: &str) -> bool {
    let (modules, _test) = path.rsplit_once("::").unwrap();
    let (package, modules) = modules.split_once("::").unwrap_or((modules, ""));
    let file = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts = file.strip_prefix(&format!("crates/{package}/")).unwrap_or_default().split('/');
    modules.split("::").filter(|module| !module.is_empty()).all(|module| parts.any(|part| part == module))
}

#[test]
fn a_test_is_looked_for_in_the_crate_and_file_that_are_named() {
    let file = "crates/server/tests/it/people/roles.rs";
    for path in ["server::people::roles::a_test", "server::people::a_test", "server::a_test"] {
        assert!(is_in(file, path), "{path}");
    }
    for path in ["gateway::people::roles::a_test", "server::roles::people::a_test", "server::people::role::a_test"] {
        assert!(!is_in(file, path), "{path}");
    }
}

/// A pattern of tests/not_fast.txt that fits nothing would hide that a test was renamed and runs in `./test --fast`.
#[test]
fn every_pattern_of_the_fast_tests_matches_a_test() {
    let sources: Vec<(String, String)> =
        files().into_iter().filter(|file| file.ends_with(".rs")).map(|file| (read(&file), file)).collect();
    let list = read("tests/not_fast.txt");
    let patterns = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let exists = |pattern: &&str| {
        let path = pattern.trim_end_matches("::");
        let last = path.rsplit("::").next().unwrap();
        let names = |text: &str| ["mod ", "fn "].iter().any(|word| text.contains(&format!("{word}{last}")));
        match path.strip_prefix("*::") {
            Some(part) => sources.iter().any(|(text, _)| text.contains(part)),
            None => sources.iter().any(|(text, file)| is_in(file, path) && names(text)),
        }
    };
    let strays: Vec<_> = patterns.filter(|pattern| !exists(pattern)).map(String::from).collect();
    assert_none("patterns that fit no test", &strays);
}

/// THREATS.md has a row for every rule, even for those without a countermeasure.
#[test]
fn the_threats_have_a_row_for_every_rule() {
    let (rules, threats) = (read("docs/protocol/RULES.md"), read("docs/THREATS.md"));
    let ids: Vec<&str> = rules.split("- **").skip(1).filter_map(|rule| rule.split(' ').next()).collect();
    assert!(ids.contains(&"R-1") && ids.contains(&"R-38"), "{ids:?}");
    let missing: Vec<_> =
        ids.iter().filter(|id| !threats.contains(&format!("\n| {id} | "))).map(ToString::to_string).collect();
    assert_none("rules without a row in THREATS.md", &missing);
}

#[test]
fn every_link_between_the_documents_leads_somewhere() {
    let mut broken = Vec::new();
    for file in files().into_iter().filter(|file| file.ends_with(".md")) {
        let folder = root().join(&file);
        let folder = folder.parent().unwrap();
        broken.extend(links(&read(&file)).filter(|link| !leads(folder, link)).map(|link| format!("{file}: {link}")));
    }
    assert_none("broken links", &broken);
}

/// The targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = String> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned())
}

fn leads(folder: &Path, link: &str) -> bool {
    let path = link.split('#').next().unwrap();
    link.contains("://") || path.is_empty() || folder.join(path).exists()
}
