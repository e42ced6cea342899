//! Registration: exchanges verified operator, delegation and receipt for a short-lived access token (AAP 17.1).

use crate::{
    aap::{
        delegate, heartbeat, ignored,
        registry::{self, REGISTRY_TIER},
        validity,
    },
    env::{Env, Mint},
    evidence::DraftEntry,
    project,
    records::{
        AccessToken, Delegation, Heartbeat, Mode, Project, Receipt, Record, SeenStanding, Session, SessionAccount,
        SessionEnd, SessionKey, SessionState, Table,
    },
    refusal::Refusal,
    step::{Effects, EvidenceDraft, Guard, Operation, SpentProof, Step},
};
use countersign_protocol::{
    aap::{
        consent_receipt::ConsentMethod,
        identity::IdentityManifest,
        policy::EffectivePolicy,
        register::{IgnoredMember, RegisterRequest, RegisterResponse},
    },
    facts::{VerifiedDelegation, VerifiedGrant, VerifiedOperator, VerifiedReceipt, VerifiedServiceAccount},
    hash::Digest,
    ids::RowKey,
    project::ProjectDocument,
    time::UnixMillis,
};

/// Most live access tokens per session; the oldest is dropped (C-65).
const LIVE_TOKENS: usize = 8;
/// Earlier receipts that a session remembers while they would still be valid.
const EARLIER_RECEIPTS: usize = 64;

/// Verified input. An invalid operator JWT is refused before; an invalid delegation token or receipt in its turn (C-93).
pub struct Register<'a> {
    pub body: &'a RegisterRequest,
    pub mode: Mode,
    pub operator: &'a VerifiedOperator,
    /// The operator's published manifest.
    pub identity: &'a IdentityManifest,
    /// The operator's standing with model providers, where it is needed and could be read.
    pub standing: Option<SeenStanding>,
    /// Whether the operator has a webhook secret in this project.
    pub enrolled: bool,
    /// Fetch time of the key set with the operator's key.
    pub key_seen_at: UnixMillis,
    pub delegation: Option<Result<&'a VerifiedGrant, Refusal>>,
    pub receipt: Option<Result<&'a VerifiedReceipt, Refusal>>,
    /// The request's proof. The token is bound to its key (AAP 18.1).
    pub proof: Option<&'a SpentProof>,
    /// Published vectors have session ids that are too short to be safe (C-51).
    pub test_mode: bool,
}

pub struct RegisterView {
    pub project: Project,
    /// The delegation named in the token, if it exists in this project.
    pub delegation: Option<Delegation>,
    /// The session named in the receipt or the body.
    pub session: Option<Session>,
    /// Whether its audit has a call, such as a refused one: its modes are fixed from then on (C-54).
    pub session_used: bool,
    /// Whether what it did before its end is still being undone.
    pub rolling_back: bool,
    pub receipt_revoked: bool,
    /// The watch on the session's heartbeats.
    pub heartbeat: Option<Heartbeat>,
    /// The session that already owns the proof's key.
    pub key_holder: Option<Session>,
}

impl Operation for Register<'_> {
    type View = RegisterView;
    type Answer = RegisterResponse;
    type Refusal = Refusal;

    fn decide(self, view: &RegisterView, env: &Env) -> Result<Step<RegisterResponse>, Refusal> {
        self.check_key(view)?;
        let document = &view.project.document;
        registry::check_webhook(document, self.identity)?;
        registry::check_not_suspended(self.standing.as_ref())?;
        let delegation = self.valid_delegation(view, env.now)?;
        let receipt = self.valid_receipt(view, delegation, env.now)?;
        self.check_consented(view, receipt.as_ref())?;
        check_delegated(view, delegation)?;
        if document.minimum_tier >= REGISTRY_TIER {
            registry::check_listed(self.standing.as_ref(), document, env.now)?;
        }
        check_scopes(receipt.as_ref(), delegation)?;
        let mut mint = env.mint();
        let (session, opened) = self.session(view, delegation, receipt, &mut mint, env.now)?;
        let new_key = self.proof.filter(|_| view.key_holder.is_none()).map(|proof| proof.jkt);
        let joined =
            new_key.map(|jkt| join(view, delegation, &session, opened, jkt, &mut mint, env.now)).transpose()?;
        let goes_on = matches!(opened, RegisteredSession::Same | RegisteredSession::Joined);
        let watch = heartbeat::watch(&session, view.heartbeat.as_ref(), goes_on, env.now, &mut mint);
        let token_key = self.proof.map(|proof| proof.jkt);
        let issued = issue(view, delegation, session, opened, (self.mode, token_key), &mut mint, env.now)?;
        let mut step = issued.and(joined.unwrap_or_default());
        step.effects.proof = self.proof.cloned();
        step.effects.puts.extend(watch);
        step.answer.ignored = self.ignored();
        Ok(step)
    }
}

