//! A checked [`Spec`].

use alloc::sync::Arc;

use crate::spec::{Spec, SpecError};

/// A [`Spec`] that was checked, so that nothing can fail afterwards. Cloning it is cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy(Arc<Spec>);

impl Policy {
    /// What it says.
    #[inline]
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.0
    }
}

impl Default for Policy {
    /// Does nothing at all, as [`Spec::default`].
    fn default() -> Self {
        Policy(Arc::new(Spec::default()))
    }
}

impl Spec {
    /// Checks every field.
    ///
    /// # Errors
    /// All that is wrong, not just the first; each names its field and what is allowed.
    pub fn check(&self) -> Result<Policy, alloc::vec::Vec<SpecError>> {
        let problems = crate::check::problems(self);
        if problems.is_empty() {
            Ok(Policy(Arc::new(self.clone())))
        } else {
            Err(problems)
        }
    }
}
