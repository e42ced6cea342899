//! Signing in and staying signed in.

use super::password::Queue;
use crate::{
    services::People,
    store::{MembershipOf, Outcome, PersonBySubject, WebSessionByToken},
};
use countersign_core::{
    people::{
        ProjectMember,
        accounts::LOCAL,
        sign_in::{self, Attempt, Start, Started},
        signed_in,
    },
    records::{Person, WebSession},
    refusal::Refusal,
    step::{Effects, Operation as _, Step},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

/// The network name for passwords typed on the node's own command line.
const COMMAND_LINE: &str = "command line";

/// A person with a valid sign-in session.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub person: Person,
    pub session: WebSession,
}

impl People<'_> {
    /// Checks a password and starts a session. The secret in the answer is the cookie's value.
    pub async fn sign_in(
        self,
        name: &str,
        password: &str,
        network: &str,
        replaces: Option<&SignedIn>,
    ) -> Result<Started, Refusal> {
        let known_network = self.known_network_key(name, network)?;
        let again = replaces.filter(|old| old.person.issuer == LOCAL && old.person.subject == name);
        let (queue, closed) = match again {
            Some(old) => {
                self.count_attempt(Attempt::SignedIn { session: old.session.key }).await?;
                (Queue::SignedIn, None)
            }
            None => (Queue::Anybody, self.count_attempt(Attempt::SignIn { account: name, network }).await?),
        };
        let is_known = self.store.count(&known_network).await? > 0;
        self.run(|| async {
            // The password is verified in every case, so that the timing tells nothing either.
            let proven = self.verify_credentials(name, password, queue).await;
            let person = match (proven, &closed) {
                (Ok(_), Some(closed)) if !is_known => return Err(closed.clone()),
                (Err(Refusal::SignInFailed), Some(closed)) => return Err(closed.clone()),
                (proven, _) => proven?,
            };
            let start = Start {
                lifetime_s: self.settings.sign_in_lifetime_s,
                replaces: replaces.map(|old| old.session.key),
                known_network: known_network.clone(),
            };
            start.decide(&person, &self.env()?)
        })
        .await
    }

    /// Authenticates a member again with a password, on this machine's own command line. Guessing is throttled
    /// like signing in, and remote attempts cannot exhaust this limit.
    pub async fn prove_presence(self, member: ProjectMember, password: &str) -> Result<ProjectMember, Refusal> {
        let subject = member.person.subject.clone();
        self.count_attempt(Attempt::SignIn { account: &subject, network: COMMAND_LINE }).await?;
        self.verify_credentials(&subject, password, Queue::SignedIn).await?;
        Ok(ProjectMember { fresh_until: self.now().plus_secs(self.settings.fresh_s), ..member })
    }

    /// Counts an attempt. Returns the refusal to use once the account's slow cap is exhausted. Each attempt reads the cap after
    /// it was counted, so that guessing in parallel gains nothing.
    async fn count_attempt(self, attempt: Attempt<'_>) -> Result<Option<Refusal>, Refusal> {
        let now = self.decision_time()?;
        let throttle = self.settings.throttle;
        let too_many = |end: UnixMillis| Refusal::TooManyAttempts { retry_after_s: end.secs() - now.secs() };
        let counts = attempt.counts(throttle, now);
        match self.commit(Effects { counts: counts.clone(), ..Effects::default() }).await {
            Outcome::Committed => {}
            Outcome::LimitReached { counter } => {
                let spent = counts.iter().find(|count| count.name == counter);
                return Err(too_many(spent.map_or(now, |count| count.until)));
            }
            _ => return Err(Refusal::Unavailable),
        }
        let Some(cap) = attempt.slow_cap(throttle, now) else { return Ok(None) };
        let tried = self.store.count(&cap.key).await?;
        Ok((tried > cap.limit).then(|| too_many(cap.until)))
    }

    fn known_network_key(self, name: &str, network: &str) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = Digest(keys.mac.tag("sign-in network", format!("{name}\0{network}").as_bytes()));
        Ok(sign_in::known_network_key(&tag))
    }

    /// The person with this name and password. A wrong name and a wrong password are indistinguishable.
    async fn verify_credentials(self, name: &str, password: &str, queue: Queue) -> Result<Person, Refusal> {
        let person = self.account(name).await?;
        let hash = person.as_ref().and_then(|person| person.password_hash.as_deref());
        let fits = self.passwords.verify(password, hash, queue).await?;
        person.filter(|_| fits).ok_or(Refusal::SignInFailed)
    }

    /// The person behind a cookie, if its session is valid.
    pub async fn signed_in(self, secret: &str) -> Result<Option<SignedIn>, Refusal> {
        let session = self.find_one(WebSessionByToken(Digest::of(secret.as_bytes()))).await?;
        let Some(session) = session else { return Ok(None) };
        let person: Option<Person> = self.get(session.person).await?;
        let now = self.decision_time()?;
        let holds = person.filter(|person| signed_in(&session, person, now));
        Ok(holds.map(|person| SignedIn { person, session }))
    }

    /// A signed-in person as a member of a project.
    pub async fn member(self, who: &SignedIn, project: RowKey) -> Result<ProjectMember, Refusal> {
        let membership = self.find_one(MembershipOf { project, person: who.person.key }).await?;
        Ok(ProjectMember { person: who.person.clone(), membership, fresh_until: self.fresh_until(who) })
    }

    /// Until when the last authentication counts as fresh.
    pub fn fresh_until(self, who: &SignedIn) -> UnixMillis {
        who.session.proven_at.plus_secs(self.settings.fresh_s)
    }

    pub async fn sign_out(self, who: &SignedIn) -> Result<(), Refusal> {
        match self.commit(sign_in::end(&who.session)).await {
            Outcome::Committed | Outcome::Stale => Ok(()),
            _ => Err(Refusal::Unavailable),
        }
    }

    pub async fn sign_out_everywhere(self, who: &SignedIn) -> Result<(), Refusal> {
        self.run(|| async {
            let person: Option<Person> = self.get(who.person.key).await?;
            let person = person.ok_or(Refusal::SignInRequired)?;
            Ok(Step { answer: (), effects: sign_in::end_everywhere(&person) })
        })
        .await
    }

    /// The CSRF token that a form or a script of this session must send.
    pub fn csrf_token(self, session: &WebSession) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        Ok(Digest(keys.mac.tag("csrf", &session.token_hash.0)).base64url())
    }

    /// Compared in constant time, through the MAC.
    pub fn verify_csrf_token(self, session: &WebSession, token: &str) -> bool {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        let Some(keys) = self.keys() else { return false };
        let Ok(tag) = URL_SAFE_NO_PAD.decode(token) else { return false };
        keys.mac.verify("csrf", &session.token_hash.0, &tag)
    }

    pub(crate) async fn account(self, name: &str) -> Result<Option<Person>, Refusal> {
        Ok(self.find_one(PersonBySubject { issuer: LOCAL.into(), subject: name.to_owned() }).await?)
    }
}
