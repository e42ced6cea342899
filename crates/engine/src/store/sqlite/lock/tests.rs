use super::*;

const NOW: UnixMillis = UnixMillis(1_794_744_000_000);

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("countersign-lock-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

///
#[test]
fn a_second_one_is_refused_with_the_holder_until_the_first_is_gone() {
    let folder = folder("second");
    let database = folder.join("plane.db");
    assert_eq!(DatabaseLock::holder(&database).unwrap(), None);
    let first = DatabaseLock::acquire(&database, NOW).unwrap();
    let us = Holder { pid: Some(std::process::id()), since: Some(NOW) };
    let refused = DatabaseLock::acquire(&database, NOW.plus_secs(1)).unwrap_err();
    assert!(matches!(&refused, LockError::Held(holder) if *holder == us), "{refused}");
    assert_eq!(DatabaseLock::holder(&database).unwrap(), Some(us));
    drop(first);
    assert_eq!(DatabaseLock::holder(&database).unwrap(), None);
    DatabaseLock::acquire(&database, NOW).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_note_that_cannot_be_read_still_refuses() {
    let folder = folder("note");
    let database = folder.join("plane.db");
    let _first = DatabaseLock::acquire(&database, NOW).unwrap();
    std::fs::write(beside(&database), "garbage").unwrap();
    let refused = DatabaseLock::acquire(&database, NOW).unwrap_err().to_string();
    assert_eq!(refused, "the database is in use by another process");
    std::fs::remove_dir_all(folder).unwrap();
}

///
#[test]
fn two_ways_to_one_file_meet_at_one_lock() {
    let folder = folder("link");
    let database = folder.join("plane.db");
    std::fs::write(&database, "").unwrap();
    let link = folder.join("link.db");
    std::os::unix::fs::symlink(&database, &link).unwrap();
    let _first = DatabaseLock::acquire(&database, NOW).unwrap();
    assert!(matches!(DatabaseLock::acquire(&link, NOW), Err(LockError::Held(_))));
    std::fs::remove_dir_all(folder).unwrap();
}
