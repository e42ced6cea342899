//! docs/AAP.md, command by command: a real shell and curl, a node started from the README's files, an operator with
//! real TLS, and a person following the instructions of the page.

use crate::cli_folder::{Folder, PASSWORD, Served};
use countersign_testkit::{
    bank::Bank,
    operator_host::{OperatorHost, TestCa},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// The time limit for one block of commands.
const PATIENCE: Duration = Duration::from_secs(120);

/// AAP-3-08, AAP-3-01, AAP-11.6-03, AAP-G-54
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_page_works_from_a_bare_401_to_a_confirmed_refund() {
    let (bank, ca) = (Bank::open().await, TestCa::new());
    let host = OperatorHost::start(&ca, "acme.test").await;
    let folder = shop(&bank, &ca, &host);
    let node = folder.serve(&[("SHOP_TOKEN", "Bearer the-shops-own")]);
    let gateway = gateway_of(&node);
    let page = document("docs/AAP.md");
    let mut shell = Shell::start(&folder.0);
    let robin = Person::signs_in(&node);
    let mut connect_url = String::new();
    for block in blocks(&page, "sh") {
        let block = block.replace("127.0.0.1:8422", &gateway);
        let typed = match &block {
            block if block.contains("read -r CODE") => robin.agrees(&node, &connect_url),
            block if block.contains("read -r\n") => robin.approves(&node, &shell.variable("DECISION")),
            _ => String::new(),
        };
        let said = shell.run(&block, &typed);
        connect_url = said.lines().find(|line| line.contains("/connect/")).map_or(connect_url, str::to_owned);
        for file in ["agent-identity.json", "agent-jwks.json"] {
            if let Ok(text) = fs::read(folder.0.join("site/.well-known").join(file)) {
                host.set_document(&format!("/.well-known/{file}"), text);
            }
        }
        // The output shown on the page is part of the real output.
        for line in shown_behind(&page, &block, &gateway) {
            assert!(said.lines().any(|said| said.trim_end().eq_ignore_ascii_case(&line)), "no {line:?} in {said:?}");
        }
    }
    let got: Vec<String> = bank.got().iter().map(|got| format!("{} {}", got.method, got.target)).collect();
    assert_eq!(got, ["GET /orders/7", "POST /refunds"]);
    let refund = bank.effects().remove(0);
    assert_eq!(refund.body, br#"{"payment_id":"p-1","amount":"19.90"}"#);
    assert_eq!(refund.headers["authorization"], "Bearer the-shops-own");
}

/// The README's shop on free ports, with robin's account and a route to the operator.
fn shop(bank: &Bank, ca: &TestCa, host: &OperatorHost) -> Folder {
    let folder = Folder::new("walkthrough");
    let readme = document("README.md");
    let file = |name: &str| blocks(&readme, "toml").into_iter().find(|block| block.starts_with(&format!("# {name}\n")));
    let config = file("countersign.toml").unwrap().replace("127.0.0.1:8422", "127.0.0.1:0");
    let operator =
        format!("[outbound]\nextra_roots = [\"ca.pem\"]\n[outbound.static]\n\"acme.test\" = \"{}\"\n", host.addr());
    folder.write("countersign.toml", &format!("{config}\n{operator}"));
    folder.write("ca.pem", ca.pem());
    folder.write("shop.toml", &file("shop.toml").unwrap().replace("http://127.0.0.1:9000", &bank.url()));
    folder.does("init");
    folder.does("project apply shop.toml");
    folder.does_as("user add robin --role user");
    folder
}

fn gateway_of(node: &Served) -> String {
    let line = node.said.lines().find_map(|line| line.strip_prefix("gateway listener: ")).unwrap();
    line.split(',').next().unwrap().to_owned()
}

fn document(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The code blocks of a language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split_once("\n```").unwrap().0.to_owned() + "\n").collect()
}

/// The lines of the output block that directly follows these commands.
fn shown_behind(page: &str, block: &str, gateway: &str) -> Vec<String> {
    let block = block.replace(gateway, "127.0.0.1:8422");
    let (_, behind) = page.split_once(&block).unwrap();
    let Some(shown) = behind.strip_prefix("```\n\n```\n") else { return Vec::new() };
    shown.split_once("\n```").unwrap().0.lines().map(str::to_owned).collect()
}

/// A shell that runs one block after the other, and exits at the first failing command.
struct Shell {
    child: Child,
    to: ChildStdin,
    from: mpsc::Receiver<String>,
}

impl Shell {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new("bash");
        let child = command.arg("-s").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, from) = mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut shell = Self { child, to, from };
        shell.run("set -euo pipefail\n", "");
        shell
    }

    /// The output of the commands. `typed` is the person's input when a command reads.
    fn run(&mut self, commands: &str, typed: &str) -> String {
        // The shell reads the whole block before running it, so that the typed input comes after it.
        write!(self.to, "{{\n{commands}}}\n").unwrap();
        if commands.contains("read -r") {
            writeln!(self.to, "{typed}").unwrap();
        }
        writeln!(self.to, "printf '\\n-- done\\n'").unwrap();
        let mut said = String::new();
        loop {
            match self.from.recv_timeout(PATIENCE) {
                Ok(line) if line == "-- done" => return said,
                Ok(line) => said += &(line + "\n"),
                Err(why) => panic!("{why} after {said:?} of:\n{commands}"),
            }
        }
    }

    fn variable(&mut self, name: &str) -> String {
        self.run(&format!("printf '%s' \"${name}\"\n"), "").trim().to_owned()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// robin in a browser.
struct Person {
    cookie: String,
    csrf: String,
}

impl Person {
    fn signs_in(node: &Served) -> Self {
        let answer = node.ask("POST", "/session", "", &json!({ "name": "robin", "password": PASSWORD }).to_string());
        assert_eq!(answer.status, 201, "{}", answer.body);
        let set = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        let cookie = format!("Cookie: {}\r\n", set.split(';').next().unwrap());
        Self { cookie, csrf: answer.json()["csrf_token"].as_str().unwrap().to_owned() }
    }

    fn posts(&self, node: &Served, path: &str, body: &Value) -> Value {
        let headers = format!("{}X-CSRF-Token: {}\r\n", self.cookie, self.csrf);
        let answer = node.ask("POST", path, &headers, &body.to_string());
        assert!((200..300).contains(&answer.status), "{}", answer.body);
        answer.json()
    }

    /// Opens the agent's connect page and consents; returns the code to copy.
    fn agrees(&self, node: &Served, connect_url: &str) -> String {
        let (_, request) = connect_url.split_once("/connect/").expect("the page to open");
        assert_eq!(node.ask("GET", &format!("/connect/{request}"), &self.cookie, "").status, 200);
        let shown = self.posts(node, "/agent/delegate", &json!({ "request_id": request }));
        let yes =
            json!({ "request_id": request, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true });
        self.posts(node, "/agent/delegate", &yes)["code"].as_str().unwrap().to_owned()
    }

    /// Presses "Approve" on the question's page.
    fn approves(&self, node: &Served, decision: &str) -> String {
        let path = format!("/inbox/shop/{decision}");
        let page = node.ask("GET", &path, &self.cookie, "");
        assert!(page.body.contains("p-1"), "{}", page.body);
        let (before, _) = page.body.split_once("value=\"accept\"").expect("a button to approve");
        let (_, form) = before.rsplit_once("<form").expect("its form");
        let hidden = form.split("type=\"hidden\"").skip(1).filter_map(field);
        let filled: Vec<String> = hidden.chain(["answer=accept".to_owned()]).collect();
        let answer = node.post_form(&path, &self.cookie, &filled.join("&"));
        assert_eq!(answer.status, 303, "{}", answer.body);
        String::new()
    }
}

/// `name=value` of a hidden field's tag.
fn field(tag: &str) -> Option<String> {
    let tag = tag.split_once('>')?.0;
    let of = |name: &str| Some(tag.split_once(&format!("{name}=\""))?.1.split_once('"')?.0);
    Some(format!("{}={}", of("name")?, of("value")?))
}
