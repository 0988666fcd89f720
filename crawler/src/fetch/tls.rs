//! TLS settings: certificates are always verified, against the authorities the platform trusts and
//! those of an extra file. There is no switch to turn that off, no key log, no client certificate.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::Verifier;

use super::{FetchError, FetchErrorKind};

/// The settings for every connection; offers HTTP/2 and HTTP/1.1.
///
/// # Errors
/// `ca_file` cannot be read, or holds no certificate, or one that is broken.
pub(super) fn client_config(ca_file: Option<&Path>) -> Result<ClientConfig, FetchError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let extra = ca_file
        .map(read_certificates)
        .transpose()?
        .unwrap_or_default();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failure("cannot set up TLS").with_source(error))?;
    let mut config = match Verifier::new_with_extra_roots(extra, provider) {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        // Only when there is not one authority: then plain HTTP still works, and https fails by its certificate.
        Err(error) if ca_file.is_none() => {
            tracing::warn!(target: "fetch", %error, "no trusted certificate authorities: https will fail");
            builder
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth()
        }
        Err(error) => return Err(failure("cannot use the CA file").with_source(error)),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FetchError> {
    let shown = path.display();
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(failure(&format!(
            "CA file {shown} holds no certificate in PEM format"
        ))),
        Ok(certificates) => Ok(certificates),
        Err(error) => {
            Err(failure(&format!("cannot read CA file {shown}: {error}")).with_source(error))
        }
    }
}

fn failure(message: &str) -> FetchError {
    FetchError::new(FetchErrorKind::Tls, message)
}
