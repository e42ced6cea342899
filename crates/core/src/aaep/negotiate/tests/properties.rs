//! For any request: never honour more than was requested.

use super::super::{Extension, Offer, SubscriptionTerms, negotiate, renegotiate};
use countersign_protocol::aaep::{
    envelope::{Producer, Verbosity},
    event::Boundary,
    handshake::{Capabilities, CognitiveLoad, EventFilters, SubscriptionAccepted, SubscriptionRequest},
};
use proptest::{collection::vec, option, prelude::*, sample::subsequence};
use serde_json::{Map, json};

const TAGS: [&str; 8] = ["en", "en-US", "de-AT", "yo-Latn-NG", "zh-Hant", "fr", "de", "x"];
const ENDS: [Boundary; 5] =
    [Boundary::None, Boundary::Word, Boundary::Sentence, Boundary::Paragraph, Boundary::Completion];
const TYPES: [&str; 4] = ["aaep:agent.*", "aaep:agent.tool.*", "aaep:agent.state.changed", "*"];

fn texts(of: &'static [&'static str], min: usize) -> impl Strategy<Value = Option<Vec<String>>> {
    let some = subsequence(of.to_vec(), min..=of.len()).prop_shuffle();
    option::of(some.prop_map(|texts| texts.into_iter().map(str::to_owned).collect()))
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    let pace = (option::of(1..100_000u32), option::of(50..1000u32));
    let filters = option::of((texts(&TYPES, 0), texts(&TYPES, 0)));
    let words = (0..4u8, 0..4u8, option::of(any::<bool>()), option::of(any::<bool>()));
    let lists = (
        texts(&TAGS, 1),
        option::of(subsequence(ENDS.to_vec(), 1..=5).prop_shuffle()),
        option::of(subsequence(vec![1u8, 2, 3], 1..=3)),
        texts(&["x:one", "x:two", "x:three"], 0),
        option::of(1..=86_400u32),
    );
    (pace, filters, words, lists).prop_map(|(pace, filters, words, lists)| Capabilities {
        max_events_per_second: pace.0,
        pace_wpm: pace.1,
        event_filters: filters.map(|(include, exclude)| EventFilters { include, exclude }),
        preferred_verbosity: [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed].get(words.0 as usize).copied(),
        cognitive_load: [CognitiveLoad::Low, CognitiveLoad::Medium].get(words.1 as usize).copied(),
        supports_confirmation_reply: words.2,
        supports_clarification_reply: words.3,
        languages: lists.0,
        coalesce_boundaries: lists.1,
        supported_conformance_levels: lists.2,
        supported_extensions: lists.3,
        accept_signed_manifests_only: None,
        extensions: lists.4.map_or_else(Map::new, |seconds| {
            Map::from_iter([(super::PREFIX.to_owned(), json!({ super::MIN_TIMEOUT: seconds }))])
        }),
    })
}

fn offer() -> impl Strategy<Value = Offer> {
    let languages = vec(proptest::sample::select(TAGS.to_vec()).prop_map(str::to_owned), 1..3);
    (languages, option::of(1..100u32), 1..=86_400u32, any::<bool>()).prop_map(
        |(languages, most, longest, may_answer)| Offer {
            languages,
            extensions: vec![Extension { prefix: "one".into(), uri: "x:one".into() }],
            max_events_per_second: most,
            max_timeout_seconds: longest,
            may_answer,
            ..Offer::default()
        },
    )
}

fn request(capabilities: &Capabilities) -> SubscriptionRequest {
    SubscriptionRequest {
        aaep_version: "1.0.0".into(),
        subscriber_id: "reader".into(),
        capabilities: capabilities.clone(),
        ..SubscriptionRequest::default()
    }
}

/// Everything in `honored` is in `asked`.
fn within<T: PartialEq>(honored: Option<&Vec<T>>, asked: Option<&Vec<T>>) -> bool {
    honored.is_none_or(|honored| asked.is_some_and(|asked| honored.iter().all(|one| asked.contains(one))))
}

fn is_no_more(terms: &SubscriptionTerms, asked: &Capabilities) -> bool {
    let honored = &terms.honored;
    let extra_time = |of: &Capabilities| of.extensions.get(super::PREFIX)?.get(super::MIN_TIMEOUT)?.as_u64();
    asked.max_events_per_second.is_none_or(|asked| honored.max_events_per_second.is_some_and(|rate| rate <= asked))
        && within(honored.languages.as_ref(), asked.languages.as_ref())
        && within(honored.coalesce_boundaries.as_ref(), asked.coalesce_boundaries.as_ref())
        && within(honored.supported_conformance_levels.as_ref(), asked.supported_conformance_levels.as_ref())
        && within(honored.supported_extensions.as_ref(), asked.supported_extensions.as_ref())
        && honored.event_filters == asked.event_filters
        && honored.supports_confirmation_reply.unwrap_or(false) <= asked.supports_confirmation_reply.unwrap_or(false)
        && honored.supports_clarification_reply.unwrap_or(false) <= asked.supports_clarification_reply.unwrap_or(false)
        && honored.preferred_verbosity.unwrap_or_default() <= asked.preferred_verbosity.unwrap_or_default()
        && extra_time(honored) <= extra_time(asked)
        && asked.coalesce_boundaries.as_ref().is_none_or(|ends| ends.contains(&terms.finest))
}

proptest! {
    #[test]
    fn honored_terms_never_exceed_the_requested_ones(asked in capabilities(), offer in offer()) {
        let terms = negotiate(&request(&asked), &offer).unwrap();
        prop_assert!(is_no_more(&terms, &asked), "{:?}", terms);
    }

    #[test]
    fn the_answer_can_be_read_back_by_the_asking_agent(asked in capabilities(), offer in offer()) {
        let producer = Producer {
            agent_id: "hub".into(),
            agent_version: None,
            agent_name: None,
            model: None,
            manifest_uri: None,
        };
        let accepted = negotiate(&request(&asked), &offer).unwrap().accepted("sub_1".into(), producer);
        let wire = serde_json::to_value(&accepted).unwrap();
        prop_assert_eq!(SubscriptionAccepted::parse(&wire), Ok(accepted));
        let request = request(&asked);
        let wire = serde_json::to_value(&request).unwrap();
        prop_assert_eq!(SubscriptionRequest::parse(&wire), Ok(request));
    }

    #[test]
    fn a_change_of_terms_is_the_same_as_having_asked_for_it_all_at_first(
        first in capabilities(), then in capabilities(), offer in offer()
    ) {
        let changed = renegotiate(&negotiate(&request(&first), &offer).unwrap(), &then, &offer).unwrap();
        let (mut whole, later) = (serde_json::to_value(&first).unwrap(), serde_json::to_value(&then).unwrap());
        whole.as_object_mut().unwrap().extend(later.as_object().unwrap().clone());
        let whole = Capabilities::parse(&whole).unwrap();
        prop_assert_eq!(changed, negotiate(&request(&whole), &offer).unwrap());
    }
}
