//! The OpenAPI 3.1 description, made from the handlers and documents themselves.

pub(crate) mod descriptions;

use crate::{aaep, aap, clarification, evidence_log, mcp, mplp, people, project, scim, ssf, v1};
use serde_json::{Value, json};
use utoipa::{
    OpenApi,
    openapi::{
        path::{ParameterBuilder, ParameterIn},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

const BEARER: &str = "A token or key that is bound to a key of the caller comes under the scheme DPoP instead, with a \
    proof in the header DPoP (RFC 9449). A response may carry DPoP-Nonce: the next proof uses it.";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "The consent plane for AI agents: agents sign, humans countersign, anyone can verify it afterwards.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    paths(
        aap::manifest::get,
        aap::manifest::companion,
        aap::identity::manifest,
        aap::identity::keys,
        aap::register::post,
        aap::delegate::delegate,
        aap::delegate::connect,
        aap::delegate::exchange,
        aap::revoke::revoke,
        aap::revoke::cancel,
        aap::heartbeat::post,
        aap::lift::post,
        aap::revoke::task_complete,
        aap::undo::undo,
        aap::undo::undo_by_url,
        aap::scope_approval::get,
        aap::revoke::event,
        aap::audit::get,
        aap::access_summary::get,
        aaep::manifest::get,
        aaep::sessions::open,
        aaep::sessions::publish,
        aaep::subscriptions::subscribe,
        aaep::subscriptions::stream,
        aaep::replies::post,
        aaep::ws::get,
        aaep::questions::list,
        aaep::questions::more_time,
        aaep::questions::undo,
        aaep::subscriber_tokens::get,
        aaep::subscriber_tokens::post,
        aaep::subscriber_tokens::delete,
        people::session::get,
        people::session::post,
        people::session::fresh,
        people::session::delete,
        people::session::delete_everywhere,
        people::agents::get,
        scim::users::list,
        scim::users::search,
        scim::users::create,
        scim::users::read,
        scim::users::replace,
        scim::users::patch,
        scim::users::delete,
        scim::discovery::service_provider_config,
        scim::discovery::resource_types,
        scim::discovery::resource_type,
        scim::discovery::schemas,
        scim::discovery::schema,
        ssf::receive,
        evidence_log::checkpoint,
        evidence_log::tile,
        evidence_log::keys,
        project::show,
        project::apply,
        mcp::post_message,
        v1::audit::get,
        v1::decisions::actions,
        v1::decisions::raise_confirmation,
        v1::decisions::raise_clarification,
        v1::decisions::get,
        v1::decisions::claim,
        v1::decisions::report_outcome,
        v1::decisions::withdraw,
        mplp::plans::list,
        mplp::plans::post,
        mplp::plans::get,
        mplp::plans::put,
        mplp::plans::propose,
        mplp::progress::actions,
        mplp::progress::trace,
        mplp::plans::diff,
        mplp::plans::diff_draft,
        mplp::progress::report_step,
        mplp::plans::cancel,
        mplp::confirms::list,
        mplp::confirms::post,
        mplp::confirms::get,
        mplp::confirms::import,
        mplp::confirms::decide,
        mplp::confirms::govern,
        mplp::confirms::roles,
        mplp::events::get,
        mplp::events::learning_samples,
        mplp::allowances::list,
        mplp::allowances::revoke,
        clarification::sessions::submit,
        clarification::sessions::resolve,
        clarification::sessions::list_gaps,
        clarification::sessions::status,
        clarification::sessions::confirm,
        clarification::sessions::abandon,
        clarification::proofs::audit,
        clarification::proofs::scaffold_plan,
        clarification::proofs::attest,
        clarification::proofs::handoff,
        clarification::keys::published,
        clarification::keys::rotate,
        clarification::schema,
    ),
    // The gateway's answers have no path here: the routes are the project's own.
    components(schemas(countersign_protocol::aap::dry_run::DryRunPreview)),
    tags(
        (name = "discovery", description = "Discovery documents for agents"),
        (name = "operators", description = "Connecting an agent to a person"),
        (name = "audit", description = "The audit of a project, for its auditors"),
        (name = "agents", description = "Registering, audit, revoking"),
        (name = "decisions", description = "Requesting approvals, claiming them and reporting outcomes"),
        (name = "plans", description = "Approving whole plans, and their events (MPLP)"),
        (name = "clarifications", description = "Finding gaps in plans, and the signed chain of questions and answers"),
        (name = "mcp", description = "The same for agents with the Model Context Protocol"),
        (name = "subscribers", description = "Receiving events and questions of agents, and answering"),
        (name = "people", description = "Signing in, and managing connected agents"),
        (name = "provisioning", description = "Users and security events from an identity provider"),
        (name = "evidence", description = "The transparency log: checkpoints, tiles and entries that anyone can verify"),
        (name = "admins", description = "The project document"),
    )
)]
struct OpenApiPatch;

/// The whole description, including the scoped paths.
pub fn description() -> Value {
    let mut described = OpenApiPatch::openapi();
    let components = described.components.get_or_insert_default();
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(crate::http::cookie::NAME)));
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(BEARER));
    let bearer = SecurityScheme::Http(bearer.build());
    components.add_security_scheme("session", cookie);
    components.add_security_scheme("bearer", bearer);
    add_scoped_paths(&mut described);
    name_operations(&mut described);
    let mut document = json!(described);
    descriptions::tidy(&mut document);
    document
}

/// Names each operation by method and path, so that its id is unique: `post_v1_decisions_decision_claim`.
fn name_operations(described: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut described.paths.paths {
        let words: Vec<&str> =
            path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let words = words.join("_");
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{method}_{words}"));
            }
        }
    }
}

/// The beginnings of paths that belong to a project.
const SCOPED: &[&str] = &["/agent/", "/v1/", "/aaep/", "/mplp/", "/mcp", "/scim/", "/ssf/"];

/// Every endpoint of a project also answers under `/projects/{projectId}`.
fn add_scoped_paths(described: &mut utoipa::openapi::OpenApi) {
    let project = ParameterBuilder::new()
        .name("projectId")
        .parameter_in(ParameterIn::Path)
        .required(utoipa::openapi::Required::True);
    let project = project.schema(Some(utoipa::schema!(String).build())).build();
    let scoped = |path: &&String| SCOPED.iter().any(|start| path.starts_with(start));
    let paths: Vec<String> = described.paths.paths.keys().filter(scoped).cloned().collect();
    for path in paths {
        let Some(mut item) = described.paths.paths.get(&path).cloned() else { continue };
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            operation.parameters.get_or_insert_default().push(project.clone().into());
        }
        described.paths.paths.insert(format!("/projects/{{projectId}}{path}"), item);
    }
}

#[cfg(test)]
mod tests;
