//! Bootstrap, second half: the disclosure to a person, and the delegation from their approval (AAP 17.2, 14.4, C-59).
//!
//! Two steps, so that no token exists before its disclosure was displayed. Showing records the text and its reader;
//! granting consumes that record once, by the same person, for the same request.

use crate::{
    aap::{
        connect::{max_agent_ttl, requested_scopes},
        manifest, policy, texts,
    },
    env::{Env, Mint},
    evidence::DraftEntry,
    people::ProjectMember,
    project,
    records::{ConnectProgress, ConnectRequest, Delegation, DelegationState, Disclosure, Mode, Project, Record, Role},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{
        delegate::{DisclosureResponse, ScopeInWords},
        delegation_token::DelegationClaims,
        policy::{EffectivePolicy, PolicyLayer, PolicyLayers, PolicySources},
    },
    canonical,
    hash::Digest,
    time::UnixMillis,
};

/// Time between showing a disclosure and its acknowledgement.
pub(super) const DISCLOSURE_LIFETIME_S: i64 = 1800;
/// Time for the operator to exchange its code.
pub(super) const CODE_LIFETIME_S: i64 = 600;

pub struct GrantView {
    pub project: Project,
    pub member: Option<ProjectMember>,
    pub request: Option<ConnectRequest>,
    pub disclosure: Option<Disclosure>,
}

/// Step one: show the disclosure.
pub struct Show {
    /// A subset of the requested scopes.
    pub scopes: Option<Vec<String>>,
    pub max_agent_ttl: Option<i64>,
    /// The person's own auto-revoke policy.
    pub user_policy: PolicyLayer,
    pub language: String,
}

impl Operation for Show {
    type View = GrantView;
    type Answer = DisclosureResponse;
    type Refusal = Refusal;

    fn decide(self, view: &GrantView, env: &Env) -> Result<Step<DisclosureResponse>, Refusal> {
        let member = entitled(view)?;
        let request = users_request(view, env.now)?;
        let scopes = self.chosen_scopes(view, request)?;
        let ttl = max_agent_ttl(self.max_agent_ttl)?.or(request.max_agent_ttl);
        let mut mint = env.mint();
        let mut shown = render_disclosure(&view.project, request, &scopes, &self.user_policy, &self.language, env.now);
        shown.disclosure_id = mint.id("disc");
        let record = Disclosure {
            key: mint.key(),
            version: 1,
            project: view.project.key,
            id: shown.disclosure_id.clone(),
            person: member.person.key,
            operator: request.operator.clone(),
            scopes,
            max_agent_ttl: ttl,
            user_policy: self.user_policy,
            request: Some(request.key),
            shown: disclosure_digest(&shown)?,
            language: self.language,
            text: shown.liability_disclosure.clone(),
            shown_at: env.now,
            expires_at: env.now.plus_secs(DISCLOSURE_LIFETIME_S),
            spent: false,
        };
        let effects = Effects { puts: vec![Record::Disclosure(record)], ..Effects::default() };
        Ok(Step { answer: shown, effects })
    }
}

impl Show {
    fn chosen_scopes(&self, view: &GrantView, request: &ConnectRequest) -> Result<Vec<String>, Refusal> {
        let Some(chosen) = &self.scopes else { return Ok(request.scopes.clone()) };
        let chosen = requested_scopes(&view.project, chosen)?;
        if chosen.iter().all(|scope| request.scopes.contains(scope)) {
            return Ok(chosen);
        }
        Err(Refusal::invalid("only scopes that the operator requested can be granted"))
    }
}

/// Step two: the person acknowledges and approves.
pub struct Grant {
    pub disclosure_id: String,
    pub acknowledged: bool,
    /// If present, must equal the displayed choice.
    pub scopes: Option<Vec<String>>,
    pub max_agent_ttl: Option<i64>,
    pub user_policy: Option<PolicyLayer>,
    /// Only for published vectors, in test mode.
    pub fixed_id: Option<String>,
}

