mod properties;

use super::{
    Extension, Filter, MIN_TIMEOUT, Offer, Rejection, SubscriptionTerms, best_language, negotiate, renegotiate,
};
use countersign_protocol::aaep::{
    envelope::Verbosity,
    event::Boundary,
    extension::PREFIX,
    handshake::{Capabilities, CognitiveLoad, EventFilters, ReasonCode, SubscriptionRequest},
};
use serde_json::{Map, Value, json};

fn request(capabilities: Capabilities) -> SubscriptionRequest {
    SubscriptionRequest {
        aaep_version: "1.0.0".into(),
        subscriber_id: "reader".into(),
        capabilities,
        ..SubscriptionRequest::default()
    }
}

fn asked(capabilities: Value) -> Result<SubscriptionTerms, Rejection> {
    negotiate(&request(Capabilities::parse(&capabilities).unwrap()), &Offer::default())
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn versions_that_we_do_not_speak_are_rejected_and_newer_ones_of_our_major_come_down_to_ours() {
    let version = |version: &str| {
        let request = SubscriptionRequest { aaep_version: version.into(), ..request(Capabilities::default()) };
        negotiate(&request, &Offer::default()).map(|terms| terms.version).map_err(|why| why.code())
    };
    for unknown in ["0.9.0", "0.1.0-draft", "2.0.0", "1.0.0-rc.1", "99.0.0"] {
        assert_eq!(version(unknown), Err(ReasonCode::VersionUnsupported), "{unknown}");
    }
    for known in ["1.0.0", "1.0.7", "1.4.0"] {
        assert_eq!(version(known), Ok("1.0.0".into()), "{known}");
    }
}

#[test]
fn a_producer_that_is_full_says_when_to_come_back() {
    let offer = Offer { is_full: true, ..Offer::default() };
    let document = negotiate(&request(Capabilities::default()), &offer).unwrap_err().document(None);
    assert_eq!((document.reason_code, document.retry_after_seconds), (ReasonCode::RateLimit, Some(60)));
    // A change of terms does not evict an existing subscriber.
    let terms = SubscriptionTerms::implicit(&offer);
    assert!(renegotiate(&terms, &Capabilities::default(), &offer).is_ok());
}

#[test]
fn a_client_of_signed_manifests_is_served_only_by_a_producer_that_signs() {
    let signed = json!({"accept_signed_manifests_only": true});
    let why = asked(signed.clone()).unwrap_err();
    assert_eq!(why.code(), ReasonCode::ManifestSignatureRequired);
    let manifest = why.document(Some("https://plane.example/m".into())).alternative_manifest_uri;
    assert_eq!(manifest.as_deref(), Some("https://plane.example/m"));
    let offer = Offer { can_sign: true, ..Offer::default() };
    let terms = negotiate(&request(Capabilities::parse(&signed).unwrap()), &offer).unwrap();
    assert_eq!(terms.honored.accept_signed_manifests_only, Some(true));
}

#[test]
fn two_chosen_extensions_under_one_prefix_are_rejected_by_its_name() {
    let extension = |uri: &str| Extension { prefix: "org_example".into(), uri: uri.into() };
    let offer = Offer { extensions: vec![extension("x:a/v1"), extension("x:a/v2")], ..Offer::default() };
    let choose = |uris: &[&str]| {
        let extensions = Capabilities { supported_extensions: Some(strings(uris)), ..Capabilities::default() };
        negotiate(&request(extensions), &offer)
    };
    let why = choose(&["x:a/v1", "x:other", "x:a/v2"]).unwrap_err();
    assert_eq!(why.code(), ReasonCode::CapabilitiesIncompatible);
    assert!(why.to_string().contains("org_example"), "{why}");
    let terms = choose(&["x:a/v2", "x:other"]).unwrap();
    assert_eq!(terms.honored.supported_extensions, Some(strings(&["x:a/v2"])));
}

#[test]
fn no_common_level_is_incompatible() {
    let offer = Offer { levels: vec![2, 3], ..Offer::default() };
    let why = negotiate(&request(Capabilities::default()), &offer).unwrap_err();
    assert_eq!(why, Rejection::NoCommonLevel);
}

#[test]
fn more_time_is_granted_as_it_was_asked_for_up_to_the_bound() {
    for wrong in [json!(0), json!(86_401), json!("600"), json!(1.5), json!(-1), json!(null)] {
        let why = asked(json!({PREFIX: {MIN_TIMEOUT: wrong}})).unwrap_err();
        assert_eq!(why.code(), ReasonCode::CapabilitiesIncompatible, "{wrong}");
        assert!(why.to_string().contains(MIN_TIMEOUT));
    }
    assert_eq!(asked(json!({})).unwrap().time_extension, None);
    assert_eq!(asked(json!({PREFIX: {"later": true}})).unwrap().time_extension, None);
    let capabilities = Capabilities::parse(&json!({PREFIX: {MIN_TIMEOUT: 900}})).unwrap();
    let granted = |bound| {
        let offer = Offer { max_timeout_seconds: bound, ..Offer::default() };
        negotiate(&request(capabilities.clone()), &offer).unwrap()
    };
    assert_eq!((granted(3600).time_extension, granted(3600).notes), (Some(900), None));
    assert_eq!(granted(600).honored.extensions[PREFIX], json!({MIN_TIMEOUT: 600}));
    assert!(granted(600).notes.unwrap().contains("600"));
}

#[test]
fn extensions_of_others_are_neither_a_reason_to_reject_nor_honored() {
    let terms = asked(json!({"azlearn": {"tonal_marks": true}, "something": 1})).unwrap();
    assert_eq!(terms.honored.extensions, Map::new());
}

/// C24
#[test]
fn without_a_common_language_the_subscription_stands_and_says_so() {
    let terms = asked(json!({"languages": ["yo-NG", "ha"]})).unwrap();
    assert_eq!((terms.honored.languages, terms.form.language), (None, None));
    assert!(terms.notes.unwrap().contains("No language is common"));
}

#[test]
fn of_the_languages_those_are_honored_in_which_we_can_serve_and_the_first_of_them_is_spoken() {
    let terms = asked(json!({"languages": ["yo-NG", "de-AT", "en-NG"]})).unwrap();
    assert_eq!(terms.honored.languages, Some(strings(&["de-AT", "en-NG"])));
    assert_eq!(terms.form.language.as_deref(), Some("de"));
    assert_eq!(asked(json!({})).unwrap().form.language.as_deref(), Some("en"));
}

#[test]
fn languages_are_matched_as_they_are_then_without_region_then_without_script_then_the_next() {
    let best = |asked: &[&str], offered: &[&'static str]| best_language(&strings(asked), offered);
    assert_eq!(best(&["fr"], &["en", "de"]), None);
    assert_eq!(best(&["e"], &["en"]), None);
    assert_eq!(best(&["en"], &["english"]), None);
    assert_eq!(best(&[], &["en"]), None);
    assert_eq!(best(&["en-GB"], &["en", "en-GB"]), Some("en-GB"));
    assert_eq!(best(&["EN-gb"], &["en-GB"]), Some("en-GB"));
    assert_eq!(best(&["en-GB"], &["de", "en"]), Some("en"));
    assert_eq!(best(&["en"], &["de", "en-US"]), Some("en-US"));
    assert_eq!(best(&["yo-Latn-NG"], &["yo", "yo-Latn"]), Some("yo-Latn"));
    assert_eq!(best(&["yo-Latn-NG"], &["en", "yo"]), Some("yo"));
    assert_eq!(best(&["zh-Hant-TW", "en"], &["zh-Hans", "en"]), Some("en"), "another script cannot be read");
    assert_eq!(best(&["fr-CH", "de-CH"], &["en", "de"]), Some("de"));
}

#[test]
fn the_rate_is_the_lower_of_both() {
    let rate = |asked: Option<u32>, most: Option<u32>| {
        let offer = Offer { max_events_per_second: most, ..Offer::default() };
        let capabilities = Capabilities { max_events_per_second: asked, ..Capabilities::default() };
        negotiate(&request(capabilities), &offer).unwrap().rate
    };
    assert_eq!(rate(None, None), None);
    assert_eq!((rate(Some(5), None), rate(None, Some(9))), (Some(5), Some(9)));
    assert_eq!((rate(Some(5), Some(9)), rate(Some(9), Some(5))), (Some(5), Some(5)));
}

#[test]
fn a_read_only_subscriber_is_not_promised_that_replies_count() {
    let offer = Offer { may_answer: false, ..Offer::default() };
    let can = Capabilities { supports_confirmation_reply: Some(true), ..Capabilities::default() };
    let terms = negotiate(&request(can), &offer).unwrap();
    assert_eq!(terms.honored.supports_confirmation_reply, Some(false));
    assert!(!terms.answers_confirmations && terms.notes.is_some());
    assert!(!SubscriptionTerms::implicit(&offer).answers_confirmations);
}

#[test]
fn a_subscriber_without_terms_gets_everything_counted_and_may_reply() {
    let terms = SubscriptionTerms::implicit(&Offer::default());
    assert!(terms.form.sequence && terms.answers_confirmations && terms.answers_clarifications);
    assert_eq!((terms.rate, terms.finest, terms.level), (None, Boundary::None, 3));
}

#[test]
fn low_cognitive_load_makes_texts_short_and_a_slow_pace_makes_pieces_longer() {
    let terms = asked(json!({"cognitive_load": "low", "preferred_verbosity": "detailed"})).unwrap();
    assert_eq!((terms.form.verbosity, terms.honored.preferred_verbosity), (Verbosity::Terse, Some(Verbosity::Terse)));
    let finest = |pace: u32| {
        asked(json!({"coalesce_boundaries": ["word", "paragraph", "sentence"], "pace_wpm": pace})).unwrap().finest
    };
    assert_eq!([finest(300), finest(119), finest(79)], [Boundary::Word, Boundary::Sentence, Boundary::Paragraph]);
    let only = asked(json!({"coalesce_boundaries": ["word"], "pace_wpm": 50})).unwrap();
    assert_eq!(only.honored.coalesce_boundaries, Some(vec![Boundary::Word]));
}

/// C11
#[test]
fn a_filter_passes_included_events_that_are_not_excluded() {
    let passes = |filters: Value, type_name: &str| {
        let filters: EventFilters = serde_json::from_value(filters).unwrap();
        Filter::new(Some(&filters)).passes(type_name)
    };
    let state = "aaep:agent.state.changed";
    assert!(!passes(json!({"include": []}), state));
    assert!(!passes(json!({"include": ["aaep:agent.tool.*"]}), state));
    assert!(!passes(json!({"exclude": [state]}), state));
    assert!(!passes(json!({"include": [state], "exclude": ["aaep:*"]}), state), "exclude wins");
    assert!(!passes(json!({"include": ["aaep:agent.state"]}), state), "only a star stands for more");
    assert!(!passes(json!({"include": ["*.changed"]}), state), "and only at the end");
    assert!(!passes(json!({}), "org_example:thing"));
    assert!(passes(json!({}), state) && passes(json!({"include": ["*"]}), state));
    assert!(passes(json!({"include": [state], "exclude": []}), state));
    assert!(passes(json!({"exclude": ["aaep:agent.tool.*"]}), state));
    assert!(passes(json!({"include": ["https://aaep-protocol.org/types/agent.state.*"]}), state));
    assert!(Filter::new(None).passes_everything());
}

#[test]
fn a_change_of_terms_keeps_unnamed_members_and_replaces_filters_whole() {
    let before = asked(json!({
        "max_events_per_second": 3,
        "languages": ["de"],
        "event_filters": {"include": ["aaep:agent.tool.*"], "exclude": ["aaep:agent.tool.completed"]},
    }))
    .unwrap();
    let changed = Capabilities::parse(&json!({"event_filters": {"exclude": ["aaep:agent.progress.updated"]}})).unwrap();
    let after = renegotiate(&before, &changed, &Offer::default()).unwrap();
    assert_eq!((after.rate, after.form.language.as_deref()), (Some(3), Some("de")));
    assert_eq!(after.honored.event_filters, changed.event_filters);
    assert!(after.filter.passes("aaep:agent.tool.completed"));
    // A capability that was denied before is negotiated again: it is still requested.
    let more = Offer { languages: strings(&["fr"]), ..Offer::default() };
    assert_eq!(renegotiate(&after, &Capabilities::default(), &more).unwrap().honored.languages, None);
    let back = renegotiate(&after, &Capabilities::default(), &Offer::default()).unwrap();
    assert_eq!(back.honored.languages, Some(strings(&["de"])));
    let signed = Capabilities { accept_signed_manifests_only: Some(true), ..Capabilities::default() };
    assert_eq!(renegotiate(&after, &signed, &Offer::default()), Err(Rejection::ManifestSignatureRequired));
}

#[test]
fn the_load_is_reported_back() {
    let terms = asked(json!({"cognitive_load": "high", "pace_wpm": 180})).unwrap();
    assert_eq!((terms.honored.cognitive_load, terms.honored.pace_wpm), (Some(CognitiveLoad::High), Some(180)));
}
