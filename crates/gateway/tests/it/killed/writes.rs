//! A write without approval: its intent is durable before it is sent, and it is never sent again by itself.

use super::{after::recorded, cases::MOST, process::Process, story};
use countersign_testkit::{
    Kit,
    bank::{BankFixture, GatewayRequest},
    faulty_store::{CrashPoint, Moment},
    on_both_stores,
};
use std::collections::BTreeSet;

on_both_stores! {
    /// R-24, R-34
    async fn a_write_whose_node_is_killed_was_begun_on_record_if_it_ran_and_is_not_sent_again(kit) {
        let mut found = BTreeSet::new();
        for moment in [Moment::Before, Moment::During, Moment::After] {
            for commit in 1..MOST {
                let (answered, begun, effects, told) = survives(kit, CrashPoint { commit, moment }).await;
                found.insert((begun, effects, told));
                if answered {
                    break;
                }
            }
        }
        let all = BTreeSet::from([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]);
        assert_eq!(found, all, "before its intent, before it is sent, before its outcome, after that");
    }

    /// R-24, R-34
    async fn a_write_whose_node_is_killed_while_the_service_works_has_no_outcome_that_nobody_saw(kit) {
        let (fixture, _folder) = BankFixture::lasting(kit, |_| {}).await;
        fixture.plane.engine.store().close().await;
        let process = Process::start(&fixture.plane, None).await.expect("a node");
        story::dies_while_the_bank_works(&fixture, process, note()).await;
        let fixture = fixture.restarted().await;
        is_left_alone(&fixture, (1, 1, 0)).await;
    }
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"text":"call the bank"}"#)
}

/// Whether it was answered; the number of calls begun, executed by the bank, and recorded as executed.
async fn survives(kit: Kit, crash: CrashPoint) -> (bool, usize, usize, usize) {
    let (fixture, _folder) = BankFixture::lasting(kit, |_| {}).await;
    fixture.plane.engine.store().close().await;
    let answer = match Process::start(&fixture.plane, Some(crash)).await {
        Some(process) => story::sends(&fixture, process.addresses.gateway, note()).await,
        None => None,
    };
    let fixture = fixture.restarted().await;
    let (begun, told) = recorded(&fixture).await;
    let effects = fixture.bank.effects().len();
    assert!(told <= effects && effects <= begun, "{crash:?}: {begun} begun, {effects} done, {told} told");
    is_left_alone(&fixture, (begun, effects, told)).await;
    fixture.plane.engine.store().close().await;
    (answer.map(|answer| answer.expect(201)).is_some(), begun, effects, told)
}

/// Nothing happens by itself; and a repeat is another write, unless the first one's outcome is unknown.
async fn is_left_alone(fixture: &BankFixture, (begun, effects, told): (usize, usize, usize)) {
    fixture.plane.advance_secs(600).await;
    fixture.plane.engine.run_maintenance().await.unwrap();
    assert_eq!((recorded(fixture).await, fixture.bank.effects().len()), ((begun, told), effects));
    let again = fixture.sends(note()).await;
    if begun > told {
        assert_eq!(again.refusal(), (409, "conflict".into()), "{}", again.text());
        assert!(again.json()["call"]["call_id"].is_string(), "{}", again.text());
        assert_eq!((recorded(fixture).await.0, fixture.bank.effects().len()), (begun, effects));
        return;
    }
    again.expect(201);
    assert_eq!((recorded(fixture).await, fixture.bank.effects().len()), ((begun + 1, told + 1), effects + 1));
}
