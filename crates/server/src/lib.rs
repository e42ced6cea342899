//! The HTTP surface: one file an endpoint. A handler parses a request, calls the engine and writes the response; it
//! makes no decisions.

mod aaep;
mod aap;
pub mod admin;
mod app;
mod clarification;
pub mod config;
mod database;
mod descriptors;
mod evidence_log;
mod gateway;
mod http;
mod mcp;
mod mplp;
mod observe;
mod openapi;
mod operations;
mod operations_socket;
mod outbound_ports;
pub mod pages;
mod people;
mod project;
mod restore;
mod scim;
mod serve;
mod ssf;
mod start;
mod v1;
mod web;
pub mod witness;

pub use app::{App, router, router_in_front_of};
pub use countersign_engine::EpochStarted;
pub use database::{FirstStart, create_database};
pub use gateway::{GatewayTrouble, gateway_endpoints};
pub use observe::{LogTo, Metrics, logs_to};
pub use openapi::description as openapi_description;
pub use operations::router as operations_router;
pub use operations_socket::{AdminClient, AdminError, OperationsSocket, SocketError};
pub use outbound_ports::OperatorsPort;
pub use restore::{RestoreError, adopt_database, back_up_database, restore_database, vacuum_database};
pub use serve::{Limits, ServedListener, serve, serve_behind};
pub use start::{Node, StartTrouble, open_engine, open_engine_to_set_clock, start, start_in_front_of};
