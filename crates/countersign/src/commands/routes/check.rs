//! `countersign routes check METHOD URL`: the required scopes and approvals of a request, the people asked, and the
//! confirmation request they would see.

use super::{RouteSource, texts};
use crate::{cli::Reading, context::Context, failure::Failure};
use countersign_server::admin::held::{NoRoute, explain};
use serde_json::{json, to_value};
use std::fs;

/// Explain the requirements of a request, the people asked, and the text they would read. Nothing is sent
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "METHOD")]
    method: String,

    /// The URL, or only its path and query.
    #[arg(value_name = "URL")]
    url: String,

    /// The body, or @FILE. Treated as application/json unless a content-type header is given.
    #[arg(short, long, value_name = "BODY")]
    data: Option<String>,

    /// A header; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,

    #[command(flatten)]
    source: RouteSource,

    #[command(flatten)]
    reading: Reading,
}

/// Exits with 1 if the request would be refused before a person is asked.
pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let body = arguments.data.as_deref().map(body).transpose()?;
    let document = arguments.source.document(context)?;
    let headers = with_type(&arguments.headers, body.is_some());
    let method = arguments.method.to_ascii_uppercase();
    let body = body.unwrap_or_default();
    let explained = explain(&document, &method, &arguments.url, &headers, &body);
    match explained {
        Err(why) if arguments.reading.json => {
            context.say_json(&json!({ "route": null, "problem": why.to_string(), "nearest": why.nearest }))?;
            Err(Failure::told())
        }
        Err(why) => Err(unmatched(&why)),
        Ok(explanation) => {
            if arguments.reading.json {
                let value = to_value(&explanation).map_err(|why| Failure::new(why.to_string()))?;
                context.say_json(&value)?;
            } else {
                context.say(&texts::text(&explanation))?;
            }
            if explanation.problem.is_some() { Err(Failure::told()) } else { Ok(()) }
        }
    }
}

fn unmatched(why: &NoRoute) -> Failure {
    let list = "`countersign routes list` shows all of them";
    Failure::new(why.to_string()).hint(match &why.nearest {
        Some(nearest) => format!("the nearest is {nearest}; {list}"),
        None => list.to_owned(),
    })
}

fn body(data: &str) -> Result<Vec<u8>, Failure> {
    match data.strip_prefix('@') {
        Some(file) => fs::read(file).map_err(|why| Failure::new(format!("{file} cannot be read: {why}"))),
        None => Ok(data.as_bytes().to_vec()),
    }
}

fn with_type(headers: &[(String, String)], has_body: bool) -> Vec<(String, String)> {
    let said = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let usual = (has_body && !said).then(|| ("content-type".to_owned(), "application/json".to_owned()));
    headers.iter().cloned().chain(usual).collect()
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header reads NAME: VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
