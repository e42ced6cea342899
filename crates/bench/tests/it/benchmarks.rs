//! `countersign bench decisions`, `register` and `gateway`: their options, and the JSON that they print.

use serde_json::Value;
use std::process::{Command, Output};

const DECISIONS: [&str; 9] = [
    "cycle_cpu_in_v",
    "cycle_cpu_in_v_one_in_flight",
    "ours_vs_ctrlrun",
    "ours_vs_ctrlrun_one_in_flight",
    "ours_vs_langgraph",
    "ours_vs_langgraph_one_in_flight",
    "p50_ms_one_in_flight",
    "rate_with_100000_pending",
    "rate_with_10000_subscriptions",
];

#[test]
fn decisions_prints_one_json_object_with_null_for_omitted_parts() {
    let report = report(&["decisions", "--seconds", "1", "--without", "peers,growth", "--json"]);
    is_measured(&report, "decisions", 3);
    let ratios = &report["ratios"];
    for name in DECISIONS {
        let measured = name.starts_with("cycle_cpu") || name == "p50_ms_one_in_flight";
        assert_eq!(ratios[name].as_f64() > Some(0.0), measured, "{name}: {ratios}");
        assert!(measured || ratios[name] == Value::Null, "{name}: {ratios}");
    }
}

/// Counted by valgrind, so that neither the machine nor its other work changes it.
#[test]
fn a_call_takes_the_instructions_of_the_committed_budget() {
    let budget = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.json");
    let counted = run(&["gateway", "--instructions", "--budget", budget]);
    let said = String::from_utf8_lossy(&counted.stderr);
    assert!(counted.status.success(), "{said}{}", String::from_utf8_lossy(&counted.stdout));
}

///
#[test]
fn register_prints_one_json_object_with_fresh_and_repeated_registrations() {
    let report = report(&["register", "--seconds", "1", "--json"]);
    is_measured(&report, "register", 3);
    for name in ["cpu_in_v", "cpu_in_v_repeated", "share_of_bound", "share_of_bound_repeated"] {
        assert!(report["ratios"][name].as_f64() > Some(0.0), "{name}: {}", report["ratios"]);
    }
    assert_eq!((&report["signatures"]["fresh"], &report["signatures"]["repeated"]), (&3.into(), &1.into()));
}

#[test]
fn an_option_that_a_benchmark_does_not_have_is_refused_before_anything_starts() {
    for arguments in [
        &["decisions", "--seconds", "0"][..],
        &["decisions", "--without", "nginx"],
        &["register", "--seconds", "soon"],
        &["register", "--without", "peers"],
        &["gateway", "--seconds", "1", "--rounds", "2"],
        &["gateway", "--without", "growth"],
    ] {
        let ran = run(arguments);
        assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(2), &b""[..]), "{arguments:?}");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.starts_with("error: "), "{arguments:?}: {said}");
    }
}

#[test]
fn the_same_options_make_each_benchmark_short_and_machine_readable() {
    for benchmark in ["gateway", "decisions", "register"] {
        let help = String::from_utf8(run(&[benchmark, "--help"]).stdout).unwrap();
        for option in ["--seconds", "--json", "--without", "--store"] {
            assert!(help.contains(option), "{benchmark} {option}: {help}");
        }
    }
}

/// Counts and names only: the speed of the machine proves nothing.
fn is_measured(report: &Value, benchmark: &str, rounds: u64) {
    let named = (&report["benchmark"], &report["store"], &report["rounds"]);
    assert_eq!(named, (&benchmark.into(), &"sqlite".into(), &rounds.into()));
    for load in report["loads"].as_array().unwrap() {
        assert_eq!(load["turns"], rounds, "{load}");
        for figure in ["per_second", "cpu_in_v"] {
            let [least, median, most] = ["least", "median", "most"].map(|name| load[figure][name].as_f64().unwrap());
            assert!(0.0 < least && least <= median && median <= most, "{figure}: {load}");
        }
    }
}

/// The whole output is one object.
fn report(arguments: &[&str]) -> Value {
    let ran = run(arguments);
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}\n{err}");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}\n{err}"));
    assert!(report.is_object(), "{out}");
    report
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_countersign-bench")).args(arguments).output().unwrap()
}
