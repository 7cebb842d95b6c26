// `std::sync::Arc`.

use std::any::Any;
use std::borrow::{Borrow, Cow};
use std::cell::Cell;
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt::{Debug, Display, Pointer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;

use lib::sync::{Arc, Weak};

use crate::panic_message;

#[test]
fn traits() {
    assert_impl!(Arc<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Display + Pointer + Default);
    assert_impl!(Arc<u8>: Clone + Ord + Hash + AsRef<u8> + Borrow<u8> + From<u8> + From<Box<u8>>);
    assert_impl!(Arc<std::fmt::Error>: Error);
    assert_impl!(Arc<std::marker::PhantomPinned>: Unpin);
    assert_not_impl!(Arc<Cell<u8>>: Send);
    assert_not_impl!(Arc<Cell<u8>>: Sync);
    assert_not_impl!(Arc<Cell<u8>>: UnwindSafe);
    assert_not_impl!(Arc<std::sync::MutexGuard<'_, u8>>: Send);
    assert_impl!(Weak<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + Clone);
    assert_not_impl!(Weak<Cell<u8>>: Send);
}

fn covariant<'a>(arc: Arc<&'static str>, weak: Weak<&'static str>) -> (Arc<&'a str>, Weak<&'a str>) {
    (arc, weak)
}

#[test]
fn counts() {
    let a = Arc::new(5);
    assert_eq!((Arc::strong_count(&a), Arc::weak_count(&a)), (1, 0));
    let b = a.clone();
    let weak = Arc::downgrade(&a);
    let other = weak.clone();
    assert_eq!((Arc::strong_count(&a), Arc::weak_count(&a)), (2, 2));
    assert_eq!((weak.strong_count(), weak.weak_count()), (2, 2));
    assert!(Arc::ptr_eq(&a, &b) && weak.ptr_eq(&other));
    assert_eq!(*weak.upgrade().unwrap(), 5);
    drop((a, other));
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    drop(b);
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    assert!(weak.upgrade().is_none());
    assert_eq!(format!("{weak:?}"), "(Weak)");
}

#[test]
fn a_weak_handle_of_nothing() {
    static NOTHING: Weak<u8> = Weak::new();
    assert!(NOTHING.upgrade().is_none());
    assert_eq!((NOTHING.strong_count(), NOTHING.weak_count()), (0, 0));
    assert!(NOTHING.ptr_eq(&NOTHING.clone()));
    let raw = Weak::<u8>::new().into_raw();
    // SAFETY: 1. It comes from `into_raw`.
    assert!(unsafe { Weak::from_raw(raw) }.upgrade().is_none());
    assert!(Weak::<u8>::default().upgrade().is_none());
}

#[test]
fn owners() {
    let mut a = Arc::new(String::from("x"));
    Arc::get_mut(&mut a).unwrap().push('y');
    let b = a.clone();
    assert!(Arc::get_mut(&mut a).is_none());
    let a = Arc::try_unwrap(a).unwrap_err();
    assert_eq!(Arc::into_inner(b), None);
    let weak = Arc::downgrade(&a);
    assert_eq!(Arc::try_unwrap(a).unwrap(), "xy");
    assert!(weak.upgrade().is_none());
    assert_eq!(Arc::into_inner(Arc::new(3)), Some(3));
    let c = Arc::new(Cell::new(4));
    assert_eq!(Arc::unwrap_or_clone(c.clone()).get(), 4);
    assert_eq!(Arc::unwrap_or_clone(c).get(), 4);
}

#[test]
fn make_mut() {
    let mut a = Arc::new(1);
    let before = Arc::as_ptr(&a);
    *Arc::make_mut(&mut a) += 1;
    assert_eq!((Arc::as_ptr(&a), *a), (before, 2));
    let b = a.clone();
    *Arc::make_mut(&mut a) += 1;
    assert_eq!((*a, *b), (3, 2));
    let weak = Arc::downgrade(&a);
    *Arc::make_mut(&mut a) += 1;
    assert_eq!((*a, weak.upgrade(), Arc::weak_count(&a)), (4, None, 0));
    assert!(Arc::get_mut(&mut a).is_some());
}

#[test]
fn raw_pointers() {
    let raw = Arc::into_raw(Arc::new(String::from("raw")));
    // SAFETY: 1. The pointer comes from `into_raw`, and every handle is given up once.
    unsafe {
        Arc::increment_strong_count(raw);
        let a = Arc::from_raw(raw);
        assert_eq!((a.as_str(), Arc::strong_count(&a), Arc::as_ptr(&a)), ("raw", 2, raw));
        Arc::decrement_strong_count(raw);
        assert_eq!(Arc::strong_count(&a), 1);
        let weak = Arc::downgrade(&a).into_raw();
        assert_eq!(weak, raw);
        let weak = Weak::from_raw(weak);
        assert_eq!(weak.as_ptr(), raw);
        drop(a);
        assert!(Weak::from_raw(weak.into_raw()).upgrade().is_none());
    }
    let slice: Arc<[u16]> = Arc::from([1, 2, 3]);
    // SAFETY: 1. As above.
    assert_eq!(*unsafe { Arc::from_raw(Arc::into_raw(slice)) }, [1, 2, 3]);
    let object: Arc<dyn Debug> = Arc::from(Box::new(5u64) as Box<dyn Debug>);
    let weak = Arc::downgrade(&object);
    // SAFETY: 1. As above.
    assert_eq!(format!("{:?}", unsafe { Arc::from_raw(Arc::into_raw(object)) }), "5");
    // SAFETY: 1. As above.
    assert!(unsafe { Weak::from_raw(weak.into_raw()) }.upgrade().is_none());
}

#[test]
fn cyclic() {
    struct Node {
        me: Weak<Node>,
        value: u8,
    }
    let node = Arc::new_cyclic(|me| {
        assert!(me.upgrade().is_none());
        assert_eq!((me.strong_count(), me.weak_count()), (0, 0));
        Node { me: me.clone(), value: 5 }
    });
    assert_eq!(node.me.upgrade().unwrap().value, 5);
    assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
    assert_eq!(panic_message(|| Arc::<u8>::new_cyclic(|_| panic!("no value"))), "no value");
}

#[test]
fn uninitialised() {
    let mut one: Arc<MaybeUninit<u32>> = Arc::new_uninit();
    Arc::get_mut(&mut one).unwrap().write(5);
    // SAFETY: 1. It has been written.
    assert_eq!(*unsafe { one.assume_init() }, 5);
    // SAFETY: 1. Zero is a value.
    assert_eq!(*unsafe { Arc::<u32>::new_zeroed().assume_init() }, 0);
    let mut slice = Arc::<[u8]>::new_uninit_slice(3);
    for (i, place) in Arc::get_mut(&mut slice).unwrap().iter_mut().enumerate() {
        place.write(i as u8);
    }
    // SAFETY: 1. They have been written.
    assert_eq!(*unsafe { slice.assume_init() }, [0, 1, 2]);
    // SAFETY: 1. Zero is a value.
    assert_eq!(*unsafe { Arc::<[u8]>::new_zeroed_slice(2).assume_init() }, [0, 0]);
}

#[test]
fn conversions() {
    assert_eq!(*Arc::<str>::from("a"), *"a");
    assert_eq!(*Arc::<str>::from(String::from("a")), *"a");
    assert_eq!(*Arc::<str>::from("a".to_string().as_mut_str()), *"a");
    assert_eq!(*Arc::<str>::from(Cow::Borrowed("a")), *"a");
    assert_eq!(*Arc::<[u8]>::from(Arc::<str>::from("a")), [97]);
    assert_eq!(*Arc::<Path>::from(Path::new("p")), *PathBuf::from("p"));
    assert_eq!(*Arc::<Path>::from(PathBuf::from("p")), *Path::new("p"));
    assert_eq!(*Arc::<OsStr>::from(OsString::from("p")), *OsStr::new("p"));
    assert_eq!(*Arc::<CStr>::from(CString::from(c"p")), *c"p");
    assert_eq!(*Arc::<CStr>::from(c"p"), *c"p");
    assert_eq!(*Arc::<[String]>::from(vec![String::new()]), [String::new()]);
    assert_eq!(*Arc::<[String]>::from(&[String::new()][..]), [String::new()]);
    assert_eq!(*Arc::<[u8]>::from([1, 2]), [1, 2]);
    assert_eq!(*(0..4).collect::<Arc<[u8]>>(), [0, 1, 2, 3]);
    assert_eq!(*Arc::<i32>::from(Box::new(5)), 5);
    assert_eq!(*Arc::<i32>::from(5), 5);
    assert_eq!(*Arc::<[u8; 2]>::try_from(Arc::<[u8]>::from([1, 2])).unwrap(), [1, 2]);
    assert!(Arc::<[u8; 3]>::try_from(Arc::<[u8]>::from([1, 2])).is_err());
    assert_eq!(*Arc::<str>::default(), *"");
    assert_eq!(*Arc::<CStr>::default(), *c"");
    assert!(Arc::<[String]>::default().is_empty());
    assert_eq!(*<Pin<Arc<u8>>>::default(), 0);
    assert_eq!(*Arc::pin(5), 5);
    let object: Box<dyn Fn() -> u8 + Send + Sync> = Box::new(|| 7);
    assert_eq!(Arc::<dyn Fn() -> u8 + Send + Sync>::from(object)(), 7);
    let any: Arc<dyn Any + Send + Sync> = Arc::from(Box::new(5u8) as Box<dyn Any + Send + Sync>);
    let any = any.downcast::<u16>().unwrap_err();
    assert_eq!(*any.downcast::<u8>().unwrap(), 5);
}

#[test]
fn passed_on_to_the_value() {
    let (one, two) = (Arc::new(1), Arc::new(2));
    assert!(one < two && one != two && one == Arc::new(1) && one.cmp(&two).is_lt());
    assert_eq!(format!("{one} {one:?}"), "1 1");
    assert_eq!(format!("{one:p}"), format!("{:p}", Arc::as_ptr(&one)));
    let hash = |value: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        value(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&|h| one.hash(h)), hash(&|h| 1.hash(h)));
    assert_eq!(*AsRef::<i32>::as_ref(&one) + *Borrow::<i32>::borrow(&two), 3);
    let (arc, _weak) = covariant(Arc::new("x"), Weak::new());
    assert_eq!(*arc, "x");
}

