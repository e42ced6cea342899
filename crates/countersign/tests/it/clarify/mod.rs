//! `countersign clarify`, through the built binary: offline, and against a node started from it.

mod check;
mod prove;
mod rules;
mod session;

use crate::cli_folder::{Folder, Ran};
use std::path::PathBuf;

/// A file of `examples/clarification`.
fn example(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/clarification");
    folder.join(name).canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Exit code 2 for an undecidable input: nothing on standard output, an error and a hint on standard error.
fn is_trouble(ran: &Ran, error: &str, hint: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(error) && ran.err.contains(hint), "{error}, {hint}: {}", ran.err);
}

fn folder_with(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&format!("clarify-{name}"));
    files.iter().for_each(|(file, text)| folder.write(file, text));
    folder
}

/// The content of the code block in the guide with this info string.
fn in_the_guide(fence: &str) -> &'static str {
    let guide = include_str!("../../../../../docs/CLARIFICATION.md");
    let rest = guide.split_once(&format!("```{fence}\n")).unwrap_or_else(|| panic!("the guide has no {fence}")).1;
    rest.split_once("```").unwrap().0
}
