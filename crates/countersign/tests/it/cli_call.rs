//! `countersign call …`, through the built binary.

use crate::cli_folder::Folder;
use serde_json::json;

///
#[test]
fn a_call_is_settled_by_saying_whether_it_ran_and_how_that_was_found_out() {
    let folder = Folder::with_project("call-settle");
    for arguments in [
        "call settle",
        "call settle call_00 --reason seen",
        "call settle call_00 --ran",
        "call settle call_00 --ran --did-not-run --reason seen",
    ] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
    let ran = folder.run("call settle call_00 --ran --reason seen").refused();
    assert!(
        ran.err.starts_with("error: there is no unsettled call with this id in the project\nhint: "),
        "{}",
        ran.err
    );
    assert_eq!(folder.json("call list"), json!([]));
    assert!(folder.does("call list").contains("the outcome of every call is known"));
}
