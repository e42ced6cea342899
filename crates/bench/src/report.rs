//! The result of a benchmark, as a table and as JSON.

use crate::{
    StoreKind,
    gateway::Figures,
    rounds::{RoundArguments, Rounds},
};
use serde_json::{Map, Value, json};
use std::fmt;

/// A ratio without a value was not measured in this run.
pub(crate) type Ratios = Vec<(&'static str, Option<f64>)>;

pub(crate) struct BenchmarkReport {
    pub(crate) benchmark: &'static str,
    pub(crate) title: &'static str,
    /// The word for one unit of work: request or cycle.
    pub(crate) counted: &'static str,
    pub(crate) store: StoreKind,
    pub(crate) rounds: Rounds,
    pub(crate) in_flight: usize,
    pub(crate) ratios: Ratios,
    pub(crate) loads: Vec<Figures>,
    /// Further members of the JSON object, and the same as lines below the table.
    pub(crate) members: Map<String, Value>,
    pub(crate) lines: Vec<String>,
    pub(crate) notes: &'static [&'static str],
}

impl BenchmarkReport {
    pub(crate) fn print(&self, arguments: &RoundArguments) -> anyhow::Result<()> {
        match arguments.json {
            true => println!("{}", serde_json::to_string_pretty(&self.json())?),
            false => print!("{self}"),
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let ratios: Map<String, Value> =
            self.ratios.iter().map(|(name, ratio)| ((*name).into(), json!(ratio))).collect();
        let mut report = json!({
            "benchmark": self.benchmark,
            "store": self.store,
            "rounds": self.rounds.count,
            "round_seconds": self.rounds.length.as_secs_f64(),
            "in_flight": self.in_flight,
            "ratios": ratios,
            "loads": self.loads,
            "notes": self.notes,
        });
        if let Value::Object(report) = &mut report {
            report.extend(self.members.clone());
        }
        report
    }
}

impl fmt::Display for BenchmarkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rounds { count, length } = self.rounds;
        let (title, store, seconds) = (self.title, self.store, length.as_secs_f64());
        writeln!(
            f,
            "{title}, {store:?}: {count} rounds of {seconds:.2} s, {} in flight, medians (best)",
            self.in_flight
        )?;
        let (rate, cpu) = (format!("{}s/s", self.counted), format!("CPU a {} in V", self.counted));
        writeln!(f, "  {:41} {rate:>17} {cpu:>19} {:>8} {:>8} {:>8}", "", "p50 ms", "p99 ms", "MiB")?;
        self.loads.iter().try_for_each(|load| row(f, load))?;
        for (name, ratio) in &self.ratios {
            let ratio = ratio.map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.2}"));
            writeln!(f, "  {name:41} {ratio}")?;
        }
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        writeln!(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "- {note}"))
    }
}

fn row(f: &mut fmt::Formatter<'_>, load: &Figures) -> fmt::Result {
    let Figures { name, per_second, cpu_in_v, p50_ms, p99_ms, memory_mib, database_cpu_in_v, .. } = load;
    let (rate, best_rate, cpu, best_cpu) = (per_second.median, per_second.most, cpu_in_v.median, cpu_in_v.least);
    write!(f, "  {name:41} {rate:7.0} ({best_rate:7.0}) {cpu:9.2} ({best_cpu:7.2})")?;
    writeln!(f, " {p50_ms:8.2} {p99_ms:8.2} {memory_mib:8.1}")?;
    if *database_cpu_in_v > 0.0 {
        writeln!(f, "  {:41} and the database's server {database_cpu_in_v:.2} V", "")?;
    }
    Ok(())
}
