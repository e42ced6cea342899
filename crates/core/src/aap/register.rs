//! Registration: exchanges verified operator, delegation and receipt for a short-lived access token (AAP 17.1).

use crate::{
    aap::{delegate, ignored, validity},
    env::{Env, Mint},
    evidence::DraftEntry,
    project::{self, USER_DELEGATED},
    records::{AccessToken, Delegation, Project, Receipt, Record, Session, SessionKey, SessionState, Table},
    refusal::Refusal,
    step::{Effects, EvidenceDraft, Guard, Operation, SpentProof, Step},
};
use countersign_protocol::{
    aap::{
        identity::IdentityManifest,
        policy::EffectivePolicy,
        register::{IgnoredMember, RegisterRequest, RegisterResponse},
    },
    facts::{VerifiedDelegation, VerifiedOperator, VerifiedReceipt},
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};

/// Most live access tokens per session; the oldest is dropped (C-65).
const LIVE_TOKENS: usize = 8;

/// Verified input. An invalid operator or delegation token is refused before.
pub struct Register<'a> {
    pub body: &'a RegisterRequest,
    pub operator: &'a VerifiedOperator,
    /// The operator's published manifest.
    pub identity: &'a IdentityManifest,
    /// Whether the operator has a webhook secret in this project.
    pub enrolled: bool,
    /// Fetch time of the key set with the operator's key.
    pub key_seen_at: UnixMillis,
    pub delegation: Option<&'a VerifiedDelegation>,
    /// An invalid receipt is refused in its turn, after the delegation (C-93).
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
    pub receipt_revoked: bool,
    /// The session that already owns the proof's key.
    pub key_holder: Option<Session>,
}

impl Operation for Register<'_> {
    type View = RegisterView;
    type Answer = RegisterResponse;
    type Refusal = Refusal;

    fn decide(self, view: &RegisterView, env: &Env) -> Result<Step<RegisterResponse>, Refusal> {
        self.check_key(view)?;
        let delegation = self.valid_delegation(view, env.now)?;
        let receipt = self.valid_receipt(view, delegation, env.now)?;
        check_delegated(view, delegation)?;
        check_consented(view, receipt.as_ref())?;
        check_scopes(receipt.as_ref(), delegation)?;
        let mut mint = env.mint();
        let (session, opened) = self.session(view, delegation, receipt, &mut mint, env.now)?;
        let new_key = self.proof.filter(|_| view.key_holder.is_none()).map(|proof| proof.jkt);
        let joined =
            new_key.map(|jkt| join(view, delegation, &session, opened, jkt, &mut mint, env.now)).transpose()?;
        let token_key = self.proof.map(|proof| proof.jkt);
        let issued = issue(view, delegation, session, opened, token_key, &mut mint, env.now)?;
        let mut step = issued.and(joined.unwrap_or_default());
        step.effects.proof = self.proof.cloned();
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
    if holder.subject == subject {
        return Ok(None);
    }
    let entry = DraftEntry::new((view.project.key, &view.project.id), "dpop_key_shared", env.now)
        .in_session(holder.key, &holder.session_id)
        .open("operator", holder.operator.as_str())
        .open("mode", USER_DELEGATED)
        .hidden_if("acting_for", holder.subject.clone());
    Ok(Some(EvidenceDraft { delegation: holder.delegation, ..entry.seal(&mut env.mint())? }))
}

/// Tier 2 requires a delegation (AAP 8.1).
fn check_delegated(view: &RegisterView, delegation: Option<&Delegation>) -> Result<(), Refusal> {
    match (delegation, view.project.document.minimum_tier) {
        (None, needed @ 2..) => Err(Refusal::TierNotMet { needed, has: 1 }),
        _ => Ok(()),
    }
}

/// Tier 3 requires a receipt (AAP 2.2, 17.1). A continued session keeps its receipt.
fn check_consented(view: &RegisterView, receipt: Option<&Receipt>) -> Result<(), Refusal> {
    let needed = view.project.document.minimum_tier >= 3;
    if needed && receipt.is_none() { Err(Refusal::ConsentMissing) } else { Ok(()) }
}

