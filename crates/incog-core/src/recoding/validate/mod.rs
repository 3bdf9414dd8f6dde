//! Does an answer keep to the rules of its model?
//!
//! One function a model, each written from the model's definition (section 5 of the Incognito paper) alone: no validator
//! shares code with the search whose answers it checks. They look at levels and hierarchies; whether the policy holds is
//! another question.

mod attribute_suppression;
mod full_subtree;
mod unrestricted;

pub use attribute_suppression::check_attribute_suppression;
pub use full_subtree::check_full_subtree;
pub use unrestricted::check_unrestricted;
