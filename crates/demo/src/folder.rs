//! The demo's folder: accessible only to its owner, and removed with the demo in any case.

use super::plane::{system_now, trouble};
use crate::DemoFailure;
use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

pub struct DemoFolder(PathBuf);

impl DemoFolder {
    pub fn make() -> Result<Self, DemoFailure> {
        let name = format!("countersign-demo-{}-{}", std::process::id(), system_now().0);
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path).map_err(trouble)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file with a secret.
pub(super) fn write_for_owner(path: &Path, text: &str) -> Result<(), DemoFailure> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(trouble)
}
