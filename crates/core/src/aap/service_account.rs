//! Service accounts (AAP 11.2, 11.3): an admin reviews every scope and resource, confirms, and the grant stays as it is.
//!
//! As for people's delegations there are two steps: nothing is granted that was not shown to the same admin before.

use crate::{
    aap::{
        boundary,
        connect::requested_scopes,
        delegate::{
            CODE_LIFETIME_S, DISCLOSURE_LIFETIME_S, GrantView, disclosure_digest, entitled_admin, open_request,
            percent, redirect,
        },
        manifest, policy,
    },
    env::{Env, Mint},
    evidence::DraftEntry,
    people::ProjectMember,
    project,
    records::{
        ConnectProgress, ConnectRequest, Delegation, DelegationState, Disclosure, Mode, NO_PERSON, Person, Project,
        Record, ServiceAccount,
    },
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{
        consent_receipt::UsageLimits,
        delegate::{DelegateRequest, ScopeInWords, ServiceAccountDisclosure},
        policy::{PolicyLayer, PolicyLayers},
        service_account::{GrantedScope, ServiceAccountClaims, is_account_id, is_email},
    },
    domain::Domain,
    hash::Digest,
    time::UnixMillis,
};

/// What an admin is asked to grant. `crosses_users` in it is only a wish: the service computes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedAccount {
    pub account_id: String,
    pub org_id: String,
    pub granted_scope: GrantedScope,
    pub usage_limits: UsageLimits,
    /// The admin's own auto-revoke policy.
    pub policy: PolicyLayer,
}

/// The operator of a proposed account, and the base URI for `iss` of its token.
#[derive(Clone, Debug)]
pub struct AccountOperator {
    pub domain: Domain,
    pub name: String,
    pub policy: PolicyLayer,
    pub service: String,
}

impl AccountOperator {
    fn of(request: &ConnectRequest) -> Self {
        Self {
            domain: request.operator.clone(),
            name: request.operator_name.clone(),
            policy: request.operator_policy.clone(),
            service: request.service.clone(),
        }
    }
}

/// Whether a delegate request is for a service account: it has one of its members (C-60).
pub fn is_proposed(body: &DelegateRequest) -> bool {
    body.account_id.is_some() || body.org_id.is_some() || body.granted_scope.is_some()
}

/// The proposal of a delegate request; a missing or wrong member is refused by its name.
pub fn proposed(body: &DelegateRequest) -> Result<ProposedAccount, Refusal> {
    let missing = |name: &str| Refusal::invalid(format!("{name} is required for a service account"));
    let account_id = body.account_id.clone().ok_or_else(|| missing("account_id"))?;
    let org_id = body.org_id.clone().ok_or_else(|| missing("org_id"))?;
    let granted_scope = body.granted_scope.as_ref().ok_or_else(|| missing("granted_scope"))?;
    let wrong = |(member, why): (&str, &str)| Refusal::invalid(format!("{member} {why}"));
    let limits = body.usage_limits.as_ref().map(UsageLimits::proposed).transpose().map_err(Refusal::invalid)?;
    let policy = match (&body.policy, &body.user_override) {
        (Some(_), Some(_)) => {
            return Err(Refusal::invalid("policy and user_override are the same member: send one of them"));
        }
        (stated, None) => policy::layer("policy", stated.as_ref())?,
        (None, stated) => policy::layer("user_override", stated.as_ref())?,
    };
    Ok(ProposedAccount {
        account_id,
        org_id,
        granted_scope: GrantedScope::proposed(granted_scope).map_err(wrong)?,
        usage_limits: limits.unwrap_or_default(),
        policy,
    })
}

