#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests say what went wrong by failing")]

use super::*;
use serde_json::json;

fn action(object: &Value) -> Action {
    let text = |name: &str| object[name].as_str().unwrap().to_owned();
    let arguments = || object["arguments"].as_object().unwrap().clone();
    let (project, principal) = (text("project"), text("principal"));
    match object["kind"].as_str().unwrap() {
        "http" => Action::Http(HttpAction {
            project,
            principal,
            route: text("route"),
            method: text("method"),
            origin: text("origin"),
            target: text("target"),
            content_type: text("content_type"),
            content_encoding: text("content_encoding"),
            body_sha256: text("body_sha256"),
            headers: serde_json::from_value(object["headers"].clone()).unwrap(),
        }),
        "tool" => Action::Tool(ToolAction {
            project,
            principal,
            server: text("server"),
            tool: text("tool"),
            definition_sha256: text("definition_sha256"),
            arguments: arguments(),
        }),
        "agent" => Action::Agent(AgentAction { project, principal, tool: text("tool"), arguments: arguments() }),
        kind => panic!("{kind}"),
    }
}

///
#[test]
fn every_published_vector_comes_out_byte_for_byte() {
    let vectors: Value = serde_json::from_str(include_str!("../../../../tests/data/action-vectors.json")).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    assert!(vectors.len() >= 6);
    for vector in vectors {
        let action = action(&vector["object"]);
        let canonical = String::from_utf8(action.canonical().unwrap()).unwrap();
        assert_eq!(canonical, vector["canonical"].as_str().unwrap(), "{}", vector["name"]);
        assert_eq!(action.digest().unwrap().hex(), vector["sha256"].as_str().unwrap(), "{}", vector["name"]);
    }
}

///
#[test]
fn one_changed_member_is_another_action_and_so_is_another_kind() {
    let agent = AgentAction {
        project: "bank".into(),
        principal: "key_1".into(),
        tool: "pay".into(),
        arguments: json!({ "amount": "82000.00" }).as_object().unwrap().clone(),
    };
    let digest = |agent: &AgentAction| Action::Agent(agent.clone()).digest().unwrap();
    let mut others = vec![AgentAction { project: "bank2".into(), ..agent.clone() }];
    others.push(AgentAction { principal: "key_2".into(), ..agent.clone() });
    others.push(AgentAction { tool: "pay2".into(), ..agent.clone() });
    others.push(AgentAction {
        arguments: json!({ "amount": "820000.00" }).as_object().unwrap().clone(),
        ..agent.clone()
    });
    assert!(others.iter().all(|other| digest(other) != digest(&agent)));
    let tool = ToolAction {
        project: agent.project.clone(),
        principal: agent.principal.clone(),
        server: String::new(),
        tool: agent.tool.clone(),
        definition_sha256: String::new(),
        arguments: agent.arguments.clone(),
    };
    assert_ne!(Action::Tool(tool).digest().unwrap(), digest(&agent));
}
