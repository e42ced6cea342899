use super::*;
use countersign_protocol::aap::policy::{LifecycleEvent, PolicyDuration};
use proptest::{collection::btree_set, option, prelude::*};
use serde_json::json;

const GRANTED: UnixMillis = UnixMillis::from_secs(1_780_000_000);

fn layer(document: serde_json::Value) -> PolicyLayer {
    serde_json::from_value(document).unwrap()
}

fn durations() -> impl Strategy<Value = Option<PolicyDuration>> {
    option::of((3600_i64..10_000_000).prop_map(|secs| PolicyDuration::parse(&format!("{secs}s")).unwrap()))
}

prop_compose! {
    fn layers()(
        max_duration in durations(),
        after_duration in durations(),
        after_inactivity in durations(),
        on_task_completion in any::<bool>(),
        on_events in btree_set(prop::sample::select(LifecycleEvent::ALL.to_vec()), 0..4),
        max_requests in option::of(1_u64..1000),
        max_writes in option::of(1_u64..1000),
    ) -> PolicyLayer {
        let after_use = UsageBudget { max_requests, max_writes };
        PolicyLayer { max_duration, after_duration, after_inactivity, on_task_completion, on_events, after_use }
    }
}

/// AAP-8.4-01, AAP-8.4-06
#[test]
fn the_published_layers_give_the_published_effective_policy() {
    let service = layer(json!({
        "max_duration": "90d", "after_inactivity": "30d", "on_events": ["user.offboarded", "org.subscription_cancelled"],
    }));
    let operator = layer(json!({ "after_inactivity": "14d", "on_task_completion": true }));
    let user = layer(json!({ "after_duration": "7d" }));
    let layers = [(PolicySource::Service, &service), (PolicySource::Operator, &operator), (PolicySource::User, &user)];
    let (policy, sources) = resolve(&layers, GRANTED);
    assert_eq!(
        serde_json::to_value(policy).unwrap(),
        json!({
            "expires_at": GRANTED.plus_secs(7 * 86400).to_rfc3339(), "inactivity_timeout": 14 * 86400,
            "on_task_completion": true, "on_events": ["user.offboarded", "org.subscription_cancelled"],
        })
    );
    assert_eq!(
        serde_json::to_value(sources).unwrap(),
        json!({
            "expires_at": ["user"], "inactivity_timeout": ["operator"], "on_task_completion": ["operator"],
            "on_events": ["service"],
        })
    );
}

/// AAP-8.4-07
#[test]
fn both_notations_of_a_duration_mean_the_same_and_others_are_refused() {
    for (text, secs) in [("14d", 1_209_600), ("P14D", 1_209_600), ("2w", 1_209_600), ("12h", 43200), ("PT12H", 43200)] {
        assert_eq!(PolicyDuration::parse(text).unwrap().secs(), secs, "{text}");
    }
    for text in ["", "0d", "-1d", "1.5h", "14", "d", "P", "PT", "P1Y", "P1DT2H", "14D", " 14d", "99999999999w"] {
        assert_eq!(PolicyDuration::parse(text), None, "{text}");
    }
}

/// AAP-19.6-03
#[test]
fn a_layer_outside_the_schema_is_refused_with_its_member() {
    let problem = |document| layer(document).problem().map(|(member, _)| member);
    assert_eq!(problem(json!({ "after_inactivity": "59m" })), Some("after_inactivity"));
    assert_eq!(problem(json!({ "after_use": { "max_requests": 0 } })), Some("after_use.max_requests"));
    assert_eq!(problem(json!({ "after_use": { "max_writes": 0 } })), Some("after_use.max_writes"));
    assert_eq!(problem(json!({ "after_duration": "1h", "on_task_completion": true })), None);
    for unknown in [json!({ "on_events": ["user.promoted"] }), json!({ "after_lunch": "1h" })] {
        assert!(serde_json::from_value::<PolicyLayer>(unknown).is_err());
    }
}

proptest! {
    /// AAP-8.4-01, AAP-8.4-03, AAP-8.4-04
    #[test]
    fn no_layer_is_stricter_than_the_effective_policy_in_any_dimension(a in layers(), b in layers(), c in layers()) {
        let layers = [(PolicySource::Service, &a), (PolicySource::Operator, &b), (PolicySource::User, &c)];
        let (policy, _) = resolve(&layers, GRANTED);
        for (_, layer) in layers {
            let within = |own: Option<i64>, limit: Option<i64>| own.is_none_or(|own| limit.is_some_and(|limit| limit <= own));
            let ends_s = policy.expires_at.map(|end| end.millis_since(GRANTED) / 1000);
            prop_assert!(within(layer.duration_s(), ends_s));
            prop_assert!(within(layer.after_inactivity.map(PolicyDuration::secs), policy.inactivity_timeout));
            prop_assert!(!layer.on_task_completion || policy.on_task_completion);
            prop_assert!(layer.on_events.is_subset(&policy.on_events));
            let signed = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap());
            prop_assert!(within(signed(layer.after_use.max_requests), signed(policy.after_use.max_requests)));
            prop_assert!(within(signed(layer.after_use.max_writes), signed(policy.after_use.max_writes)));
        }
    }

    /// AAP-8.4-01
    #[test]
    fn the_order_of_the_layers_changes_nothing(a in layers(), b in layers(), c in layers()) {
        let [a, b, c] = [(PolicySource::Service, &a), (PolicySource::Operator, &b), (PolicySource::User, &c)];
        let expected = resolve(&[a, b, c], GRANTED);
        for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            prop_assert_eq!(&resolve(&order, GRANTED), &expected);
        }
    }

    /// Every dimension that is set names its source, and no other does.
    #[test]
    fn each_dimension_names_the_parties_that_decided_it(a in layers(), b in layers()) {
        let (policy, sources) = resolve(&[(PolicySource::Service, &a), (PolicySource::User, &b)], GRANTED);
        prop_assert_eq!(policy.expires_at.is_some(), !sources.expires_at.is_empty());
        prop_assert_eq!(policy.inactivity_timeout.is_some(), !sources.inactivity_timeout.is_empty());
        prop_assert_eq!(policy.on_task_completion, !sources.on_task_completion.is_empty());
        prop_assert_eq!(policy.on_events.is_empty(), sources.on_events.is_empty());
        prop_assert_eq!(policy.after_use.max_requests.is_some(), !sources.max_requests.is_empty());
        prop_assert_eq!(policy.after_use.max_writes.is_some(), !sources.max_writes.is_empty());
    }

    #[test]
    fn a_layer_is_read_back_as_it_was_written(layer in layers()) {
        let text = serde_json::to_string(&layer).unwrap();
        prop_assert_eq!(serde_json::from_str::<PolicyLayer>(&text).unwrap(), layer);
    }
}
