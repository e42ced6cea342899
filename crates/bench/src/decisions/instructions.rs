//! A figure without noise: instructions and written bytes of one more cycle.
//!
//! The same is run with N and with N + 300 cycles, one after the other, under callgrind, and the difference is divided. The
//! bytes are those that the server gives to the file system.

use super::{cycles::CycleLoad, serving::Scenario, subscriber::SubscribedServer};
use crate::{
    StoreKind,
    gateway::{Log, verifications},
};
use anyhow::ensure;
use std::rc::Rc;

const FIRST: u64 = 200;
const MORE: u64 = 300;
/// Groups of the writer differ from run to run, single cycles do not.
const IN_FLIGHT: usize = 1;

pub(super) async fn run() -> anyhow::Result<()> {
    let verification = (verifications(700)? - verifications(200)?) / 500.0;
    let (first, more) = (cycles(FIRST).await?, cycles(FIRST + MORE).await?);
    let cycle = (more.instructions - first.instructions) / MORE as f64;
    let written = (more.written - first.written) / MORE as f64;
    println!("instructions of a verification    {verification:12.0}");
    println!("instructions of a cycle           {cycle:12.0}   {:.3} ×", cycle / verification);
    println!("written by a cycle                {:12.1} KiB", written / 1024.0);
    Ok(())
}

struct Counted {
    instructions: f64,
    written: f64,
}

async fn cycles(count: u64) -> anyhow::Result<Counted> {
    let log = Log::new();
    let server = SubscribedServer::start_under(&log.under(), StoreKind::Sqlite, Scenario::default()).await?;
    let server = Rc::new(server);
    let mut load = CycleLoad::new("counted", &server, IN_FLIGHT);
    let before = server.process.written_bytes()?;
    let turn = load.exactly(count).await?;
    let written = server.process.written_bytes()? - before;
    ensure!(turn.answered as u64 == count, "{} of {count} cycles", turn.answered);
    drop((load, server));
    Ok(Counted { instructions: log.counted()?, written })
}
