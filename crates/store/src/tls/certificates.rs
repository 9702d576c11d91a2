//! Certificates and keys in PEM files, and the TLS configuration of either side of a connection.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use quantities::shown_path;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, InconsistentKeys, RootCertStore, ServerConfig, ServerConnection};

/// Marks a key that needs a password.
const ENCRYPTED: &[u8] = b"ENCRYPTED";
/// The contents that are allowed in files.
const CERTIFICATES: &str = "certificates in PEM";
const KEY: &str = "an unencrypted private key in PEM";

/// Why a file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its contents are wrong.
    #[error("`{}`: found {found}; allowed is {allowed}", shown_path(path))]
    File {
        /// The file, as it was asked for.
        path: PathBuf,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A name that certificates can't have.
    #[error("found `{0}` as the name in certificates; allowed is a host name or an address")]
    Name(String),
    /// The required versions of TLS are not available.
    #[error("TLS is unavailable: {0}")]
    Unusable(#[from] rustls::Error),
}

/// The contents of a file that should be PEM.
#[derive(Clone, Debug)]
pub struct Pem {
    /// The file, as it was asked for.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

impl Pem {
    fn refused(&self, found: impl Into<String>, allowed: &'static str) -> Error {
        Error::File { path: self.path.clone(), found: found.into(), allowed }
    }

    /// What was found, if nothing useful was.
    fn instead(&self, of: &str) -> String {
        if self.bytes.iter().all(u8::is_ascii_whitespace) { "nothing".to_owned() } else { format!("no {of}") }
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.bytes).collect();
        let found = found.map_err(|_| self.refused("a truncated or damaged certificate", CERTIFICATES))?;
        if found.is_empty() { Err(self.refused(self.instead("certificate"), CERTIFICATES)) } else { Ok(found) }
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, Error> {
        PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|error| {
            let is_encrypted = self.bytes.windows(ENCRYPTED.len()).any(|word| word == ENCRYPTED);
            let found = match error {
                _ if is_encrypted => "an encrypted key".to_owned(),
                rustls::pki_types::pem::Error::NoItemsFound => self.instead("private key"),
                _ => "a truncated or damaged key".to_owned(),
            };
            self.refused(found, KEY)
        })
    }

    fn authorities(&self) -> Result<Arc<RootCertStore>, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in self.certificates()? {
            roots.add(certificate).map_err(|cause| self.refused(unusable(&cause), "the certificate of a CA in PEM"))?;
        }
        Ok(Arc::new(roots))
    }
}

/// A certificate, with the chain to its CA, and its key.
#[derive(Clone, Debug)]
pub struct CertifiedKey {
    /// The certificate.
    pub certificate: Pem,
    /// Its key.
    pub key: Pem,
}

impl CertifiedKey {
    /// The certificates and the key, if they are usable.
    fn read(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
        let (certificates, key) = (self.certificate.certificates()?, self.key.key()?);
        let usable = provider().key_provider.load_private_key(key.clone_key());
        usable.map_err(|cause| {
            self.key.refused(unusable(&cause), "an RSA key of at least 2048 bits, or an ECDSA or Ed25519 key")
        })?;
        Ok((certificates, key))
    }

    fn refused(&self, cause: &rustls::Error) -> Error {
        let path = shown_path(&self.certificate.path);
        match cause {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => self.key.refused(
                format!("a key that does not belong to the certificate in `{path}`"),
                "the key of that certificate",
            ),
            cause => self.certificate.refused(unusable(cause), "a certificate of version 3 and the chain to its CA"),
        }
    }
}

