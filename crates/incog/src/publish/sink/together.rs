//! Several files that belong together appear together, or none of them does.
//!
//! No system renames two files at one stroke. So runs take turns in a folder, and what is replaced is kept under a hidden name
//! until all is in place: if something fails, it comes back. A record appears before its release. A run that is killed
//! between the two leaves a release and the record of another: the record has the release's digest, so `verify` says so, and
//! the next run replaces both.
//!
//! Files of a folder that is not there yet appear with it, at one stroke.

use std::path::{Path, PathBuf};

use incog_core::{Error, ErrorKind, Result};

use crate::file::cause;
use crate::publish::sink::hidden::{self, HiddenFolder};
use crate::publish::sink::{Finished, InFolder, folder_of, open_up, write_failed};
use crate::system::usual_folder;

/// A folder that is made when the first file appears in it.
#[derive(Debug)]
pub(crate) struct NewFolder(PathBuf);

impl NewFolder {
    /// Looks whether it can be made: its parent must be there.
    pub(crate) fn look(folder: PathBuf) -> Result<Self> {
        let folder = NewFolder(folder);
        if !folder.parent().is_dir() {
            return Err(folder.cannot(Error::input("there is no such folder to make it in")));
        }
        Ok(folder)
    }

    /// Where it will be.
    pub(super) fn parent(&self) -> &Path {
        folder_of(&self.0)
    }

    /// Is a file to appear in it?
    pub(super) fn holds(&self, path: &Path) -> bool {
        let place = |folder: &Path| Some(folder_of(folder).canonicalize().ok()?.join(folder.file_name()?));
        path.parent() == Some(&self.0)
            || path.parent().and_then(place).is_some_and(|at| Some(at) == place(&self.0))
    }

    fn cannot(&self, cause: Error) -> Error {
        Error::new(ErrorKind::Io, format!("cannot make the folder `{}`: {cause}", self.0.display()))
            .with_hint("only the last folder of the path is made")
            .with_source(cause)
    }

    /// Why a file in it cannot be written: from what that comes from.
    pub(super) fn cannot_make(&self, error: &Error) -> Error {
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        self.cannot(Error::new(ErrorKind::Io, cause))
    }
}

/// A file that has taken its place.
struct Placed {
    path: PathBuf,
    /// The hidden name of what was there before.
    earlier: Option<PathBuf>,
}

impl Placed {
    /// Gives a file its own name, and keeps what had it before.
    fn place(file: &mut Finished, at: &Path) -> Result<Option<Placed>> {
        let failed = |error: std::io::Error| write_failed(&file.place.name, &error);
        let Some(hidden) = &mut file.file else {
            return Ok(None);
        };
        let is_there = std::fs::symlink_metadata(at).is_ok();
        let earlier = is_there.then(|| hidden::set_aside(at, folder_of(at))).transpose().map_err(failed)?;
        let placed = Placed { path: at.to_owned(), earlier };
        match hidden.rename(at).and_then(|()| open_up(at, file.place.access)) {
            Ok(()) => Ok(Some(placed)),
            Err(error) => {
                placed.undo();
                Err(failed(error))
            }
        }
    }

    /// What was there before is there again.
    fn undo(self) {
        // If not even that can be done, there is nothing left to try.
        let _ = match &self.earlier {
            Some(earlier) => std::fs::rename(earlier, &self.path)
                // Two names of one file are not changed by renaming.
                .and_then(|()| {
                    if std::fs::symlink_metadata(earlier).is_ok() {
                        std::fs::remove_file(earlier)
                    } else {
                        Ok(())
                    }
                }),
            None => std::fs::remove_file(&self.path),
        };
    }

    /// What was there before is gone.
    fn keep(self) {
        if let Some(earlier) = &self.earlier {
            let _ = std::fs::remove_file(earlier);
        }
    }
}