/// Everything that the admin is about to grant, exactly as the token will state it.
pub fn review(
    project: &Project,
    operator: &AccountOperator,
    proposed: &ProposedAccount,
    admin: &Person,
    language: &str,
    shown_at: UnixMillis,
) -> Result<ServiceAccountDisclosure, Refusal> {
    check_proposal(project, proposed)?;
    let document = &project.document;
    let granted_scope = fixed_scope(project, proposed);
    let (effective_policy, effective_policy_sources) =
        policy::resolve(&layers(project, operator, proposed).each(), shown_at);
    let actions: Vec<&str> = granted_scope
        .scopes
        .iter()
        .filter_map(|id| project::scope(document, id))
        .flat_map(|scope| scope.allows.iter().map(String::as_str))
        .collect();
    let unbounded = boundary::routes_without_resource(document, &actions);
    let routes_without_resource = unbounded.map(|route| format!("{} {}", route.method, route.path)).collect();
    let described =
        granted_scope.scopes.iter().filter_map(|id| project::scope(document, id)).map(|scope| ScopeInWords {
            id: scope.id.clone(),
            description: scope.description.clone(),
            irreversible: scope.irreversible,
            never: scope.explicitly_excludes.clone(),
        });
    Ok(ServiceAccountDisclosure {
        disclosure_id: String::new(),
        operator: operator.domain.to_string(),
        account_id: proposed.account_id.clone(),
        org_id: proposed.org_id.clone(),
        authorized_by: email(admin)?.to_owned(),
        scopes: described.collect(),
        routes_without_resource,
        usage_limits: proposed.usage_limits,
        mode_disclosure: manifest::service_account_disclosure(document, &granted_scope.description, language),
        granted_scope,
        language: language.to_owned(),
        access_ends_at: effective_policy.expires_at.unwrap_or(shown_at),
        effective_policy,
        effective_policy_sources,
    })
}

/// The digest of a review, which the confirmation must repeat.
pub fn review_digest(shown: &ServiceAccountDisclosure) -> Result<Digest, Refusal> {
    disclosure_digest(shown)
}

/// Step one of `POST /agent/delegate` for a service account: show the admin everything.
pub struct ShowAccount {
    pub proposed: ProposedAccount,
    pub language: String,
}

impl Operation for ShowAccount {
    type View = GrantView;
    type Answer = ServiceAccountDisclosure;
    type Refusal = Refusal;

    fn decide(self, view: &GrantView, env: &Env) -> Result<Step<ServiceAccountDisclosure>, Refusal> {
        let admin = entitled_admin(view)?;
        let request = account_request(view, env.now)?;
        let operator = AccountOperator::of(request);
        let mut shown = review(&view.project, &operator, &self.proposed, &admin.person, &self.language, env.now)?;
        check_requested(&self.proposed, request)?;
        let mut mint = env.mint();
        shown.disclosure_id = mint.id("disc");
        let record = Disclosure {
            key: mint.key(),
            version: 1,
            project: view.project.key,
            id: shown.disclosure_id.clone(),
            person: admin.person.key,
            operator: request.operator.clone(),
            scopes: shown.granted_scope.scopes.clone(),
            max_agent_ttl: None,
            user_policy: self.proposed.policy,
            request: Some(request.key),
            shown: disclosure_digest(&shown)?,
            language: self.language,
            text: shown.mode_disclosure.clone(),
            shown_at: env.now,
            expires_at: env.now.plus_secs(DISCLOSURE_LIFETIME_S),
            spent: false,
        };
        let effects = Effects { puts: vec![Record::Disclosure(record)], ..Effects::default() };
        Ok(Step { answer: shown, effects })
    }
}

/// Step two: the admin confirms exactly what was shown.
pub struct GrantAccount {
    pub proposed: ProposedAccount,
    pub acknowledged: bool,
}

pub struct NewAccount {
    pub grant: Delegation,
    pub claims: ServiceAccountClaims,
    /// The operator's one-time code; none for a grant by command.
    pub code: Option<String>,
    pub redirect: Option<String>,
    pub disclosure: String,
}

impl Operation for GrantAccount {
    type View = GrantView;
    type Answer = NewAccount;
    type Refusal = Refusal;

