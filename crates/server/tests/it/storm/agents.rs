//! The requesters: each waits for its answer at every node, and tries at every node to claim it.

use super::{ACTIONS, Node};
use countersign_protocol::decisions::{ClaimRequest, ConfirmationRequest, DecisionDocument, State};
use countersign_testkit::{Plane, TestAgent};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// The outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Accepted,
    Rejected,
}

impl Came {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

pub(super) struct Agents {
    nodes: Vec<Node>,
    keys: Vec<TestAgent>,
}

impl Agents {
    pub(super) async fn of(plane: &Plane, nodes: &[Node], number: usize) -> Self {
        let actions: Vec<String> = (0..ACTIONS).map(action).collect();
        let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
        let mut keys = Vec::with_capacity(number);
        for _ in 0..number {
            keys.push(plane.agent_key("alice", &actions).await);
        }
        Self { nodes: nodes.to_vec(), keys }
    }

    /// All of them at once, each one question after the other.
    pub(super) async fn ask(self, rounds: usize) -> BTreeMap<String, Came> {
        let of_one = |(number, key): (usize, TestAgent)| {
            let nodes = self.nodes.clone();
            tokio::spawn(async move {
                let mut came = Vec::new();
                for n in 0..ACTIONS * rounds {
                    came.push(ask(&nodes, &key, number, n).await);
                }
                came
            })
        };
        let asking: Vec<_> = self.keys.iter().cloned().enumerate().map(of_one).collect();
        join_all(asking).await.into_iter().flat_map(Result::unwrap).collect()
    }
}

async fn ask(nodes: &[Node], key: &TestAgent, number: usize, n: usize) -> (String, Came) {
    let first = &nodes[(number + n) % nodes.len()];
    let agent = first.engine.decisions().authenticate_agent(&first.at, &key.token).await.unwrap();
    let question = ConfirmationRequest {
        action: "Release it".into(),
        consequence: "it is gone".into(),
        tool: Some(action(n % ACTIONS)),
        arguments: arguments(number, n).as_object().cloned(),
        ..ConfirmationRequest::default()
    };
    let id =
        first.engine.decisions().raise_confirmation(&first.at, &agent, &question).await.unwrap().document.decision_id;
    let wait = |node: &Node| {
        let (node, token, id) = (node.clone(), key.token.clone(), id.clone());
        async move { node.engine.decisions().await_decision(&node.at, &token, &id, Duration::from_secs(55)).await.unwrap() }
    };
    let woken: Vec<DecisionDocument> = join_all(nodes.iter().map(wait)).await;
    let came = match woken[0].state {
        State::Accepted => Came::Accepted,
        State::Rejected => Came::Rejected,
        other => panic!("{id} is {other:?}"),
    };
    assert!(woken.iter().all(|document| document.state == woken[0].state), "the nodes agree");
    let granted = claimed(nodes, key, &id, action(n % ACTIONS), arguments(number, n)).await;
    assert_eq!(granted, usize::from(came == Came::Accepted));
    (id, came)
}

/// The number of nodes, all of them asked at once, that grant the claim.
async fn claimed(nodes: &[Node], key: &TestAgent, id: &str, tool: String, arguments: Value) -> usize {
    let body = ClaimRequest { tool: Some(tool), arguments: arguments.as_object().cloned(), digest: None };
    let claim = |node: &Node| {
        let (node, body) = (node.clone(), body.clone());
        async move {
            let agent = node.engine.decisions().authenticate_agent(&node.at, &key.token).await.unwrap();
            node.engine.decisions().claim(&node.at, &agent, id, &body).await.is_ok()
        }
    };
    join_all(nodes.iter().chain(nodes).map(claim)).await.into_iter().filter(|granted| *granted).count()
}

fn action(n: usize) -> String {
    format!("release.{n}")
}

fn arguments(number: usize, n: usize) -> Value {
    json!({ "agent": number, "question": n })
}
