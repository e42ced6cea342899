//! `countersign init`: creates a commented configuration, a key and an empty database.

use crate::{context::Context, engine, failure::Failure};
use countersign_server::{
    config::{
        self, CONFIG_VARIABLE, DEFAULT_FILE, Loaded, key_encryption_key,
        node::{KeySource, NodeConfig, Store},
    },
    create_database,
};
use std::{
    fs::OpenOptions,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// Write a commented configuration, a new key and an empty database. Existing files are kept
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to write into, created if missing.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let path = target(arguments, context);
    // Read before anything is written, so that an invalid environment leaves nothing half done.
    let config = planned(&path, context)?.config;
    context.say(&[write_config(&path)?, make_key(&config)?].concat())?;
    context.say(&[make_database(&config)?, next(&path)].concat())
}

fn target(arguments: Arguments, context: &Context) -> PathBuf {
    let named = || context.config.clone().or_else(|| context.environment.get(CONFIG_VARIABLE).map(PathBuf::from));
    let folder = arguments.dir.map(|dir| dir.join(DEFAULT_FILE));
    folder.or_else(named).unwrap_or_else(|| DEFAULT_FILE.into())
}

/// The configuration as it will be once the file is written.
fn planned(path: &Path, context: &Context) -> Result<Loaded, Failure> {
    let loaded = if path.exists() {
        config::load_for_command(Some(path), &context.environment)
    } else {
        config::from_text_for_command(Some((path, &config::template())), &context.environment)
    }?;
    context.warn_of_unknown(&loaded);
    Ok(loaded)
}

fn write_config(path: &Path) -> Result<String, Failure> {
    make_folder_of(path)?;
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(config::template().as_bytes())) {
        Ok(()) => Ok(format!("wrote {}\n", path.display())),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(format!("kept {}, which was there\n", path.display())),
        Err(e) => Err(not_written(path, &e)),
    }
}

/// Creates a key only if the configuration names a key file, and never overwrites one.
fn make_key(config: &NodeConfig) -> Result<String, Failure> {
    let path = match &config.keys {
        KeySource::File(path) => path,
        KeySource::Environment(name) => return Ok(format!("made no key: it comes from the variable {name}\n")),
        KeySource::Command(_) => return Ok("made no key: it comes from a command\n".into()),
    };
    make_folder_of(path)?;
    let shown = path.display();
    match key_encryption_key::create(path, &random()?) {
        Ok(true) => Ok(format!("wrote {shown}: keep a copy, without it the database cannot be opened\n")),
        Ok(false) => Ok(format!("kept {shown}, which was there\n")),
        Err(e) => Err(not_written(path, &e)),
    }
}

fn make_database(config: &NodeConfig) -> Result<String, Failure> {
    let shown = match &config.store {
        Store::Sqlite { path, .. } => path.display().to_string(),
        Store::Postgres { .. } => "the tables in PostgreSQL".into(),
    };
    if let Store::Sqlite { path, .. } = &config.store {
        make_folder_of(path)?;
    }
    engine::log(false, "warn");
    match engine::runtime()?.block_on(create_database(config)) {
        Ok(true) => Ok(format!("made {shown}, with nothing in it\n")),
        Ok(false) => Ok(format!("kept {shown}, which was there\n")),
        Err(why) => Err(engine::store(why)),
    }
}

/// The remaining steps to a running node.
fn next(path: &Path) -> String {
    let shown = path.display();
    let named = if path == Path::new(DEFAULT_FILE) { String::new() } else { format!(" --config {shown}") };
    format!(
        "next:\n  \
         edit {shown}, then countersign{named} config check\n  \
         countersign{named} project apply FILE\n  \
         countersign{named} user add NAME --role admin --role user\n  \
         countersign{named} serve\n"
    )
}

fn make_folder_of(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder).map_err(|e| not_written(folder, &e))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot write {}: {error}", path.display()));
    failure.hint("use --dir to name a folder that you may write to")
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no engine yet whose entropy could be used: this key comes first"
)]
fn random() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Failure::new("the system gives no randomness"))?;
    Ok(bytes)
}
