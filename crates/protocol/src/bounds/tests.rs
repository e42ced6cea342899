use super::*;
use proptest::prelude::*;
use serde_json::json;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn bound(written: Value) -> Result<Bound, String> {
    serde_json::from_value(written).map_err(|why| why.to_string())
}

///
#[test]
fn only_a_plain_decimal_is_an_amount() {
    for text in [
        "", "-1", "+1", "1e3", "1E3", "1,000", "1_000", "01", "00", ".5", "1.", "1.2.3", " 1", "1 ", "0x10", "NaN",
        "１",
    ] {
        assert_eq!(Amount::parse(text), Err(BadAmount::NotDigits), "{text}");
    }
}

///
#[test]
fn an_amount_of_more_digits_than_are_exact_is_refused() {
    assert_eq!(amount(&"9".repeat(28)).to_string(), "9".repeat(28));
    assert_eq!(Amount::parse(&"9".repeat(29)), Err(BadAmount::TooLong));
    assert_eq!(amount(&format!("0.{}1", "0".repeat(26))).to_string(), format!("0.{}1", "0".repeat(26)));
    assert_eq!(Amount::parse(&format!("0.{}1", "0".repeat(27))), Err(BadAmount::TooLong));
    assert_eq!(Amount::parse(&"1".repeat(1_000_000)), Err(BadAmount::TooLong));
}

/// The underlying library would round 9999999999999999999999999999 + 0.1.
#[test]
fn a_sum_that_would_have_to_be_rounded_is_none() {
    let large = amount(&"9".repeat(28));
    for small in ["0.1", "0.0000000001", "1"] {
        assert_eq!(large.checked_add(amount(small)), None, "{small}");
    }
    assert_eq!(large.checked_sub(amount("0.1")), None);
    assert_eq!(large.checked_add(Amount::ZERO), Some(large));
    assert_eq!(amount("1").checked_sub(amount("1.01")), None);
}

///
#[test]
fn amounts_are_equal_by_value_and_shown_as_they_were_written() {
    assert_eq!(amount("500"), amount("500.00"));
    assert_eq!(amount("500.00").to_string(), "500.00");
    assert!(amount("9.5") < amount("10") && amount("0.09") < amount("0.1"));
    assert_eq!(amount("1.000").written_like(amount("2000.00")).to_string(), "1.00");
    assert_eq!(amount("1.005").written_like(amount("2000")).to_string(), "1.005");
    assert_eq!(json!(amount("82000.10")), json!("82000.10"));
}

#[test]
fn an_amount_in_json_is_text() {
    for written in [json!(500), json!(500.5), json!(null), json!(["500"])] {
        let why = serde_json::from_value::<Amount>(written.clone()).unwrap_err().to_string();
        assert!(why.contains("expected an amount in quotes, such as \"82000.10\""), "{written}: {why}");
    }
}

///
#[test]
fn a_bound_that_says_nothing_or_two_things_is_refused() {
    for (written, why) in [
        (json!({}), "exactly one of most"),
        (json!({ "most": "1", "text": 3 }), "exactly one of most"),
        (json!({ "most": "1", "one_of": ["a"] }), "exactly one of most"),
        (json!({ "one_of": ["a"], "text": 3 }), "exactly one of most"),
        (json!({ "least": "1" }), "least only goes with most"),
        (json!({ "one_of": [1], "sum": "5" }), "sum only goes with most"),
        (json!({ "text": 5, "unit": "EUR" }), "unit only goes with most"),
        (json!({ "text": 5, "unit_from": "currency" }), "unit_from only goes with most"),
        (json!({ "most": "1", "least": "2" }), "least is 2, above most, which is 1"),
        (json!({ "most": "9", "least": "2", "sum": "1" }), "sum is 1, below least, which is 2"),
        (json!({ "most": "1", "unit": "" }), "unit must have"),
        (json!({ "most": "1", "unit": " EUR" }), "unit must have"),
        (json!({ "most": "1", "unit": "E\nR" }), "unit must have"),
        (json!({ "most": "1", "unit": "x".repeat(33) }), "unit must have"),
        (json!({ "most": "1", "unit_from": "a..b" }), "unit_from must name"),
        (json!({ "most": "-1" }), "an amount is digits"),
        (json!({ "most": 500 }), "expected an amount in quotes"),
        (json!({ "most": "1", "max": "2" }), "unknown field `max`"),
        (json!({ "one_of": [] }), "one_of must list"),
        (json!({ "one_of": vec![1; 101] }), "one_of must list"),
        (json!({ "text": 0 }), "text must allow"),
        (json!({ "text": -1 }), "expected u32"),
        (json!({ "text": "any" }), "expected u32"),
    ] {
        let refused = bound(written.clone()).unwrap_err();
        assert!(refused.contains(why), "{written}: {refused}");
    }
}

