//! Opens the service's page in the person's browser, out of the agent's control (AAP 13.2).

use std::{
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

/// Opens a page in the person's own browser. Called only with addresses on the service's origin.
pub trait Browser: Send + Sync {
    fn open(&self, url: &str);
}

/// The system's browser. Without one nothing happens: the person has the address as well.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemBrowser;

impl Browser for SystemBrowser {
    fn open(&self, url: &str) {
        let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
            ("open", &[])
        } else if cfg!(target_os = "windows") {
            ("rundll32", &["url.dll,FileProtocolHandler"])
        } else {
            ("xdg-open", &[])
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _started = command.spawn();
    }
}

/// Collects the addresses, for demonstrations and tests.
impl Browser for Mutex<Vec<String>> {
    fn open(&self, url: &str) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(url.to_owned());
    }
}
