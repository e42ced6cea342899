//! A new epoch after a restore: claims and revocations since the backup are unknown, so no earlier credential
//! continues by itself.
//!
//! Sign-ins and subscriber tokens end by their person's generation, access tokens are removed, open decisions under a
//! delegation or an API key are cancelled, and both are suspended until lifted. Nobody knows what the other copy had undone
//! since. One step, all or nothing.

use crate::{
    decision::{ProjectRef, cancel::Live},
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{
        ApiKey, CancelledFor, Delegation, DelegationState, Epoch, Person, Record, Rollback, SuspendReason, Table,
        UndoableCall,
    },
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::ids::RowKey;

pub struct StartEpoch;

/// All records that could continue from before the restore.
pub struct EpochView {
    pub epoch: Epoch,
    pub people: Vec<Person>,
    pub access_tokens: Vec<RowKey>,
    pub projects: Vec<Holdings>,
}

/// The agents' records in one project.
pub struct Holdings {
    pub place: ProjectRef,
    /// Delegations that have not ended, each with its open records. A suspended one may have been revoked since the backup,
    /// too, so the restore becomes its reason.
    pub delegations: Vec<(Delegation, Live)>,
    /// API keys that are not revoked, each with its open records.
    pub keys: Vec<(ApiKey, Live)>,
    /// Open records under neither of them.
    pub others: Vec<Live>,
    /// Calls that can be undone, or are to be, and unfinished rollbacks.
    pub undoable: Vec<UndoableCall>,
    pub rollbacks: Vec<Rollback>,
}

/// The numbers of ended and suspended records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochStarted {
    pub number: i64,
    pub people: usize,
    pub access_tokens: usize,
    pub delegations: usize,
    pub keys: usize,
    pub questions: usize,
    pub approvals: usize,
}

impl Operation for StartEpoch {
    type View = EpochView;
    type Answer = EpochStarted;
    type Refusal = Refusal;

    fn decide(self, view: &EpochView, env: &Env) -> Result<Step<EpochStarted>, Refusal> {
        // A timestamp, so that it exceeds the number of any other copy of this database.
        let number = env.now.0.max(view.epoch.number.saturating_add(1));
        let epoch = Epoch { version: view.epoch.version + 1, number, started_at: env.now, ..view.epoch.clone() };
        let mut effects = Effects {
            puts: vec![Record::Epoch(epoch)],
            removes: view.access_tokens.iter().map(|key| (Table::AccessToken, *key)).collect(),
            ..Effects::default()
        };
        effects.puts.extend(view.people.iter().map(signed_out));
        let mut mint = env.mint();
        for held in &view.projects {
            suspend(held, number, env, &mut mint, &mut effects)?;
        }
        Ok(Step { answer: EpochStarted::of(view, number), effects })
    }
}

/// Ends the sign-ins and subscriber tokens of a person.
pub(crate) fn signed_out(person: &Person) -> Record {
    Record::Person(Person { generation: person.generation + 1, version: person.version + 1, ..person.clone() })
}

fn suspend(held: &Holdings, number: i64, env: &Env, mint: &mut Mint, effects: &mut Effects) -> Result<(), Refusal> {
    let place = &held.place;
    let entry = DraftEntry::new((place.0, &place.1), "epoch_started", env.now)
        .open("epoch", number)
        .open("delegations_suspended", held.delegations.len())
        .open("api_keys_suspended", held.keys.len())
        .open("questions_cancelled", held.questions())
        .open("approvals_cancelled", held.approvals());
    effects.evidence.push(entry.seal(mint)?);
    for (delegation, _) in &held.delegations {
        let state = DelegationState::Suspended { at: env.now, why: SuspendReason::Restored };
        effects.puts.push(Record::Delegation(Delegation {
            state,
            version: delegation.version + 1,
            ..delegation.clone()
        }));
        effects.news.push(Signal::Standing { person: delegation.person });
    }
    for (key, _) in &held.keys {
        let suspended = ApiKey { suspended_at: Some(env.now), version: key.version + 1, ..key.clone() };
        effects.puts.push(Record::ApiKey(suspended));
    }
    effects.puts.extend(held.undoable.iter().map(|call| Record::UndoableCall(call.restored(env.now))));
    effects.puts.extend(held.rollbacks.iter().map(|rollback| Record::Rollback(rollback.restored(env.now))));
    held.live_records().try_for_each(|live| live.cancel(place, CancelledFor::Restored, env, mint, effects))
}

impl Holdings {
    fn live_records(&self) -> impl Iterator<Item = &Live> {
        let (delegations, keys) = (self.delegations.iter(), self.keys.iter());
        delegations.map(|(_, live)| live).chain(keys.map(|(_, live)| live)).chain(&self.others)
    }

    fn questions(&self) -> usize {
        self.live_records().flat_map(|live| &live.decisions).filter(|decision| decision.is_pending()).count()
    }

    fn approvals(&self) -> usize {
        self.live_records().flat_map(|live| &live.allowances).filter(|allowance| allowance.is_open()).count()
    }
}

impl EpochStarted {
    fn of(view: &EpochView, number: i64) -> Self {
        let sum = |count: fn(&Holdings) -> usize| view.projects.iter().map(count).sum();
        Self {
            number,
            people: view.people.len(),
            access_tokens: view.access_tokens.len(),
            delegations: sum(|held| held.delegations.len()),
            keys: sum(|held| held.keys.len()),
            questions: sum(Holdings::questions),
            approvals: sum(Holdings::approvals),
        }
    }
}