///
#[test]
fn bounds_that_no_approval_may_have_are_refused() {
    for (written, why) in [
        (json!({ "uses": 0 }), "uses must be 1 to 10000"),
        (json!({ "uses": 10_001 }), "uses must be 1 to 10000"),
        (json!({ "seconds": 0 }), "seconds must be"),
        (json!({ "released": { "": { "text": 1 } } }), "released has a name"),
        (json!({ "released": { "body..x": { "text": 1 } } }), "released has a name"),
        (json!({ "released": { "body.x": {} } }), "exactly one of most"),
        (json!({ "for": 30 }), "unknown field `for`"),
    ] {
        let refused = serde_json::from_value::<Bounds>(written.clone()).unwrap_err().to_string();
        assert!(refused.contains(why), "{written}: {refused}");
    }
}

#[test]
fn parsed_documents_are_written_unchanged() {
    for written in [
        json!({ "most": "500.00" }),
        json!({ "least": "0.01", "most": "500.00", "sum": "2000.00", "unit": "EUR", "unit_from": "currency" }),
        json!({ "one_of": ["a", 1, null, true, [1, 2], { "b": 1 }] }),
        json!({ "text": 140 }),
    ] {
        assert_eq!(json!(bound(written.clone()).unwrap()), written);
    }
    let bounds = json!({ "uses": 40, "seconds": 1800, "released": { "body.amount": { "most": "500.00" } } });
    assert_eq!(json!(serde_json::from_value::<Bounds>(bounds.clone()).unwrap()), bounds);
    assert_eq!(json!(serde_json::from_value::<Bounds>(json!({})).unwrap()), json!({}));
}

#[test]
fn a_bound_made_by_hand_is_checked_like_one_that_was_read() {
    let crossed = Bound::Amount { least: Some(amount("2")), most: amount("1"), sum: None, unit: None, unit_from: None };
    assert_eq!(crossed.checked(), Err(BadBound::LeastAboveMost { least: amount("2"), most: amount("1") }));
    assert_eq!(Bound::Text { most: 1 }.checked(), Ok(Bound::Text { most: 1 }));
}

/// Integers in units of 0.0001, which the oracle counts in.
fn parts() -> impl Strategy<Value = (u64, String)> {
    (0..10_000_000_u64, 0..5_u32).prop_map(|(n, scale)| {
        let unit = 10_u64.pow(scale);
        let (whole, fraction) = (n / unit, n % unit);
        let text =
            if scale == 0 { whole.to_string() } else { format!("{whole}.{fraction:0width$}", width = scale as usize) };
        (n * 10_u64.pow(4 - scale), text)
    })
}

proptest! {
    ///
    #[test]
    fn arithmetic_agrees_with_whole_numbers((left, l) in parts(), (right, r) in parts()) {
        let of = |n: u64| amount(&format!("{}.{:04}", n / 10_000, n % 10_000));
        prop_assert_eq!(amount(&l).checked_add(amount(&r)), Some(of(left + right)));
        prop_assert_eq!(amount(&l).checked_sub(amount(&r)), left.checked_sub(right).map(of));
        prop_assert_eq!(amount(&l).cmp(&amount(&r)), left.cmp(&right));
        prop_assert_eq!(amount(&l).to_string(), l);
    }

    /// Compares digit by digit, for any number of digits.
    #[test]
    fn amounts_compare_by_their_digits(
        lw in "0|[1-9][0-9]{0,12}", lf in "[0-9]{1,14}", rw in "0|[1-9][0-9]{0,12}", rf in "[0-9]{1,14}",
    ) {
        let key = |whole: &str, fraction: &str| format!("{whole:0>13}{fraction:0<14}");
        let (l, r) = (amount(&format!("{lw}.{lf}")), amount(&format!("{rw}.{rf}")));
        prop_assert_eq!(l.cmp(&r), key(&lw, &lf).cmp(&key(&rw, &rf)));
    }

    /// Every sum can be stored, read again and subtracted exactly.
    #[test]
    fn every_exact_sum_can_be_written_and_undone(
        lw in "0|[1-9][0-9]{0,26}", lf in "[0-9]{1,20}", rw in "0|[1-9][0-9]{0,26}", rf in "[0-9]{1,20}",
    ) {
        let parsed = (Amount::parse(&format!("{lw}.{lf}")), Amount::parse(&format!("{rw}.{rf}")));
        if let (Ok(l), Ok(r)) = parsed && let Some(sum) = l.checked_add(r) {
            prop_assert_eq!(Amount::parse(&sum.to_string()), Ok(sum));
            prop_assert_eq!(sum.checked_sub(r), Some(l));
        }
    }
}
