//! The nodes' own records at the end: every decision known to an agent, and the audit of every call.

use super::{
    agent::SoakAgent,
    load::Load,
    record::{Micros, Raised},
    setup::{LEASE_S, QUESTION_S},
};
use anyhow::Context as _;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

/// By then every lease has lapsed and every due question is settled.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const TOGETHER: usize = 8;

/// The nodes' records.
#[derive(Default)]
pub(super) struct NodeRecords {
    /// By id; null where the decision no longer exists.
    pub(super) decisions: BTreeMap<String, Value>,
    /// The paths of calls in the audit.
    pub(super) audited: HashSet<String>,
    pub(super) stuck: Vec<String>,
}

pub(super) async fn collect_records(load: &Arc<Load>, agents: &[Arc<SoakAgent>]) -> anyhow::Result<NodeRecords> {
    let mut remembered = NodeRecords::default();
    let raised: Vec<(String, Raised)> =
        load.record.pages().decisions.iter().map(|(id, raised)| (id.clone(), raised.clone())).collect();
    for some in raised.chunks(TOGETHER) {
        let looks = some.iter().map(|(id, raised)| {
            let (agent, id, at) = (Arc::clone(&agents[raised.agent]), id.clone(), raised.at);
            tokio::spawn(async move { (settled(&agent, &id, at).await, id) })
        });
        for look in looks.collect::<Vec<_>>() {
            match look.await? {
                (Ok(document), id) => drop(remembered.decisions.insert(id, document)),
                (Err(why), id) => remembered.stuck.push(format!("{id}: {why}")),
            }
        }
    }
    for agent in agents {
        audit(load, agent, &mut remembered.audited).await?;
    }
    Ok(remembered)
}

/// The decision in its final state, or the reason why it does not reach one.
async fn settled(agent: &SoakAgent, id: &str, asked_at: Micros) -> Result<Value, String> {
    let mut last = "nobody answered".to_owned();
    let look = async {
        loop {
            match agent.decision(id, 0).await {
                Some(answer) if answer.status == 404 => return Value::Null,
                Some(answer) if answer.status == 200 => match unsettled(agent, &answer.json(), asked_at) {
                    None => return answer.json(),
                    Some(why) => last = why,
                },
                Some(answer) => last = format!("{} {}", answer.status, answer.json()),
                None => "nobody answered".clone_into(&mut last),
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    match tokio::time::timeout(PATIENCE, look).await {
        Ok(document) => Ok(document),
        Err(_) => Err(last),
    }
}

/// A claim ends with its lease at the latest, a question with its deadline.
fn unsettled(agent: &SoakAgent, document: &Value, asked_at: Micros) -> Option<String> {
    let due = asked_at + (QUESTION_S + 20) * 1_000_000;
    if document["execution"]["state"] == "claimed" {
        return Some(format!("it is still claimed, with leases of {LEASE_S} s"));
    }
    let is_late = document["state"] == "pending" && agent.load.record.now() > due;
    is_late.then(|| "it is still pending after its deadline".to_owned())
}

async fn audit(load: &Load, agent: &SoakAgent, audited: &mut HashSet<String>) -> anyhow::Result<()> {
    let mut cursor: Option<String> = None;
    loop {
        let page = load.person.reads_audit(&load.public(0), &agent.delegation, cursor.as_deref()).await;
        let page = page.context("the audit cannot be read")?;
        let entries = page["entries"].as_array().context("a page of the audit without entries")?;
        audited.extend(entries.iter().filter_map(|entry| entry["path"].as_str()).map(str::to_owned));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(());
        }
    }
}
