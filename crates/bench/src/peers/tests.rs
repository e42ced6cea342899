use super::{Peer, SCRIPTS, figures, python};
use serde_json::{Value, json};
use std::path::Path;

fn line() -> Value {
    json!({
        "peer": "ctrlrun", "version": "1.0", "durable": "SQLite WAL", "does_not_do": ["a", "b"],
        "in_flight": 1, "cycles": 300, "seconds": 1.5, "cycles_per_second": 200.0, "p50_ms": 4.5, "p99_ms": 9.0,
        "together": {
            "in_flight": 8, "cycles": 450, "seconds": 1.5, "cycles_per_second": 300.0, "p50_ms": 20.0, "p99_ms": 90.0,
        },
    })
}

fn refusal(peer: Peer, line: &Value) -> String {
    figures(peer, line.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn without_the_peers_it_names_the_command_to_run() {
    let why = python(Path::new("no-such-folder")).unwrap_err().to_string();
    assert!(why.contains("run crates/bench/peers/prepare"), "{why}");
}

#[test]
fn a_line_of_another_peer_or_without_figures_is_refused() {
    assert!(refusal(Peer::LangGraph, &line()).contains("speaks for ctrlrun"));
    assert!(refusal(Peer::Ctrlrun, &json!({ "peer": "ctrlrun" })).contains("printed something else"));
    let mut nothing = line();
    nothing["together"]["cycles"] = json!(0);
    assert!(refusal(Peer::Ctrlrun, &nothing).contains("finished no cycle"));
}

#[test]
fn a_line_is_read_as_figures_alone_and_together() {
    let told = figures(Peer::Ctrlrun, line().to_string().as_bytes()).unwrap();
    assert_eq!((told.alone.in_flight, told.alone.cycles), (1, 300));
    assert_eq!((told.together.in_flight, told.together.cycles_per_second), (8, 300.0));
    assert_eq!(told.does_not_do, ["a", "b"]);
}

#[test]
fn every_peer_has_its_script() {
    for peer in Peer::ALL {
        assert!(Path::new(SCRIPTS).join(peer.script()).is_file(), "{} is missing", peer.script());
    }
}
