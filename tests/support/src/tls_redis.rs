//! A Redis that speaks TLS.

use std::path::Path;

use tempfile::TempDir;

use super::certificates::Certificates;
use super::port::free_port;
use super::redis_server::RedisServer;
use super::test_redis::TestRedis;

/// A server with a port for TLS, and a plain one for the fixture.
pub struct TlsRedis {
    server: RedisServer,
    port: u16,
    certificates: Certificates,
    _folder: TempDir,
}

impl TlsRedis {
    /// None where the binary was built without TLS.
    pub async fn start() -> Option<Self> {
        let binary = RedisServer::needed();
        if !RedisServer::has_tls(&binary) {
            return None;
        }
        let folder = TempDir::with_prefix("grackle-tls-").expect("a temporary folder");
        let (certificates, port) = (Certificates::write(folder.path()), free_port());
        let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let options = [
            ["--tls-port", &port.to_string()],
            ["--tls-cert-file", &path(&certificates.certificate)],
            ["--tls-key-file", &path(&certificates.key)],
            ["--tls-ca-cert-file", &path(&certificates.authority)],
            ["--tls-auth-clients", "no"],
        ];
        let server = RedisServer::start(binary, options.as_flattened()).await;
        Some(Self { server, port, certificates, _folder: folder })
    }

    /// The address for TLS.
    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }

    /// Clients go by TLS.
    pub async fn redis(&self) -> TestRedis {
        let redis = TestRedis::laid_out(self.url(), vec![self.server.raw()]).await;
        redis.trusting(self.certificates.authority.clone())
    }
}
