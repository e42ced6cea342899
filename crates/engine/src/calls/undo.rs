//! Undoing approved calls within their undo window (AAP 14.1): before they are sent, or by their upstream afterwards.

use crate::{
    decisions::AgentPrincipal,
    projects::{Address, ProjectAt},
    runner::TRIES,
    services::Calls,
    store::{AllowancesQueuedIn, Outcome, UndoableCallById, UndoableCallsDue, UndoableCallsOf, UndoableCallsOpenIn},
};
use countersign_core::{
    aap::manifest::UNDO_ENDPOINT,
    decision::{
        answer::ProvenPerson,
        queue::{UndoneBy, nothing_to_undo},
        revoke::check_entitlement,
        undo_call::{UndoCall, UndoCallAnswered, UndoCallDue, UndoCallView, being_undone},
    },
    records::{Allowance, Decision, Project, UndoableCall},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aap::undo::UndoResponse,
    decisions::UndoState,
    ids::{RowKey, prefixed},
    time::UnixMillis,
};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, PoisonError},
    time::Duration,
};

/// How long a caller waits for the upstream; any node continues afterwards.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LOOKS: u32 = 300;
/// Calls that one node continues at a time.
const BATCH: i64 = 64;
/// A known result that the store did not accept is recorded later.
const RECORD_AGAIN: Duration = Duration::from_secs(1);
const RECORD_TRIES: u32 = 600;
/// Calls that a project lists for a person, and that a refusal names.
const LISTED: i64 = 100;
const NAMED: usize = 10;

/// The way to undo a call, for its caller.
#[derive(Clone, Debug)]
pub struct UndoOffer {
    pub undo_url: String,
    pub expires_at: UnixMillis,
}

/// A call that a person can undo now.
#[derive(Clone, Debug)]
pub struct Undoable {
    pub decision: Decision,
    pub closes_at: UnixMillis,
    /// None while it is still to be sent; otherwise its upstream is asked.
    pub call_id: Option<String>,
}

/// What a person can undo in a project now.
#[derive(Clone, Debug, Default)]
pub struct UndoableCalls {
    /// The window that closes first before the others.
    pub calls: Vec<Undoable>,
    /// There may be older ones.
    pub more: bool,
}

