//! Running a kept request, by the id of its decision, without sending it again.

use super::{
    Connect, DecidedCall,
    approve::{Claimed, HeldCall, rendered},
};
use crate::{
    credentials::PresentedHash,
    projects::{Address, ProjectAt},
    services::Calls,
};
use countersign_core::{
    aap::access::{Call, check_bearer},
    held::HttpRequest,
    records::{Decision, HeldRequest, Point, Project},
    refusal::Refusal,
};
use countersign_protocol::hash::Digest;

impl Calls<'_> {
    /// `call` has the credentials of the redeeming request, and its proof is for that request; everything else is decided
    /// about the kept one.
    pub(super) async fn redeem(
        self,
        address: &Address,
        call: Call,
        decision_id: &str,
        connect: &mut dyn Connect,
    ) -> Result<(Claimed, HttpRequest), Refusal> {
        let at = self.project(address).await?;
        let known = self.decisions().decision_at(at.project.key, decision_id).await?;
        // The caller is authenticated before this refusal, which would tell a stranger about decisions.
        let (decision, request) = match known {
            Some(decision) => match self.kept_request(&at.project, &decision).await? {
                Some(request) => (decision, request),
                None => return Err(self.refusal_of_caller_or(&at, &call, no_kept_request()).await),
            },
            None => return Err(self.refusal_of_caller_or(&at, &call, no_kept_request()).await),
        };
        let inner = call_of_kept_request(&call, &request);
        let verdict = self.decide_arrived(address, &inner).await?;
        let decided = DecidedCall::new(self.engine, verdict, Box::new(inner), address.clone());
        let rendered = match self.redeemable(&decided, &decision, &request).await {
            Ok(rendered) => rendered,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let named = decision.id.clone();
        let mut held = HeldCall { decided, request, at, rendered, named };
        match self.claim_for_call(&mut held, decision, None, connect).await {
            Ok(claimed) => Ok((claimed, held.request)),
            Err(refusal) => Err(self.refuse_held(held, refusal).await),
        }
    }

    pub(super) async fn redeemable(
        self,
        decided: &DecidedCall,
        decision: &Decision,
        request: &HttpRequest,
    ) -> Result<super::approve::RenderedRequest, Refusal> {
        if decided.facts().is_dry_run() {
            let why = "a stored request is only run: for a preview, send the request itself as a dry run";
            return Err(Refusal::invalid(why));
        }
        let needs = decided.needs_approval();
        let needs = needs.ok_or_else(|| Refusal::Conflict("this does not need an approval any more".into()))?;
        if needs.facts().principal()? != decision.raised_by.principal {
            return Err(no_kept_request());
        }
        self.check_room(needs.facts(), needs.limit_checks()).await?;
        rendered(needs.facts(), request)
    }

    /// The refusal of the caller itself, if there is one, else `otherwise`.
    async fn refusal_of_caller_or(self, at: &ProjectAt, call: &Call, otherwise: Refusal) -> Refusal {
        let Some((hash, scheme)) = call.token() else { return Refusal::NoCredentials };
        let (method, url) = call.proven_for();
        let shown = PresentedHash { hash: *hash, scheme, proof: call.proof.as_deref(), method: &method, url: &url };
        match self.authenticate_bearer(at, &shown).await {
            Ok(bearer) => match self.decision_time() {
                Ok(now) => check_bearer(&bearer, &at.project.document, now).err().unwrap_or(otherwise),
                Err(unavailable) => unavailable,
            },
            Err(refusal) => refusal,
        }
    }

    pub(crate) async fn kept_request(
        self,
        project: &Project,
        decision: &Decision,
    ) -> Result<Option<HttpRequest>, Refusal> {
        if decision.point != Point::Gateway {
            return Ok(None);
        }
        let Some(kept) = self.get::<HeldRequest>(decision.key).await? else { return Ok(None) };
        let opened = self.project_sealer(project).await?.open(&sealed_for(&decision.digest), &kept.sealed);
        let bytes = opened.map_err(|_| Refusal::Internal)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| Refusal::Internal)
    }

    /// Seals a request under the project's key, for the question about it.
    pub(super) async fn seal_request(
        self,
        project: &Project,
        request: &HttpRequest,
        digest: &Digest,
    ) -> Result<String, Refusal> {
        let bytes = serde_json::to_vec(request).map_err(|_| Refusal::Internal)?;
        self.project_sealer(project).await?.seal(&sealed_for(digest), &bytes).map_err(|_| Refusal::Internal)
    }
}

/// A sealed request opens only under a decision about the same action: rows cannot be exchanged.
fn sealed_for(digest: &Digest) -> String {
    format!("held-request:{}", digest.hex())
}

fn no_kept_request() -> Refusal {
    Refusal::NotFound("there is no request of yours to redeem under this decision".into())
}

/// The kept request as a call by its redeemer.
fn call_of_kept_request(call: &Call, request: &HttpRequest) -> Call {
    Call {
        method: request.method.clone(),
        origin: request.origin.clone(),
        path: request.path().to_owned(),
        query: request.query().map(str::to_owned),
        proof_for: Some(call.proven_for()),
        ..call.clone()
    }
}
