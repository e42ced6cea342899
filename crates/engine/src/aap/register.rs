//! `POST /agent/register`, from the body to a durable session and its token.

use super::operator::ProvenOperator;
use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{
        AuditBy, AuditQuery, DelegationById, DelegationsOfPerson, Outcome, RevokedReceiptByHash, RollbackOf,
        SessionById, SessionKeyByJkt, StoreError,
    },
};
use countersign_core::{
    aap::{
        access::{accept_proof, proof_required},
        register::{Register, RegisterView, check_form, delegation_token, record_refusal},
        registry::REGISTRY_TIER,
        service_account,
    },
    records::{Delegation, Mode, NO_PERSON, Project, Session, SessionState},
    refusal::Refusal,
    step::{Operation as _, SpentProof},
};
use countersign_jose::{DelegationRefusal, verify_grant};
use countersign_protocol::{
    aap::register::{RegisterRequest, RegisterResponse},
    facts::{VerifiedGrant, VerifiedReceipt, VerifiedServiceAccount},
    ids::RowKey,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// The `DPoP` header of a registration, and the address that it must be for. An unusable header is refused in its turn (C-93).
#[derive(Clone, Debug)]
pub struct RegisterProof<'a> {
    pub proof: Result<&'a str, Refusal>,
    pub method: &'a str,
    pub url: &'a str,
}

