//! The two proofs printed in RFC 9449, verbatim.

use countersign_jose::{DpopRefusal, ExpectedProof, ProofKeys, verify_dpop};
use countersign_protocol::{facts::VerifiedProof, hash::Digest, time::UnixMillis};

/// The thumbprint of both keys: RFC 9449 6.1.
const JKT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

/// RFC 9449 4.1, figure 2.
const FOR_A_TOKEN: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";

/// RFC 9449 7.1, figure 12, with its access token.
const FOR_A_RESOURCE: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA";
const RESOURCE_TOKEN: &str = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";

fn verify(proof: &str, method: &str, url: &str, token: Option<&str>) -> Result<VerifiedProof, DpopRefusal> {
    let token = token.map(|token| Digest::of(token.as_bytes()));
    let expected = ExpectedProof { method, url, token: token.as_ref() };
    verify_dpop(proof, &expected, UnixMillis::from_secs(1_562_262_620), &ProofKeys::default())
}

/// AAP-18-01, AAP-18.3-02
#[test]
fn the_proof_for_a_token_is_accepted_there_and_nowhere_else() {
    let there = "https://server.example.com/token";
    assert_eq!(verify(FOR_A_TOKEN, "POST", "https://server.example.com/", None), Err(DpopRefusal::Address));
    assert_eq!(verify(FOR_A_TOKEN, "POST", there, Some("any")), Err(DpopRefusal::NoToken));
    let fact = verify(FOR_A_TOKEN, "POST", there, None).unwrap();
    assert_eq!((fact.jti(), fact.jkt().base64url().as_str()), ("-BwC3ESc6acc2lTc", JKT));
}

/// AAP-18-01, AAP-18.3-01
#[test]
fn the_proof_for_a_resource_is_accepted_with_its_token_and_with_no_other() {
    let there = "https://resource.example.org/protectedresource";
    assert_eq!(verify(FOR_A_RESOURCE, "GET", there, Some("another")), Err(DpopRefusal::OtherToken));
    let fact = verify(FOR_A_RESOURCE, "GET", there, Some(RESOURCE_TOKEN)).unwrap();
    assert_eq!((fact.jti(), fact.jkt().base64url().as_str()), ("e1j3V_bKic8-LAEB", JKT));
}
