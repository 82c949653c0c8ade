//! Certificates for servers that speak TLS.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// An authority of a test's own, and the certificate that it gave to `localhost`: files made by `openssl`.
#[derive(Debug)]
pub struct Certificates {
    directory: PathBuf,
}

/// The kind of key.
const KEY: [&str; 5] = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
];

impl Certificates {
    /// Makes them in a directory that there is.
    ///
    /// # Panics
    ///
    /// If `openssl` is not installed, or refuses.
    #[must_use]
    pub fn make_in(directory: &Path) -> Self {
        let certificates = Self {
            directory: directory.to_owned(),
        };
        certificates.openssl(
            &["req", "-x509", "-subj", "/CN=authority", "-days", "2"],
            &KEY,
            "-keyout ca.key -out ca.crt",
        );
        certificates.openssl(
            &["req", "-subj", "/CN=localhost"],
            &KEY,
            "-keyout server.key -out server.csr",
        );
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
        if let Err(error) = fs::write(certificates.path("names"), names) {
            panic!("cannot write the names of a server: {error}");
        }
        certificates.openssl(&["x509", "-req", "-days", "2"], &[], "-CA ca.crt -CAkey ca.key -CAcreateserial -in server.csr -extfile names -out server.crt");
        certificates
    }

    fn openssl(&self, command: &[&str], key: &[&str], files: &str) {
        let made = Command::new("openssl")
            .current_dir(&self.directory)
            .args(command)
            .args(key)
            .args(files.split(' '))
            .output();
        match made {
            Ok(output) if output.status.success() => {}
            Ok(output) => panic!(
                "openssl refuses: {}",
                String::from_utf8_lossy(&output.stderr)
            ),
            Err(error) => panic!("cannot run `openssl`, which the tests of TLS need: {error}"),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// The authority, for those who are to trust it.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.path("ca.crt")
    }

    /// Settings of a server that speaks TLS on this port and asks nobody for a certificate.
    #[must_use]
    pub fn settings(&self, port: u16) -> Vec<String> {
        let file = |name| self.path(name).display().to_string();
        let settings = [
            ("--tls-port", port.to_string()),
            ("--tls-cert-file", file("server.crt")),
            ("--tls-key-file", file("server.key")),
            ("--tls-ca-cert-file", file("ca.crt")),
            ("--tls-auth-clients", "no".to_owned()),
        ];
        settings
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }
}