/// The effects of a refused registration: its proof is used, for any reason of refusal.
pub fn record_refusal(
    view: &RegisterView,
    proof: Option<&SpentProof>,
    why: &Refusal,
    env: &Env,
) -> Result<Effects, Refusal> {
    let shared = match why {
        Refusal::DpopInvalid(_) => shared_key(view, env)?,
        _ => None,
    };
    Ok(Effects { proof: proof.cloned(), evidence: shared.into_iter().collect(), ..Effects::default() })
}

/// A registration with the key of another person's session is recorded in that person's audit (AAP 18.1).
fn shared_key(view: &RegisterView, env: &Env) -> Result<Option<EvidenceDraft>, Refusal> {
    let Some(holder) = &view.key_holder else { return Ok(None) };
    let subject = view.delegation.as_ref().map(|delegation| delegation.subject.clone());
    let account = holder.service_account.as_ref().map(|account| account.account_id.clone());
    if holder.subject == subject || (account.is_some() && account == subject) {
        return Ok(None);
    }
    let entry = DraftEntry::new((view.project.key, &view.project.id), "dpop_key_shared", env.now)
        .in_session(holder.key, &holder.session_id)
        .open("operator", holder.operator.as_str());
    // A session of a service account alone acts for no person.
    let (entry, delegation) = match &holder.service_account {
        Some(account) if !holder.user_delegated => {
            let entry =
                entry.open("mode", Mode::ServiceAccount.as_str()).open("account_id", account.account_id.as_str());
            (entry, Some(account.delegation))
        }
        _ => {
            let entry = entry.open("mode", Mode::UserDelegated.as_str());
            (entry.hidden_if("acting_for", holder.subject.clone()), holder.delegation)
        }
    };
    Ok(Some(EvidenceDraft { delegation, ..entry.seal(&mut env.mint())? }))
}

/// Tier 2 requires a delegation (AAP 8.1).
fn check_delegated(view: &RegisterView, delegation: Option<&Delegation>) -> Result<(), Refusal> {
    match (delegation, view.project.document.minimum_tier) {
        (None, needed @ 2..) => Err(Refusal::TierNotMet { needed, has: 1 }),
        _ => Ok(()),
    }
}

/// Checks of the body before any verification (C-93).
pub fn check_form<'b>(body: &'b RegisterRequest, document: &ProjectDocument) -> Result<(Mode, &'b str), Refusal> {
    let jwt = body.operator_jwt.as_deref().filter(|jwt| !jwt.is_empty());
    let jwt = jwt.ok_or_else(|| Refusal::invalid("operator_jwt is required and must be a string"))?;
    let mode = crate::aap::connect::mode(body.mode.as_deref(), document)?;
    if mode == Mode::ServiceAccount && delegation_token(body, mode)?.is_none() {
        return Err(Refusal::invalid("delegation_token is required in the mode service_account"));
    }
    Ok((mode, jwt))
}

/// The delegation token, under either of its names in mode B (C-23).
pub fn delegation_token(body: &RegisterRequest, mode: Mode) -> Result<Option<&str>, Refusal> {
    match (mode, body.delegation_token.as_deref(), body.svc_delegation.as_deref()) {
        (Mode::UserDelegated, token, _) => Ok(token),
        (Mode::ServiceAccount, Some(token), Some(alias)) if token != alias => {
            Err(Refusal::invalid("delegation_token and svc_delegation are the same member: send one of them"))
        }
        (Mode::ServiceAccount, token, alias) => Ok(token.or(alias)),
    }
}

