//! Signing in: throttled per account and per address, with a session that is new each time.

use crate::{
    env::Env,
    news::News,
    records::{Person, Record, Table, WebSession},
    refusal::Refusal,
    step::{Count, Effects, Guard, Operation, Step},
};
use countersign_protocol::{hash::Digest, time::UnixMillis};

/// How often somebody may try, within [`WINDOW_S`].
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    pub per_account: i64,
    pub per_address: i64,
}

pub const WINDOW_S: i64 = 900;

/// Counts an attempt before the password is looked at, so that guessing in parallel gains nothing.
pub fn attempt(account: &str, address: &str, throttle: Throttle, now: UnixMillis) -> Effects {
    let window = now.secs().div_euclid(WINDOW_S);
    let until = UnixMillis::from_secs((window + 1) * WINDOW_S);
    let count = |what: &str, who: &str, limit| Count {
        // Names are guesses of strangers: hashed, so that none lies around readable.
        key: format!("node:sign-in/{what}/{}/{window}", Digest::of(who.as_bytes()).hex()),
        by: 1,
        limit,
        until,
    };
    let counts = vec![count("account", account, throttle.per_account), count("address", address, throttle.per_address)];
    Effects { counts, ..Effects::default() }
}

pub fn retry_after_s(now: UnixMillis) -> i64 {
    WINDOW_S - now.secs().rem_euclid(WINDOW_S)
}

/// The password was right: a new session, never one that existed before the sign-in.
pub struct Start {
    pub lifetime_s: i64,
    /// The session that this browser had; it ends.
    pub replaces: Option<i64>,
}

pub struct Started {
    /// The cookie's value; only its hash is kept.
    pub secret: String,
    pub session: WebSession,
}

impl Operation for Start {
    type View = Person;
    type Answer = Started;
    type Refusal = Refusal;

    fn decide(self, person: &Person, env: &Env) -> Result<Step<Started>, Refusal> {
        if person.disabled {
            return Err(Refusal::SignInFailed);
        }
        let mut mint = env.mint();
        let secret = mint.secret("web");
        let session = WebSession {
            key: mint.key(),
            version: 1,
            token_hash: Digest::of(secret.as_bytes()),
            person: person.key,
            generation: person.generation,
            started_at: env.now,
            proven_at: env.now,
            expires_at: env.now.plus_secs(self.lifetime_s),
        };
        let removes = self.replaces.map(|key| (Table::WebSession, key)).into_iter().collect();
        // The password was looked at some time ago: if it was changed since, this is not the person's sign-in.
        let guards = vec![Guard { table: Table::Person, key: person.key, version: person.version }];
        let puts = vec![Record::WebSession(session.clone())];
        let effects = Effects { guards, puts, removes, ..Effects::default() };
        Ok(Step { answer: Started { secret, session }, effects })
    }
}

/// Ends one sign-in.
pub fn end(session: &WebSession) -> Effects {
    let news = vec![News::Standing { person: session.person }];
    Effects { removes: vec![(Table::WebSession, session.key)], news, ..Effects::default() }
}

/// Ends every sign-in of a person, on every device: those up to now are of a generation that counts no more.
pub fn end_everywhere(person: &Person) -> Effects {
    let news = vec![News::Standing { person: person.key }];
    let person = Person { generation: person.generation + 1, version: person.version + 1, ..person.clone() };
    Effects { puts: vec![Record::Person(person)], news, ..Effects::default() }
}
