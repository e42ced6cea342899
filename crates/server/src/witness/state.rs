//! What a witness knows: its key, and the largest tree of each log, in a file that is durable before any answer.

use countersign_engine::{
    Clock, Entropy,
    store::{DatabaseLock, LockError},
};
use countersign_evidence::{
    cosignature,
    note::{Algorithm, BadKey, Signature, VerifierKey},
    witness::{AddCheckpoint, KnownLog, Refused},
};
use countersign_jose::{EvidenceCrypto, NoteKey};
use countersign_protocol::hash::Digest;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// Of one process; see [`WitnessState::open`].
pub struct WitnessState {
    name: String,
    key: NoteKey,
    public: [u8; 32],
    logs: BTreeMap<String, Vec<VerifierKey>>,
    clock: Clock,
    path: PathBuf,
    seen: Mutex<Seen>,
    _lock: DatabaseLock,
}

/// The largest tree of each log, by its origin.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen(BTreeMap<String, SeenTree>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SeenTree {
    size: u64,
    root: Digest,
}

#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{0:?} is no name of a witness: it may have no spaces and no plus")]
    Name(String),
    #[error("{key:?} is no verifier key of a log: {why}")]
    LogKey { key: String, why: BadKey },
    #[error("the witness's folder is in use, or cannot be used: {0}")]
    Lock(#[from] LockError),
    #[error("the witness's folder cannot be used: {0}")]
    Files(#[from] io::Error),
    #[error("{} is not a witness's file: {why}", .path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("an earlier answer could not be made durable; restart the witness")]
    Poisoned,
}

impl WitnessState {
    /// With the system's clock and randomness.
    pub fn start(folder: &Path, name: &str, log_keys: &[String]) -> Result<Self, WitnessError> {
        Self::open(folder, name, log_keys, Clock::System, || Entropy::System.seed())
    }

    /// Opens a witness's folder, and takes it alone. `seed` yields 32 random bytes for a new witness's key.
    pub fn open(
        folder: &Path,
        name: &str,
        log_keys: &[String],
        clock: Clock,
        seed: impl FnOnce() -> io::Result<[u8; 32]>,
    ) -> Result<Self, WitnessError> {
        fs::create_dir_all(folder)?;
        let path = folder.join("witness.json");
        let lock = DatabaseLock::acquire(&path, clock.now())?;
        let key = NoteKey::from_seed(&opened_key(&folder.join("witness.key"), seed)?);
        let public = key.public();
        if VerifierKey::new(&EvidenceCrypto, name, Algorithm::Cosignature, public).is_none() {
            return Err(WitnessError::Name(name.to_owned()));
        }
        let mut logs: BTreeMap<String, Vec<VerifierKey>> = BTreeMap::new();
        for text in log_keys {
            let key = VerifierKey::parse(&EvidenceCrypto, text);
            let key = key.map_err(|why| WitnessError::LogKey { key: text.clone(), why })?;
            logs.entry(key.name.clone()).or_default().push(key);
        }
        let seen = Mutex::new(opened_state(&path)?);
        Ok(Self { name: name.to_owned(), key, public, logs, clock, path, seen, _lock: lock })
    }

    pub fn verifier_key(&self) -> String {
        let key = VerifierKey::new(&EvidenceCrypto, &self.name, Algorithm::Cosignature, self.public);
        key.map(|key| key.to_string()).unwrap_or_default()
    }

    /// The cosignature on a checkpoint that continues what was seen. Compared, made durable and answered as one.
    pub fn add_checkpoint(&self, body: &[u8]) -> Result<Signature, WitnessError> {
        let request = AddCheckpoint::parse(body)?;
        let mut seen = self.seen.lock().map_err(|_| WitnessError::Poisoned)?;
        let checkpoint = request.decide(&EvidenceCrypto, |origin| self.known(&seen, origin))?;
        let tree = SeenTree { size: checkpoint.size, root: Digest(checkpoint.root) };
        let mut next = seen.clone();
        next.0.insert(checkpoint.origin, tree);
        write_durably(&self.path, &next)?;
        *seen = next;
        let time = self.clock.now().secs().unsigned_abs();
        let by = (self.name.as_str(), &self.public);
        Ok(cosignature::cosign(&EvidenceCrypto, by, time, &request.note.text, |message| self.key.sign(message)))
    }

    fn known(&self, seen: &Seen, origin: &str) -> Option<KnownLog> {
        let keys = self.logs.get(origin)?.clone();
        let (size, root) = seen.0.get(origin).map_or((0, [0; 32]), |tree| (tree.size, tree.root.0));
        Some(KnownLog { keys, size, root })
    }
}

/// The private key, readable by its owner only; made at the first start.
fn opened_key(path: &Path, seed: impl FnOnce() -> io::Result<[u8; 32]>) -> Result<[u8; 32], WitnessError> {
    let damaged = |why: &str| WitnessError::Damaged { path: path.to_owned(), why: why.to_owned() };
    match fs::read_to_string(path) {
        Ok(text) => {
            let bytes = hex::decode(text.trim()).map_err(|_| damaged("it is not 64 hex digits"))?;
            bytes.try_into().map_err(|_| damaged("it is not 64 hex digits"))
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let seed = seed()?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            writeln!(file, "{}", hex::encode(seed))?;
            file.sync_all()?;
            Ok(seed)
        }
        Err(why) => Err(why.into()),
    }
}

/// A missing file is a new witness; a damaged one is refused, because a witness that forgets cosigns a rollback.
fn opened_state(path: &Path) -> Result<Seen, WitnessError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|why| WitnessError::Damaged { path: path.to_owned(), why: why.to_string() }),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Seen::default()),
        Err(why) => Err(why.into()),
    }
}

fn write_durably(path: &Path, seen: &Seen) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(seen)?)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
