//! The transparency log over HTTP: for auditors, or for everyone, in the formats of C2SP, and shown to witnesses.

use countersign_engine::{EvidenceSettings, Role, Witness};
use countersign_evidence::{
    checkpoint::Checkpoint,
    merkle,
    note::{Algorithm, Note, VerifierKey},
    tile::RightEdge,
    witness::AddCheckpoint,
};
use countersign_jose::{EvidenceCrypto, NoteKey};
use countersign_server::witness::{WitnessState, router};
use countersign_testkit::{
    AgentFixture, Answer, Plane, Setup,
    leaks::Folder,
    on_sqlite,
    operator_host::{self, IDENTITY},
};
use http::{Request, StatusCode};
use std::{path::Path, sync::Arc};

fn public() -> Setup {
    Setup::with_project(|project| project.evidence.public = true)
}

/// A plane with entries of a call, sealed.
async fn sealed(kit: countersign_testkit::Kit, setup: Setup) -> AgentFixture {
    let scene = AgentFixture::on(kit.plane_with(setup).await, &["calendar.read"]).await;
    scene.read().await.expect(200);
    scene.plane.engine.run_maintenance().await.unwrap();
    scene
}

async fn keys(plane: &Plane) -> Vec<VerifierKey> {
    let published = plane.get("/evidence/keys").await.expect(200).json();
    let key =
        |key: &serde_json::Value| VerifierKey::parse(&EvidenceCrypto, key["verifier_key"].as_str().unwrap()).unwrap();
    published["keys"].as_array().unwrap().iter().map(key).collect()
}

fn opened(keys: &[VerifierKey], note: &str) -> Checkpoint {
    let note = Note::parse(note.as_bytes()).unwrap();
    note.verify(&EvidenceCrypto, keys).unwrap();
    Checkpoint::parse(&note.text).unwrap()
}

