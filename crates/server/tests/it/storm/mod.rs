//! Sixty-four people answer the same questions at once: one answer counts each time, and every subscriber is told.

mod agents;
mod people;

use agents::{Agents, Came};
use countersign_engine::{Address, Engine, ProjectAt};
use countersign_testkit::{Backend, Kit, Plane, Setup, stored_evidence};
use people::{Ears, people};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Each answers every question.
const PEOPLE: usize = 64;
/// Actions, all of them for approvers. No agent asks for one so often that three rejections would pause it.
const ACTIONS: usize = 10;

/// AAEP-6.3.5-01, AAEP-6.3.5-02, AAEP-6.7.2-01
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_answers_to_each_of_1000_questions_one_counts_and_all_get_a_response_on_one_node() {
    let (plane, _folder) = Kit(Backend::Sqlite).lasting_plane(setup()).await;
    Storm::over(&plane, vec![Arc::clone(&plane.engine)]).await.rages(50, 2).await;
}

/// AAEP-6.3.5-01, AAEP-6.3.5-02, AAEP-6.7.2-01
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_answers_to_each_question_one_counts_and_all_get_a_response_on_two_nodes() {
    let plane = Kit(Backend::Postgres).plane_with(setup()).await;
    let (second, _) = plane.second_node().await;
    Storm::over(&plane, vec![Arc::clone(&plane.engine), second]).await.rages(20, 1).await;
}

fn setup() -> Setup {
    let mut setup = Setup::with_project(|document| {
        let action = |n| json!({ "name": format!("release.{n}"), "approvers": ["role:approver"] });
        let actions: Vec<Value> = (0..ACTIONS).map(action).collect();
        document.actions = serde_json::from_value(json!(actions)).unwrap();
        let bounds = &mut document.decisions;
        (bounds.max_open_per_agent, bounds.max_open_per_person, bounds.max_raised_per_hour) = (1000, 10_000, 10_000);
    });
    setup.throttle.per_address = 1000;
    setup
}

/// A node, and its view of the project.
#[derive(Clone)]
struct Node {
    engine: Arc<Engine>,
    at: ProjectAt,
}

struct Storm<'a> {
    plane: &'a Plane,
    nodes: Vec<Node>,
    ears: Vec<Ears>,
}

impl<'a> Storm<'a> {
    async fn over(plane: &'a Plane, engines: Vec<Arc<Engine>>) -> Self {
        let mut nodes = Vec::new();
        for engine in engines {
            let at = engine.project(&Address::Unscoped).await.unwrap();
            nodes.push(Node { engine, at });
        }
        plane.person("alice").await;
        let ears = people(plane, &nodes).await;
        Self { plane, nodes, ears }
    }

    /// This many agents ask for every action, this many times.
    async fn rages(self, agents: usize, rounds: usize) {
        let questions = agents * ACTIONS * rounds;
        let now = self.plane.now();
        let listening = self.ears.into_iter().map(|ears| tokio::spawn(ears.hear(questions, now)));
        let listening: Vec<_> = listening.collect();
        let came: BTreeMap<String, Came> = Agents::of(self.plane, &self.nodes, agents).await.ask(rounds).await;
        assert_eq!(came.len(), questions);
        for heard in listening {
            let heard = heard.await.unwrap();
            assert!(heard.asked.values().all(|events| events.len() == 1), "a question is one event");
            assert!(heard.asked.keys().eq(came.keys()), "everybody was asked everything");
            let told: BTreeMap<&String, Vec<&str>> =
                heard.settled.iter().map(|(id, how)| (id, how.iter().map(String::as_str).collect())).collect();
            let truth: BTreeMap<&String, Vec<&str>> = came.iter().map(|(id, came)| (id, vec![came.word()])).collect();
            assert_eq!(told, truth, "everybody was told once what became of it");
        }
        let (yes, no) = (count(&came, Came::Accepted), count(&came, Came::Rejected));
        assert!(yes > 0 && no > 0, "people disagreed: {yes} yes, {no} no");
        is_in_evidence(self.plane, &came).await;
    }
}

fn count(came: &BTreeMap<String, Came>, what: Came) -> usize {
    came.values().filter(|came| **came == what).count()
}

/// One settlement of each question, and one claim of each approval.
async fn is_in_evidence(plane: &Plane, came: &BTreeMap<String, Came>) {
    let mut settled: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut claims = 0;
    for entry in stored_evidence(&plane.place).await {
        let leaf: Value = serde_json::from_slice(&entry.leaf).unwrap();
        let text = |member: &str| leaf[member].as_str().unwrap_or_default().to_owned();
        match entry.event_type.as_str() {
            "decision_settled" => settled.entry(text("decision_id")).or_default().push(text("state")),
            "execution_claimed" => claims += 1,
            _ => {}
        }
    }
    let truth = came.iter().map(|(id, came)| (id.clone(), vec![came.word().to_owned()])).collect();
    assert_eq!(settled, truth);
    assert_eq!(claims, count(came, Came::Accepted));
}
