//! Requests of `countersign person`.

use super::{AdminRefusal, AdminRequest};
use countersign_engine::{Engine, Erasure};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The actor recorded in the evidence when a person is disabled by this.
const BY: &str = "operator";

/// Schedules the erasure of a person, or with a reason carries it out at once.
#[derive(Serialize, Deserialize)]
pub struct ErasePerson {
    pub name: String,
    pub early: Option<String>,
}

impl AdminRequest for ErasePerson {
    const NAME: &'static str = "erase-person";
    type Answer = Erasure;

    async fn run(self, engine: &Arc<Engine>) -> Result<Erasure, AdminRefusal> {
        Ok(engine.people().request_erasure(&self.name, self.early.as_deref(), BY).await?)
    }
}

/// Sets a legal hold, or without a reason lifts it.
#[derive(Serialize, Deserialize)]
pub struct HoldPerson {
    pub name: String,
    pub reason: Option<String>,
}

impl AdminRequest for HoldPerson {
    const NAME: &'static str = "hold-person";
    type Answer = Erasure;

    async fn run(self, engine: &Arc<Engine>) -> Result<Erasure, AdminRefusal> {
        Ok(engine.people().hold_records(&self.name, self.reason.as_deref()).await?)
    }
}

#[derive(Serialize, Deserialize)]
pub struct ListErasures {}

impl AdminRequest for ListErasures {
    const NAME: &'static str = "list-erasures";
    type Answer = Vec<Erasure>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Erasure>, AdminRefusal> {
        Ok(engine.people().erasures().await?)
    }
}
