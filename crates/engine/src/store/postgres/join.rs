//! Joining a database: does it exist, and is it as new as the acknowledged position?

use super::{
    connection::{PooledConnection, failure},
    migrations,
    node::NodeRow,
};
use crate::store::{
    DatabaseLock, LockError, Opening, StoreClock, StoreError,
    error::StoreFailure,
    health::Health,
    position::{self, Keeper, KeptIn, Position, PositionFile},
    sql::Sql as _,
};
use deadpool_postgres::Pool;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// A live node moves its heartbeat every two seconds.
const LOOKS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(500);

/// The findings before anything was changed.
pub(super) struct Joining {
    lock: Option<DatabaseLock>,
    kept_in: JoinVerdict,
}

enum JoinVerdict {
    Nowhere,
    File(PathBuf),
    NewEpoch(PathBuf),
}

impl Joining {
    pub(super) async fn check(pool: &Pool, opening: Opening, clock: StoreClock) -> Result<Self, StoreError> {
        let schema = schema(pool).await?;
        if schema == 0 && !opening.create {
            return Err(StoreError::Missing("there are no tables of countersign in the PostgreSQL database".into()));
        }
        let Some(folder) = &opening.state else { return Ok(Self { lock: None, kept_in: JoinVerdict::Nowhere }) };
        let path = folder.join("countersign.position");
        let lock = match DatabaseLock::acquire(&path, clock()) {
            Ok(lock) => Some(lock),
            // A node on this machine has it open, and vouches for it.
            Err(LockError::Held(_)) if !opening.alone => return Ok(Self { lock: None, kept_in: JoinVerdict::Nowhere }),
            Err(why) => return Err(no_folder(folder, &why)),
        };
        if opening.adopt {
            if has_live_node(pool).await? {
                return Err(StoreError::Options("nodes are running on this database; stop all of them first".into()));
            }
            return Ok(Self { lock, kept_in: JoinVerdict::NewEpoch(path) });
        }
        let mut connection = PooledConnection::take(pool).await?;
        let known = position::is_current(&mut connection, schema, PositionFile::read(&path)?.as_ref(), 0).await?;
        drop(connection);
        let kept_in = match known {
            true => JoinVerdict::File(path),
            // A command must not vouch for a database that a node would refuse.
            false if !opening.alone => JoinVerdict::Nowhere,
            false => {
                require_live_node(pool, &path).await?;
                JoinVerdict::File(path)
            }
        };
        Ok(Self { lock, kept_in })
    }

    /// From here on the position is kept; the lock is released with the writer.
    pub(super) async fn keep(self, node: &mut NodeRow, health: &Health) -> Result<Option<DatabaseLock>, StoreError> {
        let lane = node.lane.as_ref().map_or(0, |lane| lane.number);
        let position = Position::of(&mut node.connection, lane).await?;
        position::check_tail(&mut node.connection, lane, position.mark.as_ref()).await?;
        let kept_in = match self.kept_in {
            JoinVerdict::Nowhere => KeptIn::Memory,
            JoinVerdict::NewEpoch(path) => KeptIn::NewEpoch(path),
            JoinVerdict::File(path) => KeptIn::File(PositionFile::begin(path, &position)?),
        };
        node.keeper = Some(Keeper::new(position, kept_in, health.clone()));
        Ok(self.lock)
    }
}

fn no_folder(folder: &Path, why: &LockError) -> StoreError {
    let shown = folder.display();
    StoreError::Options(match why {
        LockError::Held(holder) => format!(
            "the folder {shown}, in which this node keeps its last position, is in use by {holder}; each node needs one \
             of its own: name it as store.state"
        ),
        LockError::Unusable { why, .. } => format!(
            "this node cannot keep its last position in the folder {shown}: {why}; name one that it may write to as \
             store.state"
        ),
    })
}

/// A node without a position of its own joins only while another node, which has one, is live.
async fn require_live_node(pool: &Pool, path: &Path) -> Result<(), StoreError> {
    if has_live_node(pool).await? {
        return Ok(());
    }
    Err(StoreError::Old(format!(
        "nobody can tell how old it is: {} is missing, and no other node is running that would vouch for it",
        path.display()
    )))
}

/// Whether any node is running. A time in a row proves nothing, since a backup has it too; a time that moves does.
async fn has_live_node(pool: &Pool) -> Result<bool, StoreError> {
    let mut connection = PooledConnection::take(pool).await?;
    let first = heartbeats(&mut connection).await?;
    for _ in 0..LOOKS {
        tokio::time::sleep(PAUSE).await;
        if heartbeats(&mut connection).await?.iter().any(|beat| !first.contains(beat)) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn heartbeats(connection: &mut PooledConnection) -> Result<Vec<(i64, i64)>, StoreFailure> {
    let rows = connection.query("SELECT lane, heartbeat FROM lanes WHERE heartbeat > 0", &[]).await?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

/// The newest migration of the database; 0 for one without Countersign's tables.
async fn schema(pool: &Pool) -> Result<i64, StoreError> {
    let unreachable =
        |why: StoreFailure| StoreError::Unavailable(format!("{why}; check its address and that it is running"));
    let connection = PooledConnection::take(pool).await.map_err(unreachable)?;
    Ok(migrations::newest(connection.client()?).await.map_err(failure)?)
}
