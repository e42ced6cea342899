//! Figures of all turns of a contender: medians beside the best.

use super::round::RoundResult;
use serde::Serialize;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) name: &'static str,
    pub(crate) turns: usize,
    pub(crate) answered: usize,
    pub(crate) per_second: Spread,
    /// CPU time of the contender's processes for a call, in V of the same moment.
    pub(crate) cpu_in_v: Spread,
    pub(crate) cpu_us: Spread,
    /// Of the database server, where it is a process of its own.
    pub(crate) database_cpu_in_v: f64,
    pub(crate) unit_us: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    /// Resident memory after the last turn.
    pub(crate) memory_mib: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Figures {
    pub(crate) fn of(name: &'static str, turns: &[RoundResult]) -> Self {
        let each = |figure: fn(&RoundResult) -> f64| Spread::of(turns.iter().map(figure).collect());
        let mut latencies: Vec<Duration> = turns.iter().flat_map(|turn| turn.latencies.iter().copied()).collect();
        latencies.sort();
        let ms = |per_mille| quantile(&latencies, per_mille).as_secs_f64() * 1e3;
        Self {
            name,
            turns: turns.len(),
            answered: latencies.len(),
            per_second: each(RoundResult::per_second),
            cpu_in_v: each(|turn| turn.in_v(turn.cpu)),
            cpu_us: each(|turn| turn.a_call(turn.cpu) * 1e6),
            database_cpu_in_v: each(|turn| turn.in_v(turn.database_cpu)).median,
            unit_us: each(|turn| turn.unit.as_secs_f64() * 1e6).median,
            p50_ms: ms(500),
            p99_ms: ms(990),
            p999_ms: ms(999),
            memory_mib: turns.last().map_or(0.0, |turn| turn.memory_mib),
        }
    }
}

impl RoundResult {
    pub(super) fn per_second(&self) -> f64 {
        self.answered as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn a_call(&self, cpu: Duration) -> f64 {
        cpu.as_secs_f64() / self.answered.max(1) as f64
    }

    fn in_v(&self, cpu: Duration) -> f64 {
        self.a_call(cpu) / self.unit.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Spread {
    pub(super) fn of(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        let at = |n: usize| all.get(n).copied().unwrap_or_default();
        let (last, upper) = (all.len().saturating_sub(1), all.len() / 2);
        let lower = if all.len().is_multiple_of(2) { upper.saturating_sub(1) } else { upper };
        Self { median: f64::midpoint(at(lower), at(upper)), least: at(0), most: at(last) }
    }
}

/// The smallest value that at least `per_mille` of a thousand values do not exceed.
pub(super) fn quantile(sorted: &[Duration], per_mille: usize) -> Duration {
    let place = (sorted.len() * per_mille).div_ceil(1000).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
