use super::{challenge_s256, is_verifier, verifier, verify};

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

#[test]
fn a_verifier_of_another_shape_is_refused_even_if_it_hashes_right() {
    for odd in [
        String::new(),
        "a".repeat(42),
        "a".repeat(129),
        "ä".repeat(43),
        format!("{} {}", "a".repeat(30), "b".repeat(30)),
    ] {
        assert!(!is_verifier(&odd) && !verify(&challenge_s256(&odd), &odd), "{odd}");
    }
}

#[test]
fn another_verifier_or_a_plain_challenge_is_refused() {
    assert!(!verify(CHALLENGE, &verifier([7; 32])));
    assert!(!verify(VERIFIER, VERIFIER));
    assert!(!verify("", VERIFIER) && !verify(&format!("{CHALLENGE}="), VERIFIER));
}

#[test]
fn the_published_example_verifies() {
    assert_eq!(challenge_s256(VERIFIER), CHALLENGE);
    assert!(verify(CHALLENGE, VERIFIER));
    assert!(is_verifier(&verifier([0; 32])) && is_verifier(&"~".repeat(128)));
}
