use super::{BadKeyText, PublicKey, Signature};
use base64::{Engine as _, engine::general_purpose as b64};

/// Bytes that use all of the characters in which the alphabets differ.
const BYTES: [u8; 32] = [0xfb; 32];

fn key(text: &str) -> Result<PublicKey, BadKeyText> {
    text.parse()
}

/// WWA-4-05
#[test]
fn another_length_is_no_key() {
    let hex = "fb".repeat(32);
    let texts = [
        &hex[1..],
        &hex[2..],
        &format!("{hex}fb"),
        "",
        "abc",
        &b64::STANDARD.encode([1; 31]),
        &b64::STANDARD.encode([1; 33]),
    ];
    for text in texts {
        assert_eq!(key(&format!("ed25519:{text}")), Err(BadKeyText::NotTheBytes(64)), "{text}");
    }
}

/// WWA-4-05
#[test]
fn a_text_that_says_nothing_of_ed25519_is_no_key() {
    let hex = "fb".repeat(32);
    for text in [hex.clone(), format!("Ed25519:{hex}"), format!(" ed25519:{hex}"), format!("ed448:{hex}")] {
        assert_eq!(key(&text), Err(BadKeyText::NoPrefix));
    }
}

/// WWA-4-05
#[test]
fn there_is_one_text_in_each_spelling() {
    let upper = format!("ed25519:{}", "FB".repeat(32));
    let spare = "A".repeat(42) + "B";
    let mixed = "+_".repeat(21) + "A";
    let padded_wrongly = b64::STANDARD_NO_PAD.encode(BYTES) + "A";
    for text in [upper, format!("ed25519:{spare}"), format!("ed25519:{mixed}"), format!("ed25519:{padded_wrongly}")] {
        assert!(key(&text).is_err(), "{text}");
    }
}

/// WWA-4-05
#[test]
fn all_spellings_of_a_key_are_the_same_32_bytes_and_each_keeps_its_text() {
    let ours = PublicKey::from_bytes(BYTES);
    assert_eq!(ours.as_str(), format!("ed25519:{}", "fb".repeat(32)));
    for engine in [b64::STANDARD, b64::STANDARD_NO_PAD, b64::URL_SAFE, b64::URL_SAFE_NO_PAD] {
        let text = format!("ed25519:{}", engine.encode(BYTES));
        let read = key(&text).unwrap();
        assert_eq!(read.bytes(), &BYTES);
        assert_eq!(read, ours);
        assert_eq!(serde_json::to_value(&read).unwrap(), text);
    }
}

/// WWA-4-18
#[test]
fn a_signature_is_written_as_128_lower_case_hex_digits() {
    let ours = Signature::from_bytes([0xfb; 64]);
    assert_eq!(ours.as_str(), format!("ed25519:{}", "fb".repeat(64)));
    for engine in [b64::STANDARD, b64::STANDARD_NO_PAD, b64::URL_SAFE, b64::URL_SAFE_NO_PAD] {
        let read: Signature = format!("ed25519:{}", engine.encode([0xfb; 64])).parse().unwrap();
        assert_eq!(read, ours);
    }
    assert_eq!("ed25519:00".parse::<Signature>(), Err(BadKeyText::NotTheBytes(128)));
}
