//! Checkpoints in files, beside the database: what a database that went back, or was rewritten, cannot take along.

use countersign_evidence::{checkpoint::Checkpoint, note::Note};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A folder of folders, one a project, with a file a checkpoint: its size, and the signed note.
#[derive(Clone, Debug)]
pub(super) struct CheckpointFolder {
    path: PathBuf,
    keeps: Keeps,
}

/// What a folder keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// The newest checkpoint of each project.
    Newest,
    /// Every checkpoint that was written. Files are only ever added, so the folder can be append-only.
    All,
}

/// A checkpoint that was found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundCheckpoint {
    pub(super) checkpoint: Checkpoint,
    pub(super) path: PathBuf,
}

impl CheckpointFolder {
    pub(super) fn new(path: PathBuf, keeps: Keeps) -> Self {
        Self { path, keeps }
    }

    pub(super) fn keeps(&self) -> Keeps {
        self.keeps
    }

    /// The projects with checkpoints here.
    pub(super) fn projects(&self) -> io::Result<Vec<String>> {
        let folders = match fs::read_dir(&self.path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folders => folders?,
        };
        folders.map(|folder| Ok(folder?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// The checkpoints of a log, the largest first. A file that was not written completely is left out: it was never more
    /// than a copy.
    pub(super) fn of_log(&self, project: &str, origin: &str) -> io::Result<Vec<PathBuf>> {
        let files = match fs::read_dir(self.path.join(project)) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            files => files?,
        };
        let mut paths = files.map(|file| Ok(file?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort_unstable();
        paths.reverse();
        paths.retain(|path| read(path).is_some_and(|found| found.checkpoint.origin == origin));
        Ok(paths)
    }

    /// Writes a checkpoint; one that is there already stays.
    pub(super) fn write(&self, project: &str, size: u64, note: &str) -> io::Result<()> {
        let folder = self.path.join(project);
        fs::create_dir_all(&folder)?;
        // The digits of the largest size, so that names sort as sizes do.
        let path = folder.join(format!("{size:020}.checkpoint"));
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            file => file?,
        };
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        if self.keeps == Keeps::Newest {
            remove_others(&folder, &path)?;
        }
        Ok(())
    }
}

fn remove_others(folder: &Path, newest: &Path) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path != newest {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

pub(super) fn read(path: &Path) -> Option<FoundCheckpoint> {
    let note = Note::parse(&fs::read(path).ok()?).ok()?;
    Some(FoundCheckpoint { checkpoint: Checkpoint::parse(&note.text).ok()?, path: path.to_owned() })
}
