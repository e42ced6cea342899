//! People: accounts, signing in, memberships, API keys.

mod accounts;
mod api_keys;
mod disable;
mod erase;
mod password;
mod scim;
mod sign_in;

pub use accounts::AccountFailure;
pub use api_keys::NewKey;
pub use password::PasswordCost;
pub(crate) use password::Passwords;
pub use scim::UserPage;
pub use sign_in::SignedIn;
