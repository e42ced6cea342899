//! CPU time of a piece of work.

use std::time::Duration;

/// User and system time of a process so far, from `/proc`.
pub(crate) fn of_process(pid: &str) -> anyhow::Result<Duration> {
    let schedstat = std::fs::read_dir(format!("/proc/{pid}/task"))?;
    let mut nanos = 0;
    for task in schedstat {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
