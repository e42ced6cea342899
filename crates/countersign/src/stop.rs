//! Signals that ask the process to stop.

use crate::failure::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl Stop {
    /// Ctrl-C and SIGTERM.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let of = |kind| signal(kind).map_err(|why| Failure::new(format!("cannot listen for signals: {why}")));
        Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())?, hangup: None })
    }

    /// Also the hangup of the terminal.
    pub(crate) fn listen_with_hangup() -> Result<Self, Failure> {
        let hangup = signal(SignalKind::hangup()).ok();
        Ok(Self { hangup, ..Self::listen()? })
    }

    pub(crate) async fn asked(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
        }
    }
}