/// Checks of the body before any verification (C-93).
pub fn check_form(body: &RegisterRequest) -> Result<&str, Refusal> {
    crate::aap::connect::mode(body.mode.as_deref())?;
    let jwt = body.operator_jwt.as_deref().filter(|jwt| !jwt.is_empty());
    jwt.ok_or_else(|| Refusal::invalid("operator_jwt is required and must be a string"))
}

impl Register<'_> {
    fn ignored(&self) -> Vec<IgnoredMember> {
        let receipt = self.receipt.as_ref().and_then(|receipt| receipt.as_ref().ok());
        let of_receipt = receipt.and_then(|receipt| ignored::of_receipt(receipt.claims().heartbeat));
        ignored::of_operator(self.identity, self.enrolled).into_iter().chain(of_receipt).collect()
    }

    fn valid_delegation<'v>(&self, view: &'v RegisterView, now: UnixMillis) -> Result<Option<&'v Delegation>, Refusal> {
        let Some(presented) = self.delegation else { return Ok(None) };
        let delegation = view.delegation.as_ref().ok_or(Refusal::DelegationNotFound)?;
        validity::check_delegation(delegation, now)?;
        let claims = presented.claims();
        let mismatch = |why: &str| Err(Refusal::DelegationMismatch(why.to_owned()));
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
        Ok(Some(delegation))
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
            receipt: receipt.clone(),
            operator_kid: self.operator.kid().to_owned(),
            key_seen_at: self.key_seen_at,
            jkt: session.jkt.or(self.proof.map(|proof| proof.jkt)),
            state: SessionState::Open,
            ..session
        };
        if let Some(session) = &view.session {
            let opened = continued_session(session, delegation, receipt.as_ref())?;
            // Without a new receipt the session keeps its earlier one: consent cannot be dropped.
            let receipt = receipt.clone().or_else(|| session.receipt.clone());
            let next = Session { version: session.version + 1, ..session.clone() };
            return Ok((Session { receipt, ..fresh(next) }, opened));
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
            delegation: delegation.map(|d| d.key),
            subject: delegation.map(|d| d.subject.clone()),
            receipt: None,
            operator_kid: String::new(),
            key_seen_at: self.key_seen_at,
            opened_at: now,
            state: SessionState::Open,
            jkt: None,
            tokens: Vec::new(),
        };
        Ok((fresh(session), RegisteredSession::New))
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisteredSession {
    New,
    Again,
    Same,
}

/// A session belongs to one user and one delegation. A closed session reopens only with fresh consent.
fn continued_session(
    session: &Session,
    delegation: Option<&Delegation>,
    receipt: Option<&Receipt>,
) -> Result<RegisteredSession, Refusal> {
    if session.delegation != delegation.map(|d| d.key) {
        return Err(Refusal::DelegationMismatch("this session belongs to another delegation".into()));
    }
    let had = session.receipt.as_ref().map(|r| r.said);
    let fresh_consent = receipt.is_some_and(|receipt| Some(receipt.said) != had);
    match &session.state {
        SessionState::Open => Ok(RegisteredSession::Same),
        SessionState::Closed { why: crate::records::SessionEnd::KeyWithdrawn, .. } => Ok(RegisteredSession::Again),
        SessionState::Closed { .. } if fresh_consent => Ok(RegisteredSession::Again),
        SessionState::Closed { .. } => {
            Err(Refusal::ConsentInvalid("this session was cancelled; a new receipt is needed".into()))
        }
    }
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
        RegisteredSession::Same | RegisteredSession::Again => {
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
    token_key: Option<Digest>,
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
    delegation.map_or(ttl, |delegation| ttl.min(delegation.max_agent_ttl))
}

fn session_entry(
    event_type: &'static str,
    view: &RegisterView,
    delegation: Option<&Delegation>,
    session: &Session,
    now: UnixMillis,
) -> DraftEntry {
    let entry = DraftEntry::new((view.project.key, &view.project.id), event_type, now)
        .in_session(session.key, &session.session_id)
        .open("operator", session.operator.as_str())
        .open("mode", USER_DELEGATED)
        .open("document_version", view.project.version)
        .hidden_if("acting_for", session.subject.clone())
        .hidden_if("receipt_sha256", session.receipt.as_ref().map(|r| r.sha256.hex()));
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
