//! The key that encrypts all other keys at rest: 32 bytes, written as 64 hex digits.

use super::{Environment, node::KeySource};
use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::Stdio,
};

#[derive(Debug, thiserror::Error)]
pub enum KeyUnreadable {
    #[error("the key file {path} cannot be read: {source}")]
    File { path: String, source: std::io::Error },
    /// Anybody with this key can decrypt everything.
    #[error("others than its owner can read the key file {path}")]
    Exposed { path: String },
    #[error("the variable {0}, which should hold the key, is not set")]
    Variable(String),
    #[error("the command {program}, which should print the key, cannot be run: {source}")]
    NotRun { program: String, source: std::io::Error },
    #[error("the command {program}, which should print the key, ended with {status}")]
    Failed { program: String, status: std::process::ExitStatus },
    #[error("the key is not 64 hex digits")]
    NotAKey,
}

/// Reads the key from the configured source. Blocks while a command runs.
pub fn read(source: &KeySource, environment: &Environment) -> Result<[u8; 32], KeyUnreadable> {
    let text = match source {
        KeySource::File(path) => from_file(path)?,
        KeySource::Environment(name) => {
            environment.get(name).cloned().ok_or_else(|| KeyUnreadable::Variable(name.clone()))?
        }
        KeySource::Command(command) => output(command)?,
    };
    let mut key = [0; 32];
    hex::decode_to_slice(text.trim(), &mut key).map_err(|_| KeyUnreadable::NotAKey)?;
    Ok(key)
}

fn from_file(path: &Path) -> Result<String, KeyUnreadable> {
    let shown = || path.display().to_string();
    let unreadable = |source| KeyUnreadable::File { path: shown(), source };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    if is_exposed(&file.metadata().map_err(unreadable)?) {
        return Err(KeyUnreadable::Exposed { path: shown() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Whether other users can read or change a file.
pub(super) fn is_exposed(file: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0;
    #[cfg(not(unix))]
    return false;
}

/// Writes a new key file that only its owner can read. Returns false, and changes nothing, if the file exists:
/// overwriting it would lose everything encrypted with the old key.
pub fn create(path: &Path, key: &[u8; 32]) -> std::io::Result<bool> {
    let mut file = match for_the_owner().open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(false),
        other => other?,
    };
    writeln!(file, "{}", hex::encode(key))?;
    file.sync_all()?;
    Ok(true)
}

fn for_the_owner() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn output(command: &[String]) -> Result<String, KeyUnreadable> {
    let [program, arguments @ ..] = command else { return Err(KeyUnreadable::NotAKey) };
    let run =
        std::process::Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = run.map_err(|source| KeyUnreadable::NotRun { program: program.clone(), source })?;
    if !ended.status.success() {
        return Err(KeyUnreadable::Failed { program: program.clone(), status: ended.status });
    }
    String::from_utf8(ended.stdout).map_err(|_| KeyUnreadable::NotAKey)
}
