//! A certificate authority for the tests.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

/// An authority that only programs with its certificate trust.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, both in PEM format.
#[derive(Debug)]
pub struct Certificate {
    /// The certificate.
    pub certificate: String,
    /// Private key of the certificate.
    pub key: String,
}

/// The time at which a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Today.
    Current,
    /// Until the first day of 2020.
    Expired,
}

impl Authority {
    /// A new authority.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of the tests");
        let key = KeyPair::generate().expect("keys can be made");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("it may sign itself");
        Self { issuer }
    }

    /// The certificate of the authority, for programs that are to trust it.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for a server with these names.
    pub fn issue(&self, names: &[&str], validity: Validity) -> Certificate {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("they are host names");
        (params.not_before, params.not_after) = match validity {
            Validity::Current => (date_time_ymd(2020, 1, 1), date_time_ymd(2099, 1, 1)),
            Validity::Expired => (date_time_ymd(2019, 1, 1), date_time_ymd(2020, 1, 1)),
        };
        let key = KeyPair::generate().expect("keys can be made");
        let certificate = params
            .signed_by(&key, &self.issuer)
            .expect("the authority signs");
        Certificate {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}
