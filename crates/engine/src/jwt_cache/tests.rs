use super::Memory;
use countersign_core::refusal::Refusal;
use countersign_protocol::time::UnixMillis;
use std::{cell::Cell, sync::Arc};

const UNTIL: UnixMillis = UnixMillis(1_000);

struct CountingMemory {
    memory: Memory<u32, String>,
    verified: Cell<u32>,
}

impl CountingMemory {
    fn new() -> Self {
        Self { memory: Memory::default(), verified: Cell::new(0) }
    }

    /// Whether a signature was verified for this.
    fn verifies(&self, jwt: &str, service: &str, keys: &Arc<String>, at: i64) -> bool {
        let before = self.verified.get();
        let verify = || {
            self.verified.set(before + 1);
            Ok((7, UNTIL))
        };
        assert_eq!(self.memory.get_or_verify(jwt, service, keys, UnixMillis(at), verify), Ok(7));
        self.verified.get() > before
    }
}

///
#[test]
fn only_the_same_bytes_for_the_same_service_are_remembered() {
    let (remembered, keys) = (CountingMemory::new(), Arc::new("keys".to_owned()));
    assert!(remembered.verifies("a.b.c", "https://s", &keys, 0));
    assert!(!remembered.verifies("a.b.c", "https://s", &keys, 0));
    for (jwt, service) in [("a.b.d", "https://s"), ("a.b.c", "https://t"), ("a.b.c", "https://s https://t")] {
        assert!(remembered.verifies(jwt, service, &keys, 0), "{jwt} {service}");
    }
}

///
#[test]
fn other_keys_or_the_expiry_of_the_token_end_the_memory_of_it() {
    let (remembered, keys) = (CountingMemory::new(), Arc::new("keys".to_owned()));
    assert!(remembered.verifies("a.b.c", "https://s", &keys, 0));
    assert!(!remembered.verifies("a.b.c", "https://s", &keys, UNTIL.0 - 1));
    assert!(remembered.verifies("a.b.c", "https://s", &keys, UNTIL.0));
    assert!(remembered.verifies("a.b.c", "https://s", &Arc::new("keys".to_owned()), 0));
}

///
#[test]
fn a_refused_token_is_not_remembered() {
    let (memory, keys) = (Memory::<u32>::default(), Arc::default());
    let refused = || Err(Refusal::Internal);
    assert_eq!(memory.get_or_verify("a.b.c", "https://s", &keys, UnixMillis(0), refused), Err(Refusal::Internal));
    let accepted = memory.get_or_verify("a.b.c", "https://s", &keys, UnixMillis(0), || Ok((7, UNTIL)));
    assert_eq!(accepted, Ok(7));
}
