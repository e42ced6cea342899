//! Writes that their upstream can undo (AAP 17.7): the request that would undo one is kept from its intent on.

use super::permit::OpenPermit;
use crate::{services::Calls, store::ReversibleWriteById};
use countersign_core::{
    aap::{
        access::{CallFacts, WriteResult},
        rollback::cancel_rules,
    },
    held::{CancelPath, HttpRequest},
    records::{CancelCall, Project},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::hash::Digest;

/// How the upstream undoes a call that is about to begin.
#[derive(Clone)]
pub(super) struct PlannedCancel {
    path: Option<CancelPath>,
    pub(super) call: CancelCall,
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
    /// None on routes without a cancel endpoint, and where the call does not reach it. `request` is the whole request where the endpoint's path needs it.
    pub(super) async fn plan_cancel(
        self,
        facts: &CallFacts,
        request: Option<&HttpRequest>,
        reaches_upstream: bool,
    ) -> Result<Option<PlannedCancel>, Refusal> {
        let cancel = facts.route().cancel.as_ref().filter(|_| reaches_upstream && facts.writes());
        let (Some(cancel), Some(upstream)) = (cancel, facts.upstream()) else { return Ok(None) };
        let (path, rules) = (facts.cancel_path(request), cancel_rules(cancel, upstream));
        let sealed = match path.as_ref().filter(|path| !path.needs_response()).and_then(|path| path.complete(None)) {
            Some(complete) => Some(self.seal_cancel(facts.project(), &rules, &complete).await?),
            None => None,
        };
        let call = CancelCall { route: facts.route().id.clone(), rules, sealed };
        Ok(Some(PlannedCancel { path, call }))
    }

    /// The effects of an outcome on the row of a write that can be undone; none once its session is rolled back.
    pub(super) async fn settle_reversible(self, open: &OpenPermit, result: WriteResult) -> Result<Effects, Refusal> {
        let Some(cancel) = &open.cancel else { return Ok(Effects::default()) };
        let project = open.authorized.facts().project();
        let lookup = ReversibleWriteById { project: project.key, call_id: cancel.call_id.clone() };
        let Some(row) = self.find_one(lookup).await? else { return Ok(Effects::default()) };
        let sealed = match &cancel.completed {
            Some(path) => Some(self.seal_cancel(project, &row.cancel.rules, path).await?),
            None => None,
        };
        Ok(row.settle(result, sealed))
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