    fn decide(self, view: &GrantView, env: &Env) -> Result<Step<NewAccount>, Refusal> {
        let admin = entitled_admin(view)?;
        let request = account_request(view, env.now)?;
        check_requested(&self.proposed, request)?;
        let disclosure = view.disclosure.as_ref().filter(|shown| {
            let same = shown.person == admin.person.key && shown.request == Some(request.key);
            same && !shown.spent && env.now < shown.expires_at
        });
        let refused = "disclosure_id is not one that was shown to you for this request; ask for the disclosure again";
        let disclosure = disclosure.ok_or_else(|| Refusal::invalid(refused))?;
        let operator = AccountOperator::of(request);
        let (language, shown_at) = (&disclosure.language, disclosure.shown_at);
        let mut current = review(&view.project, &operator, &self.proposed, &admin.person, language, shown_at)?;
        current.disclosure_id = disclosure.id.clone();
        if disclosure_digest(&current)? != disclosure.shown {
            let why = "this is not what was shown, or the project has changed since; read the disclosure again before confirming";
            return Err(Refusal::invalid(why));
        }
        if !self.acknowledged {
            return Err(Refusal::invalid("acknowledged_disclosure must be true: the grant has to be read first"));
        }
        let mut mint = env.mint();
        let confirmed = Confirmed { admin, shown: disclosure.shown, language };
        let grant = grant(&view.project, &operator, &self.proposed, &confirmed, &mut mint, env.now)?;
        let code = mint.secret("code");
        let progress = ConnectProgress::Approved {
            delegation: grant.key,
            code_hash: Digest::of(code.as_bytes()),
            code_expires_at: env.now.plus_secs(CODE_LIFETIME_S),
        };
        let mut effects = granted_effects(&view.project, &grant, admin, GrantedBy::Admin, &mut mint, env.now)?;
        let spent = Disclosure { spent: true, version: disclosure.version + 1, ..disclosure.clone() };
        effects.puts.push(Record::Disclosure(spent));
        effects.puts.push(Record::ConnectRequest(ConnectRequest {
            progress,
            version: request.version + 1,
            ..request.clone()
        }));
        let answer = NewAccount {
            claims: claims(&grant).ok_or(Refusal::Internal)?,
            redirect: redirect(request, &format!("code={}", percent(&code))),
            code: Some(code),
            disclosure: disclosure.text.clone(),
            grant,
        };
        Ok(Step { answer, effects })
    }
}

/// A grant by command: the admin at the command line saw the same review, and confirmed it.
pub struct CreateAccount<'a> {
    pub admin: &'a ProjectMember,
    pub operator: AccountOperator,
    pub proposed: ProposedAccount,
    pub language: &'a str,
    pub shown: Digest,
    pub shown_at: UnixMillis,
}

impl Operation for CreateAccount<'_> {
    type View = Project;
    type Answer = NewAccount;
    type Refusal = Refusal;

    fn decide(self, project: &Project, env: &Env) -> Result<Step<NewAccount>, Refusal> {
        let (language, shown_at) = (self.language, self.shown_at);
        let current = review(project, &self.operator, &self.proposed, &self.admin.person, language, shown_at)?;
        let recent = shown_at <= env.now && env.now < shown_at.plus_secs(DISCLOSURE_LIFETIME_S);
        if !recent || disclosure_digest(&current)? != self.shown {
            return Err(Refusal::Conflict(
                "the project or the operator's manifest has changed since the grant was shown: run the command again"
                    .into(),
            ));
        }
        let mut mint = env.mint();
        let confirmed = Confirmed { admin: self.admin, shown: self.shown, language };
        let grant = grant(project, &self.operator, &self.proposed, &confirmed, &mut mint, env.now)?;
        let effects = granted_effects(project, &grant, self.admin, GrantedBy::Command, &mut mint, env.now)?;
        let claims = claims(&grant).ok_or(Refusal::Internal)?;
        let answer = NewAccount { claims, code: None, redirect: None, disclosure: current.mode_disclosure, grant };
        Ok(Step { answer, effects })
    }
}

