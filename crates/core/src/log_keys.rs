//! Replacing the key that signs the checkpoints of the transparency log.
//!
//! The old key states its successor, and both sign the statement: whoever trusted the one can follow to the other. The
//! statement is an entry of every project's evidence, and the old private key is gone with the same step.

use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    records::{KeySuccession, LogKey, Record},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    clarification::{PublicKey, Signature},
    time::UnixMillis,
};

/// The text that both keys sign.
pub fn succession_statement(predecessor: &PublicKey, successor: &PublicKey, at: UnixMillis) -> String {
    let at = at.to_rfc3339();
    format!("countersign log key succession v1\npredecessor {predecessor}\nsuccessor {successor}\nsince {at}\n")
}

pub struct LogKeyReplacement {
    /// The next key, without its succession.
    pub successor: LogKey,
    pub statement: String,
    pub by_predecessor: Signature,
    pub by_successor: Signature,
}

pub struct LogKeyReplacementView {
    pub current: LogKey,
    pub projects: Vec<ProjectRef>,
}

impl Operation for LogKeyReplacement {
    type View = LogKeyReplacementView;
    type Answer = LogKey;
    type Refusal = Refusal;

    fn decide(self, view: &LogKeyReplacementView, env: &Env) -> Result<Step<LogKey>, Refusal> {
        let current = &view.current;
        let succession = KeySuccession {
            predecessor: current.public.clone(),
            statement: self.statement,
            by_predecessor: self.by_predecessor,
            by_successor: self.by_successor,
        };
        let mut mint = env.mint();
        let mut evidence = Vec::with_capacity(view.projects.len());
        for (key, id) in &view.projects {
            let entry = DraftEntry::new((*key, id), "log_key_added", env.now)
                .open("statement", succession.statement.as_str())
                .open("by_predecessor", succession.by_predecessor.to_string())
                .open("by_successor", succession.by_successor.to_string());
            evidence.push(entry.seal(&mut mint)?);
        }
        let successor = LogKey { succession: Some(succession), ..self.successor };
        let replaced =
            LogKey { version: current.version + 1, sealed: None, replaced_at: Some(env.now), ..current.clone() };
        let puts = vec![Record::LogKey(replaced), Record::LogKey(successor.clone())];
        Ok(Step { answer: successor, effects: Effects { puts, evidence, ..Effects::default() } })
    }
}
