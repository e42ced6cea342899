//! Documents of the Agent Authentication Protocol 2.0, one module a document.

pub mod error;
pub mod version;
