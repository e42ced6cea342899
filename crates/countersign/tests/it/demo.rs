//! The main job, as the README promises it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    time::Duration,
};

#[test]
fn the_scripted_demo_keeps_every_promise_and_ends_with_success() {
    let demo = Command::new(env!("CARGO_BIN_EXE_countersign")).args(["demo", "--scripted"]).output().unwrap();
    let told = String::from_utf8_lossy(&demo.stdout);
    assert!(demo.status.success(), "{told}\n{}", String::from_utf8_lossy(&demo.stderr));
    assert!(told.ends_with("Everything was as promised.\n"), "{told}");
    for part in [
        "offboarded: ",
        "cut off: ",
        "notified: ",
        "held: ",
        "approved: ",
        "swapped: ",
        "run once: ",
        "replayed: ",
        "redeemed: ",
        "one effect: ",
        "planned: ",
        "unasked: ",
        "one too many: ",
        "another amount: ",
        "revoked: ",
        "unclear: ",
        "stopped: ",
        "escalated: ",
        "answered: ",
        "confirmed: ",
        "audited: ",
        "forged: ",
        "killed: ",
        "proven: ",
        "tampered: ",
    ] {
        assert_eq!(told.matches(&format!("  ok  {part}")).count(), 1, "{part} {told}");
    }
    assert!(!told.contains('\u{1b}'), "nothing is said by colour alone");
}

#[test]
fn the_commands_that_the_demo_prints_reach_a_gateway_that_holds() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let mut demo = demo.arg("demo").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(demo.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains("  Password  ") {
        assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let headers = word_after(&told, "-H @", " ");
    assert_eq!(std::fs::metadata(headers).unwrap().permissions().mode() & 0o777, 0o600, "a token is its owner's alone");
    let headers = std::fs::read_to_string(headers).unwrap().replace('\n', "\r\n");
    let (gateway, body) =
        (word_after(&told, "gateway in front of it at http://", ".\n"), word_after(&told, "-d '", "'"));
    let held = post(gateway, "/transfers", &headers, body);
    assert!(held.starts_with("HTTP/1.1 403 ") && held.contains("irreversible_requires_confirm"), "{held}");
    let inbox = word_after(&told, "approve it\n    ", "\n");
    let page = format!("\"page\":\"{inbox}/bank/dec_");
    assert!(held.replace(": ", ":").contains(&page), "{page} is not in {held}");
    drop(demo.stdin.take());
    assert!(!demo.wait().unwrap().success(), "no code was pasted");
}

/// The demo's files, among them an agent's token, are removed on every kind of exit.
#[test]
fn a_demo_that_is_ended_by_a_signal_leaves_nothing_behind() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("demo-{signal}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut demo = Command::new(env!("CARGO_BIN_EXE_countersign"));
        demo.arg("demo").env("TMPDIR", &folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut demo = demo.spawn().unwrap();
        let mut out = BufReader::new(demo.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains("  Password  ") {
            assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "its folder");
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", demo.id())]).status().unwrap();
        assert!(sent.success() && ended(&mut demo).success(), "{signal}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{signal} leaves something behind");
    }
}

/// The exit status of a process, within a generous time limit.
fn ended(child: &mut Child) -> ExitStatus {
    let (ended, end) = mpsc::channel();
    std::thread::scope(|scope| {
        let id = child.id();
        scope.spawn(move || ended.send(child.wait().unwrap()).unwrap());
        end.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
            let _ = Command::new("sh").args(["-c", &format!("kill -KILL {id}")]).status();
            panic!("it did not end")
        })
    })
}

fn word_after<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before} is not in {text}")).1;
    rest.split_once(after).unwrap().0
}

#[expect(clippy::disallowed_methods, reason = "a test speaks to the gateway that it started")]
fn post(address: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
