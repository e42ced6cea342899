//! `countersign project apply FILE…`: the one way in which a project comes to be or changes.

use crate::{context::Context, engine, failure::Failure};
use countersign_protocol::project::ProjectDocument;
use countersign_server::{
    admin::{ApplyRefusal, ApplyTrouble, Engine, Problem, check_project},
    config::project_file,
};
use std::path::{Path, PathBuf};

/// Who changed a project, in the evidence, when it was done here.
const BY: &str = "command line";

/// Put a project's document in force. A running node goes by it from the next request on
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The document, .toml or .json; several for several projects.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// All files are read and checked before the first is applied.
pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let documents = arguments.files.iter().map(|file| Ok((file.as_path(), read(file)?)));
    let documents = documents.collect::<Result<Vec<_>, Failure>>()?;
    engine::run(context, async |engine| {
        for (file, document) in documents {
            let said = apply(engine, file, document).await?;
            context.say(&said)?;
        }
        Ok(())
    })
}

fn read(file: &Path) -> Result<ProjectDocument, Failure> {
    let document = project_file::read(file)?;
    let problems = check_project(&document);
    if problems.is_empty() { Ok(document) } else { Err(refused(file, &document, &problems)) }
}

async fn apply(engine: &Engine, file: &Path, document: ProjectDocument) -> Result<String, Failure> {
    let applied = engine.apply_project(document.clone(), BY).await.map_err(|why| match why {
        ApplyTrouble::Refused(ApplyRefusal::Problems(problems)) => refused(file, &document, &problems),
        ApplyTrouble::Refused(why @ ApplyRefusal::SecondProject) => {
            Failure::new(why.to_string()).hint("give the document the id of that project, or set tenancy = \"multi\"")
        }
        ApplyTrouble::Store(why) => engine::store(why),
        why => Failure::new(why.to_string()),
    })?;
    let (id, version) = (&applied.project.id, applied.project.version);
    let what = if applied.changed { "is in force" } else { "stays in force: the document says the same" };
    Ok(format!("project {id}: version {version} {what}\n"))
}

fn refused(file: &Path, document: &ProjectDocument, problems: &[Problem]) -> Failure {
    Failure::all(problems.iter().map(|problem| format!("{}: {}", file.display(), explained(problem, document))))
        .hint("nothing was applied; `countersign project diff FILE` compares without applying")
}

/// Where and why, with the name of what is meant: nobody counts scopes.
pub(super) fn explained(problem: &Problem, document: &ProjectDocument) -> String {
    let Problem { at, why } = problem;
    let index = |list: &str| at.strip_prefix(list)?.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok();
    let scope = index("scopes").and_then(|n| document.scopes.get(n)).map(|scope| &scope.id);
    let route = index("routes").and_then(|n| document.routes.get(n)).map(|route| &route.id);
    match scope.or(route) {
        Some(id) => format!("{at} ({id:?}): {why}"),
        None => format!("{at}: {why}"),
    }
}
