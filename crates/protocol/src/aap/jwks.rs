//! The published key set, as operator and as service (AAP 4.1, 20, C-71).
//!
//! `countersign-jose` reads key sets of others; this type can hold only public P-256 keys, so a private member cannot
//! be published by accident (AAP 23).

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Jwks {
    pub keys: Vec<PublicJwk>,
}

/// The public half of an ES256 signing key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PublicJwk {
    pub kid: String,
    pub kty: Ec,
    pub crv: P256,
    pub x: String,
    pub y: String,
    #[serde(rename = "use")]
    pub purpose: Sig,
    pub alg: Es256,
}

impl PublicJwk {
    /// From the coordinates in base64url.
    pub fn new(kid: impl Into<String>, x: String, y: String) -> Self {
        Self { kid: kid.into(), kty: Ec::Ec, crv: P256::P256, x, y, purpose: Sig::Sig, alg: Es256::Es256 }
    }
}

macro_rules! constants {
    ($($name:ident::$variant:ident = $text:literal),+) => {$(
        #[doc = concat!("The constant `", $text, "`.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            #[serde(rename = $text)]
            $variant,
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let only = utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::Type::String);
                only.enum_values(Some([$text])).into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    )+};
}

constants!(Ec::Ec = "EC", P256::P256 = "P-256", Sig::Sig = "sig", Es256::Es256 = "ES256");
