use super::{
    AutoRevokeTrigger, BeginDelivery, DeliveryView, GIVE_UP_AFTER_S, LEASE_S, RecordDelivery, ReplayMessage, notice,
};
use crate::{
    env::Env,
    records::{Delegation, DelegationState, OutboxMessage, OutboxState, Record},
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aap::policy::{EffectivePolicy, LifecycleEvent, PolicySource, PolicySources},
    domain::Domain,
    hash::Digest,
    ids::ProjectId,
    time::UnixMillis,
};
use std::collections::BTreeSet;

const AT: UnixMillis = UnixMillis(1_800_000_000_000);

fn env(now: UnixMillis, seed: u8) -> Env {
    Env { now, entropy: [seed; 32], first_key: 100 }
}

fn delegation() -> Delegation {
    Delegation {
        key: 7,
        version: 1,
        project: 1,
        id: "del_1".into(),
        person: 2,
        subject: "alice".into(),
        service_account: None,
        operator: Domain::parse("acme.test").unwrap(),
        operator_name: "Acme".into(),
        scopes: Vec::new(),
        max_agent_ttl: 3600,
        granted_at: AT,
        token_expires_at: AT,
        policy_expires_at: AT,
        idle_check_at: None,
        policy: EffectivePolicy::default(),
        policy_sources: PolicySources {
            expires_at: BTreeSet::from([PolicySource::Operator, PolicySource::User]),
            ..PolicySources::default()
        },
        shown: Digest([0; 32]),
        language: "en".into(),
        state: DelegationState::Active,
    }
}

fn message() -> OutboxMessage {
    notice(&delegation(), AutoRevokeTrigger::Expiry, AT, AT, &mut env(AT, 1).mint())
}

/// The row after an attempt at `now`, and whether there was one.
fn begun(message: &OutboxMessage, first: &OutboxMessage, now: UnixMillis) -> (OutboxMessage, bool) {
    let view = DeliveryView { message: message.clone(), first: first.clone() };
    let Step { answer, effects } = BeginDelivery.decide(&view, &env(now, 1)).unwrap();
    let put = effects.puts.into_iter().find_map(|record| match record {
        Record::OutboxMessage(message) => Some(message),
        _ => None,
    });
    (put.unwrap_or_else(|| message.clone()), answer.is_some())
}

fn fails(message: &OutboxMessage, now: UnixMillis, seed: u8) -> OutboxMessage {
    let OutboxState::Pending { attempts: attempt, .. } = message.state else { panic!("{message:?}") };
    RecordDelivery { attempt, result: Ok(500) }.decide(message, &env(now, seed)).unwrap().answer
}

/// C-17, C-38
#[test]
fn a_trigger_has_the_reason_of_the_header_and_names_its_party_or_event() {
    let of = |trigger: AutoRevokeTrigger| {
        let message = notice(&delegation(), trigger, AT, AT, &mut env(AT, 1).mint());
        (message.trigger, message.triggered_by, message.reason.unwrap().as_str())
    };
    let texts = |trigger: &str, by: &str, reason: &'static str| (trigger.to_owned(), by.to_owned(), reason);
    assert_eq!(of(AutoRevokeTrigger::Expiry), texts("expires_at", "operator", "policy_expired"));
    assert_eq!(of(AutoRevokeTrigger::Inactivity), texts("inactivity_timeout", "service", "inactivity"));
    assert_eq!(of(AutoRevokeTrigger::TaskCompletion), texts("on_task_completion", "service", "task_complete"));
    assert_eq!(of(AutoRevokeTrigger::UsageBudget), texts("after_use", "service", "policy_expired"));
    let event = AutoRevokeTrigger::Event(LifecycleEvent::UserOffboarded);
    assert_eq!(of(event), texts("user.offboarded", "user.offboarded", "event_triggered"));
}

/// AAP-17.8-02
#[test]
fn pauses_grow_over_a_day_and_then_the_message_is_dead() {
    for seed in 0..=255 {
        let (mut message, mut pauses, mut now) = (message(), Vec::new(), AT);
        let last_error = loop {
            let (sent, attempted) = begun(&message, &message, now);
            assert!(attempted);
            message = fails(&sent, now, seed);
            match &message.state {
                OutboxState::Pending { due, .. } => {
                    pauses.push(due.millis_since(now));
                    now = *due;
                }
                OutboxState::Dead { last_error, .. } => break last_error.clone(),
                OutboxState::Delivered { .. } => panic!("nothing was delivered"),
            }
        };
        assert_eq!((now, last_error.as_str()), (AT.plus_secs(GIVE_UP_AFTER_S), "the webhook answered 500"));
        // The last pause is cut by the end of the day.
        pauses.pop();
        assert!(pauses.len() >= 12 && pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        assert!((5_000..6_250).contains(&pauses[0]), "{pauses:?}");
    }
}

#[test]
fn while_an_attempt_may_be_running_there_is_no_other() {
    let (sent, attempted) = begun(&message(), &message(), AT);
    assert!(attempted);
    assert!(!begun(&sent, &sent, AT.plus_secs(LEASE_S - 1)).1);
    let (again, attempted) = begun(&sent, &sent, AT.plus_secs(LEASE_S));
    assert!(attempted);
    let late = |result| RecordDelivery { attempt: 1, result }.decide(&again, &env(AT, 1)).unwrap().answer;
    assert_eq!(late(Ok(500)), again, "a failure of an earlier attempt changes nothing");
    assert!(matches!(late(Ok(200)).state, OutboxState::Delivered { .. }));
}

#[test]
fn only_200_is_delivery() {
    let (sent, _) = begun(&message(), &message(), AT);
    for result in [Ok(201), Ok(204), Ok(302), Ok(404), Ok(500), Err("no complete answer within the time limit".into())]
    {
        let failed = RecordDelivery { attempt: 1, result }.decide(&sent, &env(AT, 1)).unwrap().answer;
        assert!(matches!(failed.state, OutboxState::Pending { attempts: 1, .. }), "{failed:?}");
    }
}

#[test]
fn a_message_waits_for_an_earlier_one_of_its_delegation_without_an_attempt() {
    let (first, _) = begun(&message(), &message(), AT);
    let later = OutboxMessage { key: first.key + 1, ..message() };
    let (waiting, attempted) = begun(&later, &first, AT);
    assert!(!attempted);
    let due = AT.plus_secs(LEASE_S + 1);
    assert_eq!(waiting.state, OutboxState::Pending { attempts: 0, due, give_up_at: None, last_error: None });
    assert!(begun(&waiting, &waiting, due).1, "the first one is delivered or dead");
}

#[test]
fn a_dead_message_is_replayed_as_the_same_message_and_others_are_not() {
    let place = (1, ProjectId::parse("calendar").unwrap());
    let dead = OutboxState::Dead { at: AT, attempts: 15, last_error: "the webhook answered 500".into() };
    let dead = OutboxMessage { state: dead, ..message() };
    let Step { answer: again, effects } = ReplayMessage.decide(&(place.clone(), dead.clone()), &env(AT, 1)).unwrap();
    assert_eq!((&again.id, again.due(), effects.evidence.len()), (&dead.id, Some(AT), 1));
    let delivered = OutboxState::Delivered { at: AT, status: 200, attempts: 1 };
    for other in [message(), OutboxMessage { state: delivered, ..message() }] {
        assert!(ReplayMessage.decide(&(place.clone(), other), &env(AT, 1)).is_err());
    }
}
