use super::*;

fn proof(n: u64) -> StoredProof {
    let mut id = ProofId::default();
    id[..8].copy_from_slice(&n.to_be_bytes());
    StoredProof { id, issued_at: 0 }
}

fn known(spent: &SpentProofs, numbers: std::ops::Range<u64>) -> usize {
    let proofs: Vec<StoredProof> = numbers.map(proof).collect();
    spent.spent_among(&proofs.iter().collect::<Vec<_>>()).len()
}

fn spend(spent: &mut SpentProofs, numbers: std::ops::Range<u64>, now: i64) {
    let proofs: Vec<StoredProof> = numbers.map(proof).collect();
    spent.drop_expired(now);
    spent.insert(&proofs.iter().collect::<Vec<_>>(), now);
}

///
#[test]
fn a_proof_is_known_as_long_as_it_could_be_shown_and_then_forgotten_with_its_bucket() {
    let mut spent = SpentProofs::default();
    spend(&mut spent, 0..100, 0);
    spend(&mut spent, 100..200, WIDTH - 1);
    spend(&mut spent, 200..300, WIDTH);
    assert_eq!((known(&spent, 0..300), known(&spent, 300..400), spent.buckets.len()), (300, 0, 2));
    spent.drop_expired(WIDTH + KEPT);
    assert_eq!(known(&spent, 0..300), 300);
    spent.drop_expired(WIDTH + KEPT + 1);
    assert_eq!((known(&spent, 0..200), known(&spent, 200..300)), (0, 100));
    spent.drop_expired(2 * WIDTH + KEPT + 1);
    assert_eq!((known(&spent, 0..300), spent.buckets.len()), (0, 0));
}

///
#[test]
fn memory_follows_the_last_minutes_and_not_the_day() {
    let mut spent = SpentProofs::default();
    for minute in 0..24 * 60 {
        spend(&mut spent, minute * 10..minute * 10 + 10, i64::try_from(minute).unwrap() * 60 * SECOND);
        assert!(spent.buckets.len() <= 7, "{} buckets", spent.buckets.len());
    }
    let marks: usize = spent.buckets.iter().flat_map(|bucket| &bucket.shards).map(HashSet::len).sum();
    assert!(marks <= 150, "{marks} marks");
}

#[test]
fn marks_spread_over_all_shards_and_two_starts_mark_alike_nothing() {
    let (mut one, mut other) = (SpentProofs::default(), SpentProofs::default());
    spend(&mut one, 0..4096, 0);
    spend(&mut other, 0..4096, 0);
    for shard in &one.buckets[0].shards {
        assert!((128..512).contains(&shard.len()), "{} of 256", shard.len());
    }
    let alike = one.buckets[0].shards.iter().zip(&other.buckets[0].shards);
    assert_eq!(alike.map(|(one, other)| one.intersection(other).count()).sum::<usize>(), 0);
}

#[test]
fn nothing_to_reserve_takes_no_room() {
    let mut spent = SpentProofs::default();
    spent.insert(&[], 0);
    assert!(spent.buckets.is_empty());
}