/// The claims of a grant's token. They depend on the row alone; usage limits and the id are not among them (C-06, C-47).
pub fn claims(grant: &Delegation) -> Option<ServiceAccountClaims> {
    let account = grant.service_account.as_deref()?;
    Some(ServiceAccountClaims {
        iss: account.service.clone(),
        sub: account.account_id.clone(),
        delegated_to: grant.operator.clone(),
        authorized_by: account.authorized_by.clone(),
        org_id: account.org_id.clone(),
        granted_scope: account.granted_scope.clone(),
        iat: grant.granted_at.secs(),
        exp: grant.token_expires_at.secs(),
    })
}

/// The grant that a verified token belongs to, among those of its account. The whole token must be the grant's.
pub fn of_token(grants: Vec<Delegation>, presented: &ServiceAccountClaims) -> Option<Delegation> {
    let mut own: Vec<Delegation> =
        grants.into_iter().filter(|grant| claims(grant).as_ref() == Some(presented)).collect();
    let live = own.iter().position(|grant| !grant.is_ended()).unwrap_or(0);
    (live < own.len()).then(|| own.swap_remove(live))
}

/// Who is proven to have granted an account. At the command line only the right to use it is proven: the admin is a name there.
#[derive(Clone, Copy)]
enum GrantedBy {
    Admin,
    Command,
}

struct Confirmed<'a> {
    admin: &'a ProjectMember,
    shown: Digest,
    language: &'a str,
}

fn grant(
    project: &Project,
    operator: &AccountOperator,
    proposed: &ProposedAccount,
    confirmed: &Confirmed<'_>,
    mint: &mut Mint,
    now: UnixMillis,
) -> Result<Delegation, Refusal> {
    let document = &project.document;
    let layers = layers(project, operator, proposed);
    // The displayed durations run from the grant, not from the reading (AAP-8.4-06).
    let (policy, policy_sources) = policy::resolve(&layers.each(), now);
    let policy_expires_at = policy.expires_at.unwrap_or(now);
    let granted_scope = fixed_scope(project, proposed);
    let granted = granted_scope.scopes.iter().filter_map(|id| project::scope(document, id));
    let account = ServiceAccount {
        account_id: proposed.account_id.clone(),
        org_id: proposed.org_id.clone(),
        authorized_by: email(&confirmed.admin.person)?.to_owned(),
        admin: confirmed.admin.person.key,
        service: operator.service.clone(),
        actions: granted.flat_map(|scope| scope.allows.iter().cloned()).collect(),
        granted_scope,
        usage_limits: proposed.usage_limits,
    };
    Ok(Delegation {
        key: mint.key(),
        version: 1,
        project: project.key,
        id: mint.id("del"),
        person: NO_PERSON,
        subject: account.account_id.clone(),
        operator: operator.domain.clone(),
        operator_name: operator.name.clone(),
        scopes: account.granted_scope.scopes.clone(),
        service_account: Some(Box::new(account)),
        max_agent_ttl: document.credential_ttl,
        granted_at: now,
        token_expires_at: now.plus_secs(project::token_duration_s(document)).min(policy_expires_at),
        policy_expires_at,
        idle_check_at: policy.inactivity_timeout.map(|period| now.plus_secs(period)),
        policy,
        policy_sources,
        shown: confirmed.shown,
        language: confirmed.language.to_owned(),
        state: DelegationState::Active,
    })
}