impl Register<'_> {
    fn ignored(&self) -> Vec<IgnoredMember> {
        ignored::of_operator(self.identity, self.enrolled)
    }

    fn valid_delegation<'v>(&self, view: &'v RegisterView, now: UnixMillis) -> Result<Option<&'v Delegation>, Refusal> {
        let Some(presented) = &self.delegation else { return Ok(None) };
        match (self.mode, *presented.as_ref().map_err(Clone::clone)?) {
            (Mode::UserDelegated, VerifiedGrant::User(token)) => self.valid_user_delegation(token, view, now).map(Some),
            (Mode::ServiceAccount, VerifiedGrant::ServiceAccount(token)) => {
                self.valid_service_account(token, view, now).map(Some)
            }
            (Mode::UserDelegated, _) => mismatch("the delegation token is a service account's, and the mode is not"),
            (Mode::ServiceAccount, _) => mismatch("the delegation token is a person's, and the mode is not"),
        }
    }

    fn valid_service_account<'v>(
        &self,
        presented: &VerifiedServiceAccount,
        view: &'v RegisterView,
        now: UnixMillis,
    ) -> Result<&'v Delegation, Refusal> {
        let grant = view.delegation.as_ref().ok_or(Refusal::DelegationNotFound)?;
        validity::check_delegation(grant, now)?;
        let (claims, body) = (presented.claims(), self.body);
        if claims.delegated_to != *self.operator.domain() {
            return mismatch("the service account was granted to another operator");
        }
        let echoes = [
            ("operator", &body.operator, claims.delegated_to.as_str()),
            ("account_id", &body.account_id, claims.sub.as_str()),
            ("authorized_by", &body.authorized_by, claims.authorized_by.as_str()),
            ("org_id", &body.org_id, claims.org_id.as_str()),
            ("delegation_id", &body.delegation_id, grant.id.as_str()),
        ];
        if let Some((name, ..)) = echoes.iter().find(|(_, echo, own)| echo.as_ref().is_some_and(|echo| echo != own)) {
            return mismatch(&format!("{name} differs from the delegation token's"));
        }
        let granted = serde_json::to_value(&claims.granted_scope).ok();
        if body.granted_scope.is_some() && body.granted_scope != granted {
            return mismatch("granted_scope differs from the delegation token's");
        }
        Ok(grant)
    }

    fn valid_user_delegation<'v>(
        &self,
        presented: &VerifiedDelegation,
        view: &'v RegisterView,
        now: UnixMillis,
    ) -> Result<&'v Delegation, Refusal> {
        let delegation = view.delegation.as_ref().ok_or(Refusal::DelegationNotFound)?;
        validity::check_delegation(delegation, now)?;
        if presented.is_expired(now) {
            return Err(Refusal::DelegationExpired);
        }
        let claims = presented.claims();
        if claims.delegated_to != *self.operator.domain() || delegation.operator != claims.delegated_to {
            return mismatch("the delegation was given to another operator");
        }
        if claims.sub != delegation.subject {
            return mismatch("the delegation token names another user than the delegation");
        }
        if self.body.acting_for.as_ref().is_some_and(|who| *who != claims.sub) {
            return mismatch("acting_for names another user than the delegation token");
        }
        if self.body.delegation_id.as_ref().is_some_and(|id| *id != claims.delegation_id) {
            return mismatch("delegation_id names another delegation than the delegation token");
        }
        Ok(delegation)
    }

    /// Tier 3 requires a receipt (AAP 2.2, 17.1), or an admin's grant (C-50). A continued session keeps its receipt.
    fn check_consented(&self, view: &RegisterView, receipt: Option<&Receipt>) -> Result<(), Refusal> {
        let needed = self.mode == Mode::UserDelegated && view.project.document.minimum_tier >= 3;
        if needed && receipt.is_none() { Err(Refusal::ConsentMissing) } else { Ok(()) }
    }

    fn valid_receipt(
        &self,
        view: &RegisterView,
        delegation: Option<&Delegation>,
        now: UnixMillis,
    ) -> Result<Option<Receipt>, Refusal> {
        let Some(presented) = &self.receipt else { return Ok(None) };
        let presented = presented.as_ref().map_err(Clone::clone)?;
        let claims = presented.claims();
        if self.mode == Mode::ServiceAccount && claims.consent_method != ConsentMethod::AdminBootstrap {
            let why = "in the mode service_account its consent_method must be admin_bootstrap";
            return Err(Refusal::ConsentInvalid(why.into()));
        }
        check_lifetime(view, claims.exp.saturating_sub(claims.iat))?;
        let Some(delegation) = delegation else {
            // If a delegation is required anyway, its absence is the error to report (AAP 8.1).
            check_delegated(view, None)?;
            return Err(Refusal::ConsentInvalid("a receipt needs the delegation token that it names".into()));
        };
        if claims.sub != delegation.subject {
            return Err(Refusal::DelegationMismatch(
                "the consent receipt names another user than the delegation".into(),
            ));
        }
        if claims.delegation_id != delegation.id {
            return Err(Refusal::DelegationMismatch("the consent receipt names another delegation".into()));
        }
        if self.body.session_id.as_ref().is_some_and(|id| *id != claims.session_id) {
            return Err(Refusal::ConsentInvalid("session_id names another session than the receipt".into()));
        }
        if view.receipt_revoked {
            return Err(Refusal::ConsentRevoked);
        }
        let receipt = Receipt {
            sha256: *presented.sha256(),
            said: *presented.signing_input_sha256(),
            scopes: claims.scopes.clone(),
            issued_at: UnixMillis::from_secs(claims.iat),
            expires_at: UnixMillis::from_secs(claims.exp),
            window: claims.execution_window.map(|w| (w.earliest, w.latest)),
            limits: claims.usage_limits.unwrap_or_default(),
            heartbeat_s: claims.heartbeat_interval,
        };
        validity::check_receipt(&receipt, now)?;
        Ok(Some(receipt))
    }

    /// A key belongs to one session (AAP 18.1), and a session cannot drop its key. A second key joins only with a receipt,
    /// which links both to the task approved by the person (AAP 12.1).
    fn check_key(&self, view: &RegisterView) -> Result<(), Refusal> {
        let key = self.proof.map(|proof| proof.jkt);
        let elsewhere = |holder: &Session| view.session.as_ref().is_none_or(|session| session.key != holder.key);
        if view.key_holder.as_ref().is_some_and(elsewhere) {
            return Err(Refusal::DpopInvalid("its key belongs to another session; make one for each".into()));
        }
        match (view.session.as_ref().and_then(|session| session.jkt), key) {
            (Some(_), None) => Err(Refusal::DpopMissing("this session is bound to a key")),
            (Some(_), Some(_)) if view.key_holder.is_none() && self.receipt.is_none() => Err(Refusal::DpopInvalid(
                "this session is bound to another key; a second key joins it with the session's consent receipt".into(),
            )),
            _ => Ok(()),
        }
    }

    /// The continued session or a new one, and which of the two.
    fn session(
        &self,
        view: &RegisterView,
        delegation: Option<&Delegation>,
        receipt: Option<Receipt>,
        mint: &mut Mint,
        now: UnixMillis,
    ) -> Result<(Session, RegisteredSession), Refusal> {
        let by_receipt = self.receipt.as_ref().and_then(|r| r.as_ref().ok()).map(|r| r.claims().session_id.as_str());
        let asked = by_receipt.or(self.body.session_id.as_deref());
        let fresh = |session: Session| Session {
            operator_kid: self.operator.kid().to_owned(),
            key_seen_at: self.key_seen_at,
            standing: self.standing.clone(),
            jkt: session.jkt.or(self.proof.map(|proof| proof.jkt)),
            state: SessionState::Open,
            ..session
        };
        if let Some(session) = &view.session {
            let opened = self.continued_session(view, session, delegation, receipt.as_ref())?;
            // What was approved for a task ends with it, and with its receipt.
            let again = opened == RegisteredSession::Again;
            let expansions = if again { Vec::new() } else { session.expansions.clone() };
            let next = Session { version: session.version + 1, expansions, ..session.clone() };
            let key_was_withdrawn = matches!(session.state, SessionState::Closed { why: SessionEnd::KeyWithdrawn, .. });
            let new_task = again && !key_was_withdrawn;
            // New consent in one mode opens a cancelled session for that mode alone.
            let next = if new_task { Session { opened_at: now, ..next.only(self.mode) } } else { next };
            let next = self.with_mode(fresh(next), delegation, receipt);
            let next = next.remember_receipts(session, new_task, validity::receipt_ends_at, now);
            if next.earlier_receipts.len() > EARLIER_RECEIPTS {
                let why = "this session has had too many consent receipts; use a new session_id";
                return Err(Refusal::ConsentInvalid(why.into()));
            }
            return Ok((next, opened));
        }
        let session_id = match asked {
            Some(id) => self.sound_session_id(id)?,
            None => mint.id("sess"),
        };
        let session = Session {
            key: mint.key(),
            version: 1,
            project: view.project.key,
            operator: self.operator.domain().clone(),
            session_id,
            user_delegated: false,
            service_account: None,
            modes_fixed: false,
            former: Vec::new(),
            delegation: None,
            subject: None,
            receipt: None,
            expansions: Vec::new(),
            earlier_receipts: Vec::new(),
            operator_kid: String::new(),
            key_seen_at: self.key_seen_at,
            standing: None,
            opened_at: now,
            state: SessionState::Open,
            jkt: None,
            tokens: Vec::new(),
        };
        Ok((self.with_mode(fresh(session), delegation, receipt), RegisteredSession::New))
    }

    /// The session with the registered mode. Without a new receipt a mode keeps its earlier one: consent cannot be dropped.
    fn with_mode(&self, session: Session, delegation: Option<&Delegation>, receipt: Option<Receipt>) -> Session {
        let receipt = receipt.or_else(|| session.receipt_in(self.mode).cloned());
        match (self.mode, delegation) {
            (Mode::ServiceAccount, Some(grant)) => {
                let (delegation, account_id) = (grant.key, grant.subject.clone());
                Session { service_account: Some(SessionAccount { delegation, account_id, receipt }), ..session }
            }
            (_, delegation) => Session {
                expansions: match replaces(session.receipt.as_ref(), receipt.as_ref()) {
                    true => Vec::new(),
                    false => session.expansions.clone(),
                },
                user_delegated: true,
                delegation: delegation.map(|d| d.key),
                subject: delegation.map(|d| d.subject.clone()),
                receipt,
                ..session
            },
        }
    }

    /// A session belongs to one user, and to one delegation a mode. The other mode may join it until its first call
    /// (C-54). A closed session reopens only with fresh consent.
    fn continued_session(
        &self,
        view: &RegisterView,
        session: &Session,
        delegation: Option<&Delegation>,
        receipt: Option<&Receipt>,
    ) -> Result<RegisteredSession, Refusal> {
        let joins = match self.mode {
            Mode::UserDelegated => !session.user_delegated,
            Mode::ServiceAccount => session.service_account.is_none(),
        };
        if joins && (session.modes_fixed || view.session_used) {
            return Err(Refusal::ModesFrozen(self.mode.as_str()));
        }
        let mut former = session.former.iter().filter(|former| former.mode == self.mode);
        if joins && former.any(|former| former.delegation != delegation.map(|d| d.key)) {
            return mismatch("this session belongs to another delegation");
        }
        if !joins && session.delegation_in(self.mode) != delegation.map(|d| d.key) {
            return mismatch("this session belongs to another delegation");
        }
        if receipt.is_some_and(|receipt| session.is_receipt_over(receipt)) {
            return Err(Refusal::ConsentInvalid("its task in this session has ended; a new receipt is needed".into()));
        }
        let fresh_consent = receipt.is_some_and(|receipt| session.receipts_ever().all(|had| had != receipt.said));
        match &session.state {
            SessionState::Open if joins => Ok(RegisteredSession::Joined),
            SessionState::Open => Ok(RegisteredSession::Same),
            // What it did from now on would be undone, too.
            SessionState::Closed { .. } if view.rolling_back => Err(Refusal::Conflict(
                "this session was cancelled and is being undone; register again when that has ended, in five minutes at most"
                    .into(),
            )),
            SessionState::Closed { why: SessionEnd::KeyWithdrawn, .. } => Ok(RegisteredSession::Again),
            SessionState::Closed { .. } if fresh_consent => Ok(RegisteredSession::Again),
            SessionState::Closed { .. } if self.mode == Mode::ServiceAccount => {
                Err(Refusal::ConsentInvalid("this session was cancelled; use a new session_id".into()))
            }
            SessionState::Closed { .. } => {
                Err(Refusal::ConsentInvalid("this session was cancelled; a new receipt is needed".into()))
            }
        }
    }

    /// An operator's session id must be as hard to guess as a UUID v4 (AAP 13.3, C-51).
    fn sound_session_id(&self, id: &str) -> Result<String, Refusal> {
        let printable = (8..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
        if printable && (self.test_mode || entropy_bits(id) >= 122.0) {
            return Ok(id.to_owned());
        }
        let why = "session_id is too easy to guess; use a UUID v4 or 128 random bits";
        Err(if self.receipt.is_some() { Refusal::ConsentInvalid(why.into()) } else { Refusal::invalid(why) })
    }
}

