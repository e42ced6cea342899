//! The pattern index returns the same candidates as a linear scan of all patterns.

use crate::{
    bounded::{by_route, by_tool, pattern, tool, tool_pattern},
    bounded_model::{changed, changes, releases, root},
};
use countersign_core::bounded::{ActionTarget, Book, Pattern, Units};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::json;

///
#[test]
fn a_call_finds_its_own_pattern_among_a_thousand() {
    let to = |n: usize| json!({ "to": format!("acct-{n}"), "amount": "1.00" });
    let patterns: Vec<_> =
        (0..1000).map(|n| tool_pattern(to(n), json!({ "amount": { "most": "500" } })).unwrap()).collect();
    let book = Book::new((0..).zip(&patterns));
    let call = |n: usize, amount: &str| tool(json!({ "amount": amount, "to": format!("acct-{n}") }));
    assert_eq!(book.candidates(&by_tool(), &call(777, "500.00")), [777]);
    assert!(book.candidates(&by_tool(), &call(777, "500.01")).is_empty());
    assert!(book.candidates(&by_tool(), &call(1000, "1.00")).is_empty());
    assert!(book.candidates(&by_route(), &call(777, "1.00")).is_empty());
    assert!(book.candidates(&ActionTarget::Tool { name: "other".into() }, &call(777, "1.00")).is_empty());
}

///
#[test]
fn patterns_that_differ_in_their_bounds_only_come_in_the_order_of_their_keys() {
    let most = |most: &str| tool_pattern(json!({ "n": 1 }), json!({ "n": { "most": most } })).unwrap();
    let (small, large, fixed) = (most("5"), most("50"), tool_pattern(json!({ "n": 7 }), json!({})).unwrap());
    let book = Book::new([(9, &small), (4, &large), (6, &fixed), (2, &small)]);
    assert_eq!(book.candidates(&by_tool(), &tool(json!({ "n": 5 }))), [2, 4, 9]);
    assert_eq!(book.candidates(&by_tool(), &tool(json!({ "n": 7.0 }))), [4, 6]);
    assert!(book.candidates(&by_tool(), &tool(json!({ "n": 51 }))).is_empty());
    assert!(book.candidates(&by_tool(), &tool(json!({ "n": 5, "m": 5 }))).is_empty());
    assert!(Book::default().candidates(&by_tool(), &tool(json!({}))).is_empty());
}

/// Dotted names and paths sort differently: `n-b` sorts before `n.a`, but `n` before `n-b`.
#[test]
fn every_open_place_has_its_own_bound() {
    let arguments = |a: u32, b: u32| json!({ "n": { "a": a }, "n-b": b });
    let open = json!({ "n.a": { "most": "5" }, "n-b": { "most": "500" } });
    let pattern = tool_pattern(arguments(1, 1), open).unwrap();
    let book = Book::new([(1, &pattern)]);
    assert_eq!(book.candidates(&by_tool(), &tool(arguments(5, 500))), [1]);
    assert!(book.candidates(&by_tool(), &tool(arguments(500, 5))).is_empty());
}

/// The index ignores units, so its candidates are checked again with `Pattern::fit`.
#[test]
fn units_are_left_to_the_fit() {
    let open = json!({ "body.amount": { "most": "500.00" }, "body.currency": { "text": 3 } });
    let pattern = pattern(open).unwrap();
    let (call, units) = crate::bounded::call(&crate::bounded::SHOWN.replace("EUR", "JPY"));
    assert_eq!(Book::new([(1, &pattern)]).candidates(&by_route(), &call), [1]);
    assert!(pattern.fit(&call, &units).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    ///
    #[test]
    fn the_book_agrees_with_a_look_at_every_pattern(
        shown in root(),
        variants in vec((changes(), vec((any::<Index>(), any::<u8>()), 0..4)), 1..12),
        call in (any::<Index>(), changes()),
    ) {
        let trees: Vec<_> = variants.iter().map(|(changes, _)| changed(&shown, changes)).collect();
        let of = |(n, tree): (usize, &crate::bounded_model::Tree)| {
            Pattern::new(by_tool(), tree.arguments(), releases(tree, &variants[n].1), &Units::of_tool()).unwrap()
        };
        let patterns: Vec<_> = trees.iter().enumerate().map(of).collect();
        let call = changed(call.0.get(&trees), &call.1).arguments();
        let fits = |(_, pattern): &(i64, &Pattern)| pattern.fit(&call, &Units::of_tool()).is_ok();
        let wanted: Vec<_> = (0..).zip(&patterns).filter(fits).map(|(key, _)| key).collect();
        prop_assert_eq!(Book::new((0..).zip(&patterns)).candidates(&by_tool(), &call), wanted);
    }
}
