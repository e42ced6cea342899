//! A clock that leaps under a running node, and a database that was used while the clock was ahead. The clock is libfaketime's.

use super::signs_in;
use crate::cli_folder::Folder;
use std::path::PathBuf;

/// Environment that shifts the time of a process by the content of the file `time`.
fn by_file(folder: &Folder) -> Vec<(String, String)> {
    let library = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map(|machine| PathBuf::from(format!("/usr/lib/{machine}/faketime/libfaketimeMT.so.1")))
        .into_iter()
        .find(|path| path.exists())
        .expect("this test needs libfaketime: install the Debian package `faketime`");
    let file = folder.0.join("time");
    let pairs = [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
        // Otherwise the database's file would seem to be changed from outside.
        ("NO_FAKE_STAT", "1"),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

///
#[test]
fn a_clock_that_leaps_a_year_costs_the_time_until_it_is_set_right_or_accepted() {
    let folder = Folder::with_project("storage-clock");
    folder.write("time", "+0");
    let environment = by_file(&folder);
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let node = folder.serve(&environment);
    assert_eq!(signs_in(&node), 201);

    folder.write("time", "+1y");
    assert_eq!(signs_in(&node), 503);
    let ready = node.ask_at("operations", "GET", "/readyz", "", "");
    assert!(ready.status == 503 && ready.body.contains("clock leapt forwards"), "{}", ready.body);
    assert!(folder.json("clock show")["trouble"].as_str().unwrap().contains("leapt forwards"));
    folder.write("time", "+0");
    assert_eq!(signs_in(&node), 201, "service did not resume by itself");
    let refused = folder.run_words(&["clock", "accept", "--reason", "no reason"], &[]);
    assert!(refused.code == 1 && refused.err.contains("the clock is in order"), "{}", refused.err);

    folder.write("time", "+1y");
    assert_eq!(signs_in(&node), 503);
    let accepted = folder.run_words(&["clock", "accept", "--reason", "it was a year behind"], &[]);
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    assert_eq!(signs_in(&node), 201);
    let (code, log) = node.ends_by("TERM");
    assert_eq!((code, log.matches("clock_leapt").count()), (0, 2), "{log}");

    let refused = folder.run_with("serve", &[("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0")]);
    assert!(refused.code == 1 && refused.err.contains("countersign clock accept"), "{}", refused.err);
    assert!(!refused.err.contains("NTP"), "{}", refused.err);
    assert!(folder.json("clock show")["trouble"].as_str().unwrap().contains("the database was used until"));
    let accepted = folder.run_words(&["clock", "accept", "--reason", "it was a year ahead"], &[]);
    assert!(accepted.code == 0 && accepted.out.contains("people sign in again"), "{} {}", accepted.out, accepted.err);
    assert_eq!(signs_in(&folder.serve(&[])), 201);
}
