//! `POST /agent/register`, from the body to a durable session and its token.

use super::operator::Proven;
use crate::{
    engine::{Engine, TRIES, unavailable},
    projects::ProjectAt,
    store::{self, Lookup, StoreError},
};
use countersign_core::{
    aap::register::{Register, RegisterView, check_form},
    records::Project,
    refusal::Refusal,
    step::Operation as _,
};
use countersign_jose::{DelegationRefusal, verify_delegation};
use countersign_protocol::{
    aap::register::{RegisterRequest, RegisterResponse},
    facts::{VerifiedDelegation, VerifiedReceipt},
};

impl Engine {
    /// `source` is the caller's address: it limits how many unknown operators one address may name.
    pub async fn register(
        &self,
        at: &ProjectAt,
        body: &RegisterRequest,
        source: &str,
    ) -> Result<RegisterResponse, Refusal> {
        let operator_jwt = check_form(body)?;
        let operator = self.prove_operator(operator_jwt, &at.service, source).await?;
        let delegation = match &body.delegation_token {
            Some(jwt) => Some(self.prove_delegation(jwt, &at.project).await?),
            None => None,
        };
        let receipt = match &body.consent_receipt {
            Some(jwt) => Some(self.prove_receipt(jwt, &operator, &at.service, source).await),
            None => None,
        };
        for attempt in 0..TRIES {
            let project = if attempt == 0 { at.project.clone() } else { self.project(&at.address).await?.project };
            let verified = receipt.as_ref().and_then(|receipt| receipt.as_ref().ok());
            let view = self.register_view(project, body, &operator, delegation.as_ref(), verified).await;
            let register = Register {
                body,
                operator: &operator.fact,
                key_seen_at: operator.known.fetched_at,
                delegation: delegation.as_ref(),
                receipt: receipt.as_ref().map(|receipt| receipt.as_ref().map_err(Clone::clone)),
                test_mode: self.settings.test_mode,
            };
            let step = register.decide(&view.map_err(unavailable)?, &self.env()?)?;
            if let Some(answer) = self.finish(step).await? {
                return Ok(answer);
            }
        }
        Err(Refusal::Unavailable)
    }

    /// Our own signature. A key that another node has just made is looked for once.
    pub(crate) async fn prove_delegation(&self, jwt: &str, project: &Project) -> Result<VerifiedDelegation, Refusal> {
        let keys = self.keys_to_check(jwt).await?;
        let origins = self.origins_of(project);
        let origins: Vec<&str> = origins.iter().map(String::as_str).collect();
        verify_delegation(jwt, &keys.set, &origins, self.now()).map_err(|why| match why {
            // Ours and sound, and of another project: the same as any delegation that is not here (C-71).
            DelegationRefusal::WrongIssuer if self.is_from_a_project_host(jwt) => Refusal::DelegationNotFound,
            why => Refusal::DelegationInvalid(why.to_string()),
        })
    }

    async fn register_view(
        &self,
        project: Project,
        body: &RegisterRequest,
        operator: &Proven,
        delegation: Option<&VerifiedDelegation>,
        receipt: Option<&VerifiedReceipt>,
    ) -> Result<RegisterView, StoreError> {
        let store = &*self.store;
        let key = project.key;
        let delegation = match delegation {
            Some(fact) => {
                let id = fact.claims().delegation_id.clone();
                store::find_one(store, Lookup::DelegationById { project: key, id }).await?
            }
            None => None,
        };
        let named = receipt.map(|r| r.claims().session_id.clone()).or_else(|| body.session_id.clone());
        let session = match named {
            Some(session_id) => {
                let operator = operator.fact.domain().to_string();
                store::find_one(store, Lookup::SessionById { project: key, operator, session_id }).await?
            }
            None => None,
        };
        let receipt_revoked = match receipt {
            Some(fact) => {
                let lookup = Lookup::RevokedReceipt { project: key, sha256: *fact.said_sha256() };
                store.find(lookup).await?.is_some()
            }
            None => false,
        };
        Ok(RegisterView { project, delegation, session, receipt_revoked })
    }
}
