//! Released databases beside their originals.

mod students;
mod generalized;
mod anatomy;
mod copies;
mod hostile;
