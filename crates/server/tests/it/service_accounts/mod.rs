//! Service accounts: granted by an admin, bounded by resources, beside a person's delegation in one session.

mod calls;
mod crossing;
mod desk;
mod ended;
mod form;
mod grant;
mod mixed;
mod page;
mod register;
mod revoke;

pub(crate) use desk::{Account, Desk, session_id, without};
