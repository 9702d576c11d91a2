//! `maquette completions` and `maquette manual`: what shells and `man` know about the command.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use formats::output::{Unwritable, WholeFile};
use serde_json::{Value, json};

use super::failure::Failure;
use super::{CommandLine, CommandOutput, refuse_json};

/// Print a shell's completion script.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette completions bash > ~/.local/share/bash-completion/completions/maquette\n  \
                  maquette completions zsh > ~/.zfunc/_maquette"
)]
pub(super) struct Completions {
    /// For which shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        refuse_json(json, "a script for a shell")?;
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "maquette", &mut text);
        Ok(String::from_utf8_lossy(&text).into_owned().into())
    }
}

/// Write the manual pages, one for each command, into a folder.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette manual ~/.local/share/man/man1\n  maquette manual --json")]
pub(super) struct Manual {
    /// The folder; with --json none: then all commands are printed, each with its help and the commands below it.
    folder: Option<OsString>,
}

impl Manual {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        let mut command = CommandLine::command();
        command.build();
        let Some(folder) = self.folder.map(PathBuf::from) else {
            let missing = || Failure::argument("folder", "nothing", "a folder, or --json");
            return if json { Ok(super::json(&as_value(&command)).into()) } else { Err(missing()) };
        };
        refuse_json(json, "pages for `man`")?;
        let unwritable = |cause| Unwritable { path: folder.clone(), cause };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let mut pages = Vec::new();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        for command in std::iter::once(&command).chain(shown) {
            let name = if command.get_name() == "maquette" {
                "maquette".to_owned()
            } else {
                format!("maquette-{}", command.get_name())
            };
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone().name(name.clone())).render(&mut page).map_err(unwritable)?;
            let path = folder.join(format!("{name}.1"));
            let mut file = WholeFile::create(&path)?;
            match file.write_all(&page) {
                Ok(()) => file.finish()?,
                Err(cause) => return Err(file.unwritable(cause).into()),
            }
            pages.push(name);
        }
        Ok(format!("{} pages in {}: man {}\n", pages.len(), folder.display(), pages[0]).into())
    }
}

/// A command with its help, and the commands below it.
fn as_value(command: &Command) -> Value {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    // Only the parser knows which of its two helps it prints.
    let help = CommandLine::command().try_get_matches_from(name.split(' ').chain(["--help"])).err();
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    let commands: Vec<Value> = shown.map(as_value).collect();
    let below = command.get_subcommand_help_heading().unwrap_or("Commands");
    json!({"name": name, "help": help.map(|help| help.to_string()), "below": below, "commands": commands})
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::as_value;
    use crate::CommandLine;

    #[test]
    fn every_command_is_there_with_its_help_and_the_commands_below_it() {
        let mut command = CommandLine::command();
        command.build();
        let all = as_value(&command);
        let below = |of: &serde_json::Value, name: &str| {
            let commands = of["commands"].as_array().unwrap();
            commands.iter().find(|command| command["name"] == name).cloned().unwrap_or_else(|| panic!("{name}"))
        };
        let run = below(&all, "maquette run");
        let goal = below(&run, "maquette run goal");
        assert!(goal["help"].as_str().unwrap().contains("Usage: maquette run goal"), "{goal}");
        assert_eq!((&run["below"], &goal["commands"]), (&"Programs".into(), &serde_json::json!([])));
        assert!(all["commands"].as_array().unwrap().iter().all(|command| command["name"] != "maquette launch-rank"));
    }
}
