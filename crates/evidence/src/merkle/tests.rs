//! Trees and proofs against RFC 6962's definition, written down once more as recursion.

use super::*;
use crate::test_crypto::TestCrypto;
use proptest::prelude::*;

/// MTH(D[n]).
fn root_of(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(&TestCrypto),
        [one] => *one,
        many => {
            let (left, right) = many.split_at(split(many.len()));
            node_hash(&TestCrypto, &root_of(left), &root_of(right))
        }
    }
}

/// PATH(m, D[n]).
fn path_of(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    match index < left.len() {
        true => [path_of(index, left), vec![root_of(right)]].concat(),
        false => [path_of(index - left.len(), right), vec![root_of(left)]].concat(),
    }
}

/// SUBPROOF(m, D[n], b).
fn consistency_of(old: usize, leaves: &[Hash], known: bool) -> Vec<Hash> {
    if old == leaves.len() {
        return if known { Vec::new() } else { vec![root_of(leaves)] };
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    match old <= left.len() {
        true => [consistency_of(old, left, known), vec![root_of(right)]].concat(),
        false => [consistency_of(old - left.len(), right, false), vec![root_of(left)]].concat(),
    }
}

fn split(length: usize) -> usize {
    length.next_power_of_two() / 2
}

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&TestCrypto, n.to_string().as_bytes())).collect()
}

fn read(leaves: &[Hash]) -> impl Fn(Node) -> Result<Hash, ()> + Copy {
    move |node| {
        let first = usize::try_from(node.index << node.height).unwrap();
        leaves.get(first..first + (1 << node.height)).map(root_of).ok_or(())
    }
}

/// The roots that the Certificate Transparency project publishes for its eight entries.
#[test]
fn the_published_trees_have_the_published_roots() {
    const ENTRIES: [&str; 8] =
        ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
    const ROOTS: [&str; 9] = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let leaves: Vec<Hash> = ENTRIES.iter().map(|hex| leaf_hash(&TestCrypto, &hex::decode(hex).unwrap())).collect();
    for (size, expected) in (0..).zip(ROOTS) {
        let root = Plan::root(size).hash(&TestCrypto, read(&leaves)).unwrap();
        assert_eq!(hex::encode(root), expected, "{size} leaves");
    }
}

#[test]
fn every_proof_of_a_small_tree_is_that_of_the_definition_and_holds() {
    let all = leaves(70);
    for size in 0..=all.len() {
        let tree = &all[..size];
        let root = root_of(tree);
        assert_eq!(Plan::root(size as u64).hash(&TestCrypto, read(tree)), Ok(root));
        assert_eq!(Plan::inclusion(size as u64, size as u64), None);
        for index in 0..size {
            let plan = Plan::inclusion(index as u64, size as u64).unwrap();
            let path = plan.hashes(&TestCrypto, read(tree)).unwrap();
            assert_eq!(path, path_of(index, tree), "{index} of {size}");
            assert_eq!(inclusion(&TestCrypto, &tree[index], index as u64, (size as u64, &root), &path), Ok(()));
        }
        for old in 0..=size {
            let plan = Plan::consistency(old as u64, size as u64).unwrap();
            let proof = plan.hashes(&TestCrypto, read(tree)).unwrap();
            assert_eq!(proof, if old == 0 { vec![] } else { consistency_of(old, tree, true) }, "{old} to {size}");
            let old_root = root_of(&tree[..old]);
            assert_eq!(consistency(&TestCrypto, (old as u64, &old_root), (size as u64, &root), &proof), Ok(()));
        }
    }
    assert_eq!(Plan::consistency(3, 2), None);
}

