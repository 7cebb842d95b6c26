//! What the macro `lazy_static!` makes.

use std::any::Any;
use std::fmt;
use std::panic::Location;

use interleave::sync::LazyLock;
use sync_shims::model::controller::{Controller, Scope, current};
use sync_shims::model::event::Site;
use sync_shims::model::statics::running;

pub use interleave::thread::{AccessError, panicking, yield_now};

/// A `static` value that is made when it is first used: in a model, once in every execution.
///
/// As long as making the value does nothing that other threads can notice, it is no step of the model. When it turns out to do
/// something, the exploration starts again and treats the value as a [`LazyLock`]: then who makes it is explored, and others
/// wait for it.
pub struct Lazy<T: 'static> {
    lock: LazyLock<T>,
    make: fn() -> T,
    site: Site,
}

impl<T: 'static> Lazy<T> {
    #[doc(hidden)]
    #[track_caller]
    pub const fn new(make: fn() -> T) -> Self {
        Lazy { lock: LazyLock::new(make), make, site: Location::caller() }
    }

    /// The value. It lives as long as the execution; `'static` is what the real `lazy_static!` gives.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        current(|controller| match controller {
            Some(controller) if !controller.counts(self.site) => self.get_unseen(controller),
            _ => LazyLock::force(&self.lock),
        })
    }

    /// The value of the running execution, made by whoever comes first.
    fn get_unseen(&'static self, controller: &dyn Controller) -> &'static T {
        let mut make = || {
            let before = controller.performed();
            let value = (self.make)();
            if controller.performed() != before {
                // Unwinds, unless the thread is unwinding already.
                controller.count_from_now_on(self.site);
            }
            Box::new(value) as Box<dyn Any>
        };
        // Each simulated process has its own.
        let process = running(controller) as usize;
        let key = std::ptr::from_ref(self).addr() ^ process << (usize::BITS - 16);
        match controller.storage(Scope::Execution, key, &mut make) {
            // SAFETY: 1. Under the address of this key the storage only ever holds a `T`. 2. It keeps the value until the
            // execution is over, and so does everything that can use the reference.
            Some(value) => unsafe { value.cast::<T>().as_ref() },
            // The values of the execution are being dropped, and this is one that another's drop asks for.
            None => Box::leak(Box::new((self.make)())),
        }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}

/// Declares `static`s that are made when they are first used: `static ref NAME: Type = value;`.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attribute])*
        $visibility struct $name {
            _private: (),
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals, dead_code)]
        $visibility static $name: $name = $name { _private: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            #[track_caller]
            fn deref(&self) -> &$type {
                fn make() -> $type {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(make);
                LAZY.get()
            }
        }
        $crate::lazy_static! { $($rest)* }
    };
}
