//! Go's own `sumdb/note` and `sumdb/tlog` read our checkpoints and tiles, make the same proofs from them, and accept ours.

use super::{RightEdge, Tile};
use crate::{
    checkpoint::Checkpoint,
    crypto::Hash,
    merkle::{self, Node, Plan},
    note::{Algorithm, VerifierKey},
    test_crypto::{TestCrypto, TestKey},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const ORIGIN: &str = "plane.example/projects/acme/evidence";
const SIZES: [u64; 5] = [1, 255, 256, 1000, 70_001];

#[test]
fn go_verifies_our_checkpoints_tiles_and_proofs() {
    let folder = std::env::temp_dir().join(format!("countersign-sumdb-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let judge = go_judge(&folder);
    let mut log = Log::default();
    for size in SIZES {
        log.grow_to(size);
        log.write(&folder);
        let said = judged(&judge, &folder);
        assert!(said.starts_with(&format!("ok {size} ")), "{said}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[derive(Default)]
struct Log {
    edge: RightEdge,
    tiles: BTreeMap<Tile, Vec<u8>>,
    /// The roots at the sizes so far.
    roots: BTreeMap<u64, Hash>,
}

impl Log {
    fn grow_to(&mut self, size: u64) {
        for number in self.edge.size()..size {
            let tiles = &mut self.tiles;
            self.edge.push(&TestCrypto, leaf(number), |tile, bytes| drop(tiles.insert(tile, bytes)));
        }
        self.tiles.extend(self.edge.tiles());
        self.roots.insert(size, self.edge.root(&TestCrypto));
    }

    fn read(&self, node: Node) -> Result<Hash, Node> {
        let tile = Tile::of(node, self.edge.size()).ok_or(node)?;
        tile.hash(&TestCrypto, self.tiles.get(&tile).ok_or(node)?, node).ok_or(node)
    }

    /// As it is served, with the proofs to judge.
    fn write(&self, folder: &Path) {
        let (key, size) = (TestKey::new(1), self.edge.size());
        let checkpoint = Checkpoint::new(ORIGIN, size, self.roots[&size]);
        let note = checkpoint.sign(&TestCrypto, &key.public(), |text| key.sign(text)).unwrap();
        let verifier = VerifierKey::new(&TestCrypto, ORIGIN, Algorithm::Ed25519, key.public()).unwrap();
        let text = |plan: Plan| -> Vec<String> {
            let hashes = plan.hashes(&TestCrypto, |node| self.read(node)).unwrap();
            hashes.iter().map(|hash| STANDARD.encode(hash)).collect()
        };
        let indexes = [0, 1, size / 3, size / 2, size - 1].into_iter().filter(|index| *index < size);
        let inclusion = indexes.map(|index| {
            let path = text(Plan::inclusion(index, size).unwrap());
            json!({ "index": index, "leaf": STANDARD.encode(leaf(index)), "path": path })
        });
        let consistency = self.roots.iter().map(|(old, root)| {
            let proof = text(Plan::consistency(*old, size).unwrap());
            json!({ "old": old, "oldRoot": STANDARD.encode(root), "proof": proof })
        });
        let judge = json!({
            "key": verifier.to_string(),
            "inclusion": inclusion.collect::<Vec<_>>(),
            "consistency": consistency.collect::<Vec<_>>(),
        });
        let files = self.tiles.iter().map(|(tile, bytes)| (tile.path(), bytes.clone()));
        let others = [("checkpoint".to_owned(), note.to_string()), ("judge.json".to_owned(), judge.to_string())];
        for (path, bytes) in files.chain(others.map(|(path, text)| (path, text.into_bytes()))) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

fn leaf(number: u64) -> Hash {
    merkle::leaf_hash(&TestCrypto, &number.to_be_bytes())
}

/// Builds the judge from Debian's packages, with nothing from the network.
fn go_judge(folder: &Path) -> PathBuf {
    let program = folder.join("judge");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg("./tests/foreign/sumdb").current_dir(ROOT);
    go.env("GO111MODULE", "off").env("GOFLAGS", "-mod=mod").env("GOPATH", "/usr/share/gocode");
    go.env("GOCACHE", Path::new(ROOT).join("target/tmp/go-cache"));
    let built = go.output().expect("go is missing: run ./test --prepare");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

fn judged(program: &Path, folder: &Path) -> String {
    let run = Command::new(program).arg(folder).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}
