//! What only the ranks of a launch know: a secret on their standard input, which no command line shows and no network
//! carries.
//!
//! ```text
//!     secret --- token of each rank    by which the launcher recognizes it; it crosses the network, so it is valid for that rank alone
//!           \--- key of each rank      with which it seals what it sends to other ranks [messaging::Sealed]
//! ```

use std::io;

use messaging::Key;

use super::wire::Hello;

/// The secret of a launch.
#[derive(Clone)]
pub struct Secret(String);

/// Keeps the secret out of printed output.
impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Secret")
    }
}

impl Secret {
    /// A random secret that nobody can guess.
    ///
    /// # Errors
    /// Errors of the system when it returns no random numbers.
    pub fn random() -> io::Result<Secret> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Secret(blake3::Hash::from_bytes(bytes).to_string()))
    }

    /// The secret that was written as `line`.
    pub fn of_line(line: &str) -> Secret {
        Secret(line.trim_end().to_owned())
    }

    /// The line as which it is written, without its newline.
    pub fn line(&self) -> &str {
        &self.0
    }

    /// The token by which the launcher recognizes this rank.
    pub fn token_of(&self, rank: u32) -> String {
        blake3::Hash::from_bytes(self.derive("maquette launch 1: token of a rank", rank)).to_string()
    }

    /// Whether the sender is a rank of this launch. The time that this takes reveals nothing about the token.
    pub fn admits(&self, hello: &Hello) -> bool {
        // Hashes are compared in constant time.
        blake3::hash(hello.token.as_bytes()) == blake3::hash(self.token_of(hello.rank).as_bytes())
    }

    /// The key of each of `ranks` ranks.
    pub fn keys(&self, ranks: u32) -> Vec<Key> {
        (0..ranks).map(|rank| Key(self.derive("maquette launch 1: key of a rank", rank))).collect()
    }

    fn derive(&self, purpose: &str, rank: u32) -> [u8; 32] {
        blake3::derive_key(purpose, &[self.0.as_bytes(), &rank.to_be_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(token: String, rank: u32) -> Hello {
        Hello { token, rank, address: "127.0.0.1:7".parse().unwrap(), machine: "local".to_owned() }
    }

    #[test]
    fn a_token_admits_its_own_rank_alone() {
        let [secret, other] = [Secret::random().unwrap(), Secret::random().unwrap()];
        let read = Secret::of_line(&format!("{}\n", secret.line()));
        assert!(secret.admits(&hello(read.token_of(3), 3)));
        assert!(!secret.admits(&hello(secret.token_of(3), 4)));
        assert!(!secret.admits(&hello(other.token_of(3), 3)));
        assert!(!secret.admits(&hello(String::new(), 3)));
    }

    #[test]
    fn all_keys_are_different_and_none_is_shown() {
        let secret = Secret::random().unwrap();
        let other = Secret::random().unwrap();
        let mut keys: Vec<[u8; 32]> = [secret.keys(5), other.keys(5)].concat().iter().map(|key| key.0).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), format!("{secret:?}")), (10, "Secret".to_owned()));
    }
}