#[test]
fn an_inclusion_proof_holds_for_no_other_leaf_index_size_or_path() {
    let all = leaves(40);
    let (index, size, root) = (21_u64, 37_u64, root_of(&all[..37]));
    let path = path_of(21, &all[..37]);
    let judge = |leaf, index, size, root, path: &[Hash]| inclusion(&TestCrypto, leaf, index, (size, root), path);
    let leaf = all[21];
    assert_eq!(judge(&leaf, index, size, &root, &path), Ok(()));
    assert_eq!(judge(&all[22], index, size, &root, &path), Err(Unproven::OtherRoot));
    assert_eq!(judge(&leaf, index, size, &all[0], &path), Err(Unproven::OtherRoot));
    assert_eq!(judge(&leaf, size, size, &root, &path), Err(Unproven::OutsideTheTree));
    assert_eq!(judge(&leaf, index, size, &root, &path[1..]), Err(Unproven::WrongLength));
    assert_eq!(judge(&leaf, index, size, &root, &[path.clone(), vec![leaf]].concat()), Err(Unproven::WrongLength));
    for other in (0..size).filter(|other| *other != index) {
        assert!(judge(&leaf, other, size, &root, &path).is_err(), "index {other}");
    }
    for level in 0..path.len() {
        let mut spoiled = path.clone();
        spoiled[level][31] ^= 1;
        assert_eq!(judge(&leaf, index, size, &root, &spoiled), Err(Unproven::OtherRoot), "level {level}");
    }
}

#[test]
fn a_consistency_proof_holds_for_no_rewritten_history() {
    let all = leaves(50);
    let mut rewritten = all.clone();
    rewritten[3] = all[4];
    for (old, new) in [(1, 2), (4, 9), (7, 8), (8, 50), (13, 50), (32, 33), (33, 50)] {
        let (old_root, new_root) = (root_of(&all[..old]), root_of(&all[..new]));
        let proof = consistency_of(old, &all[..new], true);
        let judge = |old_root: &Hash, new_root: &Hash, proof: &[Hash]| {
            consistency(&TestCrypto, (old as u64, old_root), (new as u64, new_root), proof)
        };
        assert_eq!(judge(&old_root, &new_root, &proof), Ok(()));
        assert!(judge(&all[49], &new_root, &proof).is_err());
        assert!(judge(&old_root, &all[49], &proof).is_err());
        assert!(judge(&old_root, &new_root, &proof[1..]).is_err(), "{old} to {new}");
        assert!(judge(&old_root, &new_root, &[proof.clone(), vec![old_root]].concat()).is_err());
        if old > 3 {
            let forged = consistency_of(old, &rewritten[..new], true);
            assert!(judge(&old_root, &root_of(&rewritten[..new]), &forged).is_err(), "{old} to {new}");
        }
    }
    assert_eq!(consistency(&TestCrypto, (5, &all[0]), (4, &all[0]), &[]), Err(Unproven::OutsideTheTree));
    assert_eq!(consistency(&TestCrypto, (5, &all[0]), (5, &all[1]), &[]), Err(Unproven::OtherRoot));
    assert_eq!(consistency(&TestCrypto, (0, &all[0]), (5, &all[1]), &[all[2]]), Err(Unproven::WrongLength));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn proofs_of_larger_trees_are_those_of_the_definition(size in 1_usize..1500, index in any::<prop::sample::Index>()) {
        let tree = leaves(size);
        let index = index.index(size);
        let path = Plan::inclusion(index as u64, size as u64).unwrap().hashes(&TestCrypto, read(&tree)).unwrap();
        prop_assert_eq!(path, path_of(index, &tree));
        let old = index + 1;
        let proof = Plan::consistency(old as u64, size as u64).unwrap().hashes(&TestCrypto, read(&tree)).unwrap();
        prop_assert_eq!(proof, consistency_of(old, &tree, true));
    }

    #[test]
    fn no_input_makes_verification_panic(
        numbers in any::<[u64; 2]>(),
        hashes in prop::collection::vec(any::<Hash>(), 0..70),
    ) {
        let [a, b] = numbers;
        let _ = inclusion(&TestCrypto, &[1; 32], a, (b, &[2; 32]), &hashes);
        let _ = consistency(&TestCrypto, (a, &[1; 32]), (b, &[2; 32]), &hashes);
        let _ = (Plan::inclusion(a, b), Plan::consistency(a, b));
        prop_assert!(Plan::root(a).nodes().count() <= 64);
    }
}