impl Agents<'_> {
    /// `source` is the caller's address: it limits how many unknown operators one address may name.
    pub async fn register(
        self,
        at: &ProjectAt,
        body: &RegisterRequest,
        source: &str,
        shown: Option<RegisterProof<'_>>,
    ) -> Result<RegisterResponse, Refusal> {
        let (mode, operator_jwt) = check_form(body, &at.project.document)?;
        self.check_clock()?;
        let proof = self.prove_key(at, shown)?;
        let operator = self.prove_operator(operator_jwt, &at.service, source).await?;
        let delegation = match delegation_token(body, mode)? {
            Some(jwt) => Some(self.prove_delegation(jwt, &at.project).await),
            None => None,
        };
        let receipt = match &body.consent_receipt {
            Some(jwt) => Some(self.prove_receipt(jwt, &operator, &at.service, source).await),
            None => None,
        };
        let standing = match at.project.document.minimum_tier >= REGISTRY_TIER {
            true => self.operator_standing(&at.project, operator.fact.domain()).await,
            false => None,
        };
        let enrolled = self.is_enrolled(at.project.key, operator.fact.domain()).await?;
        let again = AtomicBool::new(false);
        let register = || async {
            let project = match again.swap(true, Ordering::Relaxed) {
                false => at.project.clone(),
                true => self.project(&at.address).await?.project,
            };
            let verified = receipt.as_ref().and_then(|receipt| receipt.as_ref().ok());
            let granted = delegation.as_ref().and_then(|delegation| delegation.as_ref().ok());
            let view = self.register_view(project, (mode, body), &operator, granted, verified).await;
            let mut view = view?;
            view.key_holder = match &proof {
                Some(proof) => self.key_holder(&view.project, proof).await?,
                None => None,
            };
            let operation = Register {
                body,
                mode,
                operator: &operator.fact,
                identity: &operator.known.identity,
                standing: standing.clone(),
                enrolled,
                key_seen_at: operator.known.fetched_at,
                delegation: delegation.as_ref().map(|delegation| delegation.as_ref().map_err(Clone::clone)),
                receipt: receipt.as_ref().map(|receipt| receipt.as_ref().map_err(Clone::clone)),
                proof: proof.as_ref(),
                test_mode: self.settings.test_mode,
            };
            match operation.decide(&view, &self.env()?) {
                Ok(step) => Ok(((), step)),
                Err(refusal) => Err(self.refuse_registration(&view, proof.as_ref(), refusal).await),
            }
        };
        match self.run_to_outcome(register).await? {
            (Outcome::Committed, answer) => {
                let lookup = SessionById {
                    project: at.project.key,
                    operator: operator.fact.domain().to_string(),
                    session_id: answer.session_id.clone(),
                };
                // The registration is done. A request that stays pending is refused when it is answered.
                if receipt.is_some()
                    && let Some(session) = self.find_one(lookup).await.ok().flatten()
                    && let Err(why) = self.decisions().withdraw_outdated_requests(at, &session).await
                {
                    tracing::warn!(%why, "requests for an earlier consent receipt could not be withdrawn");
                }
                Ok(answer)
            }
            (Outcome::Replayed, _) => Err(Refusal::DpopReplayed),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The proof of a registration: demanded where tokens must be bound, accepted everywhere (C-26).
    fn prove_key(self, at: &ProjectAt, shown: Option<RegisterProof<'_>>) -> Result<Option<SpentProof>, Refusal> {
        let document = &at.project.document;
        let Some(shown) = shown else {
            let needed = proof_required(document);
            return if needed { Err(Refusal::DpopMissing("tokens are bound to a key here")) } else { Ok(None) };
        };
        let proven = self.verify_proof(shown.proof?, shown.method, shown.url, None).map_err(Refusal::DpopInvalid)?;
        let nonce_demanded = document.dpop.nonce_at_register || self.is_new_epoch();
        accept_proof(proven, None, at.project.key, nonce_demanded).map(Some)
    }

    /// `DPoP-Nonce` for responses to registrations, when nonces are on.
    pub fn nonce_for_register(self, at: &ProjectAt) -> Option<String> {
        let on = at.project.document.dpop.nonce_at_register || self.is_new_epoch();
        if on { self.nonce() } else { None }
    }

    async fn key_holder(self, project: &Project, proof: &SpentProof) -> Result<Option<Session>, Refusal> {
        let key = self.find_one(SessionKeyByJkt { project: project.key, jkt: proof.jkt }).await?;
        Ok(self.get_some(key.map(|key| key.session)).await?)
    }

    /// A refusal, once its proof is spent: a proof shown before is a replay, before any other error (C-93).
    async fn refuse_registration(self, view: &RegisterView, proof: Option<&SpentProof>, why: Refusal) -> Refusal {
        let effects = match self.env().and_then(|env| record_refusal(view, proof, &why, &env)) {
            Ok(effects) => effects,
            Err(trouble) => return trouble,
        };
        match self.commit(effects).await {
            // A proof that is too old for the store cannot be shown again.
            Outcome::Committed | Outcome::OutOfTime => why,
            Outcome::Replayed => Refusal::DpopReplayed,
            _ => Refusal::Unavailable,
        }
    }

    /// Verifies this service's own signature. An unknown key may be new on another node, so the store is read once. An agent
    /// shows the same token with each registration: its bytes are remembered like an operator's. Whether the
    /// delegation is still active is read from its row each time.
    pub(crate) async fn prove_delegation(self, jwt: &str, project: &Project) -> Result<VerifiedGrant, Refusal> {
        let (now, origins) = (self.now(), self.origins_of(project));
        let (grants, issuers) = (&self.jwt_cache.grants, origins.join(" "));
        if let Some(fact) = self.keys().and_then(|keys| grants.get(jwt, &issuers, &keys, now)) {
            return Ok(fact);
        }
        let keys = self.keys_for(jwt).await?;
        grants.get_or_verify(jwt, &issuers, &keys, now, || {
            let origins: Vec<&str> = origins.iter().map(String::as_str).collect();
            let fact = verify_grant(jwt, &keys.set, &origins, now).map_err(|why| match why {
                // Valid, and of another project: the same refusal as for any unknown delegation (C-71).
                DelegationRefusal::WrongIssuer if self.is_issued_by_project_host(jwt) => Refusal::DelegationNotFound,
                why => Refusal::DelegationInvalid(why.to_string()),
            })?;
            let until = fact.expires_at();
            Ok((fact, until))
        })
    }

    async fn register_view(
        self,
        project: Project,
        (mode, body): (Mode, &RegisterRequest),
        operator: &ProvenOperator,
        delegation: Option<&VerifiedGrant>,
        receipt: Option<&VerifiedReceipt>,
    ) -> Result<RegisterView, Refusal> {
        let key = project.key;
        let delegation = match delegation {
            Some(VerifiedGrant::User(fact)) => {
                let id = fact.claims().delegation_id.clone();
                self.find_one(DelegationById { project: key, id }).await?
            }
            Some(VerifiedGrant::ServiceAccount(fact)) => self.grant_of_token(key, fact).await?,
            None => None,
        };
        let delegation = self.settle_inactivity(delegation).await?;
        let delegation = self.settle_budget(delegation).await?;
        let named = receipt.map(|r| r.claims().session_id.clone()).or_else(|| body.session_id.clone());
        let session = match named {
            Some(session_id) => {
                let operator = operator.fact.domain().to_string();
                self.find_one(SessionById { project: key, operator, session_id }).await?
            }
            None => None,
        };
        let receipt_revoked = match receipt {
            Some(fact) => self
                .find_one(RevokedReceiptByHash { project: key, sha256: *fact.signing_input_sha256() })
                .await?
                .is_some(),
            None => false,
        };
        let session_used = match &session {
            Some(session) if joins(session, mode) => self.has_calls(session).await?,
            _ => false,
        };
        let rolling_back = match &session {
            Some(session) if session.state != SessionState::Open => {
                self.find_one(RollbackOf(session.key)).await?.is_some_and(|rollback| rollback.due().is_some())
            }
            _ => false,
        };
        let heartbeat = self.heartbeat_of(session.as_ref()).await?;
        let key_holder = None;
        Ok(RegisterView {
            project,
            delegation,
            session,
            session_used,
            rolling_back,
            receipt_revoked,
            heartbeat,
            key_holder,
        })
    }

    async fn grant_of_token(
        self,
        project: RowKey,
        token: &VerifiedServiceAccount,
    ) -> Result<Option<Delegation>, Refusal> {
        let grants = self.grants_of_account(project, &token.claims().sub).await?;
        Ok(service_account::of_token(grants, token.claims()))
    }

    /// All grants of a service account, oldest first, ended ones included.
    pub(crate) async fn grants_of_account(
        self,
        project: RowKey,
        account_id: &str,
    ) -> Result<Vec<Delegation>, StoreError> {
        let mut grants = self.find_all(DelegationsOfPerson { project, person: NO_PERSON }).await?;
        grants.retain(|grant: &Delegation| grant.subject == account_id);
        Ok(grants)
    }

    /// Whether a call was made in the session, by its evidence: every call leaves an entry.
    async fn has_calls(self, session: &Session) -> Result<bool, Refusal> {
        let query = AuditQuery {
            project: session.project,
            by: AuditBy::Session(vec![session.key]),
            from: None,
            to: None,
            event_type: Some("call".into()),
            after: None,
            limit: 1,
        };
        Ok(self.store.audit(query).await?.total > 0)
    }
}

/// Whether the registration would add a mode to the session.
fn joins(session: &Session, mode: Mode) -> bool {
    match mode {
        Mode::UserDelegated => !session.user_delegated,
        Mode::ServiceAccount => session.service_account.is_none(),
    }
}
