//! Arguments and output shared by `countersign delegation lift` and `countersign key lift`.

use crate::{context::Context, failure::Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Lifted {
    /// Its id, as the `list` beside this command names it.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<String>,

    /// All that are suspended in the project.
    #[arg(long)]
    all: bool,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

/// Prints a line for each lifted suspension, or `none`.
pub(crate) fn say<T>(context: &Context, lifted: &[T], line: impl Fn(&T) -> String, none: &str) -> Result<(), Failure> {
    if lifted.is_empty() {
        return context.say(none);
    }
    context.say(&lifted.iter().map(line).collect::<String>())
}
