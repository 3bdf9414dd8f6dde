//! How are numbers kept that only a clock can tell?
//!
//! A constant that was found by measuring changes how long a search takes, and never what it answers. Those of a component stand in its
//! `tuning.rs`, each with its meaning, its unit and the case of `incog-bench tuning` that measures it. `bench/tuning.py` runs that case with half
//! the constant and with twice the constant.
//!
//! - Without the feature `tuning`, which is off by default, each is a `const`: the compiler sees a number.
//! - With it, each is a `static` that looks once for another value in the environment variable `INCOG_TUNING`, as in `LARGE=65536,HALFWAY=1/4`.
//!
//! Numbers that the compiler needs, such as lengths of arrays, are plain constants beside the others, and another value takes a rebuild.

#[cfg(feature = "tuning")]
use std::str::FromStr;
#[cfg(feature = "tuning")]
use std::sync::OnceLock;

/// A constant that was found by measuring.
#[derive(Debug)]
pub(crate) struct Tuned<T> {
    #[cfg(feature = "tuning")]
    name: &'static str,
    value: T,
    #[cfg(feature = "tuning")]
    current: OnceLock<T>,
}

#[cfg(not(feature = "tuning"))]
impl<T: Copy> Tuned<T> {
    /// A constant and its name.
    pub(crate) const fn new(_name: &'static str, value: T) -> Self {
        Tuned { value }
    }

    /// Its value.
    #[inline(always)]
    pub(crate) fn get(&self) -> T {
        self.value
    }
}

#[cfg(feature = "tuning")]
impl<T: Copy + FromStr> Tuned<T> {
    /// A constant and the name by which it can be set.
    pub(crate) const fn new(name: &'static str, value: T) -> Self {
        Tuned { name, value, current: OnceLock::new() }
    }

    /// Its value, or the one that was set.
    #[inline]
    pub(crate) fn get(&self) -> T {
        *self.current.get_or_init(|| {
            let set = setting(self.name).map(|text| text.parse().ok());
            set.map_or(self.value, |set| set.expect("`check` was asked whether the values can be read"))
        })
    }
}

/// Declares constants that were found by measuring: documentation, name, type and value of each.
macro_rules! tuned {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $value:expr;)+) => {
        $(
            $(#[$doc])*
            #[cfg(not(feature = "tuning"))]
            pub(super) const $name: $crate::tuning::Tuned<$kind> =
                $crate::tuning::Tuned::new(stringify!($name), $value);
            $(#[$doc])*
            #[cfg(feature = "tuning")]
            pub(super) static $name: $crate::tuning::Tuned<$kind> =
                $crate::tuning::Tuned::new(stringify!($name), $value);
        )+
        /// All of them.
        #[cfg(feature = "tuning")]
        pub(crate) static ALL: &[&(dyn $crate::tuning::Adjustable + Sync)] = &[$(&$name),+];
    };
}
pub(crate) use tuned;

/// A constant that can be set, of whatever type.
#[cfg(feature = "tuning")]
pub(crate) trait Adjustable {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Is this text a value of its type?
    fn accepts(&self, text: &str) -> bool;
    /// Has anything asked for its value?
    fn is_read(&self) -> bool;
}

#[cfg(feature = "tuning")]
impl<T: Copy + FromStr> Adjustable for Tuned<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn accepts(&self, text: &str) -> bool {
        text.parse::<T>().is_ok()
    }

    fn is_read(&self) -> bool {
        self.current.get().is_some()
    }
}

/// The names and values in `INCOG_TUNING`.
#[cfg(feature = "tuning")]
fn settings() -> &'static [(String, String)] {
    static SETTINGS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = std::env::var("INCOG_TUNING").unwrap_or_default();
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (name.trim().to_owned(), value.trim().to_owned())
        };
        text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
    })
}

#[cfg(feature = "tuning")]
fn setting(name: &str) -> Option<&'static str> {
    settings().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Refuses what `INCOG_TUNING` sets if there is no such constant, or no such value of it. To be asked before anything else is.
#[cfg(feature = "tuning")]
pub fn check() -> crate::Result<()> {
    for (name, value) in settings() {
        let Some(constant) = crate::tuned_constants().find(|constant| constant.name() == name) else {
            return Err(crate::Error::input(format!("INCOG_TUNING: there is no constant `{name}`")));
        };
        if !constant.accepts(value) {
            return Err(crate::Error::input(format!("INCOG_TUNING: `{name}` cannot be `{value}`")));
        }
    }
    Ok(())
}

/// The names of the constants that were asked for in this process: what a benchmark never reads, it cannot measure.
#[cfg(feature = "tuning")]
pub fn read() -> Vec<&'static str> {
    crate::tuned_constants().filter(|constant| constant.is_read()).map(Adjustable::name).collect()
}

#[cfg(all(test, feature = "tuning"))]
mod tests {
    use super::*;

    #[test]
    fn no_two_constants_have_one_name() {
        let mut names: Vec<&str> = crate::tuned_constants().map(Adjustable::name).collect();
        names.sort_unstable();
        let n_names = names.len();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }
}
