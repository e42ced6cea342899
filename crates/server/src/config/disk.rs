//! Checks that the files named by a configuration exist.

use super::{
    key_encryption_key::is_exposed,
    load::{Loaded, Warning},
    node::{KeySource, NodeConfig, SecretSource, Store},
    problem::{ConfigProblem, ValueOrigin},
};
use std::path::Path;

/// Missing certificates, which would make connections fail later and less clearly.
pub(super) fn missing(loaded: &Loaded) -> Vec<ConfigProblem> {
    let config = &loaded.config;
    let database = match &config.store {
        Store::Postgres { root_certificates, .. } => root_certificates.as_deref(),
        Store::Sqlite { .. } => None,
    };
    let named = database.map(|path| ("store.root_certificates", path));
    let extra = config.outbound.extra_roots.iter().map(|path| ("outbound.extra_roots", path.as_path()));
    named
        .into_iter()
        .chain(extra)
        .chain(of_the_gateway(config))
        .filter(|(_, path)| !path.is_file())
        .map(|(key, path)| lost(loaded, key, path))
        .collect()
}

fn of_the_gateway(config: &NodeConfig) -> impl Iterator<Item = (&'static str, &Path)> {
    let gateway = config.gateway.iter();
    let roots = gateway.clone().filter_map(|gateway| gateway.upstream_ca_file.as_deref());
    let secrets =
        gateway.flat_map(|gateway| gateway.credentials.values()).filter_map(|credential| match &credential.value {
            SecretSource::File(path) => Some(path.as_path()),
            _ => None,
        });
    let roots = roots.map(|path| ("gateway.upstream_ca_file", path));
    roots.chain(secrets.map(|path| ("gateway.credentials", path)))
}

/// The key file may still be created; one that others can read is refused at every use.
pub(super) fn warnings(config: &NodeConfig) -> Vec<Warning> {
    let KeySource::File(path) = &config.keys else { return Vec::new() };
    let what = match std::fs::metadata(path) {
        Err(_) => format!("there is no {} yet: `countersign init` makes it", path.display()),
        Ok(found) if is_exposed(&found) => {
            let path = path.display();
            format!("others can read {path}, so no node starts with it: chmod 600 {path}")
        }
        Ok(_) => return Vec::new(),
    };
    vec![Warning { key: "keys.file".into(), what }]
}

fn lost(loaded: &Loaded, key: &str, path: &Path) -> ConfigProblem {
    let place = loaded
        .sources
        .iter()
        .find(|source| source.key == key)
        .map_or(ValueOrigin::Default, |source| source.from.clone());
    let wrong = format!("names {}, which is not a file", path.display());
    ConfigProblem {
        place,
        key: key.to_owned(),
        wrong,
        hint: "check the path; it counts from the folder of the file".into(),
    }
}