fn replaces(had: Option<&Receipt>, receipt: Option<&Receipt>) -> bool {
    had.map(|receipt| receipt.said) != receipt.map(|receipt| receipt.said)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisteredSession {
    New,
    /// Open in its other mode.
    Joined,
    Again,
    Same,
}

fn mismatch<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal::DelegationMismatch(why.to_owned()))
}

/// Consent to a task lasts hours or days, not for ever (AAP glossary, AAP-G-13).
fn check_lifetime(view: &RegisterView, life_s: i64) -> Result<(), Refusal> {
    let document = &view.project.document;
    if life_s <= project::max_receipt_duration_s(document) {
        return Ok(());
    }
    let most = &document.max_receipt_duration;
    Err(Refusal::ConsentInvalid(format!(
        "its lifetime from iat to exp is {life_s} seconds, and the maximum here is {most}"
    )))
}

/// A receipt may narrow the delegation's scopes, never widen them (AAP 12.3).
fn check_scopes(receipt: Option<&Receipt>, delegation: Option<&Delegation>) -> Result<(), Refusal> {
    let (Some(receipt), Some(delegation)) = (receipt, delegation) else { return Ok(()) };
    match receipt.scopes.iter().find(|scope| !delegation.scopes.contains(scope)) {
        Some(beyond) => Err(Refusal::ScopeNotGranted(format!(
            "the consent receipt names the scope {:?}, which the delegation does not grant",
            beyond.chars().take(60).collect::<String>()
        ))),
        None => Ok(()),
    }
}

