use super::*;

///
#[test]
fn invisible_characters_are_written_out_and_nothing_is_omitted() {
    for (text, shown) in [
        ("a\u{202e}b", "a[U+202E]b"),
        ("a\u{2068}b\u{2069}", "a[U+2068]b[U+2069]"),
        ("line\nend\u{7f}", "line␊end␡"),
        ("Ac\u{200d}me", "Ac[U+200D]me"),
        ("Ac\u{200b}me\u{2800}", "Ac[U+200B]me[U+2800]"),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
    ] {
        assert_eq!(visible(text), shown);
    }
}

///
#[test]
fn no_value_ends_its_own_quotes() {
    for (value, shown) in [
        ("Acme Supplies", "“Acme Supplies”"),
        ("Acme” (verified payee). “", "“Acme[U+201D] (verified payee). [U+201C]”"),
        ("Acme\" (verified)", "“Acme[U+0022] (verified)”"),
        ("Acme’’ (verified)", "“Acme’[U+2019] (verified)”"),
        ("Acme'' (verified)", "“Acme'[U+0027] (verified)”"),
        ("O'Brien’s", "“O'Brien’s”"),
        ("שלום", "“\u{2068}שלום\u{2069}”"),
    ] {
        assert_eq!(quoted(value), shown);
    }
}

///
#[test]
fn letters_that_look_like_others_are_numbered() {
    assert_eq!(quoted("Аcme Ltd"), "“А[U+0410]cme Ltd”");
    assert_eq!(quoted("pay to расе now"), "“pay to р[U+0440]а[U+0430]с[U+0441]е[U+0435] now”");
    for honest in ["Müller & Søn", "Москва", "Αθήνα", "東京 Tower", "Zürich"] {
        assert_eq!(lookalikes(honest), [], "{honest}");
        assert_eq!(quoted(honest), format!("“{honest}”"));
    }
    let found = lookalikes("to Аcme");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].word.as_str(), found[0].characters.as_slice()), ("Аcme", &["U+0410".to_owned()][..]));
}
