//! Messages about auto-revokes and suspensions to operators' webhooks (AAP 8.5, 17.8): when each is sent, sent again and given up.

use crate::{
    aap::revoke::AutoRevokeTrigger,
    decision::ProjectRef,
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{Delegation, OutboxMessage, OutboxState, Record, SuspendReason},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::time::UnixMillis;

#[cfg(test)]
mod tests;

/// One attempt, the fetch of the operator's manifest included; then another node may try.
const LEASE_S: i64 = 30;
/// The pause after the first failure. It doubles with each one.
const FIRST_PAUSE_MS: i64 = 5_000;
const GIVE_UP_AFTER_S: i64 = 24 * 3600;
/// The most characters of a stored error.
const MAX_ERROR: usize = 200;

/// The message about a delegation that ends at `at`, due at once.
pub(crate) fn notice(
    delegation: &Delegation,
    trigger: AutoRevokeTrigger,
    at: UnixMillis,
    now: UnixMillis,
    mint: &mut Mint,
) -> OutboxMessage {
    let triggered_by = trigger.triggered_by(delegation);
    let message = new_message(delegation, (trigger.as_str(), triggered_by), now, mint);
    OutboxMessage { reason: Some(trigger.reason()), revoked_at: at, ..message }
}

/// The message about a delegation that is suspended now, due at once (C-86).
pub(crate) fn suspension(
    delegation: &Delegation,
    why: SuspendReason,
    now: UnixMillis,
    mint: &mut Mint,
) -> OutboxMessage {
    new_message(delegation, (why.as_str(), "service"), now, mint)
}

fn new_message(
    delegation: &Delegation,
    (trigger, triggered_by): (&str, &str),
    now: UnixMillis,
    mint: &mut Mint,
) -> OutboxMessage {
    OutboxMessage {
        key: mint.key(),
        version: 1,
        project: delegation.project,
        id: mint.id("msg"),
        operator: delegation.operator.clone(),
        delegation: delegation.key,
        delegation_id: delegation.id.clone(),
        account_id: delegation.subject.clone(),
        trigger: trigger.to_owned(),
        triggered_by: triggered_by.to_owned(),
        reason: None,
        revoked_at: now,
        state: OutboxState::Pending { attempts: 0, due: now, give_up_at: None, last_error: None },
    }
}

/// Begins an attempt. Its lease is durable before anything is sent, so that no other node sends meanwhile.
pub struct BeginDelivery;

/// A pending message, and the first pending one of its delegation.
pub struct DeliveryView {
    pub message: OutboxMessage,
    pub first: OutboxMessage,
}

impl Operation for BeginDelivery {
    type View = DeliveryView;
    /// None if it is not due, or must wait for an earlier message.
    type Answer = Option<OutboxMessage>;
    type Refusal = Refusal;

    fn decide(self, view: &DeliveryView, env: &Env) -> Result<Step<Self::Answer>, Refusal> {
        let DeliveryView { message, first } = view;
        let OutboxState::Pending { attempts, due, give_up_at, last_error } = message.state.clone() else {
            return Ok(Step::answer(None));
        };
        if env.now < due {
            return Ok(Step::answer(None));
        }
        if let Some(earlier) = first.due().filter(|_| first.key < message.key) {
            let due = earlier.max(env.now).plus_secs(1);
            let waiting = OutboxState::Pending { attempts, due, give_up_at, last_error };
            return Ok(put(message, waiting).map(|_| None));
        }
        let give_up_at = Some(give_up_at.unwrap_or(env.now.plus_secs(GIVE_UP_AFTER_S)));
        let (attempts, due_next) = (attempts + 1, env.now.plus_secs(LEASE_S));
        let sending = OutboxState::Pending { attempts, due: due_next, give_up_at, last_error };
        let mut step = put(message, sending).map(Some);
        step.effects.not_before = Some(due);
        Ok(step)
    }
}

/// Records the result of an attempt: 200 is delivery, anything else a failure (AAP 17.8).
pub struct RecordDelivery {
    pub attempt: u32,
    pub result: Result<u16, String>,
}

impl Operation for RecordDelivery {
    type View = OutboxMessage;
    type Answer = OutboxMessage;
    type Refusal = Refusal;

    fn decide(self, message: &OutboxMessage, env: &Env) -> Result<Step<OutboxMessage>, Refusal> {
        let OutboxState::Pending { attempts, give_up_at, .. } = message.state else {
            return Ok(Step::answer(message.clone()));
        };
        // A later attempt took over after the lease. Only an acknowledgement is still of use.
        if attempts != self.attempt && self.result != Ok(200) {
            return Ok(Step::answer(message.clone()));
        }
        let state = match self.result {
            Ok(status @ 200) => OutboxState::Delivered { at: env.now, status, attempts },
            Ok(status) => after_failure(attempts, give_up_at, format!("the webhook answered {status}"), env),
            Err(why) => after_failure(attempts, give_up_at, why, env),
        };
        Ok(put(message, state))
    }
}

fn after_failure(attempts: u32, give_up_at: Option<UnixMillis>, why: String, env: &Env) -> OutboxState {
    let last_error: String = why.chars().take(MAX_ERROR).collect();
    let last = give_up_at.unwrap_or(env.now);
    if env.now >= last {
        return OutboxState::Dead { at: env.now, attempts, last_error };
    }
    let due = env.now.plus_millis(pause_ms(attempts, env)).min(last);
    OutboxState::Pending { attempts, due, give_up_at, last_error: Some(last_error) }
}

/// Doubles with each failure. Up to a quarter is added, so that many messages to one operator spread, and each pause is
/// still longer than the one before.
fn pause_ms(attempts: u32, env: &Env) -> i64 {
    let doubled = FIRST_PAUSE_MS.saturating_mul(1_i64 << attempts.saturating_sub(1).min(30));
    let [random] = env.mint().bytes::<1>();
    doubled.saturating_add(doubled / 1024 * i64::from(random))
}

/// Sends a dead message again, as the same message, for another day.
pub struct ReplayMessage;

impl Operation for ReplayMessage {
    type View = (ProjectRef, OutboxMessage);
    type Answer = OutboxMessage;
    type Refusal = Refusal;

    fn decide(self, (place, message): &Self::View, env: &Env) -> Result<Step<OutboxMessage>, Refusal> {
        match &message.state {
            OutboxState::Dead { .. } => {}
            OutboxState::Pending { due, .. } => {
                let next = due.to_rfc3339();
                return Err(Refusal::Conflict(format!("it is pending; its next attempt is at {next}")));
            }
            OutboxState::Delivered { at, .. } => {
                return Err(Refusal::Conflict(format!("it was delivered at {}", at.to_rfc3339())));
            }
        }
        let again = OutboxState::Pending { attempts: 0, due: env.now, give_up_at: None, last_error: None };
        let mut step = put(message, again);
        let entry = DraftEntry::new((place.0, &place.1), "webhook_replayed", env.now)
            .under_delegation(message.delegation, &message.delegation_id)
            .open("operator", message.operator.as_str())
            .open("by", "service")
            .open("message_id", message.id.as_str());
        step.effects.evidence.push(entry.seal(&mut env.mint())?);
        Ok(step)
    }
}

fn put(message: &OutboxMessage, state: OutboxState) -> Step<OutboxMessage> {
    let changed = OutboxMessage { state, version: message.version + 1, ..message.clone() };
    let effects = Effects { puts: vec![Record::OutboxMessage(changed.clone())], ..Effects::default() };
    Step { answer: changed, effects }
}
