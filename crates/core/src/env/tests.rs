use super::Env;
use countersign_protocol::{ids::is_delegation_id, time::UnixMillis};
use proptest::{prelude::any, prop_assert, prop_assert_eq, prop_assert_ne, test_runner::TestRunner};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use std::collections::HashSet;

fn env(entropy: [u8; 32]) -> Env {
    Env { now: UnixMillis::from_secs(1_800_000_000), entropy, first_key: 1 }
}

/// AAP-19.4-04
#[test]
fn ten_thousand_ids_are_well_formed_and_share_no_half_with_each_other() {
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let (mut firsts, mut seconds) = (HashSet::new(), HashSet::new());
    for _ in 0..10_000 {
        let mut entropy = [0; 32];
        random.fill_bytes(&mut entropy);
        let id = env(entropy).mint().id("del");
        let drawn = id.strip_prefix("del_").unwrap();
        assert!(is_delegation_id(&id) && (26..=32).contains(&drawn.len()), "{id}");
        assert!(firsts.insert(drawn[..16].to_owned()) && seconds.insert(drawn[16..].to_owned()), "{id}");
    }
}

/// C-52: neither the time nor the row can be read off an id.
#[test]
fn an_id_comes_from_the_entropy_and_from_nothing_else() {
    let later = Env { now: UnixMillis::from_secs(1_900_000_000), first_key: 4096, ..env([7; 32]) };
    assert_eq!(env([7; 32]).mint().id("sess"), later.mint().id("sess"));
}

#[test]
fn the_ids_of_one_operation_differ_in_every_part() {
    let mint_two = |entropy: [u8; 32]| {
        let mut mint = env(entropy).mint();
        let (one, two) = (mint.secret("web"), mint.secret("web"));
        prop_assert_eq!(one.len(), "web_".len() + 43);
        prop_assert_ne!(&one[4..20], &two[4..20]);
        prop_assert!(mint.key() < mint.key());
        Ok(())
    };
    TestRunner::default().run(&any::<[u8; 32]>(), mint_two).unwrap();
}
