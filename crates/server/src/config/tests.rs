//! Tests of the configuration, one file per subject.

mod disk;
mod environment;
mod explain;
mod file;
mod gateway;
mod project;
mod rules;
mod template;

use super::{ConfigErrors, ConfigProblem, Environment, Loaded, from_text};
use std::path::{Path, PathBuf};

/// The configuration from `text`, with an empty environment.
fn read(text: &str) -> Result<Loaded, ConfigErrors> {
    from_text(Some((Path::new("node/countersign.toml"), text)), &Environment::new())
}

/// The configuration from variables, without a file.
fn read_environment(variables: &[(&str, &str)]) -> Result<Loaded, ConfigErrors> {
    from_text(None, &environment(variables))
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The only problem.
#[track_caller]
fn the_problem(result: Result<Loaded, ConfigErrors>) -> ConfigProblem {
    let problems = result.expect_err("a configuration that is refused").problems;
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems[0].clone()
}

/// A temporary folder for a test that needs a disk, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("countersign-config-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file for the test");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