impl Calls<'_> {
    /// The address that undoes a call: the one held for this decision, or the one with this id.
    pub(crate) fn undo_url(self, at: &ProjectAt, named: &str) -> Result<String, Refusal> {
        Ok(format!("{}{}{UNDO_ENDPOINT}/{}", at.service, at.prefix(), self.undo_id(named)?))
    }

    /// The id and a MAC of it: nothing secret is stored.
    fn undo_id(self, named: &str) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = keys.mac.tag("undo", named.as_bytes());
        let half = tag.first_chunk::<16>().ok_or(Refusal::Internal)?;
        Ok(format!("{named}.{}", prefixed("und", *half)))
    }

    /// A response without it is complete: the decision's document has the address, too.
    pub(super) async fn undo_offer(self, address: &Address, call: &UndoableCall) -> Option<UndoOffer> {
        let at = self.project(address).await.ok()?;
        Some(UndoOffer { undo_url: self.undo_url(&at, &call.call_id).ok()?, expires_at: call.open_until()? })
    }

    /// Undoes a call by its undo id, for the session that sent it.
    pub async fn undo(self, at: &ProjectAt, agent: &AgentPrincipal, undo_id: &str) -> Result<UndoResponse, Refusal> {
        let (named, _) = undo_id.split_once('.').ok_or_else(nothing_to_undo)?;
        if self.undo_id(named)? != undo_id {
            return Err(nothing_to_undo());
        }
        let (project, by) = (at.project.key, UndoneBy::Agent(agent.raiser.clone()));
        if let Some(call) = self.find_one(UndoableCallById { project, call_id: named.to_owned() }).await? {
            return self.undo_sent(&call, by).await;
        }
        let decision = self.decisions().decision_at(project, named).await?.ok_or_else(nothing_to_undo)?;
        self.undo_queued(&decision, by).await
    }

    /// The same for a person that may revoke the approval. Of several calls that it covered one must be named, so that a
    /// repeat never undoes another one.
    pub async fn undo_by_person(
        self,
        decision: &Decision,
        call_id: Option<&str>,
        by: &ProvenPerson,
    ) -> Result<UndoResponse, Refusal> {
        let by = UndoneBy::Person(Box::new(by.clone()));
        let calls = self.find_all(UndoableCallsOf(decision.key)).await?;
        match (call_id, calls.as_slice()) {
            (Some(named), _) => {
                let call = self.undoable_call(decision, named).await?.ok_or_else(nothing_to_undo)?;
                self.undo_sent(&call, by).await
            }
            (None, []) => self.undo_queued(decision, by).await,
            (None, [call]) => self.undo_sent(call, by).await,
            (None, several) => {
                let open = several.iter().rev().filter(|call| call.open_until().is_some());
                let named: Vec<&str> = open.map(|call| call.call_id.as_str()).take(NAMED).collect();
                let why = format!("the approval covered several calls: name one in call_id ({})", named.join(", "));
                Err(Refusal::invalid(why))
            }
        }
    }

    /// A call that a decision approved, if its upstream can undo it, or could.
    pub async fn undoable_call(self, decision: &Decision, call_id: &str) -> Result<Option<UndoableCall>, Refusal> {
        let lookup = UndoableCallById { project: decision.project, call_id: call_id.to_owned() };
        Ok(self.find_one(lookup).await?.filter(|call: &UndoableCall| call.decision == decision.key))
    }

    /// The calls of a project that this person may undo; of those that were sent the newest.
    pub async fn undoable(self, at: &ProjectAt, by: &ProvenPerson) -> Result<UndoableCalls, Refusal> {
        let (project, now) = (at.project.key, self.now());
        let mut calls = Vec::new();
        for allowance in self.find_all(AllowancesQueuedIn(project)).await? {
            let decision: Decision = self.load(allowance.decision).await?;
            let closes_at = allowance.queued_call().map(|queued| queued.closes_at).filter(|closes_at| now < *closes_at);
            if let (Some(closes_at), Ok(())) = (closes_at, check_entitlement(by, &decision, Some(&allowance))) {
                calls.push(Undoable { decision, closes_at, call_id: None });
            }
        }
        let sent = self.find_all(UndoableCallsOpenIn { project, before: None, limit: LISTED }).await?;
        let more = i64::try_from(sent.len()).unwrap_or(LISTED) >= LISTED;
        let mut approvals = HashMap::new();
        for call in sent {
            let (decision, allowance) = match approvals.entry(call.decision) {
                Entry::Occupied(found) => &*found.into_mut(),
                Entry::Vacant(none) => &*none.insert(self.approval_of(&call).await?),
            };
            let closes_at = call.open_until().filter(|closes_at| now < *closes_at);
            if let (Some(closes_at), Ok(())) = (closes_at, check_entitlement(by, decision, allowance.as_ref())) {
                calls.push(Undoable { decision: decision.clone(), closes_at, call_id: Some(call.call_id) });
            }
        }
        calls.sort_by_key(|call| call.closes_at);
        Ok(UndoableCalls { calls, more })
    }

    /// Has the upstream undo a call that was carried out, and waits for its answer.
    async fn undo_sent(self, call: &UndoableCall, by: UndoneBy) -> Result<UndoResponse, Refusal> {
        let key = call.key;
        let undo = || async {
            let view = self.undo_view(self.load(key).await?).await?;
            Ok::<_, Refusal>(((), UndoCall { by: by.clone() }.decide(&view, &self.env()?)?))
        };
        match self.run_to_outcome(undo).await? {
            (Outcome::Committed, ()) => {}
            (Outcome::OutOfTime, ()) => return Err(Refusal::UndoWindowClosed(call.closes_at.unwrap_or_default())),
            _ => return Err(Refusal::Unavailable),
        }
        let engine = Arc::clone(self.engine);
        let finishing = self.tasks.spawn(async move { engine.calls().finish_undo(key).await });
        if let Ok(Ok(Err(why))) = tokio::time::timeout(ANSWER_WITHIN, finishing).await {
            tracing::warn!(%why, "the result of an undo could not be waited for");
        }
        // From here on the upstream may have been asked: no error says that nothing happened.
        let found = async {
            let call: UndoableCall = self.load(key).await?;
            let decision: Decision = self.load(call.decision).await?;
            Ok::<_, Refusal>((call, decision))
        };
        let (call, decision) = found.await.map_err(|_| being_undone())?;
        Ok(UndoResponse { decision_id: decision.id, state: UndoState::Undone, undone_at: call.undone_at()? })
    }

    async fn finish_undo(self, key: RowKey) -> Result<(), Refusal> {
        for _ in 0..LOOKS {
            self.continue_undo(key).await?;
            if !self.load::<UndoableCall>(key).await?.is_being_undone() {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Closes the undo windows that are over, and continues every call that is to be undone; returns their number. Call it
    /// often, apart from work that must not wait for an upstream.
    pub async fn undo_due(self) -> Result<usize, Refusal> {
        self.check_clock()?;
        let due = self.find_all(UndoableCallsDue { by: self.now(), limit: BATCH }).await?;
        let continued = due.iter().map(|call| self.continue_undo(call.key));
        futures_util::future::join_all(continued).await.into_iter().collect::<Result<(), Refusal>>()?;
        Ok(due.len())
    }

    async fn continue_undo(self, key: RowKey) -> Result<(), Refusal> {
        let Some(call) = self.get::<UndoableCall>(key).await? else { return Ok(()) };
        let view = self.undo_view(call).await?;
        let port = self.upstreams.read().unwrap_or_else(PoisonError::into_inner).clone();
        let project: Project = self.load(view.call.project).await?;
        let Step { answer, effects } = UndoCallDue { can_send: port.is_some() }.decide(&view, &self.env()?)?;
        let committed = match self.commit(effects).await {
            Outcome::Committed => true,
            Outcome::Unavailable(_) => return Err(Refusal::Unavailable),
            // Another node was first, or it is not due by the store's clock.
            _ => false,
        };
        let (Some(attempt), Some(port), true) = (answer, port, committed) else { return Ok(()) };
        let result = self.agents().send_cancel(&project, &attempt.request, &*port).await;
        tracing::info!(?result, "an upstream was asked to undo a call");
        let answered = UndoCallAnswered { attempt, result };
        let Err(why) = self.record_undo(key, &answered).await else { return Ok(()) };
        tracing::error!(%why, "the result of an undo could not be recorded yet");
        let engine = Arc::clone(self.engine);
        self.tasks.spawn(async move {
            for _ in 0..RECORD_TRIES {
                tokio::time::sleep(RECORD_AGAIN).await;
                if engine.calls().record_undo(key, &answered).await.is_ok() {
                    return;
                }
            }
        });
        Err(why)
    }

    /// Without a record the request counts as lost, and is never repeated.
    async fn record_undo(self, key: RowKey, answered: &UndoCallAnswered) -> Result<(), Refusal> {
        for _ in 0..TRIES {
            let view = self.undo_view(self.load(key).await?).await?;
            match self.commit(answered.clone().decide(&view, &self.record_env()?)?.effects).await {
                Outcome::Stale => {}
                Outcome::Committed => return Ok(()),
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    async fn undo_view(self, call: UndoableCall) -> Result<UndoCallView, Refusal> {
        let project: Project = self.load(call.project).await?;
        let (decision, allowance) = self.approval_of(&call).await?;
        Ok(UndoCallView { place: (project.key, project.id), call, decision, allowance })
    }

    async fn approval_of(self, call: &UndoableCall) -> Result<(Decision, Option<Allowance>), Refusal> {
        let decision: Decision = self.load(call.decision).await?;
        let allowance = self.decisions().allowances_of(&decision).await?.into_iter().next();
        Ok((decision, allowance))
    }
}
