//! The recipes in CONTRIBUTING.md, followed: everything that was ever added has all the parts that its recipe names.

use super::{assert_none, files, read, root};
use std::collections::BTreeSet;

/// Every path in backticks exists; `{a,b}` stands for two of them.
#[test]
fn the_recipes_name_files_that_exist() {
    let text = read("CONTRIBUTING.md");
    let recipes = text.split("\n## ").find(|part| part.starts_with("Recipes")).expect("a part with recipes");
    let named = recipes.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains(' '));
    let paths: Vec<String> = named.flat_map(expanded).collect();
    assert!(paths.len() > 8, "{paths:?}");
    let missing: Vec<String> = paths.into_iter().filter(|path| !root().join(path).exists()).collect();
    assert_none("paths in the recipes that do not exist", &missing);
}

/// `a/{b,c}` → `a/b`, `a/c`.
fn expanded(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (each, after))) => each.split(',').map(|one| format!("{before}{one}{after}")).collect(),
        None => vec![path.to_owned()],
    }
}

#[test]
fn every_route_option_is_described() {
    let source = read("crates/protocol/src/project/route.rs");
    let (_, rest) = source.split_once("pub struct Route {").expect("the route");
    let (members, _) = rest.split_once("\n}").expect("its end");
    let options = members.lines().filter_map(|line| Some(line.trim().strip_prefix("pub ")?.split_once(':')?.0));
    let guide = read("docs/GATEWAY.md");
    let described = words(&guide);
    let missing: Vec<String> = options.filter(|option| !described.contains(*option)).map(String::from).collect();
    assert_none("route options that docs/GATEWAY.md does not describe", &missing);
}

#[test]
fn every_kind_of_clarification_rule_is_described_and_has_a_case_in_the_pack() {
    let (guide, pack) = (read("docs/CLARIFICATION.md"), read("crates/core/src/clarification/rules/pack.toml"));
    let kinds = variants(&read("crates/protocol/src/clarification/rules.rs"), "pub enum LooksFor {");
    assert!(kinds.len() > 4, "{kinds:?}");
    let missing = kinds
        .iter()
        .filter(|kind| !guide.contains(&format!("\n| `{kind}` |")) || !pack.contains(&format!("\nkind = \"{kind}\"")));
    assert_none("kinds without a row in the guide or a rule in the pack", &missing.cloned().collect::<Vec<_>>());
}

#[test]
fn every_event_has_a_schema() {
    let source = read("crates/protocol/src/aaep/event.rs");
    let events: BTreeSet<&str> = source.split("\"aaep:").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(events.len() > 9, "{events:?}");
    let missing = events.into_iter().filter(|event| !root().join(format!("docs/schemas/aaep/{event}.json")).is_file());
    assert_none("events without a schema", &missing.map(String::from).collect::<Vec<_>>());
}

#[test]
fn every_migration_exists_for_both_databases() {
    let of = |database: &str| -> BTreeSet<String> {
        let folder = format!("crates/engine/migrations/{database}/");
        files().into_iter().filter_map(|file| Some(file.strip_prefix(&folder)?.to_owned())).collect()
    };
    let (sqlite, postgres) = (of("sqlite"), of("postgres"));
    assert!(sqlite.len() > 14, "{sqlite:?}");
    let lonely: Vec<String> = sqlite.symmetric_difference(&postgres).cloned().collect();
    assert_none("migrations of one database only", &lonely);
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
}

/// The variants of an enum in snake case, without their members.
fn variants(source: &str, head: &str) -> Vec<String> {
    let (_, rest) = source.split_once(head).expect("the enum");
    let (body, _) = rest.split_once("\n}").expect("its end");
    let names =
        body.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| line.starts_with(char::is_uppercase));
    names.map(|line| line.split(|letter: char| !letter.is_alphanumeric()).next().unwrap().to_lowercase()).collect()
}
