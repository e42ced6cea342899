//! Coordinates, paths, and a tree that grows tile by tile.

use super::*;
use crate::{merkle::Plan, test_crypto::TestCrypto};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn leaf(number: u64) -> Hash {
    merkle::leaf_hash(&TestCrypto, &number.to_be_bytes())
}

#[test]
fn a_tiles_path_is_that_of_the_specification() {
    let tile = |level, number, width| Tile { level, number, width };
    assert_eq!(tile(0, 1_234_067, 256).path(), "tile/0/x001/x234/067");
    assert_eq!(tile(1, 0, 8).path(), "tile/1/000.p/8");
    assert_eq!(tile(0, 273, 112).path(), "tile/0/273.p/112");
    assert_eq!(tile(0, 1000, 256).entries_path(), "tile/entries/x001/000");
    assert_eq!(tile(0, 70, 5).entries_path(), "tile/entries/070.p/5");
    assert_eq!(tile(0, 2, 5).leaves(), 512..517);
}

#[test]
fn a_tiles_path_has_one_spelling() {
    assert_eq!(Path::parse("0/x001/x234/067"), Some(Path::Hashes(Tile { level: 0, number: 1_234_067, width: 256 })));
    assert_eq!(Path::parse("entries/070.p/5"), Some(Path::Entries(Tile { level: 0, number: 70, width: 5 })));
    for bad in [
        "",
        "0",
        "0/",
        "/000",
        "0/0",
        "0/00",
        "0/0000",
        "0/1000",
        "0/x000/001",
        "0/x001",
        "0/001/002",
        "0/x1/002",
        "0/X001/002",
        "0/000.p/0",
        "0/000.p/256",
        "0/000.p/01",
        "0/000.p/",
        "0/000.p/+1",
        "0/000.p/1.p/1",
        "8/000",
        "00/000",
        "-1/000",
        "entries/x/000",
        "data/000",
        "0/-01",
        "0/+01",
        "0/x001//002",
        "0/x999/x999/x999/x999/x999/x999/x999/x999/999",
    ] {
        assert_eq!(Path::parse(bad), None, "{bad}");
    }
}

/// As they stand in the specification: 70,000 leaves are 273 full tiles and one of 112 on level 0, one full and one of 17 on
/// level 1, and one of 1 on level 2.
#[test]
fn a_tree_of_seventy_thousand_leaves_has_the_tiles_of_the_specifications_example() {
    let tiles = changed(0, 70_000);
    let of = |level| tiles.iter().filter(move |tile| tile.level == level);
    assert_eq!((of(0).count(), of(0).next_back().unwrap().path()), (274, "tile/0/273.p/112".to_owned()));
    assert_eq!(of(1).map(|tile| tile.path()).collect::<Vec<_>>(), ["tile/1/000", "tile/1/001.p/17"]);
    assert_eq!(of(2).map(|tile| tile.path()).collect::<Vec<_>>(), ["tile/2/000.p/1"]);
    assert_eq!(of(3).count(), 0);
}

/// A log as it is served: every full tile, and the right edge.
#[derive(Default)]
struct Served {
    edge: RightEdge,
    tiles: BTreeMap<Tile, Vec<u8>>,
}

impl Served {
    fn grow_to(&mut self, size: u64) {
        for number in self.edge.size()..size {
            let tiles = &mut self.tiles;
            self.edge.push(&TestCrypto, leaf(number), |tile, bytes| assert_eq!(tiles.insert(tile, bytes), None));
        }
        self.tiles.extend(self.edge.tiles());
    }

    fn read(&self, node: Node) -> Option<Hash> {
        let tile = Tile::of(node, self.edge.size())?;
        tile.hash(&TestCrypto, self.tiles.get(&tile)?, node)
    }
}

