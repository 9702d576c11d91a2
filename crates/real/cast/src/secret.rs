//! A secret shared by sender and receivers, and the keys derived from it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use messaging::Key;

use crate::lobby::Token;

/// The shortest and the longest key file. [B]
const LENGTHS: [u64; 2] = [32, 1 << 20];

/// The contents of a key file.
#[derive(Clone)]
pub struct Secret([u8; 32]);

/// Keeps the secret out of printed output.
impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Secret")
    }
}

/// A secret, and whether others on this machine can read it, too.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// Its contents.
    pub secret: Secret,
    /// Whether anyone other than its owner can read it.
    pub is_open: bool,
}

impl KeyFile {
    /// Reads a key file: any file that is long enough. One newline at its end does not count.
    ///
    /// # Errors
    /// When it cannot be read, or is too short to be a secret.
    pub fn read(path: &Path) -> io::Result<KeyFile> {
        let [least, most] = LENGTHS;
        let mut bytes = Vec::new();
        let file = File::open(path)?;
        let is_open = file.metadata()?.permissions().mode() & 0o077 != 0;
        file.take(most + 1).read_to_end(&mut bytes)?;
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if !(least..=most).contains(&(bytes.len() as u64)) {
            let what = format!("a key file has {least} to {most} bytes, and this one has {}", bytes.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(KeyFile { secret: Secret(blake3::derive_key("maquette cast 2: secret", bytes)), is_open })
    }

    /// Creates a key file with a random secret, readable only by its owner.
    ///
    /// # Errors
    /// When it exists already or cannot be written.
    pub fn make(path: &Path) -> io::Result<()> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let written = file.write_all(format!("{text}\n").as_bytes());
        written.inspect_err(|_| {
            // Half a key is no key.
            let _ = fs::remove_file(path);
        })
    }
}

impl Secret {
    /// The key of the lobby.
    pub fn of_lobby(&self) -> [u8; 32] {
        blake3::derive_key("maquette cast 2: lobby", &self.0)
    }

    /// The key of each of `ranks` ranks in a round: `salt` is drawn by each run of a sender, which counts its sessions.
    pub fn of_round(&self, salt: Token, session: u32, ranks: u16) -> Vec<Key> {
        let of_rank = |rank: u16| {
            let parts = [&self.0[..], &salt.0, &session.to_be_bytes(), &rank.to_be_bytes()];
            Key(blake3::derive_key("maquette cast 2: rank of a round", &parts.concat()))
        };
        (0..ranks).map(of_rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_and_read_and_its_keys_are_all_different() {
        let path = std::env::temp_dir().join(format!("maquette-key-{}", std::process::id()));
        KeyFile::make(&path).unwrap();
        assert!(KeyFile::make(&path).is_err(), "it would be written over");
        let KeyFile { secret, is_open } = KeyFile::read(&path).unwrap();
        assert!(!is_open);
        let [one, other] = [1, 2].map(|byte| Token([byte; 16]));
        let rounds = [(one, 1), (one, 2), (other, 1)].map(|(salt, session)| secret.of_round(salt, session, 5));
        let mut keys: Vec<[u8; 32]> = rounds.iter().flatten().map(|key| key.0).chain([secret.of_lobby()]).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 16);
        fs::write(&path, "too short").unwrap();
        assert!(KeyFile::read(&path).unwrap_err().to_string().ends_with("and this one has 9"));
        fs::remove_file(path).unwrap();
    }
}
