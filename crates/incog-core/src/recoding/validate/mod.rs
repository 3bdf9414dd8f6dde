//! Does an answer keep to the rules of its model?
//!
//! One function a model, each written from the model's definition (section 5 of the Incognito paper) alone: no validator
//! shares code with the search whose answers it checks. Whether the policy holds is another question.

mod boxes;

pub use boxes::{Overlap, check_mondrian, check_ordered_set};
