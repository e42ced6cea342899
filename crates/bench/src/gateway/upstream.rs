//! The upstream of the proxies. It runs in the generator's own loop: on a core with a spinning process, a separate process
//! would wait to be scheduled, and that wait would count against the proxies.

use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

pub(super) const BODY: &str = r#"{"accounts":["ours"]}"#;

/// Answers every GET with the same response, as long as the runtime lives.
pub(super) async fn open() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(attend(stream));
        }
    });
    Ok(address)
}

async fn attend(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
    let answer = format!("{head}: {}\r\n\r\n{BODY}", BODY.len());
    let mut got = Vec::with_capacity(4096);
    while stream.read_buf(&mut got).await? > 0 {
        // No client pipelines: the bytes end with the head, or more are to come.
        if got.ends_with(b"\r\n\r\n") {
            got.clear();
            stream.write_all(answer.as_bytes()).await?;
        }
    }
    Ok(())
}
