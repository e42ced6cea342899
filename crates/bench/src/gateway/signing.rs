//! Requests signed ahead: each with its own proof, by one agent after the other.

use super::messages::{AgentKeyFile, AgentSession, ContenderReady, Prepared};
use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_engine::Clock;
use countersign_jose::{ProofKey, SigningKey};
use std::{cell::Cell, path::Path, rc::Rc};

pub(super) const AGENTS: usize = 1000;
/// A prime, so that all agents take part, out of order, for any number of them.
const STRIDE: usize = 7919;

/// The same keys for every contender.
pub(super) struct Keys {
    pub(super) agents: Vec<ProofKey>,
    /// A key that no agent has.
    pub(super) stranger: ProofKey,
    next: Cell<u64>,
    run: u64,
}

impl Keys {
    /// Creates the keys, and writes them to the folder for the contenders.
    pub(super) fn make(folder: &Path, count: usize) -> anyhow::Result<Rc<Self>> {
        let (mut agents, mut written) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let key = SigningKey::generate(None)?;
            let pkcs8 = key.to_pkcs8();
            agents.push(ProofKey::from_pkcs8(&pkcs8)?);
            written.push(AgentKeyFile { pkcs8: STANDARD.encode(&*pkcs8), jkt: key.thumbprint() });
        }
        std::fs::write(folder.join("agents.json"), serde_json::to_vec(&written)?)?;
        let run = Clock::System.now().0.unsigned_abs();
        Ok(Rc::new(Self { agents, stranger: ProofKey::generate()?, next: Cell::new(0), run }))
    }

    /// 32 characters, as many as a UUID has.
    pub(super) fn jti(&self) -> String {
        let n = self.next.replace(self.next.get() + 1);
        format!("{:016x}{n:016x}", self.run)
    }
}

/// Builds the requests for one contender.
pub(super) struct Signer {
    keys: Rc<Keys>,
    tokens: Vec<String>,
    sessions: Vec<AgentSession>,
    path: String,
    pub(super) htu: String,
    host: String,
    next: usize,
}

/// The variable parts of a request; a fresh draft is valid.
pub(super) struct UnsignedRequest<'a> {
    pub(super) key: &'a ProofKey,
    pub(super) token: &'a str,
    pub(super) proof_token: &'a str,
    pub(super) htu: &'a str,
    pub(super) session: &'a AgentSession,
}

impl Signer {
    pub(super) fn new(keys: &Rc<Keys>, told: &ContenderReady, prepared: &Prepared) -> anyhow::Result<Self> {
        let tokens = if told.tokens.is_empty() { &prepared.tokens } else { &told.tokens };
        let agents = keys.agents.len();
        anyhow::ensure!(tokens.len() == agents, "{} tokens for {agents} agents", tokens.len());
        let (_, host) = told.origin.split_once("://").context("an origin without a scheme")?;
        Ok(Self {
            keys: Rc::clone(keys),
            tokens: tokens.clone(),
            sessions: prepared.sessions.clone(),
            path: told.path.clone(),
            htu: format!("{}{}", told.origin, told.path),
            host: host.to_owned(),
            next: 0,
        })
    }

    pub(super) fn ahead(&mut self, count: usize) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut requests = Vec::with_capacity(count);
        for _ in 0..count {
            let agent = self.next * STRIDE % self.tokens.len();
            self.next += 1;
            requests.push(self.request(&self.draft(agent))?);
        }
        Ok(requests)
    }

    pub(super) fn draft(&self, agent: usize) -> UnsignedRequest<'_> {
        let token = &self.tokens[agent];
        let (key, session) = (&self.keys.agents[agent], &self.sessions[agent]);
        UnsignedRequest { key, token, proof_token: token, htu: &self.htu, session }
    }

    pub(super) fn stranger(&self) -> &ProofKey {
        &self.keys.stranger
    }

    pub(super) fn request(&self, draft: &UnsignedRequest<'_>) -> anyhow::Result<Vec<u8>> {
        Ok(self.head(draft, &self.proof(draft)?))
    }

    pub(super) fn proof(&self, draft: &UnsignedRequest<'_>) -> anyhow::Result<String> {
        let now = Clock::System.now();
        Ok(draft.key.proof("GET", draft.htu, Some(draft.proof_token), None, &self.keys.jti(), now)?)
    }

    /// Every contender gets the same headers.
    pub(super) fn head(&self, draft: &UnsignedRequest<'_>, proof: &str) -> Vec<u8> {
        let Self { path, host, .. } = self;
        let UnsignedRequest { token, session: AgentSession { session_id, delegation_id }, .. } = draft;
        format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\naap-version: 2.0\r\nauthorization: DPoP {token}\r\ndpop: {proof}\r\n\
             x-agent-mode: user_delegated\r\nx-agent-session: {session_id}\r\nx-agent-delegation: {delegation_id}\r\n\
             x-agent-intent-type: READ_ACCOUNTS\r\naccept: application/json\r\n\r\n"
        )
        .into_bytes()
    }
}
