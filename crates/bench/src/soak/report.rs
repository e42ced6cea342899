//! The end of a run, for people and for programs.

use super::{
    faults::seconds,
    findings::Findings,
    record::{Pages, ReportedResult, SoakOperation},
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

#[derive(Serialize)]
pub(super) struct SoakReport {
    pub(super) store: &'static str,
    pub(super) nodes: usize,
    pub(super) agents: usize,
    pub(super) seed: u64,
    pub(super) seconds: f64,
    pub(super) operations: BTreeMap<&'static str, Count>,
    pub(super) decisions: usize,
    /// Operations that agents gave up because they were refused for too long; nothing happened.
    pub(super) given_up: usize,
    pub(super) faults: BTreeMap<&'static str, usize>,
    pub(super) upstream: BTreeMap<&'static str, usize>,
    /// Refusals other than of calls.
    pub(super) troubles: BTreeMap<String, usize>,
    pub(super) p50_ms: f32,
    pub(super) p99_ms: f32,
    pub(super) memory_first_mib: f64,
    pub(super) memory_last_mib: f64,
    pub(super) memory_most_mib: f64,
    pub(super) findings: Findings,
}

/// Requests of one kind, by the meaning of their responses.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Count {
    operations: usize,
    requests: usize,
    ran: usize,
    held: usize,
    denied: usize,
    conflict: usize,
    in_doubt: usize,
}

/// The parameters of the run.
pub(super) struct Run {
    pub(super) store: &'static str,
    pub(super) nodes: usize,
    pub(super) agents: usize,
    pub(super) seed: u64,
}

impl SoakReport {
    pub(super) fn of(run: &Run, pages: &Pages, findings: Findings) -> Self {
        let Run { store, nodes, agents, seed } = *run;
        let end = pages.attempts.iter().map(|attempt| attempt.returned).max().unwrap_or_default();
        let mut faults = BTreeMap::new();
        for fault in &pages.faults {
            *faults.entry(fault.name).or_default() += 1;
        }
        let mut millis: Vec<f32> = pages.latencies.iter().map(|(_, millis)| *millis).collect();
        let memory = || pages.memory.iter().map(|(_, mib)| *mib).filter(|mib| *mib > 0.0);
        Self {
            store,
            nodes,
            agents,
            seed,
            seconds: seconds(end),
            operations: SoakOperation::ALL.map(|operation| (operation.name(), Count::of(pages, operation))).into(),
            decisions: pages.decisions.len(),
            given_up: pages.given_up,
            faults,
            upstream: pages.manners.clone(),
            troubles: pages.troubles.clone(),
            p50_ms: quantile(&mut millis, 0.5),
            p99_ms: quantile(&mut millis, 0.99),
            memory_first_mib: memory().next().unwrap_or_default(),
            memory_last_mib: memory().next_back().unwrap_or_default(),
            memory_most_mib: memory().fold(0.0, f64::max),
            findings,
        }
    }
}

pub(super) fn quantile(millis: &mut [f32], q: f64) -> f32 {
    millis.sort_by(f32::total_cmp);
    let place = (millis.len() as f64 * q) as usize;
    millis.get(place.min(millis.len().saturating_sub(1))).copied().unwrap_or_default()
}

impl Count {
    fn of(pages: &Pages, operation: SoakOperation) -> Self {
        let mut count = Self::default();
        let mut markers = std::collections::HashSet::new();
        for attempt in pages.attempts.iter().filter(|attempt| attempt.operation == operation) {
            markers.insert(attempt.marker.as_str());
            count.requests += 1;
            *match attempt.told {
                ReportedResult::Ran => &mut count.ran,
                ReportedResult::Held => &mut count.held,
                ReportedResult::Denied => &mut count.denied,
                ReportedResult::Conflict => &mut count.conflict,
                ReportedResult::InDoubt => &mut count.in_doubt,
            } += 1;
        }
        count.operations = markers.len();
        count
    }
}

/// The most findings of each kind printed in full.
const TOLD: usize = 10;

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, nodes, agents, seed, seconds, .. } = self;
        writeln!(f, "Soak on {store}, nodes: {nodes}, agents: {agents}, seed: {seed}, {seconds:.0} s")?;
        let columns = ["operations", "requests", "ran", "held", "denied", "conflict", "in doubt"];
        writeln!(f, "  {:14}{}", "", columns.map(|column| format!("{column:>11}")).concat())?;
        for (name, count) in &self.operations {
            let Count { operations, requests, ran, held, denied, conflict, in_doubt } = *count;
            let figures = [operations, requests, ran, held, denied, conflict, in_doubt];
            writeln!(f, "  {name:14}{}", figures.map(|figure| format!("{figure:>11}")).concat())?;
        }
        writeln!(f, "  decisions: {}; given up without having run: {}", self.decisions, self.given_up)?;
        writeln!(f, "  faults: {}", list(&self.faults))?;
        writeln!(f, "  upstream: {}", list(&self.upstream))?;
        writeln!(f, "  requests answered: p50 {:.1} ms, p99 {:.1} ms", self.p50_ms, self.p99_ms)?;
        let (first, last, most) = (self.memory_first_mib, self.memory_last_mib, self.memory_most_mib);
        writeln!(f, "  memory of the nodes: {first:.0} MiB at first, {last:.0} MiB at last, {most:.0} MiB at most")?;
        for (name, found) in self.findings.rows() {
            writeln!(f, "  {name:24}{:>6}", found.len())?;
        }
        for (name, found) in self.findings.rows() {
            for one in found.iter().take(TOLD) {
                writeln!(f, "{name}: {one}")?;
            }
        }
        Ok(())
    }
}

fn list(counts: &BTreeMap<&'static str, usize>) -> String {
    match counts.is_empty() {
        true => "none".to_owned(),
        false => counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", "),
    }
}
