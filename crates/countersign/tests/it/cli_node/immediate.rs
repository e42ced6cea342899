//! Changes from the command line reach connected subscribers at once.

use super::listening::Stream;
use crate::{cli_folder::Folder, cli_inbox::Asked};
use serde_json::Value;

/// The close code of a WebSocket after its owner lost access.
const DENIED: [u8; 2] = 4003_u16.to_be_bytes();

/// The event member for a question that ended without an answer.
const CANCELLED: &str = "\"settled\":\"cancelled\"";

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

///
#[test]
fn revoking_a_token_at_the_command_line_closes_its_stream_and_its_socket_at_once() {
    let asked = Asked::new("node-token");
    let mut stream = Stream::of_events(&asked.node, &asked.token);
    let mut socket = Stream::of_socket(&asked.node, &asked.token);
    asked.asks("the first letter");
    stream.until("the first letter");
    socket.until("the first letter");
    asked.folder.does(&format!("token revoke {}", text(&asked.folder.json("token list")[0]["id"])));
    asked.asks("the second letter");
    let (events, frames) = (stream.rest(), socket.until(DENIED));
    assert!(events.contains("event: aaep.close\n"), "{events}");
    assert!(!events.contains("the second letter") && !frames.contains("the second letter"), "{events} {frames}");
}

///
#[test]
fn disabling_a_person_at_the_command_line_closes_their_stream_and_cancels_their_agents_questions() {
    let asked = Asked::new("node-user");
    asked.folder.does_as("user add bob --role approver");
    let bob = text(&asked.folder.json("token add --person bob --name phone")["secret"]);
    let key =
        asked.folder.json("key add --kind agent --principal bot3 --responsible alice --action mail.send --ask bob");
    let (mut alices, mut bobs) = (Stream::of_socket(&asked.node, &asked.token), Stream::of_events(&asked.node, &bob));
    let asked = Asked { key: text(&key["secret"]), ..asked };
    asked.asks("a letter for bob");
    bobs.until("a letter for bob");
    let told = asked.folder.does("user disable alice");
    assert!(told.contains("open questions cancelled: 1\n"), "{told}");
    bobs.until(CANCELLED);
    alices.until(DENIED);
}

///
#[test]
fn revoking_a_key_at_the_command_line_sends_a_cancellation_to_the_approvers() {
    let asked = Asked::new("node-key");
    let mut stream = Stream::of_events(&asked.node, &asked.token);
    asked.asks("a letter");
    stream.until("a letter");
    asked.folder.does(&format!("key revoke {}", text(&asked.folder.json("key list")[0]["id"])));
    stream.until(CANCELLED);
}

///
#[test]
fn every_command_is_carried_out_by_the_running_node_which_alone_has_key_and_database() {
    let folder = Folder::with_project("node-all");
    let node = folder.serve(&[]);
    // Opening the database beside the node would need the key.
    std::fs::rename(folder.0.join("countersign.key"), folder.0.join("away")).unwrap();
    folder.write("changed.toml", "id = \"calendar\"\ndisplay_name = \"Changed\"\n");
    assert_eq!(folder.run("project diff changed.toml").code, 1, "it differs");
    assert_eq!(folder.does("project apply changed.toml"), "project calendar: version 2 is in force\n");
    assert_eq!(node.ask("GET", "/.well-known/agent-auth.json", "", "").json()["display_name"], "Changed");
    assert_eq!(folder.json("project versions").as_array().unwrap().len(), 2);
    assert_eq!(folder.json("project show --version 1")["document"]["display_name"], "Calendar");
    assert_eq!(folder.json("project list")[0]["version"], 2);
    assert_eq!(folder.run("routes list").code, 0);
    folder.does_as("user add bob");
    folder.does_as("user password bob");
    for command in ["user role bob --role user", "user disable bob", "user enable bob", "user list", "keys rotate"] {
        folder.does(command);
    }
    let key = folder.json("key add --kind admin --principal load --responsible alice");
    folder.does(&format!("key revoke {}", text(&key["id"])));
    let token = folder.json("token add --person alice --name phone");
    folder.does(&format!("token revoke {}", text(&token["id"])));
    let published = node.ask("GET", "/.well-known/agent-jwks.json", "", "").json();
    assert_eq!(published["keys"].as_array().unwrap().len(), folder.json("keys list").as_array().unwrap().len());
    assert!(folder.json("key list")[0]["revoked_at"].is_string() && folder.json("token list")[0]["state"] == "revoked");
    let ran = folder.run("token revoke tok_00");
    assert!(ran.err.starts_with("error: there is no such token in this project\nhint: "), "{}", ran.err);
}
