use super::Arguments;
use clap::Parser;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: Arguments,
}

#[test]
fn seconds_are_turns_of_a_second() {
    let turns = |options: [&str; 2]| CommandLine::parse_from([&["gateway"], &options[..]].concat()).arguments.rounds;
    assert_eq!((turns(["--seconds", "2"]), turns(["--rounds", "3"])), (2, 3));
}
