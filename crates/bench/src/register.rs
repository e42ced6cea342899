//! `POST /agent/register` with operator JWT, delegation token, receipt and DPoP proof, against the bare signature checks.
//!
//! Measured twice: with an operator JWT and a receipt that the server has never seen, and with the same bytes again under a
//! new proof. Verified JWTs are remembered by their bytes, and the delegation token is the same in all of them, so a
//! repetition has one signature left to check.

mod serving;
mod signing;
#[cfg(test)]
mod tests;

pub(crate) use serving::serve;

use crate::{
    child::{ServerProcess, ServerTask},
    gateway::Figures,
    load::RequestLoad,
    report::{BenchmarkReport, Ratios},
    rounds::{RoundArguments, take_turns},
};
use clap::ValueEnum;
use serde_json::{Map, json};
use serving::SigningMaterial;
use signing::{JwtBytes, REPEATED, RegistrationSigner};

#[derive(clap::Args)]
pub(crate) struct RegisterArguments {
    #[command(flatten)]
    rounds: RoundArguments,
    /// Leaves out the DPoP proofs: one signature less to check.
    #[arg(long, value_enum, value_delimiter = ',')]
    without: Vec<Without>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Without {
    Proofs,
}

const FRESH: &str = "fresh operator JWT and receipt";
const AGAIN: &str = "the same bytes again";

const NOTES: [&str; 3] = [
    "CPU time is that of the server's process, in V of the same second or two; the generator's is not in it",
    "the bound is one V for each signature that has to be checked, and nothing else",
    "the generator sleeps between responses, which costs the server some microseconds a response",
];

pub(crate) async fn run(arguments: &RegisterArguments) -> anyhow::Result<()> {
    let mut loads = [load(arguments, JwtBytes::Fresh)?, load(arguments, JwtBytes::Repeated)?];
    // A repetition is one only after each of them was verified.
    loads[1].exactly(REPEATED).await?;
    let of = &arguments.rounds;
    let loads = take_turns(&mut loads, of.rounds()).await?;
    let bounds = Bounds::with_proofs(arguments.has_proofs());
    let report = BenchmarkReport {
        benchmark: "register",
        title: "POST /agent/register",
        counted: "request",
        store: of.store,
        rounds: of.rounds(),
        in_flight: of.in_flight(),
        ratios: ratios(&loads, bounds),
        loads,
        members: Map::from_iter([("signatures".into(), json!({ "fresh": bounds.fresh, "repeated": bounds.repeated }))]),
        lines: vec![format!("the bound: {} V, repeated {} V", bounds.fresh, bounds.repeated)],
        notes: &NOTES,
    };
    report.print(of)
}

impl RegisterArguments {
    fn has_proofs(&self) -> bool {
        !self.without.contains(&Without::Proofs)
    }
}

type RegisterLoad = RequestLoad<RegistrationSigner, SigningMaterial>;

fn load(arguments: &RegisterArguments, bytes: JwtBytes) -> anyhow::Result<RegisterLoad> {
    let of = &arguments.rounds;
    let server: ServerProcess<SigningMaterial> = ServerProcess::start(of.store, ServerTask::Register)?;
    let signer = RegistrationSigner::new(&server.address, &server.told, bytes, arguments.has_proofs())?;
    let name = match bytes {
        JwtBytes::Fresh => FRESH,
        JwtBytes::Repeated => AGAIN,
    };
    Ok(RequestLoad::new(name, server, signer, of.in_flight()))
}

/// The signatures that the server must check in a registration.
#[derive(Clone, Copy)]
struct Bounds {
    fresh: u32,
    repeated: u32,
}

impl Bounds {
    fn with_proofs(proofs: bool) -> Self {
        // Operator JWT and receipt; the delegation token is remembered from the first registration on.
        let (fresh, repeated, proof) = (2, 0, u32::from(proofs));
        Self { fresh: fresh + proof, repeated: repeated + proof }
    }
}

fn ratios(loads: &[Figures], bounds: Bounds) -> Ratios {
    let cpu = |name: &str| loads.iter().find(|load| load.name == name).map(|load| load.cpu_in_v.median);
    let share = |name, signatures| cpu(name).map(|cpu| f64::from(signatures) / cpu);
    vec![
        ("cpu_in_v", cpu(FRESH)),
        ("cpu_in_v_repeated", cpu(AGAIN)),
        ("share_of_bound", share(FRESH, bounds.fresh)),
        ("share_of_bound_repeated", share(AGAIN, bounds.repeated)),
    ]
}
