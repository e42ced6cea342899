//! One test suite for both databases: every promise is tested on SQLite and on PostgreSQL.

use crate::{Plane, Setup, postgres};
use countersign_engine::store::{PostgresLocation, StoreLocation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// Creates planes on one kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Kit(pub Backend);

impl Kit {
    /// A plane with a calendar project, an operator `acme.test` and nobody else.
    pub async fn plane(self) -> Plane {
        self.plane_with(Setup::default()).await
    }

    pub async fn plane_with(self, setup: Setup) -> Plane {
        Plane::start(setup, self.fresh_place().await).await
    }

    pub async fn fresh_place(self) -> StoreLocation {
        match self.0 {
            Backend::Sqlite => StoreLocation::Temporary,
            Backend::Postgres => StoreLocation::Postgres(PostgresLocation::new(postgres::migrated_database().await)),
        }
    }
}

/// Makes two tests of every promise, one a database.
///
/// ```text
/// on_both_stores! {
///     /// AAP-8.2-01
///     async fn the_very_next_call_after_a_revocation_is_refused(kit) { let plane = kit.plane().await; … }
/// }
/// ```
#[macro_export]
macro_rules! on_both_stores {
    ($($(#[doc = $doc:expr])* async fn $name:ident($kit:ident) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, reason = "the promise may need nothing of its file")]
            use super::*;

            $(#[doc = $doc])*
            async fn promise($kit: $crate::Kit) $body

            #[tokio::test]
            async fn on_sqlite() {
                $crate::deadline::whole_test(promise($crate::Kit($crate::Backend::Sqlite))).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                $crate::deadline::whole_test(promise($crate::Kit($crate::Backend::Postgres))).await;
            }
        })+
    };
}