fn unusable(cause: &rustls::Error) -> String {
    format!("one that can't be used ({cause})")
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// What a server needs to speak TLS.
#[derive(Clone, Debug)]
pub struct Acceptor(Arc<ServerConfig>);

impl Acceptor {
    /// A server that shows this certificate. It lets in clients whose certificate one of these authorities has signed,
    /// or any client if there are none.
    ///
    /// # Errors
    /// [`Error`]
    pub fn new(own: &CertifiedKey, clients: Option<&Pem>) -> Result<Acceptor, Error> {
        let (certificates, key) = own.read()?;
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(pem.authorities()?, provider()).build();
                let verifier = verifier.map_err(|cause| rustls::Error::General(cause.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let config = builder.with_single_cert(certificates, key).map_err(|cause| own.refused(&cause))?;
        Ok(Acceptor(Arc::new(config)))
    }

    pub(super) fn connection(&self) -> Result<ServerConnection, rustls::Error> {
        ServerConnection::new(Arc::clone(&self.0))
    }
}

/// What a client needs to speak TLS.
#[derive(Clone, Debug)]
pub struct Connector {
    config: Arc<ClientConfig>,
    /// The name that certificates must have; if there is none, they must have the address that is called.
    name: Option<ServerName<'static>>,
}

impl Connector {
    /// A client that trusts servers whose certificate one of these authorities has signed and has the address that is
    /// called, or this name. It shows a certificate of its own, if it has one and is asked for it.
    ///
    /// # Errors
    /// [`Error`]
    pub fn new(authorities: &Pem, own: Option<&CertifiedKey>, name: Option<&str>) -> Result<Connector, Error> {
        let name = name.map(|name| ServerName::try_from(name.to_owned()).map_err(|_| Error::Name(name.to_owned())));
        let verifier = WebPkiServerVerifier::builder_with_provider(authorities.authorities()?, provider()).build();
        let verifier = verifier.map_err(|cause| rustls::Error::General(cause.to_string()))?;
        let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
        let builder = builder.with_webpki_verifier(verifier);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let (certificates, key) = own.read()?;
                builder.with_client_auth_cert(certificates, key).map_err(|cause| own.refused(&cause))?
            }
        };
        Ok(Connector { config: Arc::new(config), name: name.transpose()? })
    }

    pub(super) fn connection(&self, to: IpAddr) -> Result<ClientConnection, rustls::Error> {
        let name = self.name.clone().unwrap_or_else(|| ServerName::from(to));
        ClientConnection::new(Arc::clone(&self.config), name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tls::authority::{Authority, pem};

    proptest! {
        #[test]
        fn a_file_that_was_changed_is_accepted_or_refused(at in any::<prop::sample::Index>(), byte: u8, garbage: Vec<u8>) {
            let authority = Authority::new();
            let changed = |of: &Pem| {
                let mut bytes = of.bytes.clone();
                let at = at.index(bytes.len());
                bytes[at] = byte;
                Pem { bytes, ..of.clone() }
            };
            let own = authority.sign();
            let own = CertifiedKey { certificate: changed(&own.certificate), key: changed(&own.key) };
            // Either is fine; a panic is not.
            let _ = Acceptor::new(&own, Some(&changed(&authority.certificate)));
            prop_assert!(Connector::new(&pem("ca.pem", garbage), None, None).is_err());
        }
    }

    fn refusal(own: &CertifiedKey) -> String {
        Acceptor::new(own, None).unwrap_err().to_string()
    }

    #[test]
    fn a_certificate_and_its_key_are_accepted() {
        let authority = Authority::new();
        let own = authority.sign();
        assert!(Acceptor::new(&own, Some(&authority.certificate)).is_ok());
        assert!(Connector::new(&authority.certificate, Some(&own), Some("store.test")).is_ok());
        // A file may have other sections, too, as openssl writes them.
        let both = [&own.key.bytes[..], b"\nsome words\n", &own.certificate.bytes].concat();
        let both = CertifiedKey { certificate: pem("our.pem", both.clone()), key: pem("our.pem", both) };
        assert!(Acceptor::new(&both, None).is_ok());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let own = Authority::new().sign();
        let with = |certificate: &[u8], key: &[u8]| {
            refusal(&CertifiedKey { certificate: pem("our.pem", certificate), key: pem("our.key", key) })
        };
        let (certificate, key) = (&own.certificate.bytes[..], &own.key.bytes[..]);
        assert_eq!(with(b"\n", key), "`our.pem`: found nothing; allowed is certificates in PEM");
        assert_eq!(with(b"\x30\x82", key), "`our.pem`: found no certificate; allowed is certificates in PEM");
        let cut = &certificate[..certificate.len() / 2];
        assert_eq!(
            with(cut, key),
            "`our.pem`: found a truncated or damaged certificate; allowed is certificates in PEM"
        );
        let allowed = "allowed is an unencrypted private key in PEM";
        assert_eq!(with(certificate, b""), format!("`our.key`: found nothing; {allowed}"));
        assert_eq!(with(certificate, certificate), format!("`our.key`: found no private key; {allowed}"));
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----\n";
        assert_eq!(with(certificate, encrypted.as_bytes()), format!("`our.key`: found an encrypted key; {allowed}"));
        let strange = "-----BEGIN CERTIFICATE-----\nMIIF\n-----END CERTIFICATE-----\n";
        assert!(with(strange.as_bytes(), key).starts_with("`our.pem`: found one that can't be used ("));
        let strange = "-----BEGIN PRIVATE KEY-----\nMIIF\n-----END PRIVATE KEY-----\n";
        assert!(with(certificate, strange.as_bytes()).starts_with("`our.key`: found one that can't be used ("));
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let authority = Authority::new();
        let own = CertifiedKey { key: authority.sign().key, ..authority.sign() };
        let due = "`our.key`: found a key that does not belong to the certificate in `our.pem`; allowed is the key of that certificate";
        assert_eq!(refusal(&own), due);
    }

    #[test]
    fn a_name_that_no_host_can_have_is_refused() {
        let refusal = Connector::new(&Authority::new().certificate, None, Some("a b")).unwrap_err();
        assert!(refusal.to_string().starts_with("found `a b` as the name in certificates"));
    }
}
