//! Subscriber tokens: a person issues one to a screen reader, a speaker or a script, and can revoke it.

use crate::{
    env::Env,
    evidence::DraftEntry,
    people::ProjectMember,
    records::{Project, Record, SubscriberToken},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::hash::Digest;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The prefix of every subscriber token.
pub const PREFIX: &str = "cst";
const LONGEST_NAME: usize = 128;
const DAY_S: i64 = 86_400;

/// A requested token, as described by its person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewSubscriberToken {
    /// The person's own name for it: "kitchen speaker".
    pub name: String,
    /// A read-only token cannot answer.
    pub may_answer: bool,
    /// Allows the legacy paths with the token in the URL.
    pub legacy: bool,
    /// May approve irreversible calls of high risk; issuing it requires a fresh proof of the person's presence.
    pub approves_high_risk: bool,
    /// Default: as long as the project allows.
    pub lifetime_s: Option<i64>,
}

pub struct AddToken {
    pub new: NewSubscriberToken,
}

pub struct AddTokenView {
    pub project: Arc<Project>,
    pub member: ProjectMember,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AddedSubscriberToken {
    /// Shown once; only its hash is stored.
    pub secret: String,
    pub token: SubscriberToken,
}

impl Operation for AddToken {
    type View = AddTokenView;
    type Answer = AddedSubscriberToken;
    type Refusal = Refusal;

    fn decide(self, view: &AddTokenView, env: &Env) -> Result<Step<AddedSubscriberToken>, Refusal> {
        self.is_sound(view, env)?;
        let lifetime_s = self.new.lifetime_s.unwrap_or_else(|| longest_s(&view.project));
        let mut mint = env.mint();
        let secret = mint.secret(PREFIX);
        let token = SubscriberToken {
            key: mint.key(),
            version: 1,
            project: view.project.key,
            id: mint.id("tok"),
            hash: Digest::of(secret.as_bytes()),
            person: view.member.person.key,
            name: self.new.name.trim().to_owned(),
            may_answer: self.new.may_answer,
            legacy: self.new.legacy,
            approves_high_risk: self.new.approves_high_risk,
            generation: view.member.person.generation,
            created_at: env.now,
            expires_at: env.now.plus_secs(lifetime_s),
            revoked_at: None,
        };
        let entry = DraftEntry::new((view.project.key, &view.project.id), "subscriber_token_added", env.now)
            .open("token_id", token.id.as_str())
            .open("may_answer", token.may_answer)
            .open("legacy", token.legacy)
            .open("approves_high_risk", token.approves_high_risk)
            .open("expires_at", token.expires_at.to_rfc3339())
            .hidden("subject", view.member.person.subject.as_str())
            .hidden("name", token.name.as_str());
        let effects = Effects {
            guards: view.member.guards(),
            puts: vec![Record::SubscriberToken(token.clone())],
            evidence: vec![entry.seal(&mut mint)?],
            ..Effects::default()
        };
        Ok(Step { answer: AddedSubscriberToken { secret, token }, effects })
    }
}

impl AddToken {
    fn is_sound(&self, view: &AddTokenView, env: &Env) -> Result<(), Refusal> {
        if view.member.roles().is_empty() {
            return Err(Refusal::NotAuthorized("only members of the project may have subscribers in it".into()));
        }
        if !(1..=LONGEST_NAME).contains(&self.new.name.trim().chars().count()) {
            return Err(Refusal::invalid(format!("a token needs a name of 1 to {LONGEST_NAME} characters")));
        }
        let most = longest_s(&view.project);
        if self.new.lifetime_s.is_some_and(|seconds| !(1..=most).contains(&seconds)) {
            let days = most / DAY_S;
            return Err(Refusal::invalid(format!("a token here is valid for 1 to {most} seconds ({days} days)")));
        }
        if self.new.approves_high_risk && !self.new.may_answer {
            return Err(Refusal::invalid("a token that only listens approves nothing: leave approves_high_risk out"));
        }
        // A signed-in browser left unattended is not enough to issue such a token.
        if self.new.approves_high_risk && !view.member.is_fresh(env.now) {
            return Err(Refusal::FreshSignInRequired);
        }
        if self.new.legacy && !view.project.document.decisions.legacy_subscribers {
            return Err(Refusal::invalid("the project does not allow tokens in addresses: legacy_subscribers is off"));
        }
        Ok(())
    }
}

fn longest_s(project: &Project) -> i64 {
    project.document.decisions.subscriber_token_days.saturating_mul(DAY_S)
}

/// Revokes a token and closes all of its streams. Revoking it again changes nothing.
pub struct RevokeToken;

pub struct RevokeTokenView {
    pub project: Arc<Project>,
    /// The person revoking it; only their own tokens.
    pub member: ProjectMember,
    pub token: SubscriberToken,
}

impl Operation for RevokeToken {
    type View = RevokeTokenView;
    type Answer = SubscriberToken;
    type Refusal = Refusal;

    fn decide(self, view: &RevokeTokenView, env: &Env) -> Result<Step<SubscriberToken>, Refusal> {
        let token = &view.token;
        if token.person != view.member.person.key || token.project != view.project.key {
            return Err(Refusal::NotFound("there is no such subscriber token".into()));
        }
        if token.revoked_at.is_some() {
            return Ok(Step::answer(token.clone()));
        }
        let revoked = SubscriberToken { revoked_at: Some(env.now), version: token.version + 1, ..token.clone() };
        let entry = DraftEntry::new((view.project.key, &view.project.id), "subscriber_token_revoked", env.now)
            .open("token_id", token.id.as_str())
            .hidden("subject", view.member.person.subject.as_str());
        let effects = Effects {
            puts: vec![Record::SubscriberToken(revoked.clone())],
            evidence: vec![entry.seal(&mut env.mint())?],
            news: vec![Signal::Standing { person: token.person }],
            ..Effects::default()
        };
        Ok(Step { answer: revoked, effects })
    }
}

#[cfg(test)]
mod tests;
