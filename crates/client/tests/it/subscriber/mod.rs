//! The subscriber against a producer that is not ours: what it hears, what it says, and what never leaves it.

mod connect;
mod over_http;
mod producer;
mod reply;
mod signed;
mod stream;
