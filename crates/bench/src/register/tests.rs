use super::{AGAIN, Bounds, FRESH, ratios};
use crate::gateway::{Figures, Spread};

fn load(name: &'static str, cpu: f64) -> Figures {
    let mut figures = Figures::of(name, &[]);
    figures.cpu_in_v = Spread { median: cpu, ..Spread::default() };
    figures
}

///
#[test]
fn a_repeated_registration_is_compared_with_one_signature_and_a_fresh_one_with_three() {
    let ratios = ratios(&[load(FRESH, 6.0), load(AGAIN, 2.0)], Bounds::with_proofs(true));
    let expected =
        [("cpu_in_v", 6.0), ("cpu_in_v_repeated", 2.0), ("share_of_bound", 0.5), ("share_of_bound_repeated", 0.5)];
    assert_eq!(ratios, expected.map(|(name, ratio)| (name, Some(ratio))));
}

#[test]
fn without_proofs_there_is_a_signature_less_to_check() {
    let Bounds { fresh, repeated } = Bounds::with_proofs(false);
    assert_eq!((fresh, repeated), (2, 0));
}