/// Makes files appear in their order, all or none of them; with them the folder of those that are in one that is not there yet.
pub(crate) fn appear(mut files: Vec<Finished>, new_folder: Option<&NewFolder>) -> Result<()> {
    let is_file = |file: &&Finished| file.file.is_some();
    let Some(last) = files.iter().rfind(is_file) else {
        return Ok(());
    };
    let name = last.place.name.clone();
    let failed = |error: std::io::Error| write_failed(&name, &error);
    let mut folders: Vec<PathBuf> = Vec::new();
    for file in files.iter().filter(is_file).filter(|file| file.place.folder == InFolder::Shared) {
        let inside = new_folder.filter(|folder| folder.holds(&file.place.path));
        folders.push(inside.map_or(folder_of(&file.place.path), NewFolder::parent).to_owned());
    }
    let _turns = hidden::turns(&folders).map_err(failed)?;
    // Another run may have made it by now, and others may be writing to it.
    let made = new_folder.filter(|folder| folder.0.is_dir());
    let _turn_inside = made.map(|folder| hidden::turn(&folder.0)).transpose().map_err(failed)?;
    let _changing = hidden::changing();
    for file in files.iter().filter(is_file) {
        file.place.check()?;
    }
    let mut new_folder = match new_folder
        .filter(|folder| made.is_none() && files.iter().any(|file| folder.holds(&file.place.path)))
    {
        Some(folder) => {
            let made = HiddenFolder::create_now(folder.parent());
            Some((folder, made.map_err(|error| folder.cannot(cause(&error)))?))
        }
        None => None,
    };
    let mut placed = Vec::new();
    let mut place_all = || -> Result<()> {
        for file in &mut files {
            let at = match &new_folder {
                Some((folder, made)) if folder.holds(&file.place.path) => {
                    made.path().join(file.place.path.file_name().unwrap_or_default())
                }
                _ => file.place.path.clone(),
            };
            placed.extend(Placed::place(file, &at)?);
        }
        if let Some((folder, made)) = &mut new_folder {
            let failed = |error: std::io::Error| folder.cannot(cause(&error));
            made.rename(&folder.0).map_err(failed)?;
            usual_folder(&folder.0).map_err(failed)?;
        }
        Ok(())
    };
    match place_all() {
        Ok(()) => {
            placed.into_iter().for_each(Placed::keep);
            Ok(())
        }
        Err(error) => {
            placed.into_iter().rev().for_each(Placed::undo);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::sink::Unfinished;

    fn finished(path: &Path, text: &str, new_folder: Option<&NewFolder>) -> Finished {
        let mut file = Unfinished::create_in(path, new_folder).unwrap();
        file.put(text.as_bytes()).unwrap();
        file.finish().unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_replace_earlier_ones_together() {
        let outside = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| outside.path().join(name));
        for round in ["first", "second"] {
            appear(vec![finished(&a, round, None), finished(&b, round, None)], None).unwrap();
            assert_eq!([&a, &b].map(|path| std::fs::read_to_string(path).unwrap()), [round; 2]);
            assert_eq!(names(outside.path()), ["a", "b"]);
        }
    }

    #[test]
    fn if_one_cannot_appear_none_does() {
        let outside = tempfile::tempdir().unwrap();
        let [new, old, taken] = ["new", "old", "taken"].map(|name| outside.path().join(name));
        std::fs::write(&old, "earlier").unwrap();
        let files = [&new, &old, &taken].map(|path| finished(path, "later", None));
        std::fs::create_dir(&taken).unwrap();
        let error = appear(files.into(), None).unwrap_err().to_string();
        assert!(error.ends_with("taken`: it is a folder"), "{error}");
        assert_eq!(names(outside.path()), ["old", "taken"]);
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "earlier");
    }

    /// What fails only when it is renamed brings back what was there.
    #[test]
    fn what_took_its_place_already_gives_it_back() {
        let outside = tempfile::tempdir().unwrap();
        let [new, old] = ["new", "old"].map(|name| outside.path().join(name));
        std::fs::write(&old, "earlier").unwrap();
        let gone = outside.path().join("gone");
        std::fs::create_dir(&gone).unwrap();
        let mut files: Vec<Finished> = [&new, &old].map(|path| finished(path, "later", None)).into();
        let mut last = finished(&outside.path().join("last"), "later", None);
        last.place.path = gone.join("last");
        files.push(last);
        std::fs::remove_dir(&gone).unwrap();
        appear(files, None).unwrap_err();
        assert_eq!(names(outside.path()), ["old"]);
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "earlier");
    }

    #[test]
    fn a_new_folder_appears_with_its_files() {
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("new");
        let folder = NewFolder::look(path.clone()).unwrap();
        let files = |text: &str| {
            [path.join("a"), outside.path().join("b")].map(|path| finished(&path, text, Some(&folder))).into()
        };
        let early = files("early");
        let late = files("late");
        assert_eq!(names(outside.path()).len(), 4);
        appear(early, Some(&folder)).unwrap();
        assert_eq!(names(&path), ["a"]);
        // Meanwhile it is no new folder any more.
        appear(late, Some(&folder)).unwrap();
        assert_eq!(
            (names(&path), names(outside.path())),
            (vec!["a".to_owned()], vec!["b".to_owned(), "new".to_owned()])
        );
        assert_eq!(std::fs::read_to_string(path.join("a")).unwrap(), "late");
        assert!(NewFolder::look(path.join("x/y")).is_err());
    }
}
