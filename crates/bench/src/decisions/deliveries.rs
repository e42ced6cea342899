//! The cost of a delivery to many subscriptions of one person, as the server measured it while it prepared them.

use super::serving::{CycleParticipants, Scenario};
use crate::{
    StoreKind,
    child::{ServerProcess, ServerTask},
};
use serde::Serialize;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct FanOut {
    pub(super) subscriptions: usize,
    pub(super) delivery_us: f64,
    pub(super) kib_each: f64,
}

pub(super) fn measure(store: StoreKind) -> anyhow::Result<Vec<FanOut>> {
    [1000, 10_000].into_iter().map(|subscriptions| to(store, subscriptions)).collect()
}

fn to(store: StoreKind, subscriptions: usize) -> anyhow::Result<FanOut> {
    eprintln!("measuring: deliveries to {subscriptions} subscriptions of one person");
    let scenario = Scenario { listeners: subscriptions, ..Scenario::default() };
    let server: ServerProcess<CycleParticipants> = ServerProcess::start(store, ServerTask::Decisions(scenario))?;
    let CycleParticipants { delivery_us, grown_kib, .. } = server.told;
    Ok(FanOut { subscriptions, delivery_us, kib_each: grown_kib / subscriptions as f64 })
}
