use super::{Sealer, Unsealable};

fn sealer(byte: u8) -> Sealer {
    Sealer::new(&[byte; 32]).unwrap()
}

#[test]
fn another_key_another_context_and_changed_bytes_do_not_open() {
    let sealed = sealer(1).seal("signing key a", b"secret").unwrap();
    assert_eq!(sealer(2).open("signing key a", &sealed).unwrap_err(), Unsealable);
    assert_eq!(sealer(1).open("signing key b", &sealed).unwrap_err(), Unsealable);
    for place in 0..sealed.len() {
        let mut bytes = sealed.clone().into_bytes();
        bytes[place] ^= 1;
        let changed = String::from_utf8(bytes).unwrap();
        assert_eq!(sealer(1).open("signing key a", &changed).unwrap_err(), Unsealable, "byte {place}");
    }
    for odd in ["", "1.", "1.AAAA", "2.AAAA", "secret"] {
        assert_eq!(sealer(1).open("signing key a", odd).unwrap_err(), Unsealable, "{odd}");
    }
}

#[test]
fn a_sealed_text_opens_and_looks_different_each_time() {
    let sealed = [sealer(1).seal("c", b"secret").unwrap(), sealer(1).seal("c", b"secret").unwrap()];
    assert_ne!(sealed[0], sealed[1]);
    for text in &sealed {
        assert_eq!(sealer(1).open("c", text).unwrap().as_slice(), b"secret");
    }
    assert_eq!(sealer(1).open("", &sealer(1).seal("", b"").unwrap()).unwrap().as_slice(), b"");
}
