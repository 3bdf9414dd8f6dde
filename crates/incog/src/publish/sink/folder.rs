//! A folder of files that appears whole or not at all.
//!
//! The files are written into a hidden folder beside the target, open to its owner only, which is renamed when all are there. With
//! an earlier release it changes places, at one stroke where the system can do that (Linux); the earlier one is then removed.
//! Anything else that stands at the target stays: only what a release's own record lists is taken for an earlier release, and
//! what somebody has put there in the meantime brings it back. Runs that write to the same folder do so one after the other.

use std::path::{Path, PathBuf};

use incog_core::Result;

use crate::publish::sink::hidden::{self, HiddenFolder};
use crate::publish::sink::{Unfinished, cannot_write, write_failed};
use crate::system::{self, usual_folder};

/// Which files of a folder are those of a release.
type Released = dyn Fn(&Path) -> Vec<String>;

/// Where a folder is to appear.
pub(crate) struct TargetFolder {
    target: PathBuf,
    parent: PathBuf,
    released: Box<Released>,
}

impl TargetFolder {
    /// Looks at a target: its parent must be there, and if it is itself there, it must be empty or hold an earlier release,
    /// of which `released` lists the files.
    pub(crate) fn look(target: &Path, released: impl Fn(&Path) -> Vec<String> + 'static) -> Result<Self> {
        let failed = |problem: &str| cannot_write(target, problem);
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        // A path such as `..` or `/` has no name that a folder could be renamed to.
        let Some(name) = target.file_name() else {
            return Err(failed("it has no name").with_hint("name a folder, such as release/"));
        };
        if !parent.is_dir() {
            return Err(failed("its parent folder does not exist").with_hint("create that folder first"));
        }
        let target = parent.join(name);
        let place = TargetFolder { parent, target, released: Box::new(released) };
        let Ok(metadata) = std::fs::symlink_metadata(&place.target) else {
            return Ok(place);
        };
        if metadata.is_symlink() {
            return Err(failed("it is a link").with_hint("name the folder itself, or another one"));
        }
        if !metadata.is_dir() {
            return Err(failed("it is a file, and should be a folder").with_hint("choose another folder"));
        }
        place.check(&place.target)?;
        Ok(place)
    }

    /// Is nothing in a folder but an earlier release?
    fn check(&self, folder: &Path) -> Result<()> {
        let names = names_in(folder).map_err(|error| write_failed(&self.target, &error))?;
        if names.is_empty() {
            return Ok(());
        }
        let released = (self.released)(folder);
        let n_others = names.iter().filter(|name| !released.contains(name)).count();
        if n_others == 0 {
            return Ok(());
        }
        let problem = format!("the folder holds {n_others} files that no earlier release lists");
        Err(cannot_write(&self.target, &problem).with_hint("choose another folder, or remove this one"))
    }
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// A folder that is being written. Dropped, it is gone.
pub(crate) struct UnfinishedFolder {
    place: TargetFolder,
    folder: HiddenFolder,
}

impl UnfinishedFolder {
    /// Starts a folder.
    pub(crate) fn create(place: TargetFolder) -> Result<Self> {
        let folder =
            HiddenFolder::create_in(&place.parent).map_err(|error| write_failed(&place.target, &error))?;
        Ok(UnfinishedFolder { folder, place })
    }

    /// Starts a file of the folder.
    pub(crate) fn file(&self, name: &str) -> Result<Unfinished> {
        Unfinished::create_as(&self.folder.path().join(name), &self.place.target.join(name))
    }

