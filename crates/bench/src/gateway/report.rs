//! The result of a run, as a table and as JSON.

use super::{
    figures::Figures,
    start::{FASTIFY_JOSE, LAYER, NGINX, OIDC_PROVIDER, PROXY},
};
use crate::StoreKind;
use serde_json::{Value, json};
use std::fmt;

pub(super) struct GatewayReport {
    pub(super) rounds: usize,
    pub(super) in_flight: usize,
    pub(super) blocks: Vec<Block>,
}

/// The contenders of one database, which took turns with each other.
pub(super) struct Block {
    pub(super) store: StoreKind,
    pub(super) nodes: usize,
    pub(super) contenders: Vec<Figures>,
}

/// Notes on the measurement, where it is not obvious.
const NOTES: [&str; 5] = [
    "CPU time is that of the contender's processes, in V of the same second or two; the generator's is not in it",
    "proofs carry no nonce: the nodes' clocks are set as if they had been up for ten minutes, after which none is demanded",
    "the upstream runs in the generator's loop; latencies are those of a closed loop with everything in flight",
    "with PostgreSQL both nodes are engines of one process on one core, which the database's server shares",
    "memory is the resident memory of the serving process, which also holds the test operator's TLS server",
];

/// The checks that a contender's figures do not include.
pub(super) fn does_not(name: &str) -> &'static str {
    match name {
        NGINX => "checks nothing, records nothing",
        OIDC_PROVIDER => "no audit, no limits, nothing durable; rows in a Map; a replay passes on another worker",
        FASTIFY_JOSE => "no audit, no limits, nothing durable; a replay passes on another worker and after a restart",
        _ => "",
    }
}

impl Block {
    pub(super) fn find(&self, name: &str) -> Option<&Figures> {
        self.contenders.iter().find(|figures| figures.name == name)
    }

    /// Null where one of the two did not take part.
    fn ratios(&self) -> Value {
        let over = |peer| Some(self.find(LAYER)?.per_second.median / self.find(peer)?.per_second.median);
        let p99 = || Some(self.find(PROXY)?.p99_ms / self.find(NGINX)?.p99_ms);
        json!({
            "cpu_in_v": self.find(PROXY).map(|proxy| proxy.cpu_in_v.median),
            "cpu_in_v_layer": self.find(LAYER).map(|layer| layer.cpu_in_v.median),
            "over_oidc_provider": over(OIDC_PROVIDER),
            "over_fastify_jose": over(FASTIFY_JOSE),
            "p99_over_nginx": p99(),
        })
    }

    fn memory_mib(&self) -> Option<f64> {
        self.find(PROXY).or_else(|| self.find(LAYER)).map(|figures| figures.memory_mib)
    }

    fn json(&self) -> Value {
        json!({
            "store": self.store,
            "nodes": self.nodes,
            "ratios": self.ratios(),
            "memory_mib": self.memory_mib(),
            "contenders": self.contenders,
        })
    }

    fn title(&self) -> String {
        match self.store {
            StoreKind::Sqlite => "SQLite, one node".into(),
            StoreKind::Postgres => format!("PostgreSQL, {} nodes", self.nodes),
        }
    }
}

impl GatewayReport {
    /// The ratios of the first block are repeated at the top.
    pub(super) fn json(&self) -> Value {
        let first = self.blocks.first();
        json!({
            "benchmark": "gateway",
            "rounds": self.rounds,
            "in_flight": self.in_flight,
            "agents": super::signing::AGENTS,
            "ratios": first.map(Block::ratios),
            "memory_mib": first.and_then(Block::memory_mib),
            "blocks": self.blocks.iter().map(Block::json).collect::<Vec<_>>(),
            "notes": NOTES,
        })
    }
}

impl fmt::Display for GatewayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "One call at a gateway: {} rounds, {} in flight, medians (best)", self.rounds, self.in_flight)?;
        for block in &self.blocks {
            writeln!(f, "\n{}", block.title())?;
            writeln!(
                f,
                "  {:15} {:>17} {:>15} {:>8} {:>8} {:>8} {:>8}",
                "", "calls/s", "CPU a call in V", "p50 ms", "p99 ms", "p99.9 ms", "MiB"
            )?;
            for figures in &block.contenders {
                row(f, figures)?;
            }
            for (name, ratio) in block.ratios().as_object().into_iter().flatten() {
                let ratio = ratio.as_f64().map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.2}"));
                writeln!(f, "  {name:20} {ratio}")?;
            }
        }
        writeln!(f)?;
        NOTES.iter().try_for_each(|note| writeln!(f, "- {note}"))
    }
}

fn row(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    let Figures { name, per_second, cpu_in_v, p50_ms, p99_ms, p999_ms, memory_mib, .. } = figures;
    let (rate, best_rate, cpu, best_cpu) = (per_second.median, per_second.most, cpu_in_v.median, cpu_in_v.least);
    write!(f, "  {name:15} {rate:7.0} ({best_rate:7.0}) {cpu:6.2} ({best_cpu:6.2})")?;
    writeln!(f, " {p50_ms:8.2} {p99_ms:8.2} {p999_ms:8.2} {memory_mib:8.1}  {}", does_not(name))?;
    if figures.database_cpu_in_v > 0.0 {
        writeln!(f, "  {:15} and the database's server {:.2} V a call", "", figures.database_cpu_in_v)?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
