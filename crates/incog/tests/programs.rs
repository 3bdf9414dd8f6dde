//! The programs of `examples/` do what they say.

#[path = "../examples/arrow.rs"]
#[cfg(feature = "parquet")]
mod arrow;
#[path = "../examples/in_memory.rs"]
mod in_memory;
#[path = "../examples/job_file.rs"]
mod job_file;
#[path = "../examples/own_algorithm.rs"]
mod own_algorithm;
#[path = "../examples/solutions.rs"]
mod solutions;

#[test]
fn a_table_in_memory_is_released() {
    in_memory::main().unwrap();
}

#[test]
#[cfg(feature = "parquet")]
fn record_batches_are_released_as_record_batches() {
    arrow::main().unwrap();
}

#[test]
fn a_job_file_is_read_changed_and_published() {
    job_file::main().unwrap();
}

#[test]
fn every_solution_is_looked_at() {
    solutions::main().unwrap();
}

#[test]
fn an_algorithm_from_outside_is_run_and_verified() {
    own_algorithm::main().unwrap();
}
