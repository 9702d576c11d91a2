//! The files with passwords, certificates and keys of `maquette store`: of a server, and of clients.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::store::client::Options;
use ::store::serve::Tls;
use ::store::tls::{Acceptor, CertifiedKey, Connector, Pem};
use clap::Args;
use formats::input;
use quantities::Bytes;

use super::first_line;
use crate::failure::Failure;

/// The longest file with certificates or a key that is read: all CAs that browsers trust take a quarter of a mebibyte.
const LONGEST: Bytes = Bytes(4 << 20);

/// Options of a server about TLS.
#[derive(Args, Debug)]
pub(super) struct ServerTls {
    /// Speak TLS with clients, on all ports except that for members: a PEM file with the certificate to show and the
    /// chain to its CA.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// A PEM file with the private key of that certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Accept only clients that show a certificate signed by one of the CAs in this PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_clients_ca: Option<PathBuf>,
    /// Speak TLS with other members, too: each shows a certificate that is signed by one of the CAs in this PEM file
    /// and contains its address. All members need this option.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_members_ca: Option<PathBuf>,
}

/// TLS of a server: with clients, and with other members.
pub(super) type Secured = (Option<Acceptor>, Option<Tls>);

impl ServerTls {
    /// TLS of the server, as far as the options ask for it.
    pub(super) fn secured(&self) -> Result<Secured, Failure> {
        let Some(own) = certified_key(self.tls_certificate.as_deref(), self.tls_key.as_deref())? else {
            return Ok((None, None));
        };
        let clients = self.tls_clients_ca.as_deref().map(read).transpose()?;
        let members = self.tls_members_ca.as_deref().map(read).transpose()?;
        let members = members.map(|members| {
            let acceptor = Acceptor::new(&own, Some(&members))?;
            Ok::<_, Failure>(Tls { acceptor, connector: Connector::new(&members, Some(&own), None)? })
        });
        Ok((Some(Acceptor::new(&own, clients.as_ref())?), members.transpose()?))
    }
}

/// Options of a client about who may ask.
#[derive(Args, Debug)]
pub(super) struct Access {
    /// A file whose first line is the password that clients must give.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Speak TLS, and trust certificates that are signed by one of the CAs in this PEM file and contain the address
    /// called.
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The name that certificates contain, instead of the address called.
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    tls_name: Option<String>,
    /// A PEM file with the certificate to show to members that ask for one.
    #[arg(long, value_name = "FILE", requires_all = ["tls_ca", "tls_key"])]
    tls_certificate: Option<PathBuf>,
    /// A PEM file with the private key of that certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

impl Access {
    /// The options of a client that waits at most for `patience`.
    pub(super) fn options(&self, patience: Duration) -> Result<Options, Failure> {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        Ok(Options { password, patience, tls: self.connector()? })
    }

    fn connector(&self) -> Result<Option<Connector>, Failure> {
        let Some(authorities) = self.tls_ca.as_deref().map(read).transpose()? else { return Ok(None) };
        let own = certified_key(self.tls_certificate.as_deref(), self.tls_key.as_deref())?;
        Ok(Some(Connector::new(&authorities, own.as_ref(), self.tls_name.as_deref())?))
    }
}

fn certified_key(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<CertifiedKey>, Failure> {
    let (Some(certificate), Some(key)) = (certificate, key) else { return Ok(None) };
    Ok(Some(CertifiedKey { certificate: read(certificate)?, key: read(key)? }))
}

fn read(path: &Path) -> Result<Pem, Failure> {
    let path = path.to_owned();
    match input::read(&path, LONGEST) {
        Ok(bytes) => Ok(Pem { path, bytes }),
        Err(cause) => Err(Failure::Unreadable { path, cause }),
    }
}
