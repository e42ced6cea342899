//! The disk usage of the database, reported by its node or without one.

use super::{database, signs_in};
use crate::cli_folder::Folder;
use serde_json::Value;

#[test]
fn the_room_of_each_kind_is_shown_with_and_without_a_node_and_vacuuming_needs_it_stopped() {
    let folder = Folder::with_project("storage-room");
    let node = folder.serve(&[]);
    assert_eq!(signs_in(&node), 201);
    let ran = folder.run("db stats --json").silent();
    let stats: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&stats["database"], &stats["gives_back_free_pages"]), (&"sqlite".into(), &true.into()));
    assert!(stats["total_bytes"].as_u64().unwrap() > 4096 && stats["log_bytes"].as_u64().is_some(), "{stats}");
    let kinds = stats["kinds"].as_array().unwrap();
    let of = |name: &str| kinds.iter().find(|kind| kind["kind"] == name).unwrap_or_else(|| panic!("{name}: {stats}"));
    assert_eq!(of("evidence openings")["setting"], "retention.audit_days");
    assert_eq!(of("evidence leaves")["setting"], Value::Null);
    assert!(of("short-lived")["rows"].as_u64().unwrap() > 0);

    let held = folder.run("db vacuum").refused();
    assert!(held.err.contains("is in use by process"), "{}", held.err);
    assert_eq!(node.ends_by("TERM").0, 0);
    let text = folder.run("db stats");
    assert!(text.out.contains("decisions") && text.out.contains("bytes in all"), "{}", text.out);
    let vacuumed = folder.run("db vacuum");
    assert!(vacuumed.out.contains("bytes before"), "{}{}", vacuumed.out, vacuumed.err);
    assert!(database(&folder.0).exists());
    assert_eq!(signs_in(&folder.serve(&[])), 201);
}
