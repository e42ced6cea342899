use super::{MplpId, NotAnMplpId};
use crate::hash::Digest;
use proptest::prelude::*;

#[test]
fn each_wrong_spelling_has_its_own_error() {
    let wrong = [
        ("confirm-550e8400-e29b-41d4-a716-446655440004", NotAnMplpId::Prefixed),
        ("urn:uuid:550e8400-e29b-41d4-a716-446655440004", NotAnMplpId::Prefixed),
        ("550E8400-e29b-41d4-a716-446655440004", NotAnMplpId::UpperCase),
        ("123e4567-e89b-12d3-a456-426614174000", NotAnMplpId::AnotherVersion),
        ("550e8400-e29b-41d4-c716-446655440004", NotAnMplpId::AnotherVersion),
        ("550e8400e29b41d4a716446655440004", NotAnMplpId::NotAUuid),
        ("550e8400-e29b-41d4-a716-446655440004\n", NotAnMplpId::NotAUuid),
        ("550e8400-e29b-41d4-a716-44665544000ö", NotAnMplpId::NotAUuid),
        ("öööööööööööööööööööööööööööööööööööööö", NotAnMplpId::NotAUuid),
        ("", NotAnMplpId::NotAUuid),
    ];
    for (text, why) in wrong {
        assert_eq!(MplpId::parse(text), Err(why), "{text:?}");
    }
}

#[test]
fn digits_that_are_no_uuid_of_version_4_make_no_id() {
    for digits in ["", "550e8400e29b11d4a716446655440004", "550E8400E29B41D4A716446655440004", &"ö".repeat(16)] {
        assert_eq!(MplpId::from_simple(digits), None, "{digits:?}");
    }
    let id = MplpId::from_simple("550e8400e29b41d4a716446655440004");
    assert_eq!(id.unwrap().as_str(), "550e8400-e29b-41d4-a716-446655440004");
}

#[test]
fn a_hash_always_gives_the_same_id_and_another_hash_another() {
    let of = |text: &str| MplpId::of_hash(&Digest::of(text.as_bytes()));
    assert_eq!(of("a"), of("a"));
    assert_ne!(of("a"), of("b"));
}

proptest! {
    #[test]
    fn every_minted_id_is_valid_and_has_one_form_without_hyphens(bytes: [u8; 16]) {
        let id = MplpId::from_random(bytes);
        prop_assert_eq!(MplpId::parse(id.as_str()), Ok(id.clone()));
        prop_assert_eq!(id.simple().len(), 32);
        prop_assert_eq!(MplpId::from_simple(&id.simple()), Some(id));
    }

    #[test]
    fn only_six_bits_of_the_randomness_are_lost(bytes: [u8; 16]) {
        let minted = hex::decode(MplpId::from_random(bytes).simple()).unwrap();
        let changed: u32 = minted.iter().zip(bytes).map(|(a, b)| (a ^ b).count_ones()).sum();
        prop_assert!(changed <= 6);
    }
}