#[test]
fn a_tree_that_grows_has_at_every_size_the_tiles_and_the_root_of_its_leaves() {
    let mut served = Served::default();
    let mut leaves = Vec::new();
    for size in [0, 1, 2, 3, 255, 256, 257, 511, 512, 700, 1024, 1500, 66_000] {
        let old = served.edge.size();
        let before = served.tiles.clone();
        served.grow_to(size);
        leaves.extend((old..size).map(leaf));
        let mut expected: Vec<Hash> = leaves.clone();
        // Folding neighbours and carrying the odd one up yields RFC 6962's tree.
        while expected.len() > 1 {
            expected = expected
                .chunks(2)
                .map(|pair| match pair {
                    [left, right] => merkle::node_hash(&TestCrypto, left, right),
                    odd => odd[0],
                })
                .collect();
        }
        let root = expected.first().copied().unwrap_or_else(|| merkle::empty_root(&TestCrypto));
        assert_eq!(served.edge.root(&TestCrypto), root, "{size} leaves");
        let from_tiles = Plan::root(size).hash(&TestCrypto, |node| served.read(node).ok_or(node));
        assert_eq!(from_tiles, Ok(root), "{size} leaves");
        let written: Vec<Tile> = served.tiles.keys().filter(|tile| !before.contains_key(tile)).copied().collect();
        assert_eq!(written, changed(old, size), "{old} to {size}");
        let restored = RightEdge::restore(size, |tile| served.tiles.get(&tile).cloned());
        let restored = restored.expect("the stored tiles fit");
        assert_eq!((restored.size(), restored.root(&TestCrypto)), (size, root), "{size} leaves");
    }
}

#[test]
fn proofs_from_tiles_hold() {
    let mut served = Served::default();
    served.grow_to(66_000);
    let (size, root) = (66_000, served.edge.root(&TestCrypto));
    for index in [0, 1, 255, 256, 65_535, 65_536, 65_999] {
        let path = Plan::inclusion(index, size).unwrap().hashes(&TestCrypto, |node| served.read(node).ok_or(node));
        let held = merkle::inclusion(&TestCrypto, &leaf(index), index, (size, &root), &path.unwrap());
        assert_eq!(held, Ok(()), "{index}");
    }
    let mut older = Served::default();
    older.grow_to(300);
    let proof =
        Plan::consistency(300, size).unwrap().hashes(&TestCrypto, |node| served.read(node).ok_or(node)).unwrap();
    let old = older.edge.root(&TestCrypto);
    assert_eq!(merkle::consistency(&TestCrypto, (300, &old), (size, &root), &proof), Ok(()));
}

#[test]
fn an_edge_is_not_restored_from_tiles_of_another_size() {
    let mut served = Served::default();
    served.grow_to(700);
    let with = |change: fn(&mut Vec<u8>)| {
        RightEdge::restore(700, |tile| {
            let mut bytes = served.tiles.get(&tile).cloned()?;
            change(&mut bytes);
            Some(bytes)
        })
    };
    assert!(with(|_| ()).is_some());
    assert_eq!(with(|bytes| bytes.truncate(64)), None);
    assert_eq!(with(|bytes| bytes.push(0)), None);
    assert_eq!(with(|bytes| bytes.extend([0; 32])), None);
    assert_eq!(RightEdge::restore(700, |_| None), None);
    assert_eq!(RightEdge::restore(0, |_| None), Some(RightEdge::default()));
}

proptest! {
    #[test]
    fn a_path_is_read_as_it_is_written(level in 0_u8..8, number in 0..u64::MAX / 256, width in 1_u16..=256) {
        let tile = Tile { level, number, width };
        prop_assert_eq!(Path::parse(&tile.path()["tile/".len()..]), Some(Path::Hashes(tile)));
        let entries = Tile { level: 0, ..tile };
        prop_assert_eq!(Path::parse(&entries.entries_path()["tile/".len()..]), Some(Path::Entries(entries)));
    }

    #[test]
    fn no_path_makes_the_reader_panic(text in "[0-9xp./a-z+ -]{0,40}") {
        if let Some(Path::Hashes(tile)) = Path::parse(&text) {
            prop_assert_eq!(format!("tile/{text}"), tile.path());
        }
    }

    #[test]
    fn no_coordinates_make_arithmetic_overflow(level in any::<u8>(), numbers in any::<[u64; 2]>(), height in 0_u32..64) {
        let [number, size] = numbers;
        let _ = Tile::at(level, number, size).map(Tile::leaves);
        let node = Node { height, index: number };
        let tile = Tile::of(node, size).unwrap_or(Tile { level, number, width: 256 });
        let _ = tile.hash(&TestCrypto, &[0; 8192], node);
    }
}
