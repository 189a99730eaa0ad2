//! An authority of the tests' own, and what it certifies.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The files that a TLS server on the loopback takes, and the one that its clients trust.
pub(crate) struct Certificates {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificates {
    /// Makes them, in that folder.
    pub(crate) fn write(folder: &Path) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"));
        let authority = authority.expect("an authority");
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (params, key) = (CertificateParams::new(names), KeyPair::generate().expect("a key"));
        let certificate =
            params.expect("names").signed_by(&key, &authority).expect("a certificate");
        let file = |name: &str, pem: String| {
            let path = folder.join(name);
            std::fs::write(&path, pem).expect("it can be written");
            path
        };
        Self {
            authority: file("ca.pem", authority.pem()),
            certificate: file("certificate.pem", certificate.pem()),
            key: file("key.pem", key.serialize_pem()),
        }
    }
}