/// Adds a key to the session. Rows of keys are unique, so of two sessions that bring one key concurrently the later is
/// decided again. The start entry of a new session contains its first key.
fn join(
    view: &RegisterView,
    delegation: Option<&Delegation>,
    session: &Session,
    opened: RegisteredSession,
    jkt: Digest,
    mint: &mut Mint,
    now: UnixMillis,
) -> Result<Effects, Refusal> {
    let key = SessionKey { key: mint.key(), version: 1, project: view.project.key, session: session.key, jkt };
    let evidence = match opened {
        RegisteredSession::New => Vec::new(),
        RegisteredSession::Same | RegisteredSession::Again | RegisteredSession::Joined => {
            let entry = session_entry("session_key_added", view, delegation, session, now);
            vec![entry.open("jkt", jkt.base64url()).seal(mint)?]
        }
    };
    Ok(Effects { puts: vec![Record::SessionKey(key)], evidence, ..Effects::default() })
}

fn issue(
    view: &RegisterView,
    delegation: Option<&Delegation>,
    mut session: Session,
    opened: RegisteredSession,
    (mode, token_key): (Mode, Option<Digest>),
    mint: &mut Mint,
    now: UnixMillis,
) -> Result<Step<RegisterResponse>, Refusal> {
    let secret = mint.secret("aat");
    let expires_in = lifetime_s(view, delegation);
    let token = AccessToken {
        key: mint.key(),
        version: 1,
        project: view.project.key,
        hash: Digest::of(secret.as_bytes()),
        session: session.key,
        mode,
        expires_at: now.plus_secs(expires_in),
        jkt: token_key,
    };
    session.tokens.push(token.key);
    // A reopened session does not revive its earlier tokens.
    let live = if opened == RegisteredSession::Again { 1 } else { LIVE_TOKENS };
    let dropped = session.tokens.len().saturating_sub(live);
    let removes: Vec<(Table, RowKey)> = session.tokens.drain(..dropped).map(|key| (Table::AccessToken, key)).collect();
    let evidence = match opened {
        RegisteredSession::Same => Vec::new(),
        RegisteredSession::New => {
            let entry = session_entry("session_started", view, delegation, &session, now);
            vec![entry.open_if("jkt", token_key.map(|jkt| jkt.base64url())).seal(mint)?]
        }
        RegisteredSession::Joined => {
            vec![session_entry("session_mode_added", view, delegation, &session, now).seal(mint)?]
        }
        RegisteredSession::Again => {
            vec![session_entry("session_reopened", view, delegation, &session, now).seal(mint)?]
        }
    };
    let guards = delegation.map(|d| Guard { table: Table::Delegation, key: d.key, version: d.version });
    let answer = RegisterResponse {
        access_token: secret,
        token_type: if token_key.is_some() { "DPoP" } else { "Bearer" }.into(),
        expires_in,
        session_id: session.session_id.clone(),
        delegation_id: delegation.filter(|d| d.service_account.is_some()).map(|d| d.id.clone()),
        effective_policy: delegation.map_or_else(EffectivePolicy::default, delegate::effective_policy),
        effective_policy_sources: delegation.map(|d| d.policy_sources.clone()).unwrap_or_default(),
        ignored: Vec::new(),
    };
    let puts = vec![Record::Session(session), Record::AccessToken(token)];
    let effects = Effects { guards: guards.into_iter().collect(), puts, removes, evidence, ..Effects::default() };
    Ok(Step { answer, effects })
}

