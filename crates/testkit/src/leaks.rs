//! Searches for secrets that must not leak: in the bytes of a database, in a log, in a response.

use crate::{Backend, Kit, postgres};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use countersign_engine::store::{PostgresLocation, StoreLocation};
use std::{
    collections::HashSet,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A temporary folder, removed when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn make() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("countersign-leaks-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _left_by_another_run = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder for the test");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_dir_all(&self.0);
    }
}

impl Kit {
    /// A database with bytes that can be read from outside. Keep the folder as long as the plane.
    pub async fn readable_location(self) -> (StoreLocation, Folder) {
        let folder = Folder::make();
        let place = match self.0 {
            Backend::Sqlite => StoreLocation::File(folder.path().join("countersign.db")),
            Backend::Postgres => StoreLocation::Postgres(PostgresLocation::new(postgres::migrated_database().await)),
        };
        (place, folder)
    }
}

/// Every byte that a store has written: the file with its companions, or a dump of the whole database.
async fn stored_bytes(place: &StoreLocation) -> Vec<u8> {
    match place {
        StoreLocation::Temporary => {
            panic!("the folder of a temporary store is nobody's to know; use Kit::readable_location")
        }
        StoreLocation::File(path) => {
            ["", "-wal", "-shm", "-journal"].iter().flat_map(|end| companion(path, end)).collect()
        }
        StoreLocation::Postgres(place) => postgres::dump(&place.url).await,
    }
}

fn companion(path: &Path, end: &str) -> Vec<u8> {
    let mut name = OsString::from(path);
    name.push(end);
    std::fs::read(name).unwrap_or_default()
}

/// Bytes to search many times.
pub struct Haystack {
    place: &'static str,
    bytes: Vec<u8>,
    /// The eight bytes at every position: most searches end with one lookup.
    windows: HashSet<[u8; 8]>,
}

impl Haystack {
    pub fn new(place: &'static str, bytes: Vec<u8>) -> Self {
        let windows = bytes.windows(8).map(head).collect();
        Self { place, bytes, windows }
    }

    /// Everything that a store has written.
    pub async fn stored(place: &StoreLocation) -> Self {
        Self::new("the database", stored_bytes(place).await)
    }

    /// Fails if a secret is here: plain, in hex, or in base64 inside of a longer text.
    pub fn assert_absent(&self, what: &str, secret: impl AsRef<[u8]>) {
        if let Some(spelling) = self.spelling_of(secret.as_ref()) {
            panic!("{what} is in {}, {spelling}", self.place);
        }
    }

    /// The opposite, to show that the search finds existing text.
    pub fn assert_present(&self, what: &str, text: impl AsRef<[u8]>) {
        assert!(self.contains(text.as_ref()), "{what} is not in {}, so looking there proves nothing", self.place);
    }

    fn spelling_of(&self, secret: &[u8]) -> Option<&'static str> {
        assert!(secret.len() >= 12, "too short to look for");
        spellings(secret).into_iter().find(|(_, spelling)| self.contains(spelling)).map(|(name, _)| name)
    }

    fn contains(&self, wanted: &[u8]) -> bool {
        self.windows.contains(&head(wanted)) && self.bytes.windows(wanted.len()).any(|window| window == wanted)
    }
}

fn head(bytes: &[u8]) -> [u8; 8] {
    bytes[..8].try_into().expect("eight bytes")
}

fn spellings(secret: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![
        ("as it is", secret.to_vec()),
        ("in upper-case hex", hex.to_ascii_uppercase().into_bytes()),
        ("in hex", hex.into_bytes()),
    ];
    for skipped in 0..3 {
        // Whole groups of three bytes encode the same wherever they occur in a longer text.
        let rest = &secret[skipped..];
        let groups = &rest[..rest.len() / 3 * 3];
        all.push(("in base64", STANDARD_NO_PAD.encode(groups).into_bytes()));
        all.push(("in base64url", URL_SAFE_NO_PAD.encode(groups).into_bytes()));
    }
    all
}
