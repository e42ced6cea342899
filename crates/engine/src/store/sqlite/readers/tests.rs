use super::*;
use crate::store::sqlite::temporary::TemporaryFolder;
use countersign_protocol::time::UnixMillis;

///
#[test]
fn opening_a_reader_writes_nothing_into_the_file_or_its_log() {
    let folder = TemporaryFolder::make().unwrap();
    let path = folder.path().join("plane.db");
    let clock = || Arc::new(SteadyClock::new(Arc::new(|| UnixMillis(0))));
    let writer = SqliteConnection::open(&path, Durability::Full, clock()).unwrap();
    writer.run("CREATE TABLE notes (key INTEGER PRIMARY KEY)", &[]).unwrap();
    let seen = || writer.rows("PRAGMA data_version", &[]).unwrap()[0].int(0).unwrap();
    let log = || std::fs::metadata(folder.path().join("plane.db-wal")).unwrap().len();
    let before = (seen(), log());
    let reader = SqliteConnection::open_reader(&path, Durability::Full, clock()).unwrap();
    assert_eq!(reader.rows("SELECT count(*) FROM notes", &[]).unwrap().len(), 1);
    assert_eq!((seen(), log()), before, "the writer would take it for another program");
    let checkpoints = reader.rows("PRAGMA wal_autocheckpoint", &[]).unwrap()[0].int(0).unwrap();
    assert_eq!(checkpoints, 0);
}
