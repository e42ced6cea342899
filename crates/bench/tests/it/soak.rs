//! `countersign soak`, for about a minute a store.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// One at a time: each brings nodes of its own, and the machine may have two cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Far more than a run takes; a hanging run is killed.
const TOO_LONG: Duration = Duration::from_secs(900);

///
#[test]
fn a_node_on_sqlite_under_every_fault_does_nothing_twice_and_loses_nothing() {
    let plot = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak-sqlite.svg");
    let report = soak(&["--seconds", "45", "--seed", "7", "--plot", plot.to_str().unwrap()]);
    is_clean(&report, &["kill", "stop", "clock", "disk", "restore"]);
    assert!(std::fs::read_to_string(plot).unwrap().ends_with("</svg>\n"));
}

///
#[test]
fn two_nodes_on_postgresql_under_every_fault_do_nothing_twice_and_lose_nothing() {
    let report = soak(&["--seconds", "30", "--seed", "11", "--postgres"]);
    is_clean(&report, &["kill", "stop", "clock", "postgres"]);
}

#[test]
fn a_fault_that_the_store_cannot_have_is_named_before_anything_starts() {
    let ran = program().args(["soak", "--faults", "postgres"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(1), &b""[..]));
    assert!(said.contains("there is no fault postgres on SQLite; say --postgres"), "{said}");
}

/// Counts only: the speed of the machine proves nothing.
fn is_clean(report: &Value, faults: &[&str]) {
    for (name, found) in report["findings"].as_object().unwrap() {
        assert_eq!(found.as_array().unwrap().len(), 0, "{name}: {found:#}");
    }
    for fault in faults {
        assert!(report["faults"][fault].as_u64() >= Some(1), "{fault}: {}", report["faults"]);
    }
    for operation in ["held calls", "unheld writes", "reads"] {
        assert!(report["operations"][operation]["ran"].as_u64() >= Some(1), "{}", report["operations"]);
    }
}

/// The report of a run without findings.
fn soak(arguments: &[&str]) -> Value {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = program();
    command.args(["soak", "--agents", "4", "--json"]).args(arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (pid, (ended, end)) = (child.id(), std::sync::mpsc::channel());
    std::thread::spawn(move || ended.send(Child::wait_with_output(child)));
    let Ok(ran) = end.recv_timeout(TOO_LONG) else {
        let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        panic!("it did not end within {} s", TOO_LONG.as_secs());
    };
    let ran = ran.unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}\n{err}"))
}

fn program() -> Command {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_countersign-bench"));
    let beside = program.with_file_name("countersign");
    assert!(beside.is_file(), "the soak serves {}: build it first, `cargo build -p countersign`", beside.display());
    Command::new(program)
}
