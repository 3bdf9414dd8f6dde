//! How does a cube outlive a run?
//!
//! With `cube_file` in `[search]` (`--cube FILE`) the frequency sets of the judge `cube` are read from a file, or computed and written there
//! if there is none. The same table can then be searched for another k, or by another metric, without computing them again.
//!
//! **Promise.** A cube is used only for the records and hierarchies that it was made of. The file begins with a digest of both, of
//! the settings that decide which sets there are, and of the version of incog, whose keys they have; a file with another digest is
//! refused, and so is one that was damaged. What is released is verified without it, as ever.
//!
//! The file has how many rows have which combination of codes: it is as confidential as the data, and only its owner may read it.
//! It appears whole or not at all.
//!
//! Cost: a pass over the packed keys for the digest, and the groups of all sets on the disk.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use incog_core::frequency::{FrequencySet, FrequencySource, PackedKeys, WithSets};
use incog_core::hierarchy::Attributes;
use incog_core::judge::{CubeOptions, JudgeKind, Materialize, Problem, cube_sets};
use incog_core::privacy::Policy;
use incog_core::{Error, ErrorKind, Progress, Result};
use sha2::{Digest, Sha256};

use crate::job::Job;
use crate::plan::judges::JudgeChoice;

/// What a file begins with.
const MAGIC: &[u8] = b"incog cube 1\n";
/// The bytes of a digest.
const DIGEST: usize = 32;

/// The rows of a job with the cube of its file, if it names one.
pub(super) fn with_cube(
    job: &Job,
    judge: JudgeChoice,
    rows: Box<dyn FrequencySource>,
    attributes: &Attributes,
    policy: &Policy,
    progress: &Progress,
) -> Result<Box<dyn FrequencySource>> {
    let (Some(path), JudgeChoice::Named(_, JudgeKind::Cube(options))) = (&job.search.cube_file, judge) else {
        return Ok(rows);
    };
    let wrong = |error: Error| job.at(&["search", "cube_file"], &error);
    let path = job.resolve(path);
    if !policy.demand().counts_rows_only() {
        let mistake = "a cube that is kept between runs has numbers of rows, and the policy asks for more";
        return Err(wrong(
            Error::new(ErrorKind::Policy, mistake).with_hint("leave out --cube and `cube_file`"),
        ));
    }
    let digest = digest(&*rows, attributes, options).map_err(wrong)?;
    let sets = if path.exists() {
        read(&path, &*rows, digest).map_err(wrong)?
    } else {
        let sets = cube_sets(Problem { source: &*rows, policy }, options, progress)?;
        write(&path, &sets, digest).map_err(wrong)?;
        sets
    };
    Ok(Box::new(WithSets::new(rows, sets)?))
}

/// A digest of everything that a cube depends on.
fn digest(rows: &dyn FrequencySource, attributes: &Attributes, options: CubeOptions) -> Result<[u8; DIGEST]> {
    let keys = rows.keys().ok_or_else(|| {
        Error::new(
            ErrorKind::Limit,
            "a cube is kept for tables whose quasi-identifiers take at most 128 bits a row",
        )
        .with_hint("use fewer quasi-identifiers, or leave out --cube and `cube_file`")
    })?;
    let mut sha = Sha256::new();
    let text = |text: &str, sha: &mut Sha256| {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text);
    };
    text(env!("CARGO_PKG_VERSION"), &mut sha);
    let levels = match options.materialize {
        Materialize::ZeroLevel => "zero-level",
        Materialize::EveryLevel => "every-level",
        Materialize::ByBenefit => "by-benefit",
    };
    text(levels, &mut sha);
    text(&format!("{:?} {:?}", options.memory, rows.room()), &mut sha);
    for attribute in attributes.iter() {
        text(attribute.name(), &mut sha);
        for level in 0..=attribute.height() {
            let hierarchy = attribute.hierarchy();
            sha.update((attribute.labels_at(level).len() as u64).to_le_bytes());
            for &label in attribute.labels_at(level) {
                text(hierarchy.labels(level).value(label), &mut sha);
            }
        }
    }
    sha.update(rows.n_rows().to_le_bytes());
    let mut bytes = Vec::new();
    keys.visit(&mut |keys| {
        bytes.clear();
        match keys {
            PackedKeys::U64(keys) => bytes.extend(keys.iter().flat_map(|key| key.to_le_bytes())),
            PackedKeys::U128(keys) => bytes.extend(keys.iter().flat_map(|key| key.to_le_bytes())),
        }
        sha.update(&bytes);
        Ok(())
    })?;
    Ok(sha.finalize().into())
}

fn read(path: &Path, rows: &dyn FrequencySource, digest: [u8; DIGEST]) -> Result<Vec<Arc<FrequencySet>>> {
    let shown = path.display();
    let damaged = || {
        Error::input(format!("`{shown}` is not a cube of incog, or it is damaged"))
            .with_hint("name another file, or remove this one, and it is computed again")
    };
    let bytes = fs::read(path)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot read the cube `{shown}`: {error}")))?;
    let (content, seal) = bytes.split_last_chunk::<DIGEST>().ok_or_else(damaged)?;
    let seals: [u8; DIGEST] = Sha256::digest(content).into();
    let content = content.strip_prefix(MAGIC).filter(|_| seals == *seal).ok_or_else(damaged)?;
    let (made_of, mut content) = content.split_first_chunk::<DIGEST>().ok_or_else(damaged)?;
    if *made_of != digest {
        return Err(Error::input(format!(
            "the cube in `{shown}` is stale: it was made of other data, hierarchies or settings, or by another version of incog"
        ))
        .with_hint("name another file, or remove this one, and it is computed again"));
    }
    let mut sets = Vec::new();
    while !content.is_empty() {
        let set = FrequencySet::read(rows.layout(), &mut content).ok_or_else(damaged)?;
        sets.push(Arc::new(set));
    }
    if sets.is_empty() { Err(damaged()) } else { Ok(sets) }
}

/// Writes a cube that nobody but its owner may read; a file is there afterwards as a whole, or not at all.
fn write(path: &Path, sets: &[Arc<FrequencySet>], digest: [u8; DIGEST]) -> Result<()> {
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot write the cube `{}`: {error}", path.display()))
    };
    let mut bytes = [MAGIC, &digest].concat();
    sets.iter().try_for_each(|set| set.write(&mut bytes))?;
    let seal: [u8; DIGEST] = Sha256::digest(&bytes).into();
    bytes.extend(seal);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Made so that only its owner can read it.
    let mut file = tempfile::Builder::new().prefix(".incog-cube-").tempfile_in(folder).map_err(failed)?;
    file.write_all(&bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