    /// Makes it appear.
    pub(crate) fn appear(self) -> Result<()> {
        let UnfinishedFolder { place, mut folder } = self;
        let failed = |error: std::io::Error| write_failed(&place.target, &error);
        let _turn = hidden::turn(&place.parent).map_err(failed)?;
        let _changing = hidden::changing();
        if !place.target.exists() {
            folder.rename(&place.target).map_err(failed)?;
            return usual_folder(&place.target).map_err(failed);
        }
        exchange(&place, folder.path()).map_err(failed)?;
        // Now the hidden folder holds what was there. It is removed only if that is a release.
        if let Err(error) = place.check(folder.path()) {
            exchange(&place, folder.path()).map_err(failed)?;
            return Err(error);
        }
        drop(folder);
        usual_folder(&place.target).map_err(failed)
    }
}

/// The target and another folder change places, at one stroke where the system can do that.
fn exchange(place: &TargetFolder, folder: &Path) -> std::io::Result<()> {
    if system::exchange(folder, &place.target)? { Ok(()) } else { exchange_in_steps(place, folder) }
}

/// The same in three steps; if the second fails, the first is undone.
fn exchange_in_steps(place: &TargetFolder, folder: &Path) -> std::io::Result<()> {
    let outside = HiddenFolder::create_now(&place.parent)?;
    let aside = outside.path().join("aside");
    std::fs::rename(&place.target, &aside)?;
    let renamed = std::fs::rename(folder, &place.target);
    if renamed.is_err() && std::fs::rename(&aside, &place.target).is_err() {
        // What was there is not removed, even if it has a hidden name now.
        std::mem::forget(outside);
    }
    renamed?;
    std::fs::rename(&aside, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(target: &Path, file: &str) -> Result<()> {
        let folder = UnfinishedFolder::create(TargetFolder::look(target, names)?)?;
        folder.file(file)?.finish()?.appear()?;
        folder.appear()
    }

    #[test]
    fn a_folder_appears_whole_and_takes_the_place_of_an_earlier_one() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("release");
        write(&target, "a.csv").unwrap();
        assert_eq!(names(&target), ["a.csv"]);
        write(&target, "b.csv").unwrap();
        assert_eq!((names(&target), names(outside.path())), (vec!["b.csv".into()], vec!["release".into()]));
    }

    #[test]
    fn folders_change_places_in_steps_too() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("release");
        write(&target, "a.csv").unwrap();
        let place = TargetFolder::look(&target, names).unwrap();
        let folder = HiddenFolder::create_in(outside.path()).unwrap();
        std::fs::write(folder.path().join("b.csv"), "x").unwrap();
        exchange_in_steps(&place, folder.path()).unwrap();
        assert_eq!((names(&target), names(folder.path())), (vec!["b.csv".into()], vec!["a.csv".into()]));
    }

    #[test]
    fn what_appears_in_the_meantime_stays() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("release");
        write(&target, "a.csv").unwrap();
        let released = |_: &Path| vec!["a.csv".to_owned()];
        let folder = UnfinishedFolder::create(TargetFolder::look(&target, released).unwrap()).unwrap();
        std::fs::write(folder.folder.path().join("b.csv"), "x").unwrap();
        std::fs::write(target.join("mine.txt"), "mine").unwrap();
        let error = folder.appear().unwrap_err().to_string();
        assert!(error.ends_with("holds 1 files that no earlier release lists"), "{error}");
        assert_eq!(
            (names(&target), names(outside.path()).len()),
            (vec!["a.csv".into(), "mine.txt".into()], 1)
        );
    }

    #[test]
    fn a_dropped_folder_leaves_nothing() {
        let outside = tempfile::tempdir().unwrap();
        let place = TargetFolder::look(&outside.path().join("release"), |_| Vec::new()).unwrap();
        let folder = UnfinishedFolder::create(place).unwrap();
        std::fs::write(folder.folder.path().join("a.csv"), "x").unwrap();
        drop(folder);
        assert!(names(outside.path()).is_empty());
    }

    #[test]
    fn what_is_no_earlier_release_stays() {
        let outside = tempfile::tempdir().unwrap();
        let refused = |target: &Path, known: &[&str]| {
            let known: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
            TargetFolder::look(target, move |_| known.clone()).err().unwrap().to_string()
        };
        let target = outside.path().join("release");
        assert!(refused(&target.join("below"), &[]).ends_with("its parent folder does not exist"));
        std::fs::create_dir(&target).unwrap();
        assert!(TargetFolder::look(&target, |_| Vec::new()).is_ok(), "an empty folder is in nobody's way");
        std::fs::write(target.join("notes.txt"), "x").unwrap();
        std::fs::write(target.join("a.csv"), "x").unwrap();
        assert!(refused(&target, &["a.csv"]).ends_with("holds 1 files that no earlier release lists"));
        assert!(refused(&target.join("a.csv"), &[]).ends_with("it is a file, and should be a folder"));
        assert!(refused(Path::new("/"), &[]).ends_with("it has no name"));
    }
}
