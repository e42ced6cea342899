//! Bootstrap: the operator's request, the person's answer, the operator's exchange.

use super::operator::ProvenOperator;
use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{ConnectRequestByCode, ConnectRequestById, DisclosureById, Outcome, StoreError},
};
use countersign_core::{
    aap::{
        connect::{Connect, check_form, retry_after_s},
        delegate::{Deny, Grant, GrantView, NewDelegation, Show},
        exchange::{CodeExchange, ExchangeView, GrantClaims},
        ignored, policy,
        registry::{self, REGISTRY_TIER},
        service_account::{self, GrantAccount, NewAccount, ShowAccount},
    },
    people::ProjectMember,
    records::{ConnectProgress, ConnectRequest, Delegation, Disclosure, Project},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::{
        delegate::{
            ConnectRequestBody, ConnectRequestResponse, DelegateRequest, DelegateResponse, DisclosureResponse,
            ExchangeRequest, ExchangeResponse, ServiceAccountDisclosure,
        },
        delegation_token,
        policy::PolicyLayer,
    },
    hash::Digest,
};

/// A connect request for display: the verified domain, and its operator's self-chosen name.
pub struct Connectable {
    pub request: ConnectRequest,
    pub project: countersign_core::records::Project,
}

impl Agents<'_> {
    /// `POST /agent/delegate/requests`
    pub async fn connect(
        self,
        at: &ProjectAt,
        body: &ConnectRequestBody,
        source: &str,
    ) -> Result<ConnectRequestResponse, Refusal> {
        check_form(body, &at.project.document)?;
        let jwt = body.operator_jwt.as_deref().ok_or_else(|| Refusal::invalid("operator_jwt is required"))?;
        let operator = self.prove_operator(jwt, &at.service, source).await?;
        self.check_connectable_operator(&at.project, &operator).await?;
        let enrolled = self.is_enrolled(at.project.key, operator.fact.domain()).await?;
        let connect = || async {
            let operation = Connect {
                operator: &operator.fact,
                identity: &operator.known.identity,
                body,
                service: at.service.as_str(),
                per_minute: self.settings.connect_requests_per_minute,
            };
            let env = self.env()?;
            let step = operation.decide(&at.project, &env)?;
            Ok::<_, Refusal>(((), step.map(|request| (request, env.now))))
        };
        match self.run_to_outcome(connect).await? {
            (Outcome::Committed, (request, _)) => Ok(ConnectRequestResponse {
                connect_url: format!("{}/connect/{}", self.settings.origin, request.id),
                request_id: request.id,
                expires_at: request.expires_at,
                ignored: ignored::of_operator(&operator.known.identity, enrolled),
            }),
            (Outcome::LimitReached { .. }, (_, now)) => {
                Err(Refusal::TooManyConnectRequests { retry_after_s: retry_after_s(now) })
            }
            _ => Err(Refusal::Unavailable),
        }
    }

    /// An operator that could not register is refused before a person is asked.
    async fn check_connectable_operator(self, project: &Project, operator: &ProvenOperator) -> Result<(), Refusal> {
        registry::check_webhook(&project.document, &operator.known.identity)?;
        if project.document.minimum_tier < REGISTRY_TIER {
            return Ok(());
        }
        let standing = self.operator_standing(project, operator.fact.domain()).await;
        registry::check_not_suspended(standing.as_ref())?;
        registry::check_listed(standing.as_ref(), &project.document, self.decision_time()?)
    }

    /// The request behind `/connect/{request}`.
    pub async fn connectable(self, id: &str) -> Result<Connectable, Refusal> {
        let gone = Refusal::ConnectRequestGone("it is not known here");
        let request = self.find_one(ConnectRequestById(id.to_owned())).await?;
        let request = request.ok_or_else(|| gone.clone())?;
        let project = self.get(request.project).await?;
        Ok(Connectable { request, project: project.ok_or(gone)? })
    }

    /// The first step of `POST /agent/delegate`: renders the disclosure for the person and creates nothing but a record of it.
    pub async fn show_disclosure(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
        language: &str,
    ) -> Result<DisclosureResponse, Refusal> {
        answers_a_request(body)?;
        let user_policy = user_policy(body)?.unwrap_or_default();
        self.run(|| async {
            let view = self.grant_view(at, member, body).await?;
            same_operator(body, view.request.as_ref())?;
            let show = Show {
                scopes: body.scopes.clone(),
                max_agent_ttl: body.max_agent_ttl,
                user_policy: user_policy.clone(),
                language: language.to_owned(),
            };
            show.decide(&view, &self.env()?)
        })
        .await
    }

    /// The second step: the person agreed to the disclosure.
    pub async fn grant(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
    ) -> Result<DelegateResponse, Refusal> {
        answers_a_request(body)?;
        let user_policy = user_policy(body)?;
        let fixed_id = self.fixed_id(body)?;
        let grant = || async {
            let view = self.grant_view(at, member, body).await?;
            same_operator(body, view.request.as_ref())?;
            let operation = Grant {
                disclosure_id: body.disclosure_id.clone().unwrap_or_default(),
                acknowledged: body.acknowledged_disclosure,
                scopes: body.scopes.clone(),
                max_agent_ttl: body.max_agent_ttl,
                user_policy: user_policy.clone(),
                fixed_id: fixed_id.clone(),
            };
            operation.decide(&view, &self.env()?)
        };
        self.grant_response(self.run(grant).await?)
    }

    /// The first step for a service account: shows the admin every scope and resource, and grants nothing (AAP 11.2).
    pub async fn show_account(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
        language: &str,
    ) -> Result<ServiceAccountDisclosure, Refusal> {
        answers_a_request(body)?;
        let proposed = service_account::proposed(body)?;
        self.run(|| async {
            let view = self.grant_view(at, member, body).await?;
            same_operator(body, view.request.as_ref())?;
            let show = ShowAccount { proposed: proposed.clone(), language: language.to_owned() };
            show.decide(&view, &self.env()?)
        })
        .await
    }

    /// The second step: the admin confirms.
    pub async fn grant_account(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
    ) -> Result<DelegateResponse, Refusal> {
        answers_a_request(body)?;
        let proposed = service_account::proposed(body)?;
        let grant = || async {
            let view = self.grant_view(at, member, body).await?;
            same_operator(body, view.request.as_ref())?;
            let operation = GrantAccount { proposed: proposed.clone(), acknowledged: body.acknowledged_disclosure };
            operation.decide(&view, &self.env()?)
        };
        let NewAccount { grant, claims, code, redirect, disclosure } = self.run(grant).await?;
        Ok(DelegateResponse {
            delegation_token: Some(self.sign_delegation(&GrantClaims::ServiceAccount(claims))?),
            delegation_id: grant.id.clone(),
            code,
            redirect,
            liability_disclosure: disclosure,
            effective_policy: countersign_core::aap::delegate::effective_policy(&grant),
            effective_policy_sources: grant.policy_sources,
        })
    }

    /// The person rejects the request. Returns the URL to redirect the browser to, if any.
    pub async fn deny(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
    ) -> Result<Option<String>, Refusal> {
        self.run(|| async { Deny.decide(&self.grant_view(at, member, body).await?, &self.env()?) }).await
    }

    /// `POST /agent/delegate/token`
    pub async fn exchange(
        self,
        at: &ProjectAt,
        body: &ExchangeRequest,
        source: &str,
    ) -> Result<ExchangeResponse, Refusal> {
        let missing = |name: &str| Refusal::invalid(format!("{name} is required"));
        let jwt = body.operator_jwt.as_deref().ok_or_else(|| missing("operator_jwt"))?;
        let code = body.code.as_deref().ok_or_else(|| missing("code"))?;
        let code_verifier = body.code_verifier.as_deref().ok_or_else(|| missing("code_verifier"))?;
        let operator = self.prove_operator(jwt, &at.service, source).await?;
        let exchange = || async {
            let view = self.exchange_view(at, code).await?;
            CodeExchange { operator: &operator.fact, code_verifier }.decide(&view, &self.env()?)
        };
        let (delegation, claims) = self.run(exchange).await?;
        Ok(ExchangeResponse {
            delegation_token: self.sign_delegation(&claims)?,
            delegation_id: delegation.id.clone(),
            scopes: delegation.scopes.clone(),
            effective_policy: countersign_core::aap::delegate::effective_policy(&delegation),
            effective_policy_sources: delegation.policy_sources,
        })
    }

    fn grant_response(self, granted: NewDelegation) -> Result<DelegateResponse, Refusal> {
        Ok(DelegateResponse {
            delegation_token: Some(self.sign_delegation(&GrantClaims::User(granted.claims))?),
            delegation_id: granted.delegation.id,
            code: Some(granted.code),
            redirect: granted.redirect,
            liability_disclosure: granted.liability_disclosure,
            effective_policy: granted.effective_policy,
            effective_policy_sources: granted.effective_policy_sources,
        })
    }

    pub(super) fn sign_delegation(self, claims: &GrantClaims) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        keys.signing.sign(delegation_token::TYP, claims).map_err(|_| Refusal::Internal)
    }

    /// The published vectors name a delegation; outside of test mode a caller cannot choose an id.
    fn fixed_id(self, body: &DelegateRequest) -> Result<Option<String>, Refusal> {
        match &body.delegation_id {
            Some(_) if !self.settings.test_mode => {
                Err(Refusal::invalid("delegation_id can be chosen in test mode only"))
            }
            Some(id) if !countersign_protocol::ids::is_delegation_id(id) => {
                Err(Refusal::invalid("delegation_id is malformed"))
            }
            id => Ok(id.clone()),
        }
    }

    async fn grant_view(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        body: &DelegateRequest,
    ) -> Result<GrantView, StoreError> {
        let request: Option<ConnectRequest> = match &body.request_id {
            Some(id) => self.find_one(ConnectRequestById(id.clone())).await?,
            None => None,
        };
        let disclosure: Option<Disclosure> = match &body.disclosure_id {
            Some(id) => self.find_one(DisclosureById { project: at.project.key, id: id.clone() }).await?,
            None => None,
        };
        // A record of another project does not exist here, even for the error message.
        let request = request.filter(|request| request.project == at.project.key);
        let current = self.get(at.project.key).await?;
        Ok(GrantView {
            project: current.unwrap_or_else(|| at.project.clone()),
            member: Some(member.clone()),
            request,
            disclosure,
        })
    }

    async fn exchange_view(self, at: &ProjectAt, code: &str) -> Result<ExchangeView, StoreError> {
        let request = self.find_one(ConnectRequestByCode(Digest::of(code.as_bytes()))).await?;
        let key = request.as_ref().and_then(|request| match request.progress {
            ConnectProgress::Approved { delegation, .. } => Some(delegation),
            _ => None,
        });
        let delegation: Option<Delegation> = self.get_some(key).await?;
        Ok(ExchangeView { request, delegation, project: at.project.key })
    }
}

/// The person's own policy, under either of its names (C-60).
fn user_policy(body: &DelegateRequest) -> Result<Option<PolicyLayer>, Refusal> {
    match (&body.policy, &body.user_override) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Refusal::invalid("policy and user_override are the same member: send one of them")),
        (Some(policy), None) => policy::layer("policy", Some(policy)).map(Some),
        (None, Some(policy)) => policy::layer("user_override", Some(policy)).map(Some),
    }
}

fn answers_a_request(body: &DelegateRequest) -> Result<(), Refusal> {
    if body.request_id.is_none() {
        return Err(Refusal::invalid("request_id is required: a delegation answers an operator's own request"));
    }
    Ok(())
}

fn same_operator(body: &DelegateRequest, request: Option<&ConnectRequest>) -> Result<(), Refusal> {
    let named = body.operator.as_deref();
    match (named, request) {
        (Some(named), Some(request)) if named != request.operator.as_str() => {
            Err(Refusal::invalid("operator is not the one that made this request"))
        }
        _ => Ok(()),
    }
}
