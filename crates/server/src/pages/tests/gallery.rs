//! Writes every page to a folder, to be opened in a browser.

use super::samples;
use crate::pages::{Language, assets};
use std::{fs, path::Path};

/// Writes to `target/pages`, with asset URLs relative to it.
#[test]
fn the_gallery_shows_every_page_in_every_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pages");
    fs::create_dir_all(folder.join("assets")).unwrap();
    for asset in assets() {
        fs::write(folder.join(asset.path.trim_start_matches('/')), asset.bytes).unwrap();
    }
    for language in Language::ALL {
        for (name, html) in samples::all(language) {
            let html = html.replace("\"/assets/", "\"assets/");
            fs::write(folder.join(format!("{name}.{}.html", language.tag())), html).unwrap();
        }
    }
}
