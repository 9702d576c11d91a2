//! A CA for tests, and the certificates that it signs.

use std::net::IpAddr;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::{Acceptor, CertifiedKey, Connector, Pem};

/// The address in servers' certificates.
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
/// The name in servers' certificates.
pub(crate) const NAME: &str = "store.test";

/// A CA.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) certificate: Pem,
}

pub(crate) fn pem(path: &str, text: impl Into<Vec<u8>>) -> Pem {
    Pem { path: path.into(), bytes: text.into() }
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        Authority { certificate: pem("ca.pem", certificate.pem()), issuer: Issuer::new(parameters, key) }
    }

    /// A certificate for servers and clients.
    pub(crate) fn sign(&self) -> CertifiedKey {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![NAME.to_owned(), ADDRESS.to_string()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        CertifiedKey { certificate: pem("our.pem", certificate.pem()), key: pem("our.key", key.serialize_pem()) }
    }

    /// A server that requires no certificate.
    pub(crate) fn acceptor(&self) -> Acceptor {
        Acceptor::new(&self.sign(), None).unwrap()
    }

    /// A client without a certificate.
    pub(crate) fn connector(&self) -> Connector {
        Connector::new(&self.certificate, None, None).unwrap()
    }
}
