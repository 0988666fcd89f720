//! TLS to the database: certificates are always verified, against the authorities that the platform trusts and those of a file.

use std::{error::Error, io, iter, path::Path, sync::Arc};

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::Verifier;

use super::CatalogueError;

/// The settings for every connection, with the authorities in `file` besides those of the platform.
pub(super) fn client_config(file: Option<&Path>) -> Result<ClientConfig, CatalogueError> {
    let wrong = |source| CatalogueError::Authorities {
        path: file.unwrap_or(Path::new("this platform")).to_owned(),
        source,
    };
    let extra = file.map_or_else(|| Ok(Vec::new()), read).map_err(wrong)?;
    config(extra).map_err(|source| wrong(source.into()))
}

/// Returns whether the certificate of the server is what a connection failed by.
pub(super) fn is_about_certificate(error: &(dyn Error + 'static)) -> bool {
    let mut causes = iter::successors(Some(error), |&cause| cause.source());
    causes.any(|cause| {
        let inner = cause.downcast_ref().and_then(io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref());
        matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
    })
}

fn read(file: &Path) -> Result<Vec<CertificateDer<'static>>, Box<dyn Error + Send + Sync>> {
    let certificates = CertificateDer::pem_file_iter(file)?;
    let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
    if certificates.is_empty() {
        return Err("the file has no certificate".into());
    }
    Ok(certificates)
}

fn config(extra: Vec<CertificateDer<'static>>) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider))?;
    let builder = ClientConfig::builder_with_provider(provider);
    Ok(builder
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}
