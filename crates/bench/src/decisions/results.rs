//! The figures of a run, the ratios between them, and the lines that say the rest.

use super::{deliveries::FanOut, serving::Scenario};
use crate::{
    gateway::Figures,
    peers::PeerFigures,
    report::{BenchmarkReport, Ratios},
    rounds::RoundArguments,
};
use serde::Serialize;
use serde_json::{Map, json};

pub(super) const ONE: &str = "one in flight";
pub(super) const MANY: &str = "many in flight";
pub(super) const MANY_BESIDE_FEW: &str = "many, 100 idle subscriptions";
pub(super) const MANY_BESIDE_OTHERS: &str = "many, 10,000 idle subscriptions";
pub(super) const MANY_BESIDE_PENDING: &str = "many, 100,000 questions pending";

const NOTES: [&str; 4] = [
    "CPU time is that of the server's process, in V of the same second or two; the generator's is not in it",
    "server and generator share the cores; two durable commits a cycle",
    "ratios to a peer are to the better of its two rates; peers run in one process, without a network, deliveries or waking",
    "idle subscriptions and pending questions are other people's",
];

pub(super) struct Results {
    pub(super) loads: Vec<Figures>,
    pub(super) memory: Vec<ScenarioMemory>,
    pub(super) deliveries: Vec<FanOut>,
    pub(super) peers: Vec<PeerFigures>,
}

/// Resident memory that a scenario took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ScenarioMemory {
    #[serde(flatten)]
    pub(super) scenario: Scenario,
    pub(super) grown_kib: f64,
}

impl Results {
    pub(super) fn report(self, of: &RoundArguments) -> BenchmarkReport {
        let members =
            [("memory", json!(self.memory)), ("deliveries", json!(self.deliveries)), ("peers", json!(self.peers))];
        BenchmarkReport {
            benchmark: "decisions",
            title: "Decisions: question, delivery, reply, waiting agent woken, all durable",
            counted: "cycle",
            store: of.store,
            rounds: of.rounds(),
            in_flight: of.in_flight(),
            ratios: self.ratios(),
            lines: self.lines(),
            loads: self.loads,
            members: Map::from_iter(members.map(|(name, member)| (name.to_owned(), member))),
            notes: &NOTES,
        }
    }

    pub(super) fn ratios(&self) -> Ratios {
        let cpu = |name| self.find(name).map(|load| load.cpu_in_v.median);
        let grown = |name| Some(self.rate(name)? / self.rate(MANY)?);
        let over = |name, peer| Some(self.rate(name)? / self.peers.iter().find(|figures| figures.peer == peer)?.best());
        let delivery = |place: usize| self.deliveries.get(place).map(|fan_out| fan_out.delivery_us);
        vec![
            ("ours_vs_langgraph", over(MANY, "langgraph")),
            ("ours_vs_langgraph_one_in_flight", over(ONE, "langgraph")),
            ("ours_vs_ctrlrun", over(MANY, "ctrlrun")),
            ("ours_vs_ctrlrun_one_in_flight", over(ONE, "ctrlrun")),
            ("cycle_cpu_in_v", cpu(MANY)),
            ("cycle_cpu_in_v_one_in_flight", cpu(ONE)),
            ("p50_ms_one_in_flight", self.find(ONE).map(|load| load.p50_ms)),
            ("rate_with_10000_subscriptions", grown(MANY_BESIDE_OTHERS)),
            ("rate_with_100000_pending", grown(MANY_BESIDE_PENDING)),
            ("delivery_to_10000_vs_1000", delivery(1).and_then(|many| Some(many / delivery(0)?))),
        ]
    }

    fn find(&self, name: &str) -> Option<&Figures> {
        self.loads.iter().find(|load| load.name == name)
    }

    fn rate(&self, name: &str) -> Option<f64> {
        self.find(name).map(|load| load.per_second.median)
    }

    fn lines(&self) -> Vec<String> {
        let memory = self.memory.iter().map(|ScenarioMemory { scenario, grown_kib }| match scenario.pending {
            0 => format!("{:.1} KiB a subscription, of {}", grown_kib / scenario.others as f64, scenario.others),
            pending => format!("{:.1} MiB for {pending} pending questions", grown_kib / 1024.0),
        });
        let deliveries = self.deliveries.iter().map(|FanOut { subscriptions, delivery_us, kib_each }| {
            format!(
                "{delivery_us:.2} µs a delivery to {subscriptions} subscriptions of one person, {kib_each:.1} KiB each"
            )
        });
        let peers = self.peers.iter().flat_map(|peer| {
            let (one, many) = (&peer.alone, &peer.together);
            let rates = format!(
                "{} {}: {:.0} cycles/s, p50 {:.2} ms; {:.0} cycles/s with {} in flight",
                peer.peer, peer.version, one.cycles_per_second, one.p50_ms, many.cycles_per_second, many.in_flight
            );
            let limits = format!("  durable: {}; does not: {}", peer.durable, peer.does_not_do.join("; "));
            [rates, limits]
        });
        memory.chain(deliveries).chain(peers).collect()
    }
}

#[cfg(test)]
mod tests;
