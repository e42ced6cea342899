//! Logs and metrics of the node. They never contain a token, a key, a password or anybody's text.

use countersign_engine::Engine;
use countersign_protocol::aap::error::Code;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use std::sync::{Arc, Mutex};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByStatus {
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByCode {
    error: &'static str,
}

/// The metrics of `/metrics`.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    answers: Family<ByStatus, Counter>,
    refusals: Family<ByCode, Counter>,
    operator_fetches: Gauge,
    operator_failures: Gauge,
    dark_operators: Gauge,
    pending_requests: Gauge,
    evidence_faults: Gauge,
    evidence_check: Arc<[Gauge; 3]>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("countersign");
        let (answers, refusals) = (Family::default(), Family::default());
        let (fetches, failures, dark) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (pending, evidence_faults) = (Gauge::default(), Gauge::default());
        registry.register("answers", "Responses by HTTP status", Family::clone(&answers));
        registry.register("refusals", "Refusals by error code", Family::clone(&refusals));
        registry.register(
            "operator_fetches",
            "Fetches of operators' documents since the start",
            Gauge::clone(&fetches),
        );
        registry.register("operator_fetch_failures", "Fetches that failed since the start", Gauge::clone(&failures));
        registry.register("dark_operators", "Operators that failed several times in a row", Gauge::clone(&dark));
        registry.register("pending_requests", "Requests of agents that wait for a person", Gauge::clone(&pending));
        registry.register(
            "evidence_faults",
            "Evidence entries that do not fit what was written, met since the start",
            Gauge::clone(&evidence_faults),
        );
        let evidence_check = <[Gauge; 3]>::default();
        for (gauge, (name, help)) in evidence_check.iter().zip(EVIDENCE_CHECK) {
            registry.register(name, help, Gauge::clone(gauge));
        }
        Self {
            registry: Arc::new(registry),
            answers,
            refusals,
            operator_fetches: fetches,
            operator_failures: failures,
            dark_operators: dark,
            pending_requests: pending,
            evidence_faults,
            evidence_check: Arc::new(evidence_check),
        }
    }
}

/// The last check of the whole evidence; zeros before the first one.
const EVIDENCE_CHECK: [(&str, &str); 3] = [
    ("evidence_check_time_seconds", "When the last check of the whole evidence ended, in Unix time"),
    ("evidence_check_entries", "Entries that it checked"),
    ("evidence_check_faults", "Faults that it found"),
];

impl Metrics {
    pub(crate) fn answered(&self, status: u16) {
        self.answers.get_or_create(&ByStatus { status: u32::from(status) }).inc();
    }

    pub(crate) fn refused(&self, code: Code) {
        self.refusals.get_or_create(&ByCode { error: code.as_str() }).inc();
    }

    /// The Prometheus text format.
    pub(crate) fn text(&self, directory: Option<&crate::OperatorsPort>, engine: &Engine) -> String {
        self.pending_requests.set(i64::try_from(engine.pending_requests()).unwrap_or(i64::MAX));
        self.evidence_faults.set(i64::try_from(engine.evidence_faults()).unwrap_or(i64::MAX));
        if let Some(check) = engine.last_evidence_check() {
            let figures = [check.at.0 / 1000, whole(check.entries), whole(check.faults)];
            for (gauge, figure) in self.evidence_check.iter().zip(figures) {
                gauge.set(figure);
            }
        }
        if let Some(crate::OperatorsPort(directory)) = directory {
            let stats = directory.stats();
            self.operator_fetches.set(i64::try_from(stats.fetches).unwrap_or(i64::MAX));
            self.operator_failures.set(i64::try_from(stats.failures).unwrap_or(i64::MAX));
            self.dark_operators.set(i64::try_from(stats.dark_hosts).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}

fn whole(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

/// The target of log lines: standard error, or a buffer for tests.
#[derive(Clone)]
pub enum LogTo {
    StandardError,
    Buffer(Arc<Mutex<Vec<u8>>>),
}

/// A tracing subscriber for the configured format and level.
pub fn logs_to(to: LogTo, json: bool, level: &str) -> Box<dyn tracing::Subscriber + Send + Sync> {
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(to).with_ansi(false).with_target(false);
    if json { Box::new(builder.json().finish()) } else { Box::new(builder.finish()) }
}

impl<'a> MakeWriter<'a> for LogTo {
    type Writer = LogLine;
    fn make_writer(&'a self) -> LogLine {
        LogLine(self.clone())
    }
}

pub struct LogLine(LogTo);

impl std::io::Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &self.0 {
            LogTo::StandardError => std::io::stderr().write(bytes),
            LogTo::Buffer(buffer) => {
                buffer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
