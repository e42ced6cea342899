//! A folder that is deleted with its store.

use crate::store::StoreError;
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(super) fn make() -> Result<Self, StoreError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("countersign-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by an earlier process with the same id.
                Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
                Err(why) => return Err(StoreError::Options(format!("cannot make {}: {why}", path.display()))),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_dir_all(&self.0);
    }
}
