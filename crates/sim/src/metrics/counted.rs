//! Counts that only grow: what was counted since, and sums, field by field.

macro_rules! counters {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }

        impl $name {
            /// What was counted since `earlier`, field by field.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: Counted::since(&self.$field, &earlier.$field),)* }
            }

            /// Adds `other`, field by field.
            pub fn add(&mut self, other: &Self) {
                $(Counted::add(&mut self.$field, &other.$field);)*
            }
        }
    };
}

pub(super) use counters;

/// A number, or an array of numbers, that only grows during a run.
pub(super) trait Counted {
    fn since(&self, earlier: &Self) -> Self;
    fn add(&mut self, other: &Self);
}

impl Counted for u64 {
    fn since(&self, earlier: &Self) -> Self {
        self - earlier
    }
    fn add(&mut self, other: &Self) {
        *self += other;
    }
}

impl Counted for u128 {
    fn since(&self, earlier: &Self) -> Self {
        self - earlier
    }
    fn add(&mut self, other: &Self) {
        *self += other;
    }
}

impl<const N: usize> Counted for [u128; N] {
    fn since(&self, earlier: &Self) -> Self {
        std::array::from_fn(|i| self[i] - earlier[i])
    }
    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.iter_mut().zip(other) {
            *mine += theirs;
        }
    }
}

impl<const N: usize> Counted for [u64; N] {
    fn since(&self, earlier: &Self) -> Self {
        std::array::from_fn(|i| self[i] - earlier[i])
    }
    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.iter_mut().zip(other) {
            *mine += theirs;
        }
    }
}
