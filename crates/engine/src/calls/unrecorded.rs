//! Known outcomes that could not be recorded, because the store was unavailable or the clock was off. They are
//! kept in memory and in a file beside the node, and recorded when the store returns.

use super::HeldFacts;
use crate::{services::Calls, store::Outcome};
use countersign_core::{
    aap::access::{CallFacts, SeenWrite},
    decision::outcome::OutcomeReport,
    refusal::Refusal,
    step::{Count, Effects, EvidenceDraft, Step},
};
use countersign_protocol::{
    evidence::{Leaf, leaf_hash},
    ids::{ProjectId, RowKey},
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The entry of a call and, for an approved one, the report about its execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnrecordedOutcome {
    project: (RowKey, ProjectId),
    at: UnixMillis,
    delegation: Option<RowKey>,
    session: Option<RowKey>,
    leaf: String,
    openings: Option<String>,
    counts: Vec<(String, i64, UnixMillis)>,
    execution: Option<UnrecordedExecution>,
    /// The row of a write that needed no approval, and its observed effect.
    #[serde(default)]
    write: Option<(RowKey, SeenWrite)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UnrecordedExecution {
    decision: RowKey,
    decision_id: String,
    execution_id: String,
    report: OutcomeReport,
}

impl UnrecordedOutcome {
    /// `effects` are those of the call's entry alone.
    pub(super) fn new(
        facts: &CallFacts,
        effects: &Effects,
        held: Option<(&HeldFacts, OutcomeReport)>,
        write: Option<(RowKey, SeenWrite)>,
    ) -> Option<Self> {
        let draft = effects.evidence.first()?;
        Some(Self {
            project: (facts.project().key, facts.project().id.clone()),
            at: draft.at,
            delegation: draft.delegation,
            session: draft.session,
            leaf: String::from_utf8(draft.leaf.bytes.clone()).ok()?,
            openings: draft.leaf.openings.clone(),
            counts: effects.counts.iter().map(|count| (count.key.clone(), count.by, count.until)).collect(),
            execution: held.map(|(held, report)| UnrecordedExecution {
                decision: held.decision,
                decision_id: held.decision_id.clone(),
                execution_id: held.execution_id.clone(),
                report,
            }),
            write,
        })
    }

    fn effects(&self) -> Effects {
        let bytes = self.leaf.clone().into_bytes();
        let leaf = Leaf { hash: leaf_hash(&bytes), bytes, openings: self.openings.clone() };
        let count = |(key, by, until): &(String, i64, UnixMillis)| Count {
            name: "late_outcome",
            key: key.clone(),
            by: *by,
            // It has happened: it is counted, never refused.
            limit: i64::MAX,
            until: *until,
        };
        Effects {
            counts: self.counts.iter().map(count).collect(),
            evidence: vec![EvidenceDraft {
                project: self.project.0,
                at: self.at,
                event_type: "call",
                delegation: self.delegation,
                session: self.session,
                leaf,
            }],
            ..Effects::default()
        }
    }
}

/// The outcomes that this node still has to record.
#[derive(Default)]
pub(crate) struct UnrecordedOutcomes {
    file: Option<PathBuf>,
    outcomes: Mutex<Vec<UnrecordedOutcome>>,
}

impl UnrecordedOutcomes {
    /// Loads the outcomes of an earlier run. A line that was not written completely was never acknowledged.
    pub(crate) fn open(file: Option<PathBuf>) -> io::Result<Self> {
        let outcomes = match &file {
            Some(file) => read(file)?,
            None => Vec::new(),
        };
        Ok(Self { file, outcomes: Mutex::new(outcomes) })
    }

    fn list(&self) -> MutexGuard<'_, Vec<UnrecordedOutcome>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, outcome: UnrecordedOutcome) {
        let mut list = self.list();
        if let Some(file) = &self.file
            && let Err(why) = append(file, &outcome)
        {
            tracing::error!(%why, "an outcome that could not be recorded is kept in memory only");
        }
        list.push(outcome);
    }

    /// Removes the first outcome after it was recorded. The file is deleted with the last one.
    fn remove_first(&self) {
        let mut list = self.list();
        if !list.is_empty() {
            list.remove(0);
        }
        if let Some(file) = &self.file {
            let left = if list.is_empty() { remove(file) } else { rewrite(file, &list) };
            if let Err(why) = left {
                tracing::error!(%why, "the file of unrecorded outcomes could not be written");
            }
        }
    }
}

fn read(file: &Path) -> io::Result<Vec<UnrecordedOutcome>> {
    let opened = match File::open(file) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut outcomes = Vec::new();
    for line in BufReader::new(opened).lines() {
        match serde_json::from_str(&line?) {
            Ok(outcome) => outcomes.push(outcome),
            Err(why) => tracing::warn!(%why, "an unrecorded outcome was not written whole"),
        }
    }
    Ok(outcomes)
}

fn append(file: &Path, outcome: &UnrecordedOutcome) -> io::Result<()> {
    let mut to = owner_only(file, true)?;
    let mut line = serde_json::to_vec(outcome)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.sync_data()
}

fn rewrite(file: &Path, outcomes: &[UnrecordedOutcome]) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut to = owner_only(&beside, false)?;
    for outcome in outcomes {
        let mut line = serde_json::to_vec(outcome)?;
        line.push(b'\n');
        to.write_all(&line)?;
    }
    to.sync_data()?;
    std::fs::rename(beside, file)
}

fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn owner_only(file: &Path, append: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().create(true).append(append).write(true).truncate(!append).mode(0o600).open(file)
}

impl Calls<'_> {
    /// Keeps an outcome until the store returns.
    pub(super) fn keep_unrecorded(self, outcome: Option<UnrecordedOutcome>) {
        match outcome {
            Some(outcome) => {
                tracing::error!("the outcome of a call could not be recorded; it is kept and recorded later");
                self.unrecorded.keep(outcome);
            }
            None => tracing::error!("the outcome of a call could not be recorded, nor kept"),
        }
    }

    /// Records pending outcomes as far as the store accepts them. Returns their number.
    pub async fn record_outcomes(self) -> usize {
        let mut recorded = 0;
        let _lock = self.recording.lock().await;
        loop {
            let Some(first) = self.unrecorded.list().first().cloned() else { return recorded };
            match self.record_late(&first).await {
                Ok(()) => self.unrecorded.remove_first(),
                Err(refusal) => {
                    tracing::debug!(%refusal, "an outcome cannot be recorded yet");
                    return recorded;
                }
            }
            recorded += 1;
        }
    }

    async fn record_late(self, outcome: &UnrecordedOutcome) -> Result<(), Refusal> {
        let record = || async {
            let mut effects = outcome.effects();
            if let Some((row, seen)) = &outcome.write {
                let row = self.get(*row).await?;
                effects = effects.and(self.apply_write_outcome(row.as_ref(), seen, &outcome.project, &self.env()?)?);
            }
            let (lock, reported) = match &outcome.execution {
                Some(of) => {
                    let env = self.record_env()?;
                    let key = (of.decision, of.execution_id.as_str());
                    self.report_execution(key, &outcome.project, of.report.clone(), &env).await?
                }
                None => (None, Effects::default()),
            };
            let effects = effects.and(reported);
            Ok::<_, Refusal>((lock, Step { answer: (), effects }))
        };
        match self.run_to_outcome(record).await? {
            (Outcome::Committed, ()) => Ok(()),
            _ => Err(Refusal::Unavailable),
        }
    }
}
