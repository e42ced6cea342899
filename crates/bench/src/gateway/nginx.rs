//! A proxy without checks: the least cost of proxying.

use super::{messages::ContenderReady, messages::PATH, processes::ContenderProcess, wire::LoadConnection};
use anyhow::{Context as _, ensure};
use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
};

/// One worker, keep-alive on both sides, no log of its own.
pub(super) async fn start(folder: &Path, upstream: SocketAddr) -> anyhow::Result<(ContenderProcess, ContenderReady)> {
    let program = program()?;
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let (file, prefix) = (folder.join("nginx.conf"), folder.display().to_string());
    std::fs::write(&file, configuration(&prefix, address, upstream))?;
    let (program, file) = (program.display().to_string(), file.display().to_string());
    let arguments = [program.as_str(), "-p", &prefix, "-c", &file, "-e", "stderr"];
    let mut end = Command::new(&program);
    end.args(&arguments[1..]).args(["-s", "stop"]);
    let process = ContenderProcess::silent(&arguments, end)?;
    answers(address).await?;
    let told = ContenderReady {
        addresses: vec![address],
        origin: format!("http://{address}"),
        path: PATH.into(),
        tokens: Vec::new(),
        start_ms: 0.0,
    };
    Ok((process, told))
}

fn program() -> anyhow::Result<PathBuf> {
    let known = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].map(PathBuf::from);
    let found = known.into_iter().find(|path| path.is_file());
    found.context("nginx is not installed: install the Debian package `nginx-light`, or leave it out: --without nginx")
}

async fn answers(address: SocketAddr) -> anyhow::Result<()> {
    for _ in 0..500 {
        if LoadConnection::open(address).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    ensure!(false, "nginx did not start");
    Ok(())
}

/// `Connection ""` stands in the location itself: elsewhere it would not be inherited, and no connection would be kept.
fn configuration(folder: &str, address: SocketAddr, upstream: SocketAddr) -> String {
    format!(
        "daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/client;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000000;
  upstream behind {{ server {upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen {address};
    location / {{
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Connection \"\";
    }}
  }}
}}
"
    )
}
