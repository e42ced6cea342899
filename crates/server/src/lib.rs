//! The HTTP surface: one file an endpoint. Nothing here decides; it reads a request, asks the engine and tells.

mod aap;
mod app;
pub mod config;
mod http;
mod observe;
mod operations;
pub mod pages;
mod people;
mod plug;
mod project;
mod serve;
mod start;
mod web;

pub use app::{App, router};
pub use observe::{LogTo, Metrics, logs_to};
pub use operations::router as operations_router;
pub use plug::Directory;
pub use serve::{Limits, Serving, serve};
pub use start::{Node, StartTrouble, open_engine, start};
