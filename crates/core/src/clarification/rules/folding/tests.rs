use super::{Folded, PhraseBook, Phrases, is_blank, same_but_for_case, slug, words};

fn finds(phrase: &str, text: &str) -> bool {
    let phrases = Phrases::new(vec![phrase.to_owned()]).unwrap();
    phrases.found_in(&Folded::of(text)).next().is_some()
}

#[test]
fn only_whole_words_match() {
    assert!(!finds("the usual", "the usually quiet one"));
    assert!(!finds("the usual", "bathe usual"));
    assert!(!finds("the usual one", "the usual"));
    assert!(finds("the usual", "the usual"));
    assert!(finds("the usual", "take the usual, please"));
}

#[test]
fn case_blanks_punctuation_accents_and_invisible_characters_make_no_difference() {
    for text in [
        "THE  USUAL",
        "the\n\tusual",
        "the-usual",
        "“the usual”",
        "the us\u{200b}ual",
        "the \u{202e}usual",
        "thé usual",
    ] {
        assert!(finds("The usual", text), "{text:?}");
    }
    assert!(finds("wie üblich", "Wie u\u{308}blich"));
    assert!(finds("weiß nicht", "weiss NICHT"));
}

#[test]
fn a_phrase_can_be_tied_to_the_beginning_and_the_end() {
    assert!(finds("^the default$", " The default. "));
    assert!(!finds("^the default$", "the default branch"));
    assert!(!finds("^the default$", "use the default"));
    assert!(finds("use the default$", "please use the default"));
    assert!(!finds("use the default$", "use the default branch"));
    assert!(finds("^as", "as you like"));
}

#[test]
fn a_phrase_without_a_word_is_refused() {
    for phrase in ["", "  ", "^$", "…", "\u{200b}"] {
        assert!(Phrases::new(vec![phrase.to_owned()]).is_err(), "{phrase:?}");
        assert!(PhraseBook::default().number(phrase).is_err(), "{phrase:?}");
    }
}

#[test]
fn the_same_words_are_one_phrase() {
    let mut book = PhraseBook::default();
    assert_eq!(book.number("the usual"), Ok(0));
    assert_eq!(book.number("^the usual"), Ok(1));
    assert_eq!(book.number(" The  USUAL "), Ok(0));
}

#[test]
fn phrases_that_overlap_are_all_found() {
    let phrases = Phrases::new(["a b", "b c", "b", "a b"].map(String::from).to_vec()).unwrap();
    let mut found: Vec<_> = phrases.found_in(&Folded::of("a b c")).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3]);
}

#[test]
fn words_and_identifiers_are_made_from_any_spelling() {
    assert_eq!((words(" JSP  440 "), slug("VA.gov")), ("jsp 440".into(), "va-gov".into()));
    assert_eq!(slug("Küçük-Ñ"), "kucuk-n");
}

#[test]
fn invisible_text_is_blank() {
    for text in ["", " \t\n", "\u{200b}\u{feff}", "\u{a0}\u{202e}"] {
        assert!(is_blank(text), "{text:?}");
    }
    assert!(!is_blank("."));
    assert!(same_but_for_case(" Jsp-440-ONLY", "jsp-440-only ") && !same_but_for_case("jsp 440", "jsp-440"));
}