on_sqlite! {
    ///
    async fn a_stranger_verifies_a_public_log_from_its_keys_its_checkpoint_and_its_entries(kit) {
        let scene = sealed(kit, public()).await;
        let plane = &scene.plane;
        let answer = plane.get("/evidence/checkpoint").await.expect(200);
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        let checkpoint = opened(&keys(plane).await, &answer.text());
        assert_eq!(checkpoint.origin, "api.example.test/projects/calendar/evidence");
        let size = usize::try_from(checkpoint.size).unwrap();
        let bundle = plane.get(&format!("/evidence/tile/entries/000.p/{size}")).await.expect(200);
        assert_eq!(bundle.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let (mut rest, mut edge) = (&bundle.body[..], RightEdge::default());
        while let Some((length, after)) = rest.split_first_chunk::<2>() {
            let (entry, after) = after.split_at(usize::from(u16::from_be_bytes(*length)));
            assert!(!String::from_utf8_lossy(entry).contains("alice"), "openings are not among them");
            edge.push(&EvidenceCrypto, merkle::leaf_hash(&EvidenceCrypto, entry), |_, _| ());
            rest = after;
        }
        assert_eq!((edge.size(), edge.root(&EvidenceCrypto)), (checkpoint.size, checkpoint.root));
        // The name is the place: the same below the project's path.
        for path in ["checkpoint", "keys", &format!("tile/0/000.p/{size}")] {
            let (short, whole) = (format!("/evidence/{path}"), format!("/projects/calendar/evidence/{path}"));
            assert_eq!(plane.get(&short).await.expect(200).body, plane.get(&whole).await.expect(200).body, "{path}");
        }
        for missing in [format!("0/000.p/{}", size + 1), "0/000".into(), "0/0".into(), "9/000".into(), "entries/001".into()] {
            plane.get(&format!("/evidence/tile/{missing}")).await.expect(404);
        }
    }

    ///
    async fn only_auditors_and_admins_read_a_log_that_is_not_public(kit) {
        let scene = sealed(kit, Setup::default()).await;
        let plane = &scene.plane;
        let auditor = plane.person_in("calendar", "ada", &[Role::Auditor]).await;
        let size = opened(&keys(plane).await, &auditor.get(plane, "/evidence/checkpoint").await.text()).size;
        let paths = ["/evidence/checkpoint".to_owned(), format!("/evidence/tile/0/000.p/{size}"), format!("/evidence/tile/entries/000.p/{size}")];
        let bob = plane.person_in("calendar", "bob", &[Role::User]).await;
        let eve = plane.person_in("calendar", "eve", &[Role::Admin]).await;
        for path in &paths {
            assert_eq!(plane.get(path).await.status, 401, "{path}");
            assert_eq!(bob.get(plane, path).await.status, 403, "{path}");
            assert_eq!(eve.get(plane, path).await.status, 200, "{path}");
            let read = auditor.get(plane, path).await.expect(200);
            assert_eq!(read.header("cache-control"), Some("no-store"), "{path}");
        }
    }

    ///
    async fn a_log_without_entries_has_no_checkpoint(kit) {
        let plane = kit.plane_with(public()).await;
        plane.get("/evidence/checkpoint").await.expect(404);
        plane.get("/evidence/tile/0/000.p/1").await.expect(404);
    }

    ///
    async fn a_checkpoint_reaches_its_witness_and_the_answer_is_judged(kit) {
        let key = NoteKey::from_seed(&[9; 32]);
        let key = VerifierKey::new(&EvidenceCrypto, "w.test/1", Algorithm::Cosignature, key.public()).unwrap();
        let witnesses = vec![Witness { url: "https://acme.test/w".into(), key }];
        let setup = Setup { evidence: EvidenceSettings { witnesses, ..EvidenceSettings::default() }, ..public() };
        let scene = sealed(kit, setup).await;
        let host = &scene.plane.acme().host;
        assert!(host.fetches().iter().any(|path| path == IDENTITY), "it is an operator as well");
        for (status, body) in [(StatusCode::OK, "— w.test/1 AAAA\n"), (StatusCode::CONFLICT, "3\n"), (StatusCode::FORBIDDEN, "")] {
            host.set_answer("/w/add-checkpoint", operator_host::Answer::new(status, &[], body));
            assert_eq!(scene.plane.engine.evidence().show_witnesses().await.unwrap(), 0, "{status}");
        }
        let shown = host.received().into_iter().filter(|request| request.path == "/w/add-checkpoint");
        let shown: Vec<AddCheckpoint> = shown.map(|request| AddCheckpoint::parse(&request.body).unwrap()).collect();
        assert_eq!(shown.iter().map(|request| request.old).collect::<Vec<_>>(), [0, 0, 3, 0], "asked again from where it is");
        assert_eq!(scene.plane.get("/evidence/checkpoint").await.text(), shown[0].note.to_string());
    }
}

/// A witness's own server, and a log whose checkpoints it is shown.
struct Watched {
    folder: Folder,
    log: NoteKey,
}

const ORIGIN: &str = "plane.example/projects/bank/evidence";

impl Watched {
    fn new() -> Self {
        Self { folder: Folder::make(), log: NoteKey::from_seed(&[1; 32]) }
    }

    fn open(&self) -> WitnessState {
        let key = VerifierKey::new(&EvidenceCrypto, ORIGIN, Algorithm::Ed25519, self.log.public()).unwrap();
        WitnessState::start(self.path(), "w.example/1", &[key.to_string()]).unwrap()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A request for a tree of these leaves.
    fn shows(&self, old: u64, leaves: &[&str]) -> String {
        let leaf = |text: &&str| merkle::leaf_hash(&EvidenceCrypto, text.as_bytes());
        let leaves: Vec<_> = leaves.iter().map(leaf).collect();
        let mut edge = RightEdge::default();
        leaves.iter().for_each(|leaf| edge.push(&EvidenceCrypto, *leaf, |_, _| ()));
        let plan = merkle::Plan::consistency(old, edge.size());
        let root = |node: merkle::Node| {
            let first = usize::try_from(node.index << node.height).unwrap();
            let mut part = RightEdge::default();
            leaves[first..first + (1 << node.height)]
                .iter()
                .for_each(|leaf| part.push(&EvidenceCrypto, *leaf, |_, _| ()));
            Ok::<_, ()>(part.root(&EvidenceCrypto))
        };
        let proof = plan.map_or_else(Vec::new, |plan| plan.hashes(&EvidenceCrypto, root).unwrap());
        let checkpoint = Checkpoint::new(ORIGIN, edge.size(), edge.root(&EvidenceCrypto));
        let note = checkpoint.sign(&EvidenceCrypto, &self.log.public(), |text| self.log.sign(text)).unwrap();
        AddCheckpoint { old, proof, note }.to_string()
    }
}

async fn asked(state: &Arc<WitnessState>, body: String) -> (u16, String) {
    let request = Request::post("/add-checkpoint").body(body.into()).unwrap();
    let answer = Answer::to(&router(Arc::clone(state)), request).await;
    (answer.status, answer.text())
}

///
#[tokio::test]
async fn a_witness_cosigns_what_continues_its_tree_and_nothing_else() {
    let watched = Watched::new();
    let state = Arc::new(watched.open());
    let key = VerifierKey::parse(&EvidenceCrypto, &state.verifier_key()).unwrap();
    let (status, line) = asked(&state, watched.shows(0, &["a", "b"])).await;
    assert_eq!(status, 200);
    let signature = countersign_evidence::witness::answer(line.as_bytes()).unwrap().remove(0);
    let text = AddCheckpoint::parse(watched.shows(0, &["a", "b"]).as_bytes()).unwrap().note.text;
    let note = Note { text, signatures: vec![signature] };
    assert!(
        note.verify(&EvidenceCrypto, std::slice::from_ref(&key)).unwrap()[0].1.is_some_and(|time| time > 1_700_000_000)
    );

    assert_eq!(asked(&state, watched.shows(0, &["a", "b", "c"])).await, (409, "2\n".into()));
    assert_eq!(asked(&state, watched.shows(2, &["a", "b", "c"])).await.0, 200);
    assert_eq!(asked(&state, watched.shows(3, &["a", "b", "c"])).await.0, 200, "the same once more");
    assert_eq!(asked(&state, watched.shows(3, &["a", "x", "c", "d"])).await.0, 422, "another history");
    assert_eq!(asked(&state, watched.shows(3, &["a", "b", "x"])).await.0, 422, "another view of the same size");
    assert_eq!(asked(&state, watched.shows(3, &["a", "b"])).await.0, 400, "back");
    assert_eq!(asked(&state, watched.shows(3, &["a", "b", "c", "d"]).replace("bank", "other")).await.0, 404);
    assert_eq!(asked(&state, "old 3\n\nnothing".into()).await.0, 400);
    let forger = Watched { log: NoteKey::from_seed(&[2; 32]), ..Watched::new() };
    assert_eq!(asked(&state, forger.shows(3, &["a", "b", "c", "d"])).await.0, 403);
}

///
#[tokio::test]
async fn a_witness_forgets_nothing_over_a_restart_and_is_alone_with_its_folder() {
    let watched = Watched::new();
    let state = Arc::new(watched.open());
    assert_eq!(asked(&state, watched.shows(0, &["a", "b"])).await.0, 200);
    assert!(WitnessState::start(watched.path(), "w.example/1", &[]).is_err(), "it is in use");
    let key = state.verifier_key();
    drop(state);
    let again = Arc::new(watched.open());
    assert_eq!(again.verifier_key(), key);
    assert_eq!(asked(&again, watched.shows(0, &["x"])).await, (409, "2\n".into()));
    drop(again);
    std::fs::write(watched.path().join("witness.json"), "{").unwrap();
    assert!(WitnessState::start(watched.path(), "w.example/1", &[]).is_err(), "a witness that forgets is none");
}
