//! A connection request as one person sees it.

use super::{answer, connection, places, visit::Visit};
use crate::{
    App,
    http::at::by_host,
    pages::{ConnectEnd, ConnectError, ConnectPage, EndRules, Liability, OperatorLabel, OwnRules, ScopeWords, examine},
};
use axum::response::Response;
use countersign_engine::{Address, ConnectProgress, ConnectRequest, ProjectAt, ProjectMember, Refusal};
use countersign_protocol::{
    aap::delegate::{DelegateRequest, DisclosureResponse, ScopeInWords},
    domain::Domain,
    time::UnixMillis,
};
use http::StatusCode;

/// The request, its project, and the person asked for consent.
pub(super) struct ConsentRequest {
    pub(super) request: ConnectRequest,
    pub(super) at: ProjectAt,
    pub(super) member: ProjectMember,
}

impl ConsentRequest {
    pub(super) async fn load(app: &App, visit: &Visit, id: &str) -> Result<Self, Refusal> {
        let who = visit.person()?;
        let found = app.engine.agents().connectable(id).await?;
        let host = by_host(app, &visit.asker.headers, &visit.uri);
        // On a project's own host there is no other project.
        if matches!(host, Address::Subdomain(project) if project != found.project.id.as_str()) {
            return Err(Refusal::ConnectRequestGone("it is not known here"));
        }
        let at = places::at(app, found.project);
        let member = app.engine.people().member(who, at.project.key).await?;
        Ok(Self { request: found.request, at, member })
    }

    /// The engine's request to show, grant or deny.
    pub(super) fn body(&self) -> DelegateRequest {
        DelegateRequest { request_id: Some(self.request.id.clone()), approve: true, ..DelegateRequest::default() }
    }

    pub(super) fn operator(&self) -> OperatorLabel {
        OperatorLabel::new(self.request.operator.clone(), &self.request.operator_name)
    }

    pub(super) fn callback(&self) -> Option<url::Url> {
        self.request.callback.as_deref().and_then(|callback| url::Url::parse(callback).ok())
    }

    /// Why the request can no longer be answered, or `None` while it can.
    pub(super) fn end(&self, now: UnixMillis) -> Option<ConnectEnd> {
        match self.request.progress {
            ConnectProgress::Open if now < self.request.expires_at => None,
            ConnectProgress::Open => Some(ConnectEnd::Expired),
            _ => Some(ConnectEnd::AlreadyAnswered),
        }
    }

    /// The page, and a record of its disclosure: every text that consent rests on comes from the engine (AAP 14.4).
    pub(super) async fn page(&self, app: &App, visit: &Visit, own_rules: OwnRules) -> Result<ConnectPage, Refusal> {
        let own = own_rules.layer();
        let user_override = own.as_ref().ok().and_then(|own| serde_json::to_value(own).ok());
        let body = DelegateRequest { user_override, ..self.body() };
        let shown = app.engine.agents().show_disclosure(&self.at, &self.member, &body, visit.language.tag()).await?;
        let durations = shown.auto_revoke_policy.each().map(|(_, layer)| layer.duration_s());
        let operator = self.operator();
        let connected = self.connected(app).await?;
        let service = Domain::parse(app.engine.settings().origin.host()).ok();
        Ok(ConnectPage {
            frame: visit.frame_of(&self.at.project),
            request: self.request.id.clone(),
            warnings: examine(&operator.domain, &operator.name, &connected, service.as_ref()),
            operator,
            scopes: shown.scopes.iter().map(|scope| self.scope(scope)).collect(),
            mode_disclosure: shown.mode_disclosure.as_str().into(),
            liability: self.liability(&shown),
            lasts_s: durations.into_iter().flatten().min().unwrap_or_default(),
            ends: EndRules { policy: shown.effective_policy, sources: shown.effective_policy_sources },
            error: own.err().map(|field| ConnectError::BadRule { field }),
            own_rules,
            callback_host: self.callback().and_then(|callback| callback.host_str().map(str::to_owned)),
            answer_by: self.request.expires_at,
            csrf: visit.csrf(app)?,
            disclosure_id: shown.disclosure_id,
        })
    }

    /// The domains that this person already trusts, which a lookalike may imitate.
    pub(super) async fn connected(&self, app: &App) -> Result<Vec<Domain>, Refusal> {
        let found = app.engine.people().delegations_of(self.at.project.key, self.member.person.key).await?;
        let mut domains: Vec<Domain> = found.into_iter().map(|delegation| delegation.operator).collect();
        domains.sort();
        domains.dedup();
        Ok(domains)
    }

    /// The scope in its recorded words, plus the project's action lists.
    pub(super) fn scope(&self, shown: &ScopeInWords) -> ScopeWords {
        let known = self.offered(&shown.id);
        ScopeWords {
            description: Some(crate::pages::PlainLine::cut(&shown.description, 200)),
            irreversible: shown.irreversible,
            never: shown.never.iter().map(|action| action.as_str().into()).collect(),
            ..known
        }
    }

    /// The scope as the project defines it.
    pub(super) fn offered(&self, id: &str) -> ScopeWords {
        connection::scope(&self.at.project, id)
    }

    /// The author of the liability text (C-59, R-2).
    fn liability(&self, shown: &DisclosureResponse) -> Liability {
        let words = shown.liability_disclosure.as_str().into();
        match self.request.operator_disclosure {
            Some(_) => Liability::Operator(words),
            None => Liability::Service(words),
        }
    }
}

/// Sends the page, with an error status if a form was invalid. The form may redirect to the operator's callback.
pub(super) fn sent(asked: &ConsentRequest, page: &ConnectPage) -> Response {
    let status = match page.error {
        None => StatusCode::OK,
        Some(ConnectError::NotAcknowledged | ConnectError::BadRule { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
        Some(ConnectError::FormExpired) => StatusCode::FORBIDDEN,
        Some(ConnectError::ChangedSince) => StatusCode::CONFLICT,
    };
    answer::page_leading_to(status, &page.frame, page, asked.callback().as_ref())
}
