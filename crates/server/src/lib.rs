//! The HTTP surface: one file an endpoint. Nothing here decides; it reads a request, asks the engine and tells.

mod aaep;
mod aap;
mod app;
mod clarification;
pub mod config;
mod descriptors;
mod database;
mod gateway;
mod http;
mod mcp;
mod mplp;
mod observe;
mod openapi;
mod operations;
pub mod pages;
mod people;
mod plug;
mod project;
mod restore;
mod serve;
mod start;
mod v1;
mod web;

pub use app::{App, router, router_in_front_of};
pub use countersign_engine::EpochStarted;
pub use database::{FirstStart, create_database};
pub use gateway::{GatewayTrouble, gateway_endpoints};
pub use observe::{LogTo, Metrics, logs_to};
pub use openapi::description as openapi_description;
pub use operations::router as operations_router;
pub use plug::Directory;
pub use restore::{RestoreError, adopt_database, back_up_database, restore_database};
pub use serve::{Limits, Serving, serve, serve_behind};
pub use start::{Node, StartTrouble, open_engine, start, start_in_front_of};

/// What the command line needs to speak with the engine of a node.
pub mod admin {
    pub use countersign_engine::{
        AccountRefusal, AccountTrouble, Address, ApiKey, ApiKeyKind, ApplyRefusal, ApplyTrouble, Disabled, Engine,
        KeyInUse, KeysError, Member, Membership, NewKey, NewSubscriberToken, Person, Problem, Project, ProjectAt,
        Refusal, Role, StartError, SubscriberToken, TokenState, check_project, clarification_rules, held,
        store::{StoreError, project_at},
    };
}
