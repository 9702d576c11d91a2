//! `maquette completions` and `maquette manual`: what shells and `man` know about the command.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use formats::output::{Unwritable, WholeFile};

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
#[command(after_help = "Example:\n  maquette manual ~/.local/share/man/man1")]
pub(super) struct Manual {
    /// The folder.
    folder: OsString,
}

impl Manual {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        refuse_json(json, "pages for `man`")?;
        let folder = PathBuf::from(self.folder);
        let unwritable = |cause| Unwritable { path: folder.clone(), cause };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let mut command = CommandLine::command();
        command.build();
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
