use super::of_value;
use proptest::{collection, prelude::*};
use serde_json::{Value, json};

/// Any value, with names and texts from all over Unicode.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[ -~\\x00-\\x1f\\x7f\"\\\\/]{0,12}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1.0e9..1.0e9).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            collection::btree_map(text.clone(), inner, 0..6).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_short_way_writes_the_same_bytes_as_the_library(value in values()) {
        let library = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(of_value(&value).unwrap(), library);
    }
}

#[test]
fn an_integer_that_a_double_cannot_hold_has_no_canonical_form() {
    assert!(of_value(&json!({ "n": 9_007_199_254_740_991_i64 })).is_ok());
    assert!(of_value(&json!({ "n": 9_007_199_254_740_992_i64 })).is_err());
    assert!(of_value(&json!([u64::MAX])).is_err());
}
