//! The command `maquette`, for those who build it with cargo. It is the same as the one that the wheel installs.

use maquette_workbench::{command_line, interrupt};

fn main() {
    if let Err(cause) = interrupt::listen() {
        eprintln!("warning: Ctrl-C will end this at once and keep nothing: {cause}");
    }
    std::process::exit(command_line::run(std::env::args_os()));
}
