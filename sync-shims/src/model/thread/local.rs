//! Values of a thread: `thread_local!` and its keys.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::ptr::NonNull;

use crate::model::controller::{Scope, current};

/// Stands in for [`std::thread::LocalKey`].
///
/// In a model every model thread has its own value in every execution; it is dropped when the thread ends. Outside a model
/// the key stands for a real one of std.
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// Stands in for [`std::thread::AccessError`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt("already destroyed", f)
    }
}

impl Error for AccessError {}

/// Where the value of a key is for the thread that runs.
enum Place<T> {
    /// Outside a model.
    Real,
    /// In the storage of the model thread.
    Model(NonNull<T>),
    /// Nowhere any more.
    Destroyed,
}

impl<T: 'static> LocalKey<T> {
    /// What `thread_local!` makes: `real` is used outside a model, `init` makes the values in one.
    #[doc(hidden)]
    pub const fn new(real: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { real, init }
    }

    /// The value of the running thread; made by `init` if it has none.
    fn place(&'static self, mut init: impl FnMut() -> T) -> Place<T> {
        current(|controller| {
            let Some(controller) = controller else { return Place::Real };
            let key = std::ptr::from_ref(self).addr();
            let value = controller.storage(Scope::Thread, key, &mut || Box::new(init()) as Box<dyn Any>);
            match value {
                None => Place::Destroyed,
                Some(value) => Place::Model(value.cast()),
            }
        })
    }

    /// Stands in for [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    ///
    /// If the value is being destroyed or has been.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(f).unwrap_or_else(|_| gone())
    }

    /// Stands in for [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    ///
    /// If the value is being destroyed or has been.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match self.place(self.init) {
            Place::Real => self.real.try_with(f).map_err(|_| AccessError),
            // SAFETY: 1. Under the address of this key the storage only ever holds a `T`. 2. It keeps the value until the
            // thread ends, which is not during `f`, and the reference cannot leave `f`. 3. Nobody has it exclusively.
            Place::Model(value) => Ok(f(unsafe { value.as_ref() })),
            Place::Destroyed => Err(AccessError),
        }
    }

    /// Calls `f` with the value of the thread, and with `value` if that was not used to make it.
    #[track_caller]
    fn initialize_with<R>(&'static self, value: T, f: impl FnOnce(Option<T>, &T) -> R) -> R {
        let mut value = Some(value);
        match self.place(|| value.take().unwrap_or_else(self.init)) {
            // SAFETY: 1. to 3. as in `try_with`.
            Place::Model(place) => f(value, unsafe { place.as_ref() }),
            Place::Real | Place::Destroyed => gone(),
        }
    }
}

#[cold]
#[track_caller]
fn gone() -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {:?}", AccessError)
}

fn outside_model() -> bool {
    current(|controller| controller.is_none())
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Stands in for [`std::thread::LocalKey::set`] of a `Cell`: does not run the initialiser.
    ///
    /// # Panics
    ///
    /// If the value is being destroyed or has been.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if outside_model() {
            return self.real.set(value);
        }
        self.initialize_with(Cell::new(value), |value, cell| {
            if let Some(value) = value {
                cell.set(value.into_inner());
            }
        });
    }

    /// Stands in for [`std::thread::LocalKey::get`].
    ///
    /// # Panics
    ///
    /// If the value is being destroyed or has been.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Stands in for [`std::thread::LocalKey::take`] of a `Cell`.
    ///
    /// # Panics
    ///
    /// If the value is being destroyed or has been.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Stands in for [`std::thread::LocalKey::replace`] of a `Cell`.
    ///
    /// # Panics
    ///
    /// If the value is being destroyed or has been.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Stands in for [`std::thread::LocalKey::with_borrow`].
    ///
    /// # Panics
    ///
    /// If the value is borrowed mutably, or is being destroyed or has been.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Stands in for [`std::thread::LocalKey::with_borrow_mut`].
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or is being destroyed or has been.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Stands in for [`std::thread::LocalKey::set`] of a `RefCell`: does not run the initialiser.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or is being destroyed or has been.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if outside_model() {
            return self.real.set(value);
        }
        self.initialize_with(RefCell::new(value), |value, cell| {
            if let Some(value) = value {
                *cell.borrow_mut() = value.into_inner();
            }
        });
    }

    /// Stands in for [`std::thread::LocalKey::take`] of a `RefCell`.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or is being destroyed or has been.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Stands in for [`std::thread::LocalKey::replace`] of a `RefCell`.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or is being destroyed or has been.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Stands in for [`std::thread_local!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __model_thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attribute])* $visibility static $name: $crate::model::thread::LocalKey<$type> = {
            ::std::thread_local! { static REAL: $type = const $init }
            fn init() -> $type {
                #[allow(clippy::declare_interior_mutable_const)]
                const INIT: $type = $init;
                INIT
            }
            $crate::model::thread::LocalKey::new(&REAL, init)
        };
        $($crate::__model_thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])* $visibility static $name: $crate::model::thread::LocalKey<$type> = {
            fn init() -> $type {
                $init
            }
            ::std::thread_local! { static REAL: $type = init() }
            $crate::model::thread::LocalKey::new(&REAL, init)
        };
        $($crate::__model_thread_local! { $($rest)* })?
    };
}
