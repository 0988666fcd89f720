//! TLS settings: certificates are always verified, against the authorities the platform trusts and
//! those of an extra file. There is no switch to turn that off, no key log, no client certificate.

use std::{path::Path, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
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
    let named = extra.clone();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failure("cannot set up TLS").with_source(error))?;
    let mut config = match Verifier::new_with_extra_roots(extra, provider) {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NamedVerifier { verifier, named }))
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

/// The server sent its certificate alone, and another one issued it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate of its issuer is missing")]
pub(super) struct NoIssuer;

/// Verifies as the platform does, but a certificate that the extra file has is trusted although it is that of an authority, as
/// `openssl req -x509` makes it.
#[derive(Debug)]
struct NamedVerifier {
    verifier: Verifier,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for NamedVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.verifier.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The time is verified before this (check_issuer_independent_properties of webpki), the name is not.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(error)))
                if error.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity)
                    && self.named.iter().any(|named| named == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
                if intermediates.is_empty() && !is_self_signed(end_entity) =>
            {
                let error = OtherError(Arc::new(NoIssuer));
                Err(CertificateError::Other(error).into())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    webpki::EndEntityCert::try_from(certificate)
        .is_ok_and(|certificate| certificate.issuer() == certificate.subject())
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
        // Its source has the same words.
        Err(error) => Err(failure(&format!("cannot read CA file {shown}: {error}"))),
    }
}

fn failure(message: &str) -> FetchError {
    FetchError::new(FetchErrorKind::Tls, message)
}
