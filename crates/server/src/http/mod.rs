//! Shared by every endpoint: extractors, authentication and error responses.

pub(crate) mod address;
pub(crate) mod answer;
pub(crate) mod at;
pub(crate) mod auditor;
pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod cookie;
pub(crate) mod credential;
pub(crate) mod layers;
pub(crate) mod request_id;
pub(crate) mod sse;
pub(crate) mod version;
