//! The command `maquette`, for those who build it with cargo. It is the same as the one that the wheel installs.

use formats::interrupt;

fn main() {
    if let Err(cause) = interrupt::listen() {
        eprintln!("warning: Ctrl-C will end this at once and keep nothing: {cause}");
    }
    std::process::exit(maquette_command_line::run(std::env::args_os()));
}
