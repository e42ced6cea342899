//! Fits the number of connections to the file descriptor limit of this process.

#[cfg(test)]
mod tests;

use crate::Limits;

/// Reserved for other descriptors: logs, operators' documents, the listeners.
const OTHERS: usize = 96;
/// The operations listener needs few connections, for metrics and health checks.
pub(crate) const OPERATIONS: usize = 32;

/// Users of descriptors besides the clients of the public listener.
#[derive(Clone, Copy)]
pub(crate) struct Openers {
    /// Whether there is a gateway: its clients, and one upstream connection for each.
    pub(crate) gateway: bool,
    pub(crate) store: usize,
}

/// The limits, lowered to the descriptors available: without a free descriptor the node can neither accept connections
/// nor write.
pub(crate) fn fitted(limits: Limits, openers: Openers) -> Limits {
    let allowed = std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| open_files(&text));
    let Some(allowed) = allowed else { return limits };
    let fitted = within(limits, openers, allowed);
    if fitted.max_connections < limits.max_connections {
        tracing::warn!(
            open_files = allowed,
            max_connections = fitted.max_connections,
            max_connections_per_address = fitted.max_connections_per_address,
            "listen.max_connections is lowered from {}: this process may not open more files; raise LimitNOFILE or \
             ulimit -n",
            limits.max_connections
        );
    }
    fitted
}

fn within(limits: Limits, Openers { gateway, store }: Openers, open_files: usize) -> Limits {
    let reserved = (OTHERS + OPERATIONS + store).min(open_files / 2);
    let each = (open_files - reserved) / if gateway { 3 } else { 1 };
    if limits.max_connections <= each {
        return limits;
    }
    let max_connections = each.max(1);
    // One address gets at most half of them.
    let per_address = limits.max_connections_per_address.min((max_connections / 2).max(1));
    Limits { max_connections, max_connections_per_address: per_address, ..limits }
}

/// The soft limit; `None` if unlimited.
fn open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
