//! What agents send here, read as strictly as MPLP's documents: the member that is wrong is named.

use crate::mplp::sent::Document;
use countersign_protocol::{
    clarification::submission::{CheckRequest, ResolveRequest, SessionRequest},
    mplp::{BadDocument, submission::MAX_PLAN_BYTES},
};

impl Document for CheckRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }

    /// A plan may be as long here as where it is written.
    fn most(_: usize) -> usize {
        MAX_PLAN_BYTES + FRAME_BYTES
    }
}

/// What stands round a plan: the names of members, and a session's id.
const FRAME_BYTES: usize = 1024;

impl Document for ResolveRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl Document for SessionRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}
