//! A write without approval: its intent is durable before it is sent, and it is never sent again by itself.

use super::{
    after::{self, recorded},
    cases::{MOST, lasting},
    process::Process,
    story,
};
use countersign_testkit::{
    Kit,
    bank::{BankScene, GatewayRequest},
    crashing::{Doom, Moment},
    on_both_stores,
};
use std::collections::BTreeSet;

on_both_stores! {
    /// R-24, R-34
    async fn a_write_whose_node_is_killed_was_begun_on_record_if_it_ran_and_is_not_sent_again(kit) {
        let mut found = BTreeSet::new();
        for moment in [Moment::Before, Moment::During, Moment::After] {
            for commit in 1..MOST {
                let (answered, begun, effects, told) = survives(kit, Doom { commit, moment }).await;
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
        let (scene, _folder) = lasting(kit).await;
        scene.plane.engine.store().close().await;
        let process = Process::start(&scene.plane, None).await.expect("a node");
        story::dies_while_the_bank_works(&scene, process, note()).await;
        let scene = after::restarted(scene).await;
        is_left_alone(&scene, (1, 1, 0)).await;
    }
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"text":"call the bank"}"#)
}

/// Whether it was answered; the number of calls begun, executed by the bank, and recorded as executed.
async fn survives(kit: Kit, doom: Doom) -> (bool, usize, usize, usize) {
    let (scene, _folder) = lasting(kit).await;
    scene.plane.engine.store().close().await;
    let answer = match Process::start(&scene.plane, Some(doom)).await {
        Some(process) => story::sends(&scene, process.doors.gateway, note()).await,
        None => None,
    };
    let scene = after::restarted(scene).await;
    let (begun, told) = recorded(&scene).await;
    let effects = scene.bank.effects().len();
    assert!(told <= effects && effects <= begun, "{doom:?}: {begun} begun, {effects} done, {told} told");
    is_left_alone(&scene, (begun, effects, told)).await;
    scene.plane.engine.store().close().await;
    (answer.map(|answer| answer.expect(201)).is_some(), begun, effects, told)
}

/// Nothing happens by itself; and a repeat is another write, unless the first one's outcome is unknown.
async fn is_left_alone(scene: &BankScene, (begun, effects, told): (usize, usize, usize)) {
    scene.plane.advance_secs(600).await;
    scene.plane.engine.run_maintenance().await.unwrap();
    assert_eq!((recorded(scene).await, scene.bank.effects().len()), ((begun, told), effects));
    let again = scene.sends(note()).await;
    if begun > told {
        assert_eq!(again.refusal(), (409, "conflict".into()), "{}", again.text());
        assert!(again.json()["call"]["call_id"].is_string(), "{}", again.text());
        assert_eq!((recorded(scene).await.0, scene.bank.effects().len()), (begun, effects));
        return;
    }
    again.expect(201);
    assert_eq!((recorded(scene).await, scene.bank.effects().len()), ((begun + 1, told + 1), effects + 1));
}