pub struct NewDelegation {
    pub delegation: Delegation,
    pub claims: DelegationClaims,
    /// The operator's one-time code; never stored.
    pub code: String,
    /// The browser's next address, if the operator has a callback.
    pub redirect: Option<String>,
    pub liability_disclosure: String,
    pub effective_policy: EffectivePolicy,
    pub effective_policy_sources: PolicySources,
}

impl Operation for Grant {
    type View = GrantView;
    type Answer = NewDelegation;
    type Refusal = Refusal;

    fn decide(self, view: &GrantView, env: &Env) -> Result<Step<NewDelegation>, Refusal> {
        let member = entitled(view)?;
        let request = users_request(view, env.now)?;
        let disclosure = self.acknowledged_disclosure(view, member, request, env.now)?;
        let mut mint = env.mint();
        let delegation = self.delegation(view, member, request, disclosure, &mut mint, env.now);
        let code = mint.secret("code");
        let progress = ConnectProgress::Approved {
            delegation: delegation.key,
            code_hash: Digest::of(code.as_bytes()),
            code_expires_at: env.now.plus_secs(CODE_LIFETIME_S),
        };
        let entry = granted_entry(view, &delegation, disclosure, env.now).seal(&mut mint)?;
        let effects = Effects {
            // A person disabled concurrently grants nothing.
            guards: member.guards(),
            puts: vec![
                Record::Delegation(delegation.clone()),
                Record::Disclosure(Disclosure { spent: true, version: disclosure.version + 1, ..disclosure.clone() }),
                Record::ConnectRequest(ConnectRequest { progress, version: request.version + 1, ..request.clone() }),
            ],
            evidence: vec![entry],
            ..Effects::default()
        };
        let answer = NewDelegation {
            claims: claims(&delegation, &request.service),
            redirect: redirect(request, &format!("code={}", percent(&code))),
            code,
            liability_disclosure: disclosure.text.clone(),
            effective_policy: effective_policy(&delegation),
            effective_policy_sources: delegation.policy_sources.clone(),
            delegation,
        };
        Ok(Step { answer, effects })
    }
}

impl Grant {
    fn acknowledged_disclosure<'a>(
        &self,
        view: &'a GrantView,
        member: &ProjectMember,
        request: &ConnectRequest,
        now: UnixMillis,
    ) -> Result<&'a Disclosure, Refusal> {
        let refused = "disclosure_id is not one that was shown to you for this request; ask for the disclosure again";
        let disclosure = view.disclosure.as_ref().ok_or_else(|| Refusal::invalid(refused))?;
        let same = disclosure.person == member.person.key && disclosure.request == Some(request.key);
        if !same || disclosure.spent || now >= disclosure.expires_at || !self.same_choice(disclosure) {
            return Err(Refusal::invalid(refused));
        }
        // The project's texts may have changed since. The approved text must equal the current one.
        let (scopes, user_policy) = (&disclosure.scopes, &disclosure.user_policy);
        let mut current =
            render_disclosure(&view.project, request, scopes, user_policy, &disclosure.language, disclosure.shown_at);
        current.disclosure_id = disclosure.id.clone();
        if disclosure_digest(&current)? != disclosure.shown {
            return Err(Refusal::invalid("the disclosure on this page has changed; read it again before approving"));
        }
        if !self.acknowledged {
            return Err(Refusal::invalid("acknowledged_disclosure must be true: the disclosure has to be read first"));
        }
        Ok(disclosure)
    }

    /// A choice sent with the approval must equal the displayed one.
    fn same_choice(&self, disclosure: &Disclosure) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| *scopes == disclosure.scopes)
            && self.max_agent_ttl.is_none_or(|ttl| Some(ttl) == disclosure.max_agent_ttl)
            && self.user_policy.as_ref().is_none_or(|policy| *policy == disclosure.user_policy)
    }

    fn delegation(
        &self,
        view: &GrantView,
        member: &ProjectMember,
        request: &ConnectRequest,
        disclosure: &Disclosure,
        mint: &mut Mint,
        now: UnixMillis,
    ) -> Delegation {
        let document = &view.project.document;
        // The displayed durations run from the grant, not from the reading (AAP-8.4-06).
        let layers = policy_layers(&view.project, request, &disclosure.user_policy);
        let (policy, policy_sources) = policy::resolve(&layers.each(), now);
        let policy_expires_at = policy.expires_at.unwrap_or(now);
        let token_expires_at = now.plus_secs(project::token_duration_s(document)).min(policy_expires_at);
        let id = self.fixed_id.clone().unwrap_or_else(|| mint.id("del"));
        Delegation {
            key: mint.key(),
            version: 1,
            project: view.project.key,
            id,
            person: member.person.key,
            subject: member.person.subject.clone(),
            service_account: None,
            operator: request.operator.clone(),
            operator_name: request.operator_name.clone(),
            scopes: disclosure.scopes.clone(),
            max_agent_ttl: disclosure.max_agent_ttl.unwrap_or(document.max_agent_ttl),
            granted_at: now,
            token_expires_at,
            policy_expires_at,
            idle_check_at: policy.inactivity_timeout.map(|period| now.plus_secs(period)),
            policy,
            policy_sources,
            shown: disclosure.shown,
            language: disclosure.language.clone(),
            state: DelegationState::Active,
        }
    }
}

