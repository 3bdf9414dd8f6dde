//! Who made a release? A pair of keys (Ed25519): one signs, the other, which may be known to all, checks.
//!
//! The seal of a record is made with one key only, so whoever could check it could also forge it. A signature can be checked by
//! everybody who has the publisher's public key, from a source they trust: the record carries one, too, but a forger would put
//! their own there.
//!
//! Each key is a line of text that begins with what it is, so that the two are not taken for each other.

use std::path::{Path, PathBuf};

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use incog_core::{Error, ErrorKind, Result};

use crate::file;
use crate::publish::record::hex::{bytes, hex};
use crate::publish::sink::{Appeared, Unfinished};

/// How the line of a private key begins.
const PRIVATE: &str = "incog-private-key:";

/// How the line of a public key begins.
const PUBLIC: &str = "incog-public-key:";

/// What a signature is of, before the text: it is no signature of anything else.
const OF_A_RECORD: &[u8] = b"incog release record\n";

/// The ending of the public key's file, after the name of the private one's.
const PUBLIC_ENDING: &str = ".pub";

/// The key that signs records. It stays with the publisher.
///
/// ```
/// use incog::PrivateKey;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("sign.key");
/// let (public, _) = PrivateKey::make(&path)?;
/// assert_eq!(PrivateKey::read(&path)?.public(), public);
/// # Ok::<(), incog::Error>(())
/// ```
pub struct PrivateKey(SigningKey);

/// The key that checks who signed a record. Everybody may have it.
///
/// ```
/// use incog::{PrivateKey, PublicKey};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let (public, path) = PrivateKey::make(&folder.path().join("sign.key"))?;
/// assert_eq!(PublicKey::read(&path)?, public);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateKey")
    }
}

impl PrivateKey {
    /// Makes a pair of keys: the private one in this file, readable by its owner only, the public one beside it. Neither file
    /// may be there. Returns the public key and where it is.
    pub fn make(path: &Path) -> Result<(PublicKey, PathBuf)> {
        let mut name = path.as_os_str().to_owned();
        name.push(PUBLIC_ENDING);
        let public_path = PathBuf::from(name);
        let private = PrivateKey(SigningKey::from_bytes(&rand::random()));
        let public = private.public();
        let secret = format!("{PRIVATE}{}\n", hex(&private.0.to_bytes()));
        let mut files = [Unfinished::create_private(path)?, Unfinished::create(&public_path)?];
        for (file, text) in files.iter_mut().zip([secret, format!("{public}\n")]) {
            file.put(text.as_bytes())?;
        }
        let [private_file, public_file] = files;
        let (private_file, public_file) = (private_file.finish()?, public_file.finish()?);
        let taken = |path: &Path| {
            Error::new(ErrorKind::Io, format!("`{}` is there already", path.display()))
                .with_hint("keys are not replaced; name another file")
        };
        if public_file.appear_new()? == Appeared::NotNew {
            return Err(taken(&public_path));
        }
        match private_file.appear_new() {
            Ok(Appeared::New) => Ok((public, public_path)),
            failed => {
                // A public key without the other one is of no use.
                let _ = std::fs::remove_file(&public_path);
                Err(failed.err().unwrap_or_else(|| taken(path)))
            }
        }
    }

    /// Reads a private key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::read_text(path, "the private key")?;
        if let Some(bytes) = text.trim().strip_prefix(PRIVATE).and_then(bytes) {
            return Ok(PrivateKey(SigningKey::from_bytes(&bytes)));
        }
        let problem = format!("`{}` is not a private key of incog", path.display());
        Err(Error::input(problem).with_hint(if text.starts_with(PUBLIC) {
            "it is a public key; sign with the other one of the pair"
        } else {
            "`incog key new` makes a pair of keys"
        }))
    }

    /// The other one of the pair.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// A record's signature.
    pub(super) fn sign(&self, text: &str) -> String {
        hex(&self.0.sign(&[OF_A_RECORD, text.as_bytes()].concat()).to_bytes())
    }
}

impl PublicKey {
    /// Reads a public key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::read_text(path, "the public key")?;
        if let Some(key) = PublicKey::parse(text.trim()) {
            return Ok(key);
        }
        let problem = format!("`{}` is not a public key of incog", path.display());
        Err(Error::input(problem).with_hint(if text.starts_with(PRIVATE) {
            "it is a private key, which nobody but the publisher should have; give the one that ends in .pub"
        } else {
            "ask the publisher for the file that ends in .pub; `incog key new` makes it"
        }))
    }

    /// The key of a line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let key = VerifyingKey::from_bytes(&line.strip_prefix(PUBLIC).and_then(bytes)?).ok()?;
        // Of a weak key, anybody could make signatures.
        (!key.is_weak()).then_some(PublicKey(key))
    }

    /// Whether the other key of the pair signed this.
    pub(super) fn has_signed(&self, text: &str, signature: &str) -> bool {
        let Some(signature) = bytes(signature) else {
            return false;
        };
        let text = [OF_A_RECORD, text.as_bytes()].concat();
        self.0.verify_strict(&text, &ed25519_dalek::Signature::from_bytes(&signature)).is_ok()
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PUBLIC}{}", hex(self.0.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(byte: u8) -> PrivateKey {
        PrivateKey(SigningKey::from_bytes(&[byte; 32]))
    }

    #[test]
    fn only_the_other_key_of_the_pair_accepts_a_signature_and_only_of_that_text() {
        let (one, other) = (private(1), private(2));
        let signature = one.sign("text");
        assert!(one.public().has_signed("text", &signature));
        assert!(!one.public().has_signed("texT", &signature));
        assert!(!other.public().has_signed("text", &signature));
        for at in 0..signature.len() {
            let digit = if signature.as_bytes()[at] == b'0' { "1" } else { "0" };
            let forged = format!("{}{digit}{}", &signature[..at], &signature[at + 1..]);
            assert!(!one.public().has_signed("text", &forged), "digit {at}");
        }
        assert!(!one.public().has_signed("text", ""));
    }

    /// RFC 8032, section 7.1, test 1: the public key of this private one.
    #[test]
    fn the_pair_is_that_of_the_standard() {
        let secret = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        assert_eq!(
            PrivateKey(SigningKey::from_bytes(&secret)).public().to_string(),
            "incog-public-key:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
    }

    #[test]
    fn a_public_key_is_read_as_it_is_written_and_a_weak_one_is_none() {
        let key = private(3).public();
        assert_eq!(PublicKey::parse(&key.to_string()), Some(key));
        // The neutral element: every text has a signature by it.
        let weak = format!("{PUBLIC}01{}", "0".repeat(62));
        assert_eq!(PublicKey::parse(&weak), None);
        assert_eq!(PublicKey::parse(&format!("{PRIVATE}{}", "0".repeat(64))), None);
    }
}
