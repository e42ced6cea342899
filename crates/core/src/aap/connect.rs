//! Bootstrap, first half: a verified operator requests a connection; the person at the request's page answers.

use crate::{
    aap::policy,
    env::Env,
    project,
    records::{ConnectProgress, ConnectRequest, Mode, Project, Record},
    refusal::Refusal,
    step::{Count, Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{delegate::ConnectRequestBody, identity::IdentityManifest},
    facts::VerifiedOperator,
    ids::RowKey,
    project::ProjectDocument,
    time::UnixMillis,
};

/// Seconds until the next minute, after the limit per minute is exhausted.
pub fn retry_after_s(now: UnixMillis) -> i64 {
    60 - now.secs().rem_euclid(60)
}

/// Time for a person to answer.
pub const LIFETIME_S: i64 = 600;

pub struct Connect<'a> {
    pub operator: &'a VerifiedOperator,
    pub identity: &'a IdentityManifest,
    pub body: &'a ConnectRequestBody,
    /// The requested base URI.
    pub service: &'a str,
    /// Requests per minute for one operator in this project.
    pub per_minute: i64,
}

impl Operation for Connect<'_> {
    type View = Project;
    type Answer = ConnectRequest;
    type Refusal = Refusal;

    fn decide(self, project: &Project, env: &Env) -> Result<Step<ConnectRequest>, Refusal> {
        let body = self.body;
        let mode = mode(body.mode.as_deref(), &project.document)?;
        let scopes = requested_scopes(project, &body.scopes)?;
        let callback = self.listed_callback()?;
        let requested_policy = policy::layer("policy", body.policy.as_ref())?;
        let mut mint = env.mint();
        let request = ConnectRequest {
            key: mint.key(),
            version: 1,
            project: project.key,
            id: mint.id("creq"),
            service: self.service.to_owned(),
            operator: self.operator.domain().clone(),
            operator_name: self.identity.operator.clone(),
            operator_disclosure: self.identity.countersign.liability_disclosure.clone(),
            operator_contact: Some(self.identity.contact.clone()),
            operator_policy: self.identity.countersign.auto_revoke_policy.and(&requested_policy),
            mode,
            scopes,
            max_agent_ttl: max_agent_ttl(body.max_agent_ttl)?,
            code_challenge: challenge(body)?,
            state: state(body)?,
            callback,
            expires_at: env.now.plus_secs(LIFETIME_S),
            progress: ConnectProgress::Open,
        };
        let counts = vec![self.count(project.key, env.now)];
        let puts = vec![Record::ConnectRequest(request.clone())];
        let effects = Effects { counts, puts, ..Effects::default() };
        Ok(Step { answer: request, effects })
    }
}

/// Checks of the body before the operator lookup (C-93: form and mode come first).
pub fn check_form(body: &ConnectRequestBody, document: &ProjectDocument) -> Result<(), Refusal> {
    mode(body.mode.as_deref(), document)?;
    challenge(body)?;
    state(body)?;
    policy::layer("policy", body.policy.as_ref())?;
    Ok(())
}

/// There is no default mode (AAP 11.1): absent, null and empty count as missing, any value that the project does not offer
/// as unsupported.
pub fn mode(mode: Option<&str>, document: &ProjectDocument) -> Result<Mode, Refusal> {
    let offered = |mode: &str| document.identity_modes_supported.iter().any(|offered| offered == mode);
    match mode {
        None | Some("") => Err(Refusal::ModeMissing),
        Some(mode) => Mode::parse(mode)
            .filter(|_| offered(mode))
            .ok_or_else(|| Refusal::ModeNotSupported(mode.chars().take(40).collect())),
    }
}

/// The requested scopes, without duplicates; unknown ones are refused.
pub fn requested_scopes(project: &Project, asked: &[String]) -> Result<Vec<String>, Refusal> {
    if asked.is_empty() {
        return Err(Refusal::invalid("scopes must name at least one scope of the discovery manifest"));
    }
    let mut scopes: Vec<String> = Vec::new();
    for id in asked {
        if project::scope(&project.document, id).is_none() {
            return Err(Refusal::invalid(format!("the scope {:?} is not in the discovery manifest", short(id))));
        }
        if !scopes.contains(id) {
            scopes.push(id.clone());
        }
    }
    Ok(scopes)
}

pub(super) fn max_agent_ttl(asked: Option<i64>) -> Result<Option<i64>, Refusal> {
    match asked {
        Some(ttl) if !(300..=86400).contains(&ttl) => Err(Refusal::invalid("max_agent_ttl must be 300 to 86400")),
        asked => Ok(asked),
    }
}

impl Connect<'_> {
    /// Keyed by the verified domain, so no one else can exhaust an operator's limit.
    fn count(&self, project: RowKey, now: UnixMillis) -> Count {
        let minute = now.secs().div_euclid(60);
        Count {
            name: "connect_requests_per_minute",
            key: format!("{project}:connect:{}:{minute}", self.operator.domain()),
            by: 1,
            limit: self.per_minute,
            until: UnixMillis::from_secs((minute + 1) * 60),
        }
    }

    /// A callback must be listed in the operator's own identity manifest.
    fn listed_callback(&self) -> Result<Option<String>, Refusal> {
        let Some(callback) = &self.body.callback else { return Ok(None) };
        if !self.identity.countersign.callbacks.iter().any(|listed| listed.as_str() == callback) {
            let why = "callback must be listed under countersign.callbacks of the operator's identity manifest";
            return Err(Refusal::invalid(why));
        }
        Ok(Some(callback.clone()))
    }
}

fn challenge(body: &ConnectRequestBody) -> Result<String, Refusal> {
    let method = body.code_challenge_method.as_deref().unwrap_or("S256");
    let challenge = body.code_challenge.as_deref().unwrap_or_default();
    let base64url = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if method == "S256" && challenge.len() == 43 && challenge.bytes().all(base64url) {
        return Ok(challenge.to_owned());
    }
    Err(Refusal::invalid("code_challenge must be the base64url SHA-256 of a code verifier (S256)"))
}

fn state(body: &ConnectRequestBody) -> Result<String, Refusal> {
    let state = body.state.as_deref().unwrap_or_default();
    if (8..=512).contains(&state.len()) && state.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(state.to_owned());
    }
    Err(Refusal::invalid("state must be 8 to 512 printable characters that only you can recognise"))
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