#[test]
fn values_are_dropped_with_the_last_handle() {
    let counted = Rc::new(());
    let a = Arc::new(counted.clone());
    let (b, weak) = (a.clone(), Arc::downgrade(&a));
    drop(a);
    assert_eq!(Rc::strong_count(&counted), 2);
    drop(b);
    assert_eq!(Rc::strong_count(&counted), 1);
    drop(weak);
    drop(Arc::<[Rc<()>]>::from(vec![counted.clone(), counted.clone()]));
    assert_eq!(Rc::strong_count(&counted), 1);
    drop(Arc::<dyn Debug>::from(Box::new(counted.clone()) as Box<dyn Debug>));
    assert_eq!(Rc::strong_count(&counted), 1);
    let mut many = Arc::new(counted.clone());
    let weak = Arc::downgrade(&many);
    Arc::make_mut(&mut many);
    drop((many, weak));
    assert_eq!(Rc::strong_count(&counted), 1);
}

#[test]
fn a_panic_in_the_drop_of_the_value_does_not_keep_the_memory() {
    struct Panics(#[allow(dead_code)] Rc<()>);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let counted = Rc::new(());
    let a = Arc::new(Panics(counted.clone()));
    let weak = Arc::downgrade(&a);
    assert_eq!(panic_message(|| drop(a)), "dropped");
    assert_eq!(Rc::strong_count(&counted), 1);
    assert!(weak.upgrade().is_none());
}

#[test]
fn handles_are_shared_between_threads() {
    let a = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (a, weak) = (a.clone(), Arc::downgrade(&a));
            std::thread::spawn(move || {
                for _ in 0..100 {
                    weak.upgrade().unwrap().fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    drop(Arc::downgrade(&a.clone()));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(Arc::try_unwrap(a).unwrap().into_inner(), 400);
}
