use super::*;
use proptest::prelude::*;
use serde_json::Value;

/// R-3
#[test]
fn a_text_that_two_readers_could_read_differently_is_refused() {
    let cases: &[(&[u8], BadJson)] = &[
        (br#"{"amount":1,"amount":2}"#, BadJson::Twice("amount".into())),
        (br#"{"amount":1,"\u0061mount":2}"#, BadJson::Twice("amount".into())),
        (br#"{"a":{"b":1,"c":2,"b":3}}"#, BadJson::Twice("b".into())),
        (br#"{"amount":1,"Amount":2}"#, BadJson::Alike("amount".into(), "Amount".into())),
        ("{\"risk\":1,\"ri\u{17f}k\":2}".as_bytes(), BadJson::Alike("risk".into(), "ri\u{17f}k".into())),
        ("{\"key\":1,\"\u{212a}ey\":2}".as_bytes(), BadJson::Alike("key".into(), "\u{212a}ey".into())),
        (br#"{"a":1} {"a":2}"#, BadJson::Trailing(8)),
        (b"{}\0", BadJson::Trailing(2)),
        (b"\xef\xbb\xbf{}", BadJson::Marked),
        (b"\"\xff\"", BadJson::NotUtf8),
        (br#""\ud800""#, BadJson::Surrogate(1)),
        (br#""\ud800\u0041""#, BadJson::Surrogate(1)),
        (br#""\udc00""#, BadJson::Surrogate(1)),
    ];
    for (bytes, why) in cases {
        assert_eq!(read(bytes).as_ref(), Err(why), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_body_that_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "0x10",
        "NaN",
        "Infinity",
        "tru",
        "nul",
        "\"a",
        "\"\n\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "[1 2]",
        "{\"a\" 1}",
        "/**/1",
        "1//",
        "\u{a0}1",
        "[",
        "{\"a\":",
        "\"\\",
    ] {
        assert!(matches!(read(text.as_bytes()), Err(BadJson::Grammar(_) | BadJson::Trailing(_))), "{text}");
    }
}

#[test]
fn nesting_has_an_end() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(read(nested(MAX_DEPTH + 1).as_bytes()), Err(BadJson::Deep));
    assert_eq!(read("[".repeat(1_000_000).as_bytes()), Err(BadJson::Deep));
}

/// R-3
#[test]
fn numbers_keep_their_digits_and_members_their_order() {
    let text = r#"{"z":82000.10,"a":1e5,"m":[9007199254740993,-0,0.1000,123456789012345678901234567890],"n":null}"#;
    assert_eq!(read(text.as_bytes()).unwrap().compact(), text);
}

#[test]
fn a_place_in_a_list_has_one_spelling() {
    let list = read(b"[\"a\",\"b\"]").unwrap();
    assert_eq!(list.get("1"), Some(&JsonMember::Text("b".into())));
    for other in ["01", "+1", "", "2", "-1", "length"] {
        assert_eq!(list.get(other), None, "{other}");
    }
}

/// JSON of any shape, and near misses.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[0-9]{1,12}(\\.[0-9]{1,3})?([eE][+-]?[0-9])?",
        "\"[a-zA-Z \\\\u0-9ä😀\"]{0,6}\"",
        "[\\[\\]{},:\"0-9a-z \\\\.-]{0,8}",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , ")));
        let member = ("[a-cA]", inner).prop_map(|(name, value)| format!("\"{name}\" :\t{value}"));
        let object = prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")));
        prop_oneof![list, object]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// R-3. The oracle is serde_json with its refusals of repeated members; ours also refuses members that differ only
    /// in case.
    #[test]
    fn another_reader_reads_the_same(text in texts()) {
        let other = countersign_protocol::json::value(text.as_bytes());
        match read(text.as_bytes()) {
            Ok(ours) => {
                let again: Value = serde_json::from_str(&ours.compact()).unwrap();
                prop_assert_eq!(other.unwrap(), again);
            }
            Err(BadJson::Alike(..)) => {}
            Err(why) => prop_assert!(other.is_err(), "{text}: {why}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = read(&bytes) {
            prop_assert_eq!(read(value.compact().as_bytes()).unwrap(), value);
        }
    }
}
