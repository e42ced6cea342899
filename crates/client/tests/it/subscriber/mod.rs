//! The subscriber against a foreign producer: events received, replies sent, and data that never leaves it.

mod connect;
mod over_http;
mod producer;
mod reply;
mod signed;
mod stream;