/// The shorter of the two lifetimes (AAP 8.1, 5.2). The ends of delegation and receipt are checked on every call, which
/// then reports the reason: a token that ended with them could only be reported as expired.
fn lifetime_s(view: &RegisterView, delegation: Option<&Delegation>) -> i64 {
    let ttl = view.project.document.credential_ttl;
    // A service account's token has no cap of its own (C-47).
    delegation.filter(|d| d.mode() == Mode::UserDelegated).map_or(ttl, |delegation| ttl.min(delegation.max_agent_ttl))
}

fn session_entry(
    event_type: &'static str,
    view: &RegisterView,
    delegation: Option<&Delegation>,
    session: &Session,
    now: UnixMillis,
) -> DraftEntry {
    let mode = delegation.map_or(Mode::UserDelegated, Delegation::mode);
    let entry = DraftEntry::new((view.project.key, &view.project.id), event_type, now)
        .in_session(session.key, &session.session_id)
        .open("operator", session.operator.as_str())
        .open("mode", mode.as_str())
        .open("document_version", view.project.version)
        .open_if("operator_kid", Some(session.operator_kid.as_str()).filter(|kid| !kid.is_empty()))
        .hidden_if("receipt_sha256", session.receipt_in(mode).map(|r| r.sha256.hex()));
    let entry = match mode {
        Mode::UserDelegated => entry.hidden_if("acting_for", session.subject.clone()),
        Mode::ServiceAccount => entry.open_if("account_id", delegation.map(|d| d.subject.clone())),
    };
    match delegation {
        Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
        None => entry,
    }
}

/// An upper estimate: the entropy if the characters were random.
fn entropy_bits(id: &str) -> f64 {
    let tail = id.rsplit('_').next().unwrap_or(id);
    let hex_like = tail.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let digits = tail.bytes().filter(|b| *b != b'-').count() as f64;
    if tail.bytes().all(|b| b.is_ascii_digit()) {
        return digits * 3.32;
    }
    digits * if hex_like { 4.0 } else { 5.95 }
}