/// The person rejects the request. It ends and leaves no other record.
pub struct Deny;

impl Operation for Deny {
    type View = GrantView;
    type Answer = Option<String>;
    type Refusal = Refusal;

    fn decide(self, view: &GrantView, env: &Env) -> Result<Step<Option<String>>, Refusal> {
        let request = open_request(view, env.now)?;
        match request.mode {
            Mode::UserDelegated => entitled(view)?,
            Mode::ServiceAccount => entitled_admin(view)?,
        };
        let denied = ConnectRequest {
            progress: ConnectProgress::Denied { at: env.now },
            version: request.version + 1,
            ..request.clone()
        };
        let redirect = redirect(request, "error=access_denied");
        let effects = Effects { puts: vec![Record::ConnectRequest(denied)], ..Effects::default() };
        Ok(Step { answer: redirect, effects })
    }
}

/// The JWT claims of a delegation token. They depend on the row alone, so the token can be signed again.
pub fn claims(delegation: &Delegation, issuer: &str) -> DelegationClaims {
    DelegationClaims {
        iss: issuer.to_owned(),
        sub: delegation.subject.clone(),
        delegated_to: delegation.operator.clone(),
        delegation_id: delegation.id.clone(),
        scopes: delegation.scopes.clone(),
        max_agent_ttl: delegation.max_agent_ttl,
        iat: delegation.granted_at.secs(),
        exp: delegation.token_expires_at.secs(),
    }
}

pub fn effective_policy(delegation: &Delegation) -> EffectivePolicy {
    EffectivePolicy { expires_at: Some(delegation.policy_expires_at), ..delegation.policy.clone() }
}

/// The auto-revoke policies of all three parties.
fn policy_layers(project: &Project, request: &ConnectRequest, user: &PolicyLayer) -> PolicyLayers {
    PolicyLayers {
        service_minimum: project::service_policy(&project.document),
        operator_default: request.operator_policy.clone(),
        user_override: user.clone(),
    }
}

/// The complete text of the disclosure.
pub fn render_disclosure(
    project: &Project,
    request: &ConnectRequest,
    scopes: &[String],
    user_policy: &PolicyLayer,
    language: &str,
    now: UnixMillis,
) -> DisclosureResponse {
    let document = &project.document;
    let auto_revoke_policy = policy_layers(project, request, user_policy);
    let (effective_policy, effective_policy_sources) = policy::resolve(&auto_revoke_policy.each(), now);
    let described = scopes.iter().filter_map(|id| project::scope(document, id)).map(|scope| ScopeInWords {
        id: scope.id.clone(),
        description: scope.description.clone(),
        irreversible: scope.irreversible,
        never: scope.explicitly_excludes.clone(),
    });
    DisclosureResponse {
        disclosure_id: String::new(),
        liability_disclosure: liability_disclosure(project, request, scopes, language),
        mode_disclosure: manifest::mode_disclosure_in(document, Mode::UserDelegated, language),
        operator: request.operator.to_string(),
        scopes: described.collect(),
        language: language.to_owned(),
        access_ends_at: effective_policy.expires_at.unwrap_or(now),
        auto_revoke_policy,
        effective_policy,
        effective_policy_sources,
    }
}

