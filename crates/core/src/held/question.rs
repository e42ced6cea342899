//! The confirmation request about an HTTP request, rendered from its own bytes and complete.

use super::{
    Fields, HttpRequest, UnreadableRequest, amounts, details,
    shorten::shown,
    template::{Template, UnitNames},
};
use crate::{decision::runs::Composition, project::decisions::is_tool, records::Confirmation};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    project::{Route, RouteTexts},
    question::{QuestionFacts, RequestFacts},
    request::Text,
    visible::quoted,
};

/// The announced tool for a route whose action is no valid tool name.
const TOOL: &str = "gateway_call";
const CONSEQUENCE: &str = "The service receives exactly this request, once.";
/// The most characters of a value in the facts, which repeat values shown elsewhere.
const FACT_TEXT: usize = 1000;
const FACT_VALUE: usize = 200;

/// The confirmation request about a request: with the owner's templates if the route has some, else a generic one. A
/// request that could not be shown in full is refused.
pub fn question(route: &Route, request: &HttpRequest, fields: &Fields) -> Result<Confirmation, UnreadableRequest> {
    let (texts, templates) = match &route.describe {
        Some(described) => in_the_owners_words(described, route, fields)?,
        None => (in_plain_words(request), Vec::new()),
    };
    let asked = Confirmation {
        action: texts.action,
        consequence: texts.consequence,
        summaries: texts.summaries,
        extra_context: None,
        allowed_replies: vec![YesNo::Accept, YesNo::Reject],
        tool: announced(route),
        details: Some(details::of_request(request, fields, &templates)),
        facts: Box::new(QuestionFacts { request: Some(facts(route, request, fields)?), ..QuestionFacts::default() }),
    };
    Composition::of_request(&asked).fits().map_err(UnreadableRequest::TooMuch)?;
    Ok(asked)
}

/// The tool name announced before a call by this route runs.
pub(crate) fn announced(route: &Route) -> String {
    if is_tool(&route.action) { route.action.clone() } else { TOOL.into() }
}

struct RenderedTexts {
    action: String,
    consequence: String,
    summaries: Summaries,
}

fn in_the_owners_words(
    said: &RouteTexts,
    route: &Route,
    fields: &Fields,
) -> Result<(RenderedTexts, Vec<(Text, Template)>), UnreadableRequest> {
    let units = UnitNames::of(route);
    let action = Template::parse(&said.action)?;
    let consequence = said.consequence.as_deref().map(Template::parse).transpose()?;
    let own = |text: &Option<String>, else_by: &Template| {
        text.as_deref().map_or_else(|| Ok(else_by.clone()), Template::parse)
    };
    let both = action.followed_by(consequence.as_ref());
    let (terse, normal) = (own(&said.terse, &action)?, own(&said.normal, &both)?);
    let detailed = own(&said.detailed, &normal)?;
    let render = |template: &Template| template.render(fields, &units);
    let texts = RenderedTexts {
        action: render(&action)?,
        consequence: consequence.as_ref().map(render).transpose()?.unwrap_or_else(|| CONSEQUENCE.into()),
        summaries: Summaries {
            terse: Some(render(&terse)?),
            normal: Some(render(&normal)?),
            detailed: Some(render(&detailed)?),
        },
    };
    let templates = [
        (Text::Action, Some(action)),
        (Text::Consequence, consequence),
        (Text::Terse, Some(terse)),
        (Text::Normal, Some(normal)),
        (Text::Detailed, Some(detailed)),
    ];
    Ok((texts, templates.into_iter().filter_map(|(text, template)| Some((text, template?))).collect()))
}

/// Method and path; the details list everything in the path, the query and the rest.
fn in_plain_words(request: &HttpRequest) -> RenderedTexts {
    let path = request.path();
    let path = if path.bytes().all(|b| b.is_ascii_graphic()) { path.to_owned() } else { quoted(path) };
    RenderedTexts {
        action: format!("{} {path}", request.method),
        consequence: CONSEQUENCE.into(),
        summaries: Summaries::default(),
    }
}

fn facts(route: &Route, request: &HttpRequest, fields: &Fields) -> Result<RequestFacts, UnreadableRequest> {
    Ok(RequestFacts {
        method: request.method.clone(),
        target: shown(&request.target, FACT_TEXT),
        content_type: shown(&request.content_type, FACT_VALUE),
        body_bytes: request.body.len(),
        body_sha256: request.body_sha256(),
        values: amounts::read(route, fields)?,
    })
}
