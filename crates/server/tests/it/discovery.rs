//! What a service says about itself before anybody has proven anything.

mod configuration;
mod demands;
mod manifest;
mod platform;
