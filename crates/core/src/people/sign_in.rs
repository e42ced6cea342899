//! Sign-in: throttled, with a new session each time.

use crate::{
    env::Env,
    records::{Person, Record, Table, WebSession},
    refusal::Refusal,
    signals::Signal,
    step::{Count, Effects, Guard, Operation, Step},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

/// Limits on password attempts. One network exhausts only its own share of an account; the slow limit bounds all
/// networks together; a person with a sign-in session is affected by nobody else.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    /// For one account from one network, within [`WINDOW_S`].
    pub per_account_and_network: i64,
    /// For one account from all unknown networks together, within [`SLOW_WINDOW_S`].
    pub per_account: i64,
    /// From one network for all accounts, within [`WINDOW_S`].
    pub per_address: i64,
    /// With one sign-in session, to prove presence again, within [`WINDOW_S`].
    pub per_session: i64,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { per_account_and_network: 10, per_account: 100, per_address: 50, per_session: 10 }
    }
}

impl Throttle {
    /// The same limit for everything.
    pub fn all(limit: i64) -> Self {
        Self { per_account_and_network: limit, per_account: limit, per_address: limit, per_session: limit }
    }
}

pub const WINDOW_S: i64 = 900;
pub const SLOW_WINDOW_S: i64 = 3600;

/// How long a network stays known after a sign-in to an account.
const KNOWN_S: i64 = 30 * 86_400;

/// A password attempt. Counted before the password is verified, so that parallel guessing gains nothing.
pub enum Attempt<'a> {
    /// A sign-in.
    SignIn { account: &'a str, network: &'a str },
    /// A new proof of presence with a sign-in session of the same person.
    SignedIn { session: RowKey },
}

impl Attempt<'_> {
    /// Answers are the same for names that nobody has: what is counted depends on the name, not on an account. The slow
    /// cap of an account is counted without a limit here, see [`Attempt::slow_cap`].
    pub fn counts(&self, throttle: Throttle, now: UnixMillis) -> Vec<Count> {
        let quick = |name: &'static str, who: &[&str], limit| count(name, who, limit, WINDOW_S, now);
        match *self {
            Self::SignedIn { session } => vec![quick("session", &[&session.to_string()], throttle.per_session)],
            Self::SignIn { account, network } => {
                let counts = [
                    quick("account-network", &[account, network], throttle.per_account_and_network),
                    quick("address", &[network], throttle.per_address),
                ];
                let slow = self.slow_cap(throttle, now).map(|cap| Count { limit: i64::MAX, ..cap });
                counts.into_iter().chain(slow).collect()
            }
        }
    }

    /// The cap of an account from everywhere. Once it is spent, only the right password from a network that the account
    /// is known from is let in; every other try there is refused as from anywhere, or the refusal would tell which
    /// names are accounts that somebody signed in to from this network.
    pub fn slow_cap(&self, throttle: Throttle, now: UnixMillis) -> Option<Count> {
        match *self {
            Self::SignedIn { .. } => None,
            Self::SignIn { account, .. } => {
                Some(count("account", &[account], throttle.per_account, SLOW_WINDOW_S, now))
            }
        }
    }
}

fn count(name: &'static str, who: &[&str], limit: i64, window_s: i64, now: UnixMillis) -> Count {
    let window = now.secs().div_euclid(window_s);
    // Names are guesses of strangers: hashed, so that none is stored in readable form.
    let who = Digest::of(who.join("\0").as_bytes()).hex();
    let until = UnixMillis::from_secs((window + 1) * window_s);
    Count { name, key: format!("node:sign-in/{name}/{who}/{window}"), by: 1, limit, until }
}

/// The key that marks a network as known for an account. `tag` is a MAC of both: a reader of the database does not
/// learn people's networks.
pub fn known_network_key(tag: &Digest) -> String {
    format!("node:sign-in/known/{}", tag.hex())
}

/// Starts a new session after a correct password; an earlier session is never reused.
pub struct Start {
    pub lifetime_s: i64,
    /// The previous session of this browser; it ends.
    pub replaces: Option<i64>,
    /// [`known_network_key`] of the account and the network.
    pub known_network: String,
}

pub struct Started {
    /// The cookie's value; only its hash is stored.
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
        // The password was verified earlier: if it was changed since, the sign-in fails.
        let guards = vec![Guard { table: Table::Person, key: person.key, version: person.version }];
        let puts = vec![Record::WebSession(session.clone())];
        let known =
            Count { name: "known", key: self.known_network, by: 1, limit: i64::MAX, until: env.now.plus_secs(KNOWN_S) };
        let effects = Effects { guards, counts: vec![known], puts, removes, ..Effects::default() };
        Ok(Step { answer: Started { secret, session }, effects })
    }
}

/// Ends one sign-in session.
pub fn end(session: &WebSession) -> Effects {
    let news = vec![Signal::Standing { person: session.person }];
    Effects { removes: vec![(Table::WebSession, session.key)], news, ..Effects::default() }
}

/// Ends every sign-in session of a person, on every device, by advancing the person's generation.
pub fn end_everywhere(person: &Person) -> Effects {
    let news = vec![Signal::Standing { person: person.key }];
    let person = Person { generation: person.generation + 1, version: person.version + 1, ..person.clone() };
    Effects { puts: vec![Record::Person(person)], news, ..Effects::default() }
}
