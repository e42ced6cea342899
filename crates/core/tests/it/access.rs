//! Checks `access::decide` against the reference model in `access_model`.

use crate::{
    access_model::{KNOWN_FROM, first_broken_rule, is_held, word_is_enough, writes},
    worlds::{NOW, World, proven, worlds},
};
use countersign_core::{
    aap::access::{
        AuthorizedCall, Call, CallFacts, CallVerdict, Confirmation, DryRun, Proving, RefusedCall, WriteResult, decide,
    },
    env::Env,
    records::Table,
    refusal::Refusal,
};
use countersign_protocol::{
    aap::{dry_run::DryRunNeed, error::Code},
    project::RouteDryRun,
};
use proptest::prelude::*;
use std::{cell::RefCell, collections::BTreeMap};

fn env() -> Env {
    Env { now: NOW, entropy: [9; 32], first_key: 100 }
}

fn verdict(world: &World) -> Result<CallVerdict, RefusedCall> {
    decide(&world.call, &world.view, &Proving { verify: &proven, nonce_demanded: world.nonce_demanded }, NOW)
}

fn is_bound(world: &World) -> bool {
    world.view.bearer.as_ref().is_some_and(|bearer| bearer.token.jkt.is_some())
}

fn authorized(world: &World) -> Option<AuthorizedCall> {
    match verdict(world) {
        Ok(CallVerdict::Authorized(authorized)) => Some(authorized),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// R-28, C-93
    #[test]
    fn a_call_is_refused_for_the_first_rule_that_it_breaks_and_for_no_other(world in worlds()) {
        let told = match verdict(&world) {
            Ok(CallVerdict::Authorized(_) | CallVerdict::DryRun(_)) => None,
            Ok(CallVerdict::NeedsApproval(_)) => Some(Code::IrreversibleRequiresConfirm),
            Err(refused) => Some(refused.refusal.code()),
        };
        prop_assert_eq!(told, first_broken_rule(&world).map(|(_, code)| code));
    }

    /// R-24
    #[test]
    fn a_refusal_is_recorded_exactly_if_the_caller_is_known(world in worlds()) {
        if let Err(refused) = verdict(&world) {
            let record = refused.record(&world.call, &env());
            let known = first_broken_rule(&world).unwrap().0 >= KNOWN_FROM;
            prop_assert_eq!(record.is_some(), known);
            if let Some(record) = record {
                prop_assert!(record.guards.is_empty() && record.puts.is_empty() && record.counts.is_empty());
                prop_assert_eq!(record.evidence.len(), 1);
                prop_assert_eq!(record.evidence[0].session, Some(20));
                // A proof is consumed by a refused call as well (R-22).
                prop_assert_eq!(record.proof.is_some(), is_bound(&world));
                let text = String::from_utf8(record.evidence[0].leaf.bytes.clone()).unwrap();
                prop_assert!(!text.contains("free text") && !text.contains("alice") && !text.contains("/thing"));
            }
        }
    }

    /// R-23, R-24
    #[test]
    fn an_authorized_call_holds_only_as_long_as_everything_it_was_decided_from(world in worlds()) {
        let Some(authorized) = authorized(&world) else { return Ok(()) };
        let bearer = world.view.bearer.as_ref().unwrap();
        let mut watched = vec![(Table::Project, 1, 3), (Table::Session, 20, 7)];
        watched.extend(bearer.delegation.as_ref().map(|d| (Table::Delegation, d.key, d.version)));
        let guards = |effects: &countersign_core::step::Effects| -> Vec<_> {
            effects.guards.iter().map(|guard| (guard.table, guard.key, guard.version)).collect()
        };
        let intent = authorized.intent(None, None, &env()).unwrap().effects;
        let outcome = match authorized.facts().writes() {
            true => authorized.record_write(("200 OK", WriteResult::Ran), false, None, 10, &[], &env()).unwrap(),
            false => authorized.record_read("200 OK", 10, &[], &env()).unwrap().0,
        };
        prop_assert_eq!(guards(&intent), watched.clone());
        prop_assert_eq!(guards(&authorized.recheck()), watched.clone());
        // A read is guarded by its outcome; a write was guarded by its intent.
        prop_assert_eq!(guards(&outcome), if authorized.facts().writes() { vec![] } else { watched });
        // Each call counts once: a write when it begins, a read when it ends.
        prop_assert_eq!(outcome.counts.len(), usize::from(!authorized.facts().writes()));
        prop_assert_eq!(intent.counts.len(), 1);
        let listed = &outcome.evidence[0];
        prop_assert_eq!((listed.session, listed.delegation), (Some(20), bearer.delegation.as_ref().map(|d| d.key)));
        let unlisted = &intent.evidence[0];
        prop_assert_eq!((unlisted.session, unlisted.delegation), (None, None));
    }

    #[test]
    fn an_authorized_call_is_for_the_route_that_was_asked_for(world in worlds()) {
        let Some(authorized) = authorized(&world) else { return Ok(()) };
        let World { call, view, .. } = &world;
        let route = view.project.document.routes.iter().find(|r| r.id == authorized.facts().route().id).unwrap();
        prop_assert_eq!((&route.method, &route.path, route.action.as_str()), (&call.method, &call.path, authorized.facts().action()));
        prop_assert_eq!(authorized.facts().writes(), writes(route) && call.dry_run == DryRun::No);
        let delegation = view.bearer.as_ref().and_then(|bearer| bearer.delegation.as_ref());
        prop_assert_eq!(authorized.facts().subject(), delegation.map(|d| d.subject.as_str()));
    }

    /// R-22
    #[test]
    fn a_call_with_a_bound_token_spends_its_proof_in_the_step_that_lets_it_through(world in worlds()) {
        let spent = match verdict(&world) {
            Ok(CallVerdict::Authorized(authorized)) => vec![
                authorized.intent(None, None, &env()).unwrap().effects.proof,
                authorized.record_read("200 OK", 0, &[], &env()).unwrap().0.proof,
            ],
            Ok(CallVerdict::NeedsApproval(needs)) => vec![
                needs.pending_effects().0.proof,
                needs.record_refusal(&countersign_core::refusal::Refusal::Internal, &env()).unwrap().0.proof,
            ],
            Ok(CallVerdict::DryRun(call)) => vec![
                call.record(&env()).unwrap().proof,
                call.record_refusal(&countersign_core::refusal::Refusal::Internal, &env()).unwrap().proof,
                call.record_abandonment("gone", &env()).unwrap().proof,
            ],
            Err(_) => return Ok(()),
        };
        for proof in spent {
            prop_assert_eq!(proof.map(|proof| (proof.project, proof.jti)), is_bound(&world).then(|| (1, "the jti".into())));
        }
    }

    /// AAP-14.1-02, R-20, R-28: it passes and fails with the real call, except for the approval that it only shows.
    #[test]
    fn a_dry_run_authorizes_nothing_but_the_preview_of_an_upstream_that_declares_one(world in worlds()) {
        let world = World { call: Call { dry_run: DryRun::Requested, ..world.call }, ..world };
        let real = World { call: Call { dry_run: DryRun::No, ..world.call.clone() }, ..world.clone() };
        let declared = |call: &CallFacts| matches!(call.route().dry_run, Some(RouteDryRun::Upstream(_)));
        match (verdict(&world), verdict(&real)) {
            (Ok(CallVerdict::Authorized(call)), _) => {
                prop_assert!(declared(call.facts()) && call.facts().is_dry_run() && !call.facts().writes());
                let counts = call.intent(None, None, &env()).unwrap().counted;
                prop_assert!(counts.iter().all(|count| !count.name.contains("writes")));
            }
            (Ok(CallVerdict::DryRun(call)), real) => {
                prop_assert!(!declared(call.facts()));
                let needs = match real {
                    Ok(CallVerdict::NeedsApproval(_)) => DryRunNeed::Person,
                    Ok(CallVerdict::Authorized(real)) if real.facts().is_self_asserted() => DryRunNeed::OwnWord,
                    Err(refused) => {
                        prop_assert_eq!(refused.refusal.code(), Code::IrreversibleRequiresConfirm);
                        DryRunNeed::OwnWord
                    }
                    _ => DryRunNeed::Nothing,
                };
                prop_assert_eq!(call.needs(), needs);
                let step = call.record(&env()).unwrap();
                prop_assert!(step.counts.is_empty() && step.puts.is_empty() && step.news.is_empty() && step.once.is_empty());
                prop_assert_eq!(step.evidence.len(), 1);
                prop_assert!(String::from_utf8(step.evidence[0].leaf.bytes.clone()).unwrap().contains(r#""dry_run":true"#));
            }
            (Ok(CallVerdict::NeedsApproval(_)), _) => prop_assert!(false, "a dry run asks nobody"),
            // A call beyond its consent names the scope that a person could allow; a dry run asks nobody for it.
            (Err(dry), Err(real)) if dry.refusal != Refusal::DryRunUnsupported => {
                prop_assert_eq!(dry.refusal.code(), real.refusal.code());
            }
            (Err(dry), _) => prop_assert_eq!(dry.refusal, Refusal::DryRunUnsupported),
        }
    }

    /// R-28, C-02
    #[test]
    fn a_scope_that_needs_approval_is_granted_only_with_its_confirmation(world in worlds()) {
        let Some(authorized) = authorized(&world) else { return Ok(()) };
        if authorized.facts().is_dry_run() {
            return Ok(());
        }
        let asserted = is_held(&world, authorized.facts().route()) && word_is_enough(&world, authorized.facts().route());
        prop_assert!(asserted || !is_held(&world, authorized.facts().route()));
        let expected = if asserted { Confirmation::SelfAsserted } else { Confirmation::NotNeeded };
        prop_assert_eq!(authorized.facts().confirmation(), &expected);
    }
}

/// The generated scenarios reach every rule; otherwise the properties above would prove little.
#[test]
fn the_small_worlds_break_every_rule_and_keep_them_all() {
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 4000, ..ProptestConfig::default() });
    let told = runner.run(&worlds(), |world| {
        let rule = first_broken_rule(&world).map_or("none".into(), |(rank, code)| format!("{rank} {code}"));
        *seen.borrow_mut().entry(rule).or_default() += 1;
        Ok(())
    });
    told.unwrap();
    let seen = seen.into_inner();
    assert!(seen.values().all(|times| *times >= 1) && seen.len() >= 27, "{seen:#?}");
    assert!(seen["none"] > 20, "{seen:#?}");
}
