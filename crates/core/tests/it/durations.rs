//! Human-readable durations (C-44), checked against the grammar.

use countersign_protocol::duration::parse_secs;
use proptest::prelude::*;

/// Every notation for an amount of a unit.
const FORMS: [(&str, &str, i64); 10] = [
    ("", "s", 1),
    ("", "m", 60),
    ("", "h", 3600),
    ("", "d", 86_400),
    ("", "w", 604_800),
    ("PT", "S", 1),
    ("PT", "M", 60),
    ("PT", "H", 3600),
    ("P", "D", 86_400),
    ("P", "W", 604_800),
];

/// The meaning of a text, found by trying every notation.
fn meaning(text: &str) -> Option<i64> {
    FORMS.iter().find_map(|(before, after, unit)| {
        let digits = text.strip_prefix(before)?.strip_suffix(after)?;
        let number: i64 = digits.parse().ok().filter(|n: &i64| *n > 0 && n.to_string() == digits)?;
        number.checked_mul(*unit)
    })
}

proptest! {
    /// C-44
    #[test]
    fn a_number_and_a_unit_mean_their_product(number in 1..=1_000_000_i64, form in 0..FORMS.len()) {
        let (before, after, unit) = FORMS[form];
        prop_assert_eq!(parse_secs(&format!("{before}{number}{after}")), Some(number * unit));
    }

    /// C-44
    #[test]
    fn anything_else_means_nothing(text in "[P]?[T]?[-+ 0-9.]{0,4}[smhdwSMHDWyY]{0,2}") {
        prop_assert_eq!(parse_secs(&text), meaning(&text), "{:?}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        prop_assert_eq!(parse_secs(&text), meaning(&text));
    }
}

/// C-44
#[test]
fn an_empty_an_oversized_and_a_compound_duration_are_refused() {
    let too_much = format!("{}d", i64::MAX);
    let odd = [
        "", "0d", "00d", "01d", "1", "d", "P", "PT", "P1H", "PT1D", "1D", "1.5h", "-1d", "+1d", "1h30m", "P1DT2H",
        " 1d", "１d", &too_much,
    ];
    for text in odd {
        assert_eq!(parse_secs(text), None, "{text:?}");
    }
}