/// The operator's text, else the project's, else ours naming the operator (C-59).
fn liability_disclosure(project: &Project, request: &ConnectRequest, scopes: &[String], language: &str) -> String {
    let own = request.operator_disclosure.clone().or_else(|| project.document.liability_disclosure.clone());
    own.unwrap_or_else(|| {
        let granted = scopes.iter().filter_map(|id| project::scope(&project.document, id));
        let granted: Vec<&str> = granted.map(|scope| scope.description.as_str()).collect();
        texts::liability(&request.operator, request.operator_contact.as_deref(), &granted, language)
    })
}

pub(super) fn disclosure_digest(shown: &impl serde::Serialize) -> Result<Digest, Refusal> {
    Ok(Digest::of(&canonical::to_vec(shown)?))
}

fn entitled(view: &GrantView) -> Result<&ProjectMember, Refusal> {
    let member = view.member.as_ref().ok_or(Refusal::SignInRequired)?;
    if member.person.disabled || !member.has_role(Role::User) {
        return Err(Refusal::NotAuthorized("you are not a user of this project".into()));
    }
    Ok(member)
}

pub(super) fn entitled_admin(view: &GrantView) -> Result<&ProjectMember, Refusal> {
    let member = view.member.as_ref().ok_or(Refusal::SignInRequired)?;
    if member.person.disabled || !member.has_role(Role::Admin) {
        return Err(Refusal::NotAuthorized("only an admin of this project grants service accounts".into()));
    }
    Ok(member)
}

/// An open request for a person's delegation.
fn users_request(view: &GrantView, now: UnixMillis) -> Result<&ConnectRequest, Refusal> {
    let request = open_request(view, now)?;
    if request.mode == Mode::UserDelegated {
        return Ok(request);
    }
    let why = "this request is for a service account: send account_id, org_id and granted_scope, as an admin";
    Err(Refusal::invalid(why))
}

pub(super) fn open_request(view: &GrantView, now: UnixMillis) -> Result<&ConnectRequest, Refusal> {
    let request = view.request.as_ref().filter(|request| request.project == view.project.key);
    let request = request.ok_or(Refusal::ConnectRequestGone("it is not known here"))?;
    match request.progress {
        ConnectProgress::Open if now < request.expires_at => Ok(request),
        ConnectProgress::Open => Err(Refusal::ConnectRequestGone("nobody answered it in ten minutes")),
        ConnectProgress::Denied { .. } => Err(Refusal::ConnectRequestGone("it was denied")),
        _ => Err(Refusal::ConnectRequestGone("it was approved already")),
    }
}

fn granted_entry(view: &GrantView, delegation: &Delegation, disclosure: &Disclosure, now: UnixMillis) -> DraftEntry {
    DraftEntry::new((view.project.key, &view.project.id), "delegation_granted", now)
        .under_delegation(delegation.key, &delegation.id)
        .open("operator", delegation.operator.as_str())
        .open("mode", Mode::UserDelegated.as_str())
        .open("scopes", delegation.scopes.clone())
        .open("document_version", view.project.version)
        .open("shown_sha256", disclosure.shown.hex())
        .open("shown_language", disclosure.language.as_str())
        .open("by", "user")
        .hidden("acting_for", delegation.subject.as_str())
}

/// The redirect carries the answer, state and issuer (RFC 9207), never the token.
pub(super) fn redirect(request: &ConnectRequest, answer: &str) -> Option<String> {
    let callback = request.callback.as_ref()?;
    let separator = if callback.contains('?') { '&' } else { '?' };
    let (state, iss) = (percent(&request.state), percent(&request.service));
    Some(format!("{callback}{separator}{answer}&state={state}&iss={iss}"))
}

pub(super) fn percent(text: &str) -> String {
    let keep = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|b| if keep(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
