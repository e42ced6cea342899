//! The file that `countersign init` writes: every key with its default and its description.
//!
//! All of it is commented out, so that an owner's section can be added below it: TOML permits a section only once.

use super::table::{KEYS, Key, SECTIONS};

const WIDTH: usize = 100;

const HEAD: &str = "Configuration of a Countersign node. Every key may be left out: the lines without a blank after \
    the # are the defaults. To change one, remove the # before it and before its [section], or write the section once \
    more at the end of this file. Each can be overridden by a variable of the environment: listen.public by \
    COUNTERSIGN_LISTEN__PUBLIC. `countersign config check` reads this file back and explains it.";

const PROJECT: &str = r#"
# A project may be set here and is applied at every start. Without it, apply one from a file of its own:
# `countersign project apply FILE`.
#
# [project]
# id = "calendar"
# display_name = "Calendar"
#
# [[project.scopes]]
# id = "calendar.read"
# description = "Read your calendar"
# allows = ["events.list"]
# intent_types = ["READ_CALENDAR"]
#
# [[project.routes]]
# id = "list-events"
# method = "GET"
# path = "/events"
# action = "events.list"
"#;

pub fn template() -> String {
    let top: String = keys_of("").collect();
    let sections = SECTIONS.iter().map(|section| {
        let keys: String = keys_of(section.name).collect();
        format!("\n{}#[{}]\n{keys}", comment(section.about), section.name)
    });
    format!("{}{top}{}{PROJECT}", comment(HEAD), sections.collect::<String>())
}

fn keys_of(section: &str) -> impl Iterator<Item = String> {
    KEYS.iter().filter(move |key| key.section() == section).map(entry)
}

fn entry(key: &Key) -> String {
    format!("\n{}#{} = {}\n", comment(key.about), key.name(), key.default)
}

fn comment(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => *line = format!("{line} {word}"),
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
