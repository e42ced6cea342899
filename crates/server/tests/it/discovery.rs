//! Public documents of a service, readable without credentials.

mod configuration;
mod demands;
mod manifest;
mod platform;
mod public;
