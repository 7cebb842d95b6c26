//! What all atomic types have, written once.

/// The methods of an atomic whose struct has the fields `identity` and `value` (the real atomic) and which has the private
/// functions `word` and `value_of` to and from the words of a model. To be used inside of `impl`.
macro_rules! common_methods {
    ($family:literal, $real:ty, $value:ty) => {
        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::new`].")]
        #[inline]
        #[must_use]
        #[track_caller]
        pub const fn new(value: $value) -> Self {
            Self { identity: Identity::new(), value: <$real>::new(value) }
        }

        /// The atomic for the shared functions.
        #[inline]
        fn atomic(&self) -> Atomic<'_> {
            Atomic { identity: &self.identity, init: self.init() }
        }

        /// The word that a model starts from.
        #[inline]
        fn init(&self) -> u64 {
            Self::word(self.value.load(Ordering::Relaxed))
        }

        /// Brings the newest value that a model has seen into the real atomic, for an owner that goes on without it.
        fn bring_home(&mut self, info: &'static Info, site: Site) {
            if let Some(word) = exclusive(&self.identity, self.init(), info, site) {
                *self.value.get_mut() = Self::value_of(word);
            }
        }

        /// Whether the real atomic performs an operation that a model has not: it answered with `not`.
        #[inline]
        fn is_real(&self, not: Answer, info: &'static Info, site: Site) -> bool {
            not == Answer::Outside || self.takes_over(info, site)
        }

        /// Whether the real atomic goes on where a model has ended.
        #[cold]
        fn takes_over(&self, info: &'static Info, site: Site) -> bool {
            match after_the_end(self.atomic(), info, site) {
                After::Nothing => false,
                After::Real(newest) => {
                    if let Some(newest) = newest {
                        self.value.store(Self::value_of(newest), Ordering::Relaxed);
                    }
                    true
                }
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::get_mut`].")]
        ///
        /// In a model, the access races with operations of other threads that are not ordered before it.
        #[inline]
        #[track_caller]
        pub fn get_mut(&mut self) -> &mut $value {
            self.bring_home(info!($family, "get_mut"), Location::caller());
            self.value.get_mut()
        }

        /// Calls `f` with the value, as `get_mut` (std does not have this).
        #[inline]
        #[track_caller]
        pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
            self.bring_home(info!($family, "with_mut"), Location::caller());
            f(self.value.get_mut())
        }

        /// The newest value, read as plain memory is (std does not have this). It is no step of the model.
        ///
        /// In a model, the read races with writes of other threads that are not ordered before it. One that another thread
        /// performs later without being ordered after the read goes unnoticed.
        ///
        /// # Safety
        ///
        /// No other thread may write to the atomic at the same time.
        #[inline]
        #[must_use]
        #[track_caller]
        pub unsafe fn unsync_load(&self) -> $value {
            match unsynchronised(&self.identity, self.init(), info!($family, "unsync_load"), Location::caller()) {
                Some(word) => Self::value_of(word),
                None => self.value.load(Ordering::Relaxed),
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::into_inner`] (which is also `const`).")]
        ///
        /// In a model, the access races with operations of other threads that are not ordered before it.
        #[inline]
        #[must_use]
        #[track_caller]
        pub fn into_inner(mut self) -> $value {
            self.bring_home(info!($family, "into_inner"), Location::caller());
            self.value.into_inner()
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::as_ptr`], outside a model.")]
        ///
        /// In a model, accesses through the pointer could not be seen: there the call ends it with the code `outside`.
        #[inline]
        #[track_caller]
        pub fn as_ptr(&self) -> *mut $value {
            no_address(&self.identity, info!($family, "as_ptr"), Location::caller());
            self.value.as_ptr()
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::load`].")]
        ///
        /// # Panics
        ///
        /// If `order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $value {
            check_load(order);
            let (info, site) = (info!($family, "load"), Location::caller());
            match load(self.atomic(), order, info, site) {
                Answer::Done(word) => Self::value_of(word),
                not if self.is_real(not, info, site) => self.value.load(order),
                _ => self.value.load(Ordering::Relaxed),
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::store`].")]
        ///
        /// # Panics
        ///
        /// If `order` is `Acquire` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn store(&self, value: $value, order: Ordering) {
            check_store(order);
            let (info, site) = (info!($family, "store"), Location::caller());
            match store(self.atomic(), Self::word(value), order, info, site) {
                Answer::Done(_) => {}
                not if self.is_real(not, info, site) => self.value.store(value, order),
                _ => {}
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::swap`].")]
        #[inline]
        #[track_caller]
        pub fn swap(&self, value: $value, order: Ordering) -> $value {
            let (info, site) = (info!($family, "swap"), Location::caller());
            match update(self.atomic(), updates::swap, Self::word(value), order, info, site) {
                Answer::Done(old) => Self::value_of(old),
                not if self.is_real(not, info, site) => self.value.swap(value, order),
                _ => self.value.load(Ordering::Relaxed),
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::compare_and_swap`].")]
        #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak` instead")]
        #[inline]
        #[track_caller]
        pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
            match self.compare_exchange(current, new, order, failure_of(order)) {
                Ok(old) | Err(old) => old,
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::compare_exchange`].")]
        ///
        /// # Errors
        ///
        /// The value that was there, if it was not `current`.
        ///
        /// # Panics
        ///
        /// If `failure` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            check_failure(failure);
            let (expected, to) = (Self::word(current), Self::word(new));
            let exchange = Exchange { expected, new: to, success, failure, weak: false };
            let (info, site) = (info!($family, "compare_exchange"), Location::caller());
            match compare_exchange(self.atomic(), exchange, info, site) {
                Exchanged::Success(old) => Ok(Self::value_of(old)),
                Exchanged::Failure(old) => Err(Self::value_of(old)),
                Exchanged::Not(not) if self.is_real(not, info, site) => {
                    self.value.compare_exchange(current, new, success, failure)
                }
                // Whoever repeats it until it succeeds must come to an end.
                Exchanged::Not(_) => Ok(current),
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::compare_exchange_weak`].")]
        ///
        /// In a model it also fails spuriously, as often as the budget for spurious events allows.
        ///
        /// # Errors
        ///
        /// The value that was there, if it was not `current`, or if it failed spuriously.
        ///
        /// # Panics
        ///
        /// If `failure` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            check_failure(failure);
            let (expected, to) = (Self::word(current), Self::word(new));
            let exchange = Exchange { expected, new: to, success, failure, weak: true };
            let (info, site) = (info!($family, "compare_exchange_weak"), Location::caller());
            match compare_exchange(self.atomic(), exchange, info, site) {
                Exchanged::Success(old) => Ok(Self::value_of(old)),
                Exchanged::Failure(old) => Err(Self::value_of(old)),
                Exchanged::Not(not) if self.is_real(not, info, site) => {
                    self.value.compare_exchange_weak(current, new, success, failure)
                }
                // Whoever repeats it until it succeeds must come to an end.
                Exchanged::Not(_) => Ok(current),
            }
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::try_update`]: a load, and weak compare-exchanges")]
        /// until one succeeds, each a step of its own.
        ///
        /// # Errors
        ///
        /// The value that was there, if `f` gives `None` for it.
        ///
        /// # Panics
        ///
        /// If `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn try_update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: impl FnMut($value) -> Option<$value>,
        ) -> Result<$value, $value> {
            let mut seen = self.load(fetch_order);
            while let Some(next) = f(seen) {
                match self.compare_exchange_weak(seen, next, set_order, fetch_order) {
                    Ok(old) => return Ok(old),
                    Err(now) => seen = now,
                }
            }
            Err(seen)
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::fetch_update`]; as `try_update`.")]
        ///
        /// # Errors
        ///
        /// The value that was there, if `f` gives `None` for it.
        ///
        /// # Panics
        ///
        /// If `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            self.try_update(set_order, fetch_order, f)
        }

        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::update`]: `try_update` that never gives up.")]
        ///
        /// # Panics
        ///
        /// If `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: impl FnMut($value) -> $value,
        ) -> $value {
            match self.try_update(set_order, fetch_order, |value| Some(f(value))) {
                Ok(old) | Err(old) => old,
            }
        }
    };
}

/// Read-modify-writes that take one operand and give the old value: name, update, and how the operand becomes a word.
macro_rules! fetch_methods {
    ($family:literal, $value:ty, $operand:ty, $as_word:expr; $($name:ident => $update:path;)*) => {$(
        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "::", stringify!($name), "`].")]
        #[inline]
        #[track_caller]
        pub fn $name(&self, operand: $operand, order: Ordering) -> $value {
            let (info, site) = (info!($family, stringify!($name)), Location::caller());
            match update(self.atomic(), $update, $as_word(operand), order, info, site) {
                Answer::Done(old) => Self::value_of(old),
                not if self.is_real(not, info, site) => self.value.$name(operand, order),
                _ => self.value.load(Ordering::Relaxed),
            }
        }
    )*};
}

/// The description of an operation.
macro_rules! info {
    ($family:literal, $name:expr) => {{
        const INFO: &dpor::Info = &dpor::Info { name: $name, family: $family, role: dpor::Role::Plain };
        INFO
    }};
}

pub(super) use {common_methods, fetch_methods, info};
