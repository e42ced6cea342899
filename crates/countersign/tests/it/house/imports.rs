//! Imports follow the architecture: the layers inside a crate, and single items in the engine's interface.

use super::{assert_none, files, read, root};
use std::path::Path;

/// A whole module in the engine's interface would hand all of it to every crate above, whatever the arrows say.
#[test]
fn the_engine_re_exports_single_items_of_the_core_and_no_module() {
    let core = root().join("crates/core/src");
    let is_module = |path: &[&str]| {
        let file = core.join(path.join("/"));
        file.with_extension("rs").is_file() || file.join("mod.rs").is_file()
    };
    let mut offences = Vec::new();
    for (file, text) in sources("engine") {
        for leaf in re_exports(&text, "countersign_core") {
            let path: Vec<&str> = leaf.split("::").collect();
            let whole = leaf.ends_with('*') || (is_module(&path) && !is_function(&core, &path));
            offences.extend(whole.then(|| format!("{file}: {leaf}")));
        }
    }
    assert_none("modules of the core in the engine's interface", &offences);
}

/// Pages render prepared values. Neither they nor the state machine's callers read rows by themselves.
#[test]
fn imports_follow_the_layers_inside_a_crate() {
    const FORBIDDEN: &[(&str, &str, &[&str])] = &[
        (
            "server",
            "pages/",
            &["countersign_engine", "countersign_gateway", "countersign_outbound", "axum", "crate::web"],
        ),
        ("server", "web/", &["countersign_engine::store"]),
        ("server", "v1/", &["countersign_engine::store", "crate::pages"]),
        ("server", "mplp/", &["countersign_engine::store", "crate::pages"]),
        ("server", "aaep/", &["countersign_engine::store", "crate::pages"]),
        ("gateway", "", &["countersign_engine::store"]),
        ("core", "records", &["crate::decision", "crate::aap", "crate::aaep", "crate::mplp", "crate::people"]),
        ("engine", "store/", &["crate::engine", "crate::calls", "crate::decisions", "crate::aap", "crate::mplp"]),
    ];
    let mut offences = Vec::new();
    for (name, folder, forbidden) in FORBIDDEN {
        let inside: Vec<_> = sources(name).into_iter().filter(|(file, _)| file.starts_with(folder)).collect();
        assert!(!inside.is_empty(), "there is nothing in {name}/{folder}");
        for (file, text) in inside {
            let uses: Vec<String> = imports(&text).collect();
            for path in *forbidden {
                let inside = format!("{path}::");
                let found = uses.iter().any(|leaf| leaf == path || leaf.starts_with(&inside)) || names(&text, &inside);
                offences.extend(found.then(|| format!("{name}/{file} imports {path}")));
            }
        }
    }
    assert_none("imports against the layers", &offences);
}

/// The sources of a crate by their path in `src`, without tests.
fn sources(name: &str) -> Vec<(String, String)> {
    let root = format!("crates/{name}/src/");
    let files = files().into_iter().filter_map(|file| Some(file.strip_prefix(&root)?.to_owned()));
    let kept = files.filter(|file| file.ends_with(".rs") && !file.ends_with("tests.rs") && !file.contains("tests/"));
    kept.map(|file| (file.clone(), read(&format!("{root}{file}")))).collect()
}

/// Whether the code writes the path out, without an import.
fn names(text: &str, path: &str) -> bool {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| line.contains(path))
}

/// Every path that a file imports.
fn imports(text: &str) -> impl Iterator<Item = String> {
    let uses = text.lines().collect::<Vec<_>>().join(" ");
    let trees: Vec<String> =
        uses.split("use ").skip(1).filter_map(|rest| Some(rest.split_once(';')?.0.into())).collect();
    trees.into_iter().flat_map(|tree| leaves(&tree, ""))
}

/// The items of a crate that a file re-exports, without the crate's name.
fn re_exports(text: &str, of: &str) -> Vec<String> {
    let text = text.lines().collect::<Vec<_>>().join(" ");
    let start = format!("pub use {of}::");
    let trees = text.split(&start).skip(1).filter_map(|rest| rest.split_once(';'));
    trees.flat_map(|(tree, _)| leaves(tree, "")).collect()
}

/// `a::{b, c::{d, e as f}}` → `a::b`, `a::c::d`, `a::c::e`.
fn leaves(tree: &str, prefix: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree).trim();
        return if path.is_empty() { Vec::new() } else { vec![format!("{prefix}{path}")] };
    };
    let (inner, prefix) = (rest.strip_suffix('}').unwrap_or(rest), format!("{prefix}{head}"));
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.extend(leaves(&inner[start..at], &prefix));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.extend(leaves(&inner[start..], &prefix));
    found
}

/// Whether a path names a function too, re-exported from the module of its name; it then is the item meant.
fn is_function(core: &Path, path: &[&str]) -> bool {
    let (module, name) = (core.join(path.join("/")), path.last().copied().unwrap_or_default());
    let texts = [module.with_extension("rs"), module.join("mod.rs")].map(std::fs::read_to_string);
    texts.into_iter().flatten().any(|text| text.contains(&format!("pub fn {name}(")))
}
