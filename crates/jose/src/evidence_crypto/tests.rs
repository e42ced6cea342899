//! The published example of RFC 8032 and of RFC 7515.

use super::*;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
}

/// RFC 8032, section 7.1, test 2.
#[test]
fn an_ed25519_signature_is_valid_for_its_message_only() {
    let key = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    let signature = bytes(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    );
    assert!(EvidenceCrypto.verify_ed25519(&key, &[0x72], &signature));
    assert!(!EvidenceCrypto.verify_ed25519(&key, &[0x73], &signature));
}

/// RFC 7515, appendix A.3.
#[test]
fn an_es256_signature_is_valid_for_its_message_only() {
    let decode = |text| URL_SAFE_NO_PAD.decode(text).unwrap();
    let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
    let key: [u8; 64] = [decode(x), decode(y)].concat().try_into().unwrap();
    let message = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let signature = decode(signature).try_into().unwrap();
    assert!(EvidenceCrypto.verify_es256(&key, message.as_bytes(), &signature));
    assert!(!EvidenceCrypto.verify_es256(&key, b"another", &signature));
}
