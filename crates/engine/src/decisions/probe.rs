//! Asks upstreams for the outcome of calls with a lost response, before a person has to find out. The due time is
//! read from the rows, so that a restart forgets nothing; the row's version lets one node ask at a time.

use crate::{
    ports::UpstreamRequests,
    services::Decisions,
    store::{Outcome, ProbesDue},
};
use countersign_core::{
    decision::{
        due::ExecutionView,
        probe::{ProbeAnswered, ProbeDue, ProbeGivenUp, ProbeMeaning, ProbeTry},
    },
    records::{Execution, ExecutionProbe, ExecutionState, Project, Reporter},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    hash::Digest,
    ids::RowKey,
    project::{Route, Upstream},
};
use std::sync::{Arc, PoisonError};

/// How many upstreams are probed at a time.
const BATCH: i64 = 32;

impl Decisions<'_> {
    /// Sets the upstreams of an enforcement point. Without them this node leaves probes and rollbacks to others.
    pub fn use_upstream_requests(self, upstreams: Arc<dyn UpstreamRequests>) {
        *self.upstreams.write().unwrap_or_else(PoisonError::into_inner) = Some(upstreams);
    }

    /// Makes every probe that is due, and returns their number. Call it often, apart from work that must not wait for an
    /// upstream.
    pub async fn probe_due(self) -> Result<usize, Refusal> {
        let Some(port) = self.upstreams.read().unwrap_or_else(PoisonError::into_inner).clone() else { return Ok(0) };
        let due = self.find_all(ProbesDue { by: self.now(), limit: BATCH }).await?;
        let probes = due.iter().map(|execution| self.probe_one(execution.key, &*port));
        futures_util::future::join_all(probes).await.into_iter().collect::<Result<(), _>>()?;
        Ok(due.len())
    }

    async fn probe_one(self, key: RowKey, port: &dyn UpstreamRequests) -> Result<(), Refusal> {
        let Some((tried, project)) = self.begin_probe(key).await? else { return Ok(()) };
        let Some((probe, upstream)) = tried.probe.unchanged_in(&project.document) else {
            tracing::warn!(
                "a probe or its upstream has changed since the call was claimed; a person has to reconcile it"
            );
            return self.record_probe(key, |view| ProbeGivenUp.decide(view, &self.env()?)).await;
        };
        let path = self.open_probe(&project, &tried.probe).await?;
        let response = port.probe(&project.id, upstream, &path).await;
        let meaning = ProbeMeaning::of(probe, response.as_ref());
        tracing::info!(status = response.map(|response| response.status), ?meaning, "an upstream was probed");
        let answered =
            |view: &ExecutionView| ProbeAnswered { tried: tried.clone(), meaning }.decide(view, &self.env()?);
        self.record_probe(key, answered).await
    }

    /// The attempt is durable before anything is sent: no other node probes meanwhile. None if there is nothing to probe.
    async fn begin_probe(self, key: RowKey) -> Result<Option<(ProbeTry, Project)>, Refusal> {
        let Some((_lock, view)) = self.lock_execution(key).await? else { return Ok(None) };
        let step = ProbeDue.decide(&view, &self.env()?)?;
        match self.commit(step.effects).await {
            Outcome::Committed => {}
            Outcome::Unavailable(_) => return Err(Refusal::Unavailable),
            // Another node was first, or it is not due by the store's clock.
            _ => return Ok(None),
        }
        let Some(tried) = step.answer else { return Ok(None) };
        let project: Option<Project> = self.get(view.execution.project).await?;
        Ok(Some((tried, project.ok_or(Refusal::Internal)?)))
    }

    /// Decides from the current row. A step that cannot be written is decided again when the attempt's lease is over.
    async fn record_probe(
        self,
        key: RowKey,
        decide: impl Fn(&ExecutionView) -> Result<Step<Execution>, Refusal>,
    ) -> Result<(), Refusal> {
        let record = || async {
            let Some((lock, view)) = self.lock_execution(key).await? else { return Ok((None, Step::answer(None))) };
            let step = match decide(&view) {
                Ok(step) => step,
                // The call's own outcome came first; it counts.
                Err(Refusal::Conflict(why)) => {
                    tracing::warn!(why, "the answer to a probe differs from an outcome that is known");
                    return Ok((lock, Step::answer(None)));
                }
                Err(refusal) => return Err(refusal),
            };
            let counts = step.effects.counts.clone();
            Ok((lock, step.map(|execution| Some((view, execution, counts)))))
        };
        match self.run_to_outcome(record).await? {
            (Outcome::Committed, Some((view, execution, counts))) => {
                self.limit_cache.forget(&counts);
                self.after_probe(&view, &execution).await
            }
            (Outcome::Committed, None) => Ok(()),
            _ => Err(Refusal::Unavailable),
        }
    }

    async fn after_probe(self, before: &ExecutionView, execution: &Execution) -> Result<(), Refusal> {
        if execution.conflict.is_some() && before.execution.conflict.is_none() {
            let decision = before.decision.id.as_str();
            tracing::error!(decision, alarm = "outcome_conflict", "an outcome contradicts a person's finding");
        }
        let by_probe = matches!(execution.state, ExecutionState::Committed { by: Reporter::Probe, .. });
        match execution.effect.filter(|_| by_probe) {
            Some(effect) => self.supersede_questions(&before.decision, effect).await,
            None => Ok(()),
        }
    }

    /// The probe of a call that is about to be claimed, with its path under the project's key.
    pub(crate) async fn seal_probe(
        self,
        project: &Project,
        (route, upstream): (&Route, &Upstream),
        path: &str,
    ) -> Result<Option<Box<ExecutionProbe>>, Refusal> {
        let Some(probe) = &route.probe else { return Ok(None) };
        let mut sealed = ExecutionProbe::new(route, probe, upstream, String::new());
        let sealer = self.project_sealer(project).await?;
        sealed.sealed = sealer.seal(&sealed_for(&sealed.rules), path.as_bytes()).map_err(|_| Refusal::Internal)?;
        Ok(Some(Box::new(sealed)))
    }

    async fn open_probe(self, project: &Project, probe: &ExecutionProbe) -> Result<String, Refusal> {
        let opened = self.project_sealer(project).await?.open(&sealed_for(&probe.rules), &probe.sealed);
        String::from_utf8(opened.map_err(|_| Refusal::Internal)?.to_vec()).map_err(|_| Refusal::Internal)
    }
}

/// A sealed path opens only for its own probe and upstream.
fn sealed_for(rules: &Digest) -> String {
    format!("probe:{}", rules.hex())
}
