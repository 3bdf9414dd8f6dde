//! TLS for the connection, by rustls.
//!
//! | `sslmode` | encrypted | the server's certificate |
//! |---|---|---|
//! | `disable` | no | |
//! | `prefer`, the default | where the server can | is not looked at, as with libpq |
//! | `require` | yes | must be signed by `sslrootcert`, if that is given; is not looked at otherwise, as with libpq |
//! | `verify-ca`, `verify-full` | yes | must be signed by `sslrootcert`, or by an authority of the operating system, for this host |

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use incog_core::{Error, ErrorKind, Result};
use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Who must have signed the server's certificate?
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trusted {
    /// Nobody.
    Anybody,
    /// An authority of the operating system.
    System,
    /// One of this file.
    File(PathBuf),
}

/// Makes connections secure.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    pub(super) fn new(trusted: &Trusted) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let failed =
            |what: &str| Error::new(ErrorKind::Input, format!("cannot make the connection secure: {what}"));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder =
            builder.with_safe_default_protocol_versions().map_err(|error| failed(&error.to_string()))?;
        let mut roots = RootCertStore::empty();
        match trusted {
            Trusted::Anybody => {
                let verifier = Arc::new(Unverified(provider));
                let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
                return Ok(Tls(Arc::new(builder.with_no_client_auth())));
            }
            Trusted::System => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Trusted::File(path) => {
                let certificates = CertificateDer::pem_file_iter(path)
                    .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
                    .map_err(|error| failed(&format!("`sslrootcert` cannot be read: {error}")))?;
                roots.add_parsable_certificates(certificates);
            }
        }
        if roots.is_empty() {
            return Err(
                failed("there is no certificate of an authority").with_hint("name one with `sslrootcert`")
            );
        }
        Ok(Tls(Arc::new(builder.with_root_certificates(roots).with_no_client_auth())))
    }
}

/// Looks at no certificate; signatures of the handshake are right all the same.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Secured;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the host's name is none that a certificate has")
        })?;
        Ok(Handshake { config: Arc::clone(&self.0), name })
    }
}

pub(super) struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Secured;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secured>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let connector = tokio_rustls::TlsConnector::from(self.config);
            Ok(Secured(Box::new(connector.connect(self.name, socket).await?)))
        })
    }
}

pub(super) struct Secured(Box<tokio_rustls::client::TlsStream<Socket>>);

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, to)
    }
}

impl AsyncWrite for Secured {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}

impl TlsStream for Secured {
    // Not offered: it would take a parser of certificates. Passwords go as SCRAM without it.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
