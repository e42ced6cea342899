use super::*;
use clap::Parser;

#[derive(Debug, Parser)]
struct Typed {
    #[command(flatten)]
    more: StandingLimits,
}

fn typed(text: &str) -> StandingLimits {
    let words = std::iter::once("x").chain(text.split_whitespace());
    Typed::try_parse_from(words).unwrap().more
}

fn bound(bounds: &Bounds, name: &str) -> (String, Option<String>, Option<String>) {
    match &bounds.released[name] {
        Bound::Amount { most, sum, unit_from, .. } => {
            (most.to_string(), sum.map(|sum| sum.to_string()), unit_from.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_ambiguous_text_is_not_understood() {
    for text in ["--up-to 500", "--up-to =500", "--up-to a=", "--up-to a=5e2", "--times 0", "--for 0m", "--for soon"] {
        let words = std::iter::once("x").chain(text.split_whitespace());
        assert!(Typed::try_parse_from(words).is_err(), "{text}");
    }
    assert!(typed("--up-to a=5 --up-to a=6").bounds().is_err());
    assert!(typed("--up-to a=5 --unit-from b=currency").bounds().is_err());
}

///
#[test]
fn nothing_is_released_that_is_not_named() {
    assert!(typed("").is_nothing());
    let bounds = typed("--times 3 --for 30m").bounds().unwrap().unwrap();
    assert_eq!((bounds.uses, bounds.seconds, bounds.released.len()), (Some(3), Some(1800), 0));
    assert!(!typed("--step 1").is_nothing());
}

#[test]
fn an_amount_is_bounded_for_each_call_and_for_all_of_them() {
    let bounds = typed("--up-to body.amount=500 --altogether body.amount=2000.50").bounds().unwrap().unwrap();
    assert_eq!(bound(&bounds, "body.amount"), ("500".into(), Some("2000.50".into()), None));
    let bounds = typed("--altogether amount=2000 --unit-from amount=currency").bounds().unwrap().unwrap();
    assert_eq!(bound(&bounds, "amount"), ("2000".into(), Some("2000".into()), Some("currency".into())));
}
