//! Links that come from another machine: where they may lead.

use quantities::{is_hidden_character, shown};
use serde::{Deserialize, Serialize};

use super::names::{LONGEST, Name};

/// Where a link leads, as it is written in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target(String);

/// Why a link is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the link `{name}` to `{}` is refused: {why}", shown(.target))]
pub struct LinkError {
    name: Name,
    target: String,
    why: &'static str,
}

impl Target {
    /// What is written in a link. Only [`Target::check`] says whether that is safe.
    pub fn new(text: impl Into<String>) -> Target {
        Target(text.into())
    }

    /// What is written in the link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks that the link `name` leads to something in the outermost folder that contains it.
    ///
    /// ```text
    ///     tree/in/link -> ../side/file        up to three folders, of which it is in two, then down by names
    /// ```
    ///
    /// Each `..` comes before all names: after the name of another link it would lead up from wherever that one leads.
    /// So no chain of such links leaves the folder.
    ///
    /// # Errors
    /// [`LinkError`], with what is wrong with it.
    pub fn check(&self, name: &Name) -> Result<(), LinkError> {
        match self.wrong(name) {
            None => Ok(()),
            Some(why) => Err(LinkError { name: name.clone(), target: self.0.clone(), why }),
        }
    }

    fn wrong(&self, name: &Name) -> Option<&'static str> {
        let Target(target) = self;
        if target.is_empty() || target.len() > LONGEST {
            return Some("a target has 1 to 4096 bytes");
        }
        if target.starts_with('/') {
            return Some("it leads to a place of this computer; only links within the folder that is sent are");
        }
        if target.chars().any(is_hidden_character) {
            return Some("its target contains invisible characters");
        }
        let parts = || target.split('/').filter(|part| !part.is_empty() && *part != ".");
        let ups = parts().take_while(|part| *part == "..").count();
        if parts().skip(ups).any(|part| part == "..") {
            return Some("a `..` after a name may lead elsewhere");
        }
        let folders = name.folders().count();
        (folders <= ups).then_some("it leads out of the folder that is sent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, target: &str) -> Option<String> {
        Target::new(target).check(&Name::new(name).unwrap()).err().map(|error| error.to_string())
    }

    #[test]
    fn links_within_what_is_sent_are_accepted() {
        for (name, target) in [
            ("tree/link", "file"),
            ("tree/link", "in/side/file"),
            ("tree/link", "./in//side/"),
            ("tree/link", "."),
            ("tree/in/link", "../file"),
            ("tree/in/link", ".."),
            ("tree/in/side/link", "../../other"),
            ("tree/link", "no such file"),
            ("tree/link", "...x"),
        ] {
            assert_eq!(refused(name, target), None, "{name} -> {target}");
        }
    }

    #[test]
    fn links_that_lead_out_of_it_are_refused() {
        for (name, target) in [
            ("link", "file"),
            ("tree/link", ".."),
            ("tree/link", "../file"),
            ("tree/in/link", "../../file"),
            ("tree/in/link", "./.././../file"),
            ("tree/in/link", "side/../file"),
            ("tree/link", "/etc/passwd"),
            ("tree/link", "//etc"),
            ("tree/link", ""),
            ("tree/link", "a\0b"),
            ("tree/link", "a\nb"),
        ] {
            let complaint = refused(name, target).unwrap_or_else(|| panic!("{name} -> {target}"));
            assert!(complaint.starts_with("the link `") && !complaint.contains(is_hidden_character), "{complaint}");
        }
        assert!(refused("tree/link", &"x".repeat(5_000)).unwrap().len() < 300);
    }
}
