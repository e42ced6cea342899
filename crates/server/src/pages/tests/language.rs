use crate::pages::{Language, pick_language};

#[test]
fn without_a_language_that_we_have_people_read_english() {
    for header in [None, Some(""), Some("fr"), Some("fr-CH, it;q=0.9"), Some(";;;"), Some("de;q=0"), Some("deu")] {
        assert_eq!(pick_language(header), Language::English, "{header:?}");
    }
}

#[test]
fn a_weight_that_cannot_be_read_does_not_count() {
    for header in ["de;q=2", "de;q=-1", "de;q=x", "de;q=NaN", "de;q="] {
        assert_eq!(pick_language(Some(header)), Language::English, "{header}");
    }
}

#[test]
fn the_heaviest_language_wins_and_then_the_first() {
    assert_eq!(pick_language(Some("de")), Language::German);
    assert_eq!(pick_language(Some("de-AT, en;q=0.8")), Language::German);
    assert_eq!(pick_language(Some("en;q=0.2, DE-de ; q=0.9")), Language::German);
    assert_eq!(pick_language(Some("fr, de;q=0.7, en;q=0.7")), Language::German);
    assert_eq!(pick_language(Some("en, de")), Language::English);
    assert_eq!(pick_language(Some("*, de;q=0.9")), Language::English);
}

#[test]
fn a_recorded_tag_names_its_language_again() {
    for language in Language::ALL {
        assert_eq!(Language::from_tag(language.tag()), Some(language));
    }
}
