//! The file of a record: its content, and what shows that nobody changed it.
//!
//! | key | what | who can make it | who can check it |
//! |---|---|---|---|
//! | `checksum` | SHA-256 of the content | anybody | anybody |
//! | `seal` | HMAC-SHA-256 of the content | who has the publisher's key | who has it |
//! | `signature` | Ed25519 of the content and the seal; the content has the public key in `publisher` | who has the private key | who has the public key |
//!
//! The content is the canonical text of all other keys. A file is refused unless its bytes are the canonical text of what
//! was read from it (see [`json`](super::json)): then nothing stands in it that is not in the content.

use std::collections::BTreeMap;
use std::path::Path;

use incog_core::{Error, Result};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

use crate::file;
use crate::publish::record::hex::{bytes, hex};
use crate::publish::record::json::{canonical, is_canonical, object, parse};
use crate::publish::record::{Key, PrivateKey, PublicKey, Record, VERSION};

/// By what the reader of a record knows who wrote it; both are optional.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::{Record, Trust};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let key = folder.path().join("incog.key");
/// # let path = anonymizer.key_file(&key).anonymize()?.write(folder.path().join("out.csv"))?.unwrap();
/// let key = incog::Key::read(&key)?;
/// let record = Record::read(&path, Trust { key: Some(&key), publisher: None })?;
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Trust<'a> {
    /// The publisher's key: the seal must be made with it.
    pub key: Option<&'a Key>,
    /// The publisher's public key: the signature must be of the other key of the pair.
    pub publisher: Option<&'a PublicKey>,
}

/// The file's text of a record, with its checksum and seal, and signed if there is a key to sign with. A record that is to be signed
/// has the public key in `publisher`.
pub(crate) fn sealed(record: Json, key: &Key, sign: Option<&PrivateKey>) -> String {
    let parts = match record {
        Json::Object(parts) => parts,
        _ => Map::new(),
    };
    // Each part is written once and given back at once: a record may be long.
    let mut members: BTreeMap<String, String> =
        parts.into_iter().map(|(key, part)| (key, canonical(&part))).collect();
    let put = |members: &mut BTreeMap<String, String>, key: &str, value: String| {
        members.insert(key.to_owned(), canonical(&Json::String(value)));
    };
    let content = object(&members);
    put(&mut members, "seal", hex(&key.seal(&content)));
    if let Some(private) = sign {
        let signature = private.sign(&object(&members));
        put(&mut members, "signature", signature);
    }
    put(&mut members, "checksum", hex(&Sha256::digest(&content)));
    object(&members) + "\n"
}

/// Reads a record, if nobody has changed it since it was written, as far as can be told.
pub(crate) fn unsealed(path: &Path, trust: Trust<'_>) -> Result<Record> {
    let text = file::read_text(path, "the record")?;
    let broken = |problem: &str| {
        Error::input(format!("record `{}` {problem}", path.display()))
            .with_hint("the publisher can make it anew with `incog anonymize`")
    };
    let Some(whole) = parse(&text) else {
        // Which of the two it is tells whether it was an accident.
        return Err(broken(match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Ok(_) => "was edited: a key stands in it twice",
            Err(_) => "is not a release record",
        }));
    };
    let mut content = whole.clone();
    let mut take = |key: &str| match content.as_object_mut().and_then(|content| content.remove(key)) {
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(broken(&format!("was edited: its `{key}` is no text"))),
        None => Ok(None),
    };
    let checksum = take("checksum")?.ok_or_else(|| broken("has no `checksum`"))?;
    let seal = take("seal")?.ok_or_else(|| broken("has no `seal`"))?;
    let signature = take("signature")?;
    let is_digits = is_written::<32>(&seal) && signature.as_deref().is_none_or(is_written::<64>);
    match content.get("record").and_then(Json::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(1) => {
            return Err(broken("is of version 1, which is not read any more: it could be forged")
                .with_hint("make the release and its record anew with this version of incog"));
        }
        _ => {
            return Err(broken("is of another version").with_hint("use the version of incog that wrote it"));
        }
    }
    let plain = canonical(&content);
    if checksum != hex(&Sha256::digest(&plain)) {
        return Err(broken("was edited: its checksum is not that of its content"));
    }
    if trust.key.is_some_and(|key| !key.has_sealed(&plain, &seal)) {
        return Err(broken("was not sealed with this key"));
    }
    if !is_canonical(&text, &whole) || !is_digits {
        return Err(broken("was edited: it is not written as incog writes records"));
    }
    let mut with_seal = content.clone();
    with_seal["seal"] = Json::String(seal);
    check_signature(&with_seal, signature.as_deref(), trust.publisher).map_err(|problem| {
        broken(problem).with_hint(
            "get the release again from the publisher, and the public key from where you trust it to be theirs",
        )
    })?;
    let record =
        Record::from_value(&content).ok_or_else(|| broken("lacks a part or has one that is unknown"))?;
    // Nothing else may stand in it; and what is left out where there is nothing must not be there as nothing.
    if record.to_value() != content {
        return Err(broken("was edited: it is not written as incog writes records"));
    }
    Ok(record)
}

/// Whether digits are as many as they should be, and in lower case.
fn is_written<const N: usize>(digits: &str) -> bool {
    bytes::<N>(digits).is_some_and(|bytes| hex(&bytes) == digits)
}

/// Whether a record is signed with the key it names, and that is the publisher's. `signed` is what a signature is of.
fn check_signature(
    signed: &Json,
    signature: Option<&str>,
    publisher: Option<&PublicKey>,
) -> std::result::Result<(), &'static str> {
    let named = signed.get("publisher");
    let (named, signature) = match (named, signature) {
        (None, None) if publisher.is_none() => return Ok(()),
        (None, None) => return Err("is not signed"),
        (Some(Json::String(named)), Some(signature)) => (named, signature),
        _ => return Err("was edited: it has a signature without a public key, or the other way round"),
    };
    let Some(named) = PublicKey::parse(named) else {
        return Err("was edited: its public key is none");
    };
    if !named.has_signed(&canonical(signed), signature) {
        return Err("was edited: its signature is not that of its content");
    }
    match publisher {
        Some(publisher) if *publisher != named => Err("is signed by somebody else"),
        _ => Ok(()),
    }
}
