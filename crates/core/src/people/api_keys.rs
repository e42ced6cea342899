//! API keys: one kind, one principal, a responsible person, and a list of permitted actions.

use crate::{
    decision::{ProjectRef, cancel::Live},
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{ApiKey, ApiKeyKind, CancelledFor, Person, Project, Record, Table},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::hash::Digest;

pub struct AddKey {
    pub kind: ApiKeyKind,
    pub principal: String,
    pub responsible: Person,
    pub actions: Vec<String>,
    pub asks: Vec<String>,
    pub jkt: Option<String>,
}

pub struct AddedKey {
    /// Shown once; only its hash is stored.
    pub secret: String,
    pub key: ApiKey,
}

impl Operation for AddKey {
    type View = Project;
    type Answer = AddedKey;
    type Refusal = Refusal;

    fn decide(self, project: &Project, env: &Env) -> Result<Step<AddedKey>, Refusal> {
        if self.principal.trim().is_empty() || self.principal.chars().count() > 128 {
            return Err(Refusal::invalid("a key needs a principal of 1 to 128 characters"));
        }
        if self.responsible.disabled {
            let why = "the responsible person is disabled: name another one, or enable them first";
            return Err(Refusal::invalid(why));
        }
        let document = &project.document;
        let offered = |action: &String| {
            document.scopes.iter().any(|scope| scope.allows.contains(action))
                || document.actions.iter().any(|policy| policy.name == *action)
        };
        if let Some(unknown) = self.actions.iter().find(|action| !offered(action)) {
            return Err(Refusal::invalid(format!("no scope of the project allows the action {unknown:?}")));
        }
        let mut mint = env.mint();
        let secret = mint.secret("csk");
        let key = ApiKey {
            key: mint.key(),
            version: 1,
            project: project.key,
            id: mint.id("key"),
            hash: Digest::of(secret.as_bytes()),
            kind: self.kind,
            principal: self.principal,
            responsible: self.responsible.key,
            actions: self.actions,
            asks: self.asks,
            jkt: self.jkt,
            created_at: env.now,
            revoked_at: None,
            suspended_at: None,
        };
        let entry = DraftEntry::new((project.key, &project.id), "api_key_added", env.now)
            .open("key_id", key.id.as_str())
            .hidden("principal", key.principal.as_str())
            .seal(&mut mint)?;
        // A person disabled at the same moment cannot be responsible for a key.
        let responsible = Guard { table: Table::Person, key: self.responsible.key, version: self.responsible.version };
        let effects = Effects {
            guards: vec![responsible],
            puts: vec![Record::ApiKey(key.clone())],
            evidence: vec![entry],
            ..Effects::default()
        };
        Ok(Step { answer: AddedKey { secret, key }, effects })
    }
}

/// Revokes a key and ends its open decisions and allowances. Revoking it again changes nothing.
pub struct RevokeKey;

pub struct RevokeKeyView {
    pub project: Project,
    pub key: ApiKey,
    pub live: Live,
}

impl Operation for RevokeKey {
    type View = RevokeKeyView;
    type Answer = ApiKey;
    type Refusal = Refusal;

    fn decide(self, view: &RevokeKeyView, env: &Env) -> Result<Step<ApiKey>, Refusal> {
        let RevokeKeyView { project, key, live } = view;
        if key.revoked_at.is_some() {
            return Ok(Step::answer(key.clone()));
        }
        let (place, mut effects) = ((project.key, project.id.clone()), Effects::default());
        let revoked = end_key(&place, (key, live), env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer: revoked, effects })
    }
}

/// Revokes a key and ends its open decisions and allowances, within the causing step.
pub(crate) fn end_key(
    place: &ProjectRef,
    (key, live): (&ApiKey, &Live),
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<ApiKey, Refusal> {
    let revoked = ApiKey { revoked_at: Some(env.now), version: key.version + 1, ..key.clone() };
    let entry =
        DraftEntry::new((place.0, &place.1), "api_key_revoked", env.now).open("key_id", key.id.as_str()).seal(mint)?;
    effects.puts.push(Record::ApiKey(revoked.clone()));
    effects.evidence.push(entry);
    effects.news.push(Signal::Standing { person: key.responsible });
    live.cancel(place, CancelledFor::Revoked, env, mint, effects)?;
    Ok(revoked)
}
