use super::{BadPath, Path, PathStep, Token, field, pointer, tokens_of};
use proptest::prelude::*;

fn member(name: &str) -> PathStep {
    PathStep::Member(name.into())
}

#[test]
fn an_invalid_path_is_refused() {
    assert_eq!(Path::parse(""), Err(BadPath::Empty));
    assert_eq!(Path::parse("**.type"), Err(BadPath::BelowWithin));
    for text in [
        ".",
        "a.",
        ".a",
        "a..b",
        "a[0]",
        "a[",
        "a[]",
        "a]",
        "a[*",
        "a[*]b",
        "a b",
        "a*",
        "[\"a]",
        "a[\"b\"",
        "a.[*]",
        "x\u{200b}",
    ] {
        assert!(matches!(Path::parse(text), Err(BadPath::NoStep(_))), "{text:?}: {:?}", Path::parse(text));
    }
}

#[test]
fn every_step_is_read() {
    let steps = Path::parse("a.$b[*].*[\"c.d\"][\"\"].**").unwrap().0;
    let wanted = [
        member("a"),
        member("$b"),
        PathStep::EachItem,
        PathStep::EachMember,
        member("c.d"),
        member(""),
        PathStep::Below,
    ];
    assert_eq!(steps, wanted);
    assert_eq!(Path::parse("[*]").unwrap().0, [PathStep::EachItem]);
    assert_eq!(Path::parse("a.b").unwrap().names(), Some(vec!["a".into(), "b".into()]));
    assert_eq!(Path::parse("a[*]").unwrap().names(), None);
}

#[test]
fn a_place_has_two_spellings() {
    let tokens = [Token::Member("components"), Token::Item(2), Token::Member("type")];
    assert_eq!((field(&tokens), pointer(&tokens)), ("components[2].type".into(), "/components/2/type".into()));
    let odd = [Token::Member("a/b"), Token::Member("c.d"), Token::Member("~\u{202e}"), Token::Member("")];
    assert_eq!(field(&odd), r#"a/b["c.d"]["~\u202e"][""]"#);
    assert_eq!(pointer(&odd), "/a~1b/c.d/~0\u{202e}/");
    assert_eq!(tokens_of("/a~1b/~01/"), Some(vec!["a/b".into(), "~1".into(), String::new()]));
    assert_eq!((tokens_of(""), tokens_of("a")), (None, None));
}

proptest! {
    /// WWA-4-09
    #[test]
    fn both_spellings_name_the_same_place(names in proptest::collection::vec(".{0,6}", 1..5)) {
        let tokens: Vec<_> = names.iter().map(|name| Token::Member(name)).collect();
        let dotted = field(&tokens);
        prop_assert!(!dotted.is_empty());
        prop_assert_eq!(Path::parse(&dotted).unwrap().names(), Some(names.clone()));
        prop_assert_eq!(tokens_of(&pointer(&tokens)), Some(names));
    }

    #[test]
    fn no_text_makes_reading_a_path_fail_otherwise_than_by_saying_so(text in ".{0,40}") {
        let _ = Path::parse(&text);
    }
}
