use super::*;

#[test]
fn an_id_is_its_prefix_and_1_to_64_letters_and_digits() {
    type Grammar = fn(&str) -> bool;
    let grammars: [(&str, Grammar); 6] = [
        ("evt_", is_event_id),
        ("sess_", is_session_id),
        ("rpl_", is_reply_token),
        ("sub_", is_subscription_id),
        ("call_", is_call_id),
        ("out_", is_output_id),
    ];
    for (prefix, grammar) in grammars {
        for tail in ["", "a-b", "a_b", "a b", "ab\n", "\n", "ä", "a\u{0}", &"a".repeat(65)] {
            assert!(!grammar(&format!("{prefix}{tail}")), "{prefix}{tail:?}");
        }
        assert!(!grammar("xyz_1") && !grammar(&prefix.to_uppercase()) && !grammar(&format!(" {prefix}1")));
        assert!(grammar(&format!("{prefix}Z")) && grammar(&format!("{prefix}{}", "0".repeat(64))));
    }
}

#[test]
fn a_language_tag_is_short_words_with_hyphens_between() {
    for wrong in ["", "-", "en-", "-en", "en_US", "4n", "abcdefghi", "en-abcdefghi", "en--US", "en\n", "dé"] {
        assert!(!is_language_tag(wrong), "{wrong:?}");
    }
    for right in ["e", "en", "en-US", "zh-Hant-TW", "es-419", "yo-NG", "abcdefgh-12345678", "x-private"] {
        assert!(is_language_tag(right), "{right}");
    }
}

#[test]
fn a_version_has_three_numbers() {
    for wrong in ["", "1", "1.0", "1.0.0.0", "1.0.x", "v1.0.0", "1.0.0-", "1.0.0-ä", "1.0.0+build", "1..0", "1.0.0 "] {
        assert!(!is_version(wrong), "{wrong}");
    }
    for right in ["1.0.0", "10.20.30", "1.0.0-rc.1", "1.0.0-a-b"] {
        assert!(is_version(right), "{right}");
    }
}

#[test]
fn a_timestamp_is_read_to_the_millisecond() {
    let noon = UnixMillis(1_794_744_000_000);
    assert_eq!(parse_timestamp("2026-11-15T12:00:00Z"), Some(noon));
    assert_eq!(parse_timestamp("2026-11-15T14:30:00+02:30"), Some(noon));
    assert_eq!(parse_timestamp("2026-11-15T12:00:00.250Z"), Some(noon.plus_millis(250)));
    assert_eq!(parse_timestamp("2026-11-15T12:00:00.250999Z"), Some(noon.plus_millis(250)));
    assert_eq!(parse_timestamp("2026-11-15T12:00:00.25Z"), None);
}

#[test]
fn the_moment_of_a_reply_may_have_any_precision() {
    let noon = UnixMillis(1_794_744_000_000);
    for (text, millis) in [
        ("2026-11-15T12:00:00Z", 0),
        ("2026-11-15t12:00:00z", 0),
        ("2026-11-15T12:00:00.5Z", 500),
        ("2026-11-15T12:00:00.915170+00:00", 915),
        ("2026-11-15T12:00:00.1234567Z", 123),
        ("2026-11-15T12:00:00.12345678901234567890Z", 123),
    ] {
        assert_eq!(parse_date_time(text), Some(noon.plus_millis(millis)), "{text}");
    }
    for wrong in
        ["", "now", "2026-11-15", "2026-11-15T12:00:00", "2026-11-15T12:00:00.Z", "20261115T120000Z", "1794744000"]
    {
        assert_eq!(parse_date_time(wrong), None, "{wrong}");
    }
}

#[test]
fn a_uri_has_a_scheme_and_only_characters_that_it_may_have() {
    for wrong in [
        "",
        "example.com",
        "/path",
        "//host/path",
        "1http://x",
        "ht tp://x",
        ":x",
        "http://a b",
        "http://x/<y>",
        "http://x/\"",
        "http://x/%",
        "http://x/%4",
        "http://x/%zz",
        "http://x/#a#b",
        "http://x/[1]",
        "http://[::1",
        "http://[zz]/",
        "http://x:port/",
        "http://ä.example/",
        "http://x\n",
        "http://x/\\",
        "http://x/{id}",
    ] {
        assert!(!is_uri(wrong), "{wrong:?}");
    }
    for right in [
        "http://x",
        "https://shop.example/a%20b?q=1&r=/?#frag/?",
        "queue://desk/tariffs",
        "urn:isbn:123",
        "mailto:desk@hub.example",
        "a:",
        "http://user:pass@host:8080/",
        "http://[::1]:80/x",
        "http://[::1]",
        "file:///etc",
        "tag:x,2026:y",
    ] {
        assert!(is_uri(right), "{right}");
    }
}
