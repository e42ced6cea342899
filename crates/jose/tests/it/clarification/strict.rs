//! Signatures on which verifiers disagree are refused, so that all verifiers reach the same verdict.

use super::support::key;
use aws_lc_rs::digest::{Context, SHA512};
use countersign_jose::clarification::{BadSignature, verify};
use countersign_protocol::clarification::{PublicKey, Signature};
use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION},
    edwards::EdwardsPoint,
    scalar::Scalar,
    traits::{Identity as _, IsIdentity as _},
};

const INPUT: &[u8] = b"what was asked";

/// The order of the group that the base point generates, little-endian (RFC 8032 5.1).
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn public(point: &EdwardsPoint) -> PublicKey {
    PublicKey::from_bytes(point.compress().to_bytes())
}

fn signature(r: &EdwardsPoint, s: Scalar) -> Signature {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(r.compress().as_bytes());
    bytes[32..].copy_from_slice(s.as_bytes());
    Signature::from_bytes(bytes)
}

/// The challenge scalar over R, key and input (RFC 8032 5.1.7).
fn factor(r: &EdwardsPoint, key: &EdwardsPoint) -> Scalar {
    let mut hash = Context::new(&SHA512);
    [r.compress().as_bytes(), key.compress().as_bytes(), INPUT].iter().for_each(|part| hash.update(part));
    Scalar::from_bytes_mod_order_wide(hash.finish().as_ref().try_into().unwrap())
}

/// The cofactored verification equation, as used by batch verification.
fn lax(key: &EdwardsPoint, r: &EdwardsPoint, s: Scalar) -> bool {
    (ED25519_BASEPOINT_POINT * s - key * factor(r, key) - r).mul_by_cofactor().is_identity()
}

/// WWA-4-20
#[test]
fn a_second_number_for_the_same_signature_is_refused() {
    let key = key(1);
    let sound = key.sign(INPUT);
    assert_eq!(verify(&key.public_key(), INPUT, &sound), Ok(()));
    let mut bytes = *sound.bytes();
    let mut carry = 0_u16;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
    let other = Signature::from_bytes(bytes);
    assert_eq!(verify(&key.public_key(), INPUT, &other), Err(BadSignature::Signature));
}

/// WWA-4-20
#[test]
fn a_key_of_small_order_vouches_for_nothing() {
    let r = ED25519_BASEPOINT_POINT * Scalar::from(7_u64);
    for key in EIGHT_TORSION {
        assert!(lax(&key, &r, Scalar::from(7_u64)), "another verifier would take it");
        let signature = signature(&r, Scalar::from(7_u64));
        assert_eq!(verify(&public(&key), INPUT, &signature), Err(BadSignature::Key));
    }
}

/// WWA-4-20
#[test]
fn a_key_has_one_encoding() {
    // 2^255 - 19 + 1 reduces to 1, the identity: accepting this encoding would accept a signature over any message.
    for low in 0xed..=0xff {
        for high in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, high);
            let signature = signature(&ED25519_BASEPOINT_POINT, Scalar::ONE);
            assert_eq!(verify(&PublicKey::from_bytes(bytes), INPUT, &signature), Err(BadSignature::Key));
        }
    }
    let no_point = PublicKey::from_bytes([2; 32]);
    assert!(verify(&no_point, INPUT, &signature(&ED25519_BASEPOINT_POINT, Scalar::ONE)).is_err());
}

/// WWA-4-20
#[test]
fn a_signature_with_a_torsion_component_is_refused() {
    let (secret, nonce) = (Scalar::from(1_234_567_u64), Scalar::from(89_u64));
    let key = ED25519_BASEPOINT_POINT * secret;
    for torsion in EIGHT_TORSION {
        let r = ED25519_BASEPOINT_POINT * nonce + torsion;
        let s = nonce + factor(&r, &key) * secret;
        assert!(lax(&key, &r, s), "another verifier would take it");
        let verdict = verify(&public(&key), INPUT, &signature(&r, s));
        assert_eq!(verdict.is_ok(), torsion.is_identity());
    }
}

/// WWA-4-20
#[test]
fn a_key_with_a_torsion_component_is_refused_wherever_it_would_matter() {
    let secret = Scalar::from(1_234_567_u64);
    let key = ED25519_BASEPOINT_POINT * secret + EIGHT_TORSION[1];
    let mut refused = 0;
    for nonce in 1_u64..40 {
        let r = ED25519_BASEPOINT_POINT * Scalar::from(nonce);
        let k = factor(&r, &key);
        let s = Scalar::from(nonce) + k * secret;
        assert!(lax(&key, &r, s), "another verifier would take it");
        let matters = !(EIGHT_TORSION[1] * k).is_identity();
        assert_eq!(verify(&public(&key), INPUT, &signature(&r, s)).is_err(), matters);
        refused += u32::from(matters);
    }
    assert!(refused > 20);
}

/// WWA-4-20
#[test]
fn a_commitment_of_small_order_is_refused() {
    let secret = Scalar::from(1_234_567_u64);
    let key = ED25519_BASEPOINT_POINT * secret;
    let r = EdwardsPoint::identity();
    let s = factor(&r, &key) * secret;
    assert!(lax(&key, &r, s), "another verifier would take it");
    assert_eq!(verify(&public(&key), INPUT, &signature(&r, s)), Err(BadSignature::Signature));
}
