//! Writes that their upstream can undo (AAP 14.1, 17.7): the request that would undo one is kept from its intent on.

use super::permit::OpenPermit;
use crate::{
    services::Calls,
    store::{ReversibleWriteById, UndoableCallById},
};
use countersign_core::{
    aap::{
        access::{CallFacts, WriteResult},
        rollback::cancel_rules,
    },
    decision::undo_call::PlannedUndo,
    held::{CancelPath, HttpRequest},
    project::undo::route_window_s,
    records::{CancelCall, Project, UndoableCall},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::{
    hash::Digest,
    project::{RouteCancel, RouteUndo},
    time::UnixMillis,
};

/// How the upstream undoes a call that is about to begin.
#[derive(Clone)]
pub(super) struct PlannedCancel {
    path: Option<CancelPath>,
    pub(super) call: CancelCall,
    /// In seconds, where it undoes the call within an undo window; none where it undoes it with its session.
    undo_window_s: Option<i64>,
}

/// The same for a call with a durable intent.
pub(super) struct OpenCancel {
    /// Names the row.
    pub(super) call_id: String,
    planned: PlannedCancel,
    /// The path, completed by the response.
    completed: Option<String>,
}

impl PlannedCancel {
    pub(super) fn of_call(self, call_id: String) -> OpenCancel {
        OpenCancel { call_id, planned: self, completed: None }
    }

    /// The request that undoes the call with its session.
    pub(super) fn with_session(&self) -> Option<CancelCall> {
        self.undo_window_s.is_none().then(|| self.call.clone())
    }

    /// The request that undoes it within its undo window.
    pub(super) fn within_window(&self) -> Option<PlannedUndo> {
        Some(PlannedUndo { request: self.call.clone(), window_s: self.undo_window_s? })
    }
}

impl OpenCancel {
    pub(super) fn needs_response(&self) -> bool {
        self.planned.path.as_ref().is_some_and(CancelPath::needs_response)
    }

    pub(super) fn set_response(&mut self, body: Option<&[u8]>) {
        self.completed = self.planned.path.as_ref().and_then(|path| path.complete(body));
    }
}

impl Calls<'_> {
    /// None on routes without a cancel endpoint, and where the call does not reach it. `request` is the whole request where
    /// the endpoint's path needs it.
    pub(super) async fn plan_cancel(
        self,
        facts: &CallFacts,
        request: Option<&HttpRequest>,
        reaches_upstream: bool,
    ) -> Result<Option<PlannedCancel>, Refusal> {
        let cancel = facts.route().cancel.as_ref().filter(|_| reaches_upstream && facts.writes());
        let Some(cancel) = cancel else { return Ok(None) };
        self.plan(facts, cancel, request, None).await
    }

    /// The same for an approved call, which may also have an undo window.
    pub(super) async fn plan_undo(
        self,
        facts: &CallFacts,
        request: &HttpRequest,
        reaches_upstream: bool,
    ) -> Result<Option<PlannedCancel>, Refusal> {
        let window_s = route_window_s(&facts.project().document, facts.route());
        let undo = facts.route().undo.as_ref().and_then(RouteUndo::endpoint);
        match undo.filter(|_| reaches_upstream && facts.writes() && window_s > 0) {
            Some(undo) => self.plan(facts, undo, Some(request), Some(window_s)).await,
            None => self.plan_cancel(facts, Some(request), reaches_upstream).await,
        }
    }

    async fn plan(
        self,
        facts: &CallFacts,
        endpoint: &RouteCancel,
        request: Option<&HttpRequest>,
        undo_window_s: Option<i64>,
    ) -> Result<Option<PlannedCancel>, Refusal> {
        let Some(upstream) = facts.upstream() else { return Ok(None) };
        let (path, rules) = (facts.cancel_path(endpoint, request), cancel_rules(endpoint, upstream));
        let sealed = match path.as_ref().filter(|path| !path.needs_response()).and_then(|path| path.complete(None)) {
            Some(complete) => Some(self.seal_cancel(facts.project(), &rules, &complete).await?),
            None => None,
        };
        let call = CancelCall { route: facts.route().id.clone(), rules, sealed };
        Ok(Some(PlannedCancel { path, call, undo_window_s }))
    }

    /// The effects of an outcome on the row of a write that can be undone, and the call whose undo window opens; none once
    /// its session is rolled back.
    pub(super) async fn settle_reversible(
        self,
        open: &OpenPermit,
        result: WriteResult,
        now: UnixMillis,
    ) -> Result<(Effects, Option<UndoableCall>), Refusal> {
        let Some(cancel) = &open.cancel else { return Ok(Default::default()) };
        let project = open.authorized.facts().project();
        let sealed = match &cancel.completed {
            Some(path) => Some(self.seal_cancel(project, &cancel.planned.call.rules, path).await?),
            None => None,
        };
        let (project, call_id) = (project.key, cancel.call_id.clone());
        if cancel.planned.undo_window_s.is_some() {
            let row = self.find_one(UndoableCallById { project, call_id }).await?;
            return Ok(row.map(|row| row.settle(result, sealed, now)).unwrap_or_default());
        }
        let row = self.find_one(ReversibleWriteById { project, call_id }).await?;
        Ok((row.map(|row| row.settle(result, sealed)).unwrap_or_default(), None))
    }

    async fn seal_cancel(self, project: &Project, rules: &Digest, path: &str) -> Result<String, Refusal> {
        let sealer = self.project_sealer(project).await?;
        sealer.seal(&sealed_for(rules), path.as_bytes()).map_err(|_| Refusal::Internal)
    }

    pub(crate) async fn open_cancel(self, project: &Project, cancel: &CancelCall) -> Result<String, Refusal> {
        let sealed = cancel.sealed.as_ref().ok_or(Refusal::Internal)?;
        let opened = self.project_sealer(project).await?.open(&sealed_for(&cancel.rules), sealed);
        String::from_utf8(opened.map_err(|_| Refusal::Internal)?.to_vec()).map_err(|_| Refusal::Internal)
    }
}

/// A sealed path opens only for its own endpoint and upstream.
fn sealed_for(rules: &Digest) -> String {
    format!("cancel:{}", rules.hex())
}