fn granted_effects(
    project: &Project,
    grant: &Delegation,
    admin: &ProjectMember,
    by: GrantedBy,
    mint: &mut Mint,
    now: UnixMillis,
) -> Result<Effects, Refusal> {
    let account = grant.service_account.as_deref().ok_or(Refusal::Internal)?;
    let entry = DraftEntry::new((project.key, &project.id), "delegation_granted", now)
        .under_delegation(grant.key, &grant.id)
        .open("operator", grant.operator.as_str())
        .about(grant)
        .open("scopes", grant.scopes.clone())
        .open("crosses_users", account.granted_scope.crosses_users)
        .open("document_version", project.version)
        .open("shown_sha256", grant.shown.hex())
        .open("shown_language", grant.language.as_str())
        .hidden("resources", account.granted_scope.resources.clone());
    let entry = match by {
        GrantedBy::Admin => entry.open("by", "admin").hidden("authorized_by", account.authorized_by.as_str()),
        GrantedBy::Command => entry.open("by", "service").hidden("named_admin", account.authorized_by.as_str()),
    };
    Ok(Effects {
        // An admin removed concurrently grants nothing.
        guards: admin.guards(),
        puts: vec![Record::Delegation(grant.clone())],
        evidence: vec![entry.seal(mint)?],
        ..Effects::default()
    })
}

fn layers(project: &Project, operator: &AccountOperator, proposed: &ProposedAccount) -> PolicyLayers {
    PolicyLayers {
        service_minimum: project::service_policy(&project.document),
        operator_default: operator.policy.clone(),
        user_override: proposed.policy.clone(),
    }
}

fn fixed_scope(project: &Project, proposed: &ProposedAccount) -> GrantedScope {
    let crosses_users = boundary::crosses_users(&project.document, &proposed.granted_scope.resources);
    GrantedScope { crosses_users, ..proposed.granted_scope.clone() }
}

fn check_proposal(project: &Project, proposed: &ProposedAccount) -> Result<(), Refusal> {
    let document = &project.document;
    if !document.identity_modes_supported.iter().any(|mode| mode == Mode::ServiceAccount.as_str()) {
        return Err(Refusal::ModeNotSupported(Mode::ServiceAccount.as_str().into()));
    }
    if !is_account_id(&proposed.account_id) {
        let why = "account_id must be svc_ and 3 to 64 lower-case letters, digits and underscores";
        return Err(Refusal::invalid(why));
    }
    let org = &proposed.org_id;
    if !(1..=64).contains(&org.len()) || !org.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Refusal::invalid("org_id must have 1 to 64 visible characters"));
    }
    let granted = &proposed.granted_scope;
    if requested_scopes(project, &granted.scopes)?.len() != granted.scopes.len() {
        return Err(Refusal::invalid("granted_scope.scopes names a scope twice"));
    }
    for (n, pattern) in granted.resources.iter().enumerate() {
        let named = |why: String| Refusal::invalid(format!("granted_scope.resources[{n}]: {why}"));
        boundary::check_pattern(document, pattern).map_err(named)?;
        if granted.resources.iter().take(n).any(|earlier| earlier == pattern) {
            return Err(named("stands twice".into()));
        }
    }
    Ok(())
}

/// Only what the operator asked for can be granted to it.
fn check_requested(proposed: &ProposedAccount, request: &ConnectRequest) -> Result<(), Refusal> {
    if proposed.granted_scope.scopes.iter().all(|scope| request.scopes.contains(scope)) {
        return Ok(());
    }
    Err(Refusal::invalid("only scopes that the operator requested can be granted"))
}

fn account_request(view: &GrantView, now: UnixMillis) -> Result<&ConnectRequest, Refusal> {
    let request = open_request(view, now)?;
    if request.mode == Mode::ServiceAccount {
        return Ok(request);
    }
    Err(Refusal::invalid("this request is for a person's delegation, not for a service account"))
}

/// The address that the token names as `authorized_by` (AAP 19.5).
fn email(admin: &Person) -> Result<&str, Refusal> {
    let subject = Some(admin.subject.as_str()).filter(|subject| is_email(subject));
    admin.email.as_deref().or(subject).ok_or_else(|| {
        let why = "your account has no e-mail address, which the token must name: `countersign user email` sets it";
        Refusal::NotAuthorized(why.into())
    })
}
