//! Subscriber tokens: what a person gives to a screen reader, a speaker or a script of theirs, and takes back.

use crate::{
    env::Env,
    evidence::Entry,
    news::News,
    people::Member,
    records::{Project, Record, SubscriberToken},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::hash::Digest;
use std::sync::Arc;

/// What every subscriber token begins with.
pub const PREFIX: &str = "cst";
const LONGEST_NAME: usize = 128;
/// Ten years: whoever wants no end says nothing.
const LONGEST_LIFE_S: i64 = 10 * 366 * 86_400;

/// A token to be made, as its person describes it.
#[derive(Clone, Debug)]
pub struct NewSubscriberToken {
    /// What the person calls it: "kitchen speaker".
    pub name: String,
    /// One that only reads is never an answer.
    pub may_answer: bool,
    /// Opens the legacy pair of paths, where it stands in the address.
    pub legacy: bool,
    pub lifetime_s: Option<i64>,
}

pub struct AddToken {
    pub new: NewSubscriberToken,
}

pub struct AddTokenView {
    pub project: Arc<Project>,
    pub member: Member,
}

#[derive(Clone, Debug)]
pub struct AddedSubscriberToken {
    /// Shown once; only its hash is kept.
    pub secret: String,
    pub token: SubscriberToken,
}

impl Operation for AddToken {
    type View = AddTokenView;
    type Answer = AddedSubscriberToken;
    type Refusal = Refusal;

    fn decide(self, view: &AddTokenView, env: &Env) -> Result<Step<AddedSubscriberToken>, Refusal> {
        self.is_sound(view)?;
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
            created_at: env.now,
            expires_at: self.new.lifetime_s.map(|seconds| env.now.plus_secs(seconds)),
            revoked_at: None,
        };
        let entry = Entry::new((view.project.key, &view.project.id), "subscriber_token_added", env.now)
            .open("token_id", token.id.as_str())
            .open("may_answer", token.may_answer)
            .open("legacy", token.legacy)
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
    fn is_sound(&self, view: &AddTokenView) -> Result<(), Refusal> {
        if view.member.roles().is_empty() {
            return Err(Refusal::NotAuthorized("only members of the project may have subscribers in it".into()));
        }
        if !(1..=LONGEST_NAME).contains(&self.new.name.trim().chars().count()) {
            return Err(Refusal::invalid(format!("a token needs a name of 1 to {LONGEST_NAME} characters")));
        }
        if self.new.lifetime_s.is_some_and(|seconds| !(1..=LONGEST_LIFE_S).contains(&seconds)) {
            return Err(Refusal::invalid(format!("lifetime_s must be 1 to {LONGEST_LIFE_S}")));
        }
        if self.new.legacy && !view.project.document.decisions.legacy_subscribers {
            return Err(Refusal::invalid("the project does not allow tokens in addresses: legacy_subscribers is off"));
        }
        Ok(())
    }
}

/// Ends a token, and every stream of it. Ending it twice changes nothing.
pub struct RevokeToken;

pub struct RevokeTokenView {
    pub project: Arc<Project>,
    /// Who takes it back: only their own.
    pub member: Member,
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
        let entry = Entry::new((view.project.key, &view.project.id), "subscriber_token_revoked", env.now)
            .open("token_id", token.id.as_str())
            .hidden("subject", view.member.person.subject.as_str());
        let effects = Effects {
            puts: vec![Record::SubscriberToken(revoked.clone())],
            evidence: vec![entry.seal(&mut env.mint())?],
            news: vec![News::Standing { person: token.person }],
            ..Effects::default()
        };
        Ok(Step { answer: revoked, effects })
    }
}

#[cfg(test)]
mod tests;
