//! The minimum of HTTP/1.1 for a load generator: it must cost less than the measured servers.

use anyhow::{Context as _, ensure};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

pub(super) struct LoadConnection {
    stream: TcpStream,
    got: Vec<u8>,
}

impl LoadConnection {
    #[expect(clippy::disallowed_methods, reason = "the benchmark connects to what it started, on loopback")]
    pub(super) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, got: Vec::with_capacity(8192) })
    }

    /// Sends a request and reads the whole response; returns its status.
    pub(super) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.stream.write_all(request).await?;
        self.got.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.got).await? > 0, "the connection was closed");
            if let Some(status) = whole(&self.got)? {
                return Ok(status);
            }
        }
    }

    /// The last response.
    pub(super) fn answer(&self) -> String {
        String::from_utf8_lossy(&self.got).into_owned()
    }
}

/// The status, once the response is complete.
pub(super) fn whole(got: &[u8]) -> anyhow::Result<Option<u16>> {
    let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&got[..end])?;
    let status = head.get(9..12).and_then(|digits| digits.parse().ok()).context("no status")?;
    let there = match body(head)? {
        BodyFraming::Sized(length) => got.len() >= end + 4 + length,
        BodyFraming::Chunked => got.ends_with(b"0\r\n\r\n"),
    };
    Ok(there.then_some(status))
}

enum BodyFraming {
    Sized(usize),
    Chunked,
}

fn body(head: &str) -> anyhow::Result<BodyFraming> {
    for line in head.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            return Ok(BodyFraming::Sized(value.trim().parse()?));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(BodyFraming::Chunked);
        }
    }
    Ok(BodyFraming::Sized(0))
}

#[cfg(test)]
mod tests;
