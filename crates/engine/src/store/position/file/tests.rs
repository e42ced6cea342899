use super::*;

fn at(commits: i64) -> Position {
    let mark = LastEntry {
        lane: 3,
        pos: 7 + commits,
        leaf: Digest::of(b"leaf"),
        project: 11,
        seq: 5,
        chain: Digest::of(b"chain"),
    };
    Position { database: Digest::of(b"this one"), epoch: 2, lane: 3, commits, mark: Some(mark) }
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("countersign-position-{name}-{}", std::process::id()))
}

///
#[test]
fn the_last_write_is_read_back() {
    let path = path("last");
    assert_eq!(PositionFile::read(&path).unwrap(), None);
    let mut kept = PositionFile::begin(path.clone(), &Position { mark: None, ..at(1) }).unwrap();
    assert_eq!(PositionFile::read(&path).unwrap(), Some(Position { mark: None, ..at(1) }));
    for commits in 2..9 {
        kept.write(&at(commits)).unwrap();
        assert_eq!(PositionFile::read(&path).unwrap(), Some(at(commits)));
    }
    let mut again = PositionFile::begin(path.clone(), &at(9)).unwrap();
    again.write(&at(10)).unwrap();
    assert_eq!(PositionFile::read(&path).unwrap(), Some(at(10)));
    std::fs::remove_file(path).unwrap();
}

///
#[test]
fn a_torn_write_leaves_the_one_before() {
    let path = path("torn");
    let mut kept = PositionFile::begin(path.clone(), &at(1)).unwrap();
    kept.write(&at(2)).unwrap();
    kept.write(&at(3)).unwrap();
    let place = kept.serial.unsigned_abs() % 2 * APART;
    kept.file.write_all_at(b"torn", place + 100).unwrap();
    assert_eq!(PositionFile::read(&path).unwrap(), Some(at(2)));
    kept.file.write_all_at(b"torn", (place + 100 + APART) % (2 * APART)).unwrap();
    assert_eq!(PositionFile::read(&path).unwrap(), None, "nothing is made up of garbage");
    std::fs::remove_file(path).unwrap();
}
