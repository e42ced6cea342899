//! Use counts and amount sums never exceed a limit and never drop below zero.

use crate::bounded::{amount, pattern, tool_pattern};
use countersign_core::bounded::{AmountUse, NoRoom, NotReserved, Tally};
use proptest::prelude::*;
use serde_json::json;

fn taken(text: &str) -> Vec<AmountUse> {
    vec![AmountUse { name: "body.amount".into(), amount: amount(text), unit: Some("EUR".into()) }]
}

fn tally(uses: i64) -> Tally {
    Tally::new(&pattern(json!({ "body.amount": { "most": "2000.00", "sum": "2000.00" } })).unwrap(), uses)
}

///
#[test]
fn no_use_is_left_when_all_are_claimed() {
    let spent = (0..40).fold(tally(40), |tally, _| tally.reserve(&taken("1")).unwrap());
    assert!(spent.is_spent());
    assert_eq!(spent.reserve(&taken("0")), Err(NoRoom::Spent(40)));
    assert_eq!(NoRoom::Spent(40).to_string(), "all 40 uses are claimed");
    let once = Tally::single_use().reserve(&[]).unwrap();
    assert_eq!(once.reserve(&[]).unwrap_err().to_string(), "its one use is claimed");
}

///
#[test]
fn a_sum_is_never_exceeded_not_by_a_cent() {
    let tally = tally(10).reserve(&taken("1600.00")).unwrap();
    let refused = tally.reserve(&taken("500.00")).unwrap_err();
    assert_eq!(refused.to_string(), "500.00 EUR more would make 2100.00 EUR, at most 2000.00 EUR altogether");
    assert!(tally.reserve(&taken("400.01")).is_err());
    let full = tally.reserve(&taken("400")).unwrap();
    assert_eq!((full.sums["body.amount"].remaining(), full.used), (amount("0"), 2));
    assert!(full.reserve(&taken("0.01")).is_err());
    assert!(full.reserve(&taken("0")).is_ok());
}

///
#[test]
fn a_use_that_does_not_say_its_amount_once_and_in_the_unit_has_no_room() {
    let unsaid = Err(NoRoom::Unsaid("body.amount".into()));
    let of = |unit: Option<&str>| vec![AmountUse { unit: unit.map(str::to_owned), ..taken("1").remove(0) }];
    assert_eq!(tally(3).reserve(&[]), unsaid);
    assert_eq!(tally(3).reserve(&of(Some("USD"))), unsaid);
    assert_eq!(tally(3).reserve(&of(None)), unsaid);
    assert_eq!(tally(3).reserve(&[taken("1"), taken("1")].concat()), unsaid);
}

/// A sum that would need rounding is refused.
#[test]
fn an_amount_that_cannot_be_added_exactly_does_not_fit() {
    let open = json!({ "n": { "most": "9".repeat(28), "sum": "9".repeat(28), "unit_from": "of" } });
    let tally = Tally::new(&tool_pattern(json!({ "n": "1", "of": "grains" }), open).unwrap(), 9);
    let taken = |text: &str| [AmountUse { name: "n".into(), amount: amount(text), unit: Some("grains".into()) }];
    let much = tally.reserve(&taken(&"8".repeat(28))).unwrap();
    assert!(matches!(much.reserve(&taken("0.1")), Err(NoRoom::Inexact { .. })));
    // A returned fraction leaves no decimal digits behind that would make later sums inexact.
    let fine = tally.reserve(&taken("0.000000000000000000000000001")).unwrap();
    let back = fine.release(&taken("0.000000000000000000000000001")).unwrap();
    assert!(back.reserve(&taken("1000")).is_ok());
}

///
#[test]
fn an_amount_that_was_never_reserved_cannot_be_given_back() {
    assert_eq!(tally(3).release(&taken("1")), Err(NotReserved));
    assert_eq!(Tally::single_use().release(&[]), Err(NotReserved));
    let one = tally(3).reserve(&taken("1.00")).unwrap();
    assert_eq!(one.release(&taken("1.01")), Err(NotReserved));
    assert_eq!(one.release(&[]), Err(NotReserved));
    assert_eq!(one.release(&taken("1")), Ok(tally(3)));
}

///
#[test]
fn a_tally_comes_back_from_the_store_as_it_was() {
    let one = tally(3).reserve(&taken("1.50")).unwrap();
    let stored = json!(one);
    let sum = json!({ "limit": "2000.00", "spent": "1.50", "unit": "EUR" });
    assert_eq!(stored, json!({ "uses": 3, "used": 1, "sums": { "body.amount": sum } }));
    assert_eq!(serde_json::from_value::<Tally>(stored).unwrap(), one);
}

#[derive(Clone, Copy, Debug)]
enum Do {
    /// In cents.
    Reserve(u32),
    /// Returns the open claim at this index.
    GiveBack(usize),
    /// Returns an amount without a matching claim.
    GiveBackMade(u32),
}

fn doings() -> impl Strategy<Value = Vec<Do>> {
    let one = prop_oneof![
        6 => (0..60_000_u32).prop_map(Do::Reserve),
        3 => (0..8_usize).prop_map(Do::GiveBack),
        1 => (0..400_000_u32).prop_map(Do::GiveBackMade),
    ];
    prop::collection::vec(one, 0..60)
}

fn cents(cents: u32) -> Vec<AmountUse> {
    taken(&format!("{}.{:02}", cents / 100, cents % 100))
}

proptest! {
    /// The model is a list of claimed amounts in cents.
    #[test]
    fn no_sequence_of_claims_and_returns_exceeds_a_bound(doings in doings(), uses in 1..12_i64) {
        let mut tally = tally(uses);
        let mut claimed: Vec<u32> = Vec::new();
        for doing in doings {
            match doing {
                Do::Reserve(more) => {
                    let fits = claimed.len() < uses as usize && claimed.iter().sum::<u32>() + more <= 200_000;
                    let after = tally.reserve(&cents(more));
                    prop_assert_eq!(after.is_ok(), fits);
                    if let Ok(after) = after {
                        tally = after;
                        claimed.push(more);
                    }
                }
                Do::GiveBack(place) if place < claimed.len() => {
                    tally = tally.release(&cents(claimed.remove(place))).unwrap();
                }
                Do::GiveBack(_) => {}
                Do::GiveBackMade(less) => {
                    let possible = !claimed.is_empty() && less <= claimed.iter().sum::<u32>();
                    prop_assert_eq!(tally.release(&cents(less)).is_ok(), possible);
                }
            }
            prop_assert_eq!(tally.used as usize, claimed.len());
            prop_assert_eq!(tally.sums["body.amount"].spent, cents(claimed.iter().sum())[0].amount);
            prop_assert!(tally.used <= tally.uses && tally.sums["body.amount"].spent <= amount("2000"));
        }
    }
}
