//! Names every public item of loom 0.7.3 (with the features `futures` and `checkpoint`), with the types that it has there: what
//! is missing does not compile. The same file compiles and runs on loom itself.
#![allow(dead_code, unused, deprecated, missing_docs)]
#![allow(clippy::all, reason = "the point is that it compiles")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "one line for each item")]
use loom::{alloc, cell, future, hint, model, sync, thread};
use std::{borrow::Borrow, pin::Pin, rc::Rc, time::Duration};

loom::lazy_static! {
    /// doc
    static ref L1: sync::atomic::AtomicUsize = sync::atomic::AtomicUsize::new(1);
    pub static ref L2: usize = 3;
    pub(crate) static ref L3: String = String::from("x");
}
loom::thread_local! {
    static T1: std::cell::RefCell<usize> = std::cell::RefCell::new(1);
    pub(crate) static T2: usize = 2
}
const _M: usize = loom::MAX_THREADS;
fn dbg_<T: std::fmt::Debug>(t: &T) -> String {
    format!("{t:?}")
}
fn send<T: Send>() {}
fn sync_<T: Sync>() {}

macro_rules! ints { ($($n:ident $t:ty),*) => {$(
    let mut a = sync::atomic::$n::new(1 as $t); let _: sync::atomic::$n = Default::default(); let _: sync::atomic::$n = (5 as $t).into();
    let o = sync::atomic::Ordering::SeqCst; let r = sync::atomic::Ordering::Relaxed;
    a.with_mut(|v: &mut $t| *v = 2); assert_eq!(unsafe { a.unsync_load() }, 2); a.load(o); a.store(1, o); a.swap(2, o);
    a.compare_and_swap(2, 3, o); let _: Result<$t, $t> = a.compare_exchange(3, 4, o, r); let _ = a.compare_exchange_weak(4, 5, o, r);
    a.fetch_add(1, o); a.fetch_sub(1, o); a.fetch_and(1, o); a.fetch_nand(1, o); a.fetch_or(1, o); a.fetch_xor(1, o); a.fetch_max(1, o); a.fetch_min(1, o);
    let _: Result<$t, $t> = a.fetch_update(o, r, |v| Some(v)); let _: Result<$t, $t> = a.try_update(o, r, |v| None); let _: $t = a.update(o, r, |v| v);
    dbg_(&a); let _: $t = a.into_inner(); send::<sync::atomic::$n>(); sync_::<sync::atomic::$n>();
)*} }

fn body() {
    use sync::atomic::Ordering::*;
    ints!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize, AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
    {
        let b = sync::atomic::AtomicBool::new(true);
        let _: sync::atomic::AtomicBool = Default::default();
        let _: sync::atomic::AtomicBool = true.into();
        unsafe { b.unsync_load() };
        b.load(SeqCst);
        b.store(true, SeqCst);
        b.swap(false, SeqCst);
        b.compare_and_swap(true, true, SeqCst);
        let _ = b.compare_exchange(true, true, SeqCst, Relaxed);
        let _ = b.compare_exchange_weak(true, true, SeqCst, Relaxed);
        b.fetch_and(true, SeqCst);
        b.fetch_nand(true, SeqCst);
        b.fetch_or(true, SeqCst);
        b.fetch_xor(true, SeqCst);
        let _ = b.fetch_update(SeqCst, Relaxed, |v| Some(v));
        let _ = b.try_update(SeqCst, Relaxed, |v| Some(v));
        b.update(SeqCst, Relaxed, |v| v);
        dbg_(&b);
        b.into_inner();
    }
    {
        let mut x = 1;
        let mut p = sync::atomic::AtomicPtr::<i32>::new(&mut x);
        let _: sync::atomic::AtomicPtr<u8> = Default::default();
        let _: sync::atomic::AtomicPtr<i32> = std::ptr::null_mut::<i32>().into();
        unsafe { p.unsync_load() };
        p.with_mut(|q: &mut *mut i32| {});
        let v = p.load(SeqCst);
        p.store(v, SeqCst);
        p.swap(v, SeqCst);
        p.compare_and_swap(v, v, SeqCst);
        let _ = p.compare_exchange(v, v, SeqCst, Relaxed);
        let _ = p.compare_exchange_weak(v, v, SeqCst, Relaxed);
        let _ = p.fetch_update(SeqCst, Relaxed, |v| Some(v));
        let _ = p.try_update(SeqCst, Relaxed, |v| Some(v));
        p.update(SeqCst, Relaxed, |v| v);
        dbg_(&p);
        p.into_inner();
        send::<sync::atomic::AtomicPtr<Rc<u8>>>();
        sync_::<sync::atomic::AtomicPtr<Rc<u8>>>();
    }
    sync::atomic::fence(Acquire);
    sync::atomic::fence(Release);
    sync::atomic::fence(AcqRel);
    sync::atomic::fence(SeqCst);
    // Arc
    {
        let a: sync::Arc<i32> = sync::Arc::new(1);
        let _: Pin<sync::Arc<i32>> = sync::Arc::pin(1);
        let a = sync::Arc::try_unwrap(a).unwrap();
        let a = sync::Arc::<i32>::from(a);
        let s: sync::Arc<[u8]> = sync::Arc::from_std(std::sync::Arc::from(vec![1u8, 2]));
        let d: sync::Arc<dyn Fn() + Send + Sync> = sync::Arc::from_std(std::sync::Arc::new(|| ()));
        d();
        let mut b = a.clone();
        sync::Arc::strong_count(&b);
        sync::Arc::ptr_eq(&a, &b);
        sync::Arc::get_mut(&mut b);
        let _: &i32 = a.as_ref();
        let _: &i32 = a.borrow();
        let _ = *a + 1;
        dbg_(&a);
        let p: *const i32 = sync::Arc::as_ptr(&a);
        let p = sync::Arc::into_raw(a);
        unsafe {
            sync::Arc::increment_strong_count(p);
            sync::Arc::decrement_strong_count(p);
            drop(sync::Arc::from_raw(p));
        }
        let _: sync::Arc<i32> = Default::default();
    }
    // Mutex / RwLock / Condvar
    {
        let mut m = sync::Mutex::new(1);
        let _: sync::Mutex<i32> = Default::default();
        let _: sync::Mutex<i32> = 3.into();
        {
            let mut g: sync::MutexGuard<'_, i32> = m.lock().unwrap();
            *g += 1;
            dbg_(&g);
        }
        let r: sync::TryLockResult<sync::MutexGuard<'_, i32>> = m.try_lock();
        drop(r);
        *m.get_mut().unwrap() = 1;
        dbg_(&m);
        let r: sync::LockResult<i32> = m.into_inner();
    }
    {
        let m: &sync::Mutex<[u8]> = &sync::Mutex::new([1u8, 2]);
        m.lock().unwrap()[0] = 1;
        let r: &sync::RwLock<[u8]> = &sync::RwLock::new([1u8]);
        r.write().unwrap()[0] = 1;
    }
    {
        let mut m = sync::RwLock::new(1);
        let _: sync::RwLock<i32> = Default::default();
        let _: sync::RwLock<i32> = 3.into();
        {
            let g: sync::RwLockReadGuard<'_, i32> = m.read().unwrap();
            let _ = *g;
            dbg_(&g);
        }
        {
            let mut g: sync::RwLockWriteGuard<'_, i32> = m.write().unwrap();
            *g = 2;
            dbg_(&g);
        }
        drop(m.try_read());
        drop(m.try_write());
        *m.get_mut().unwrap() = 1;
        dbg_(&m);
        m.into_inner().unwrap();
    }
    {
        let c = sync::Condvar::new();
        let _: sync::Condvar = Default::default();
        c.notify_one();
        c.notify_all();
        dbg_(&c);
        let f = |c: &sync::Condvar, m: &sync::Mutex<i32>| {
            let g = c.wait(m.lock().unwrap()).unwrap();
            let (g, r): (_, sync::WaitTimeoutResult) = c.wait_timeout(g, Duration::from_secs(1)).unwrap();
            r.timed_out();
        };
    }
    {
        let n = sync::Notify::new();
        let _: sync::Notify = Default::default();
        n.notify();
        n.wait();
        dbg_(&n);
    }
    {
        let f = || {
            let b = sync::Barrier::new(2);
            let _: std::sync::BarrierWaitResult = b.wait();
        };
    }
    {
        let (tx, rx): (sync::mpsc::Sender<i32>, sync::mpsc::Receiver<i32>) = sync::mpsc::channel();
        let t2 = tx.clone();
        let r: Result<(), std::sync::mpsc::SendError<i32>> = tx.send(1);
        let r: Result<i32, std::sync::mpsc::TryRecvError> = rx.try_recv();
        tx.send(2).unwrap();
        let r: Result<i32, std::sync::mpsc::RecvError> = rx.recv();
        let f = |rx: sync::mpsc::Receiver<i32>| {
            let r: Result<i32, std::sync::mpsc::RecvTimeoutError> = rx.recv_timeout(Duration::ZERO);
        };
        dbg_(&tx);
        dbg_(&rx);
    }
    // cells
    {
        let c = cell::UnsafeCell::new(1);
        let _: cell::UnsafeCell<i32> = Default::default();
        let _: cell::UnsafeCell<i32> = 1.into();
        c.with(|p: *const i32| unsafe { *p });
        c.with_mut(|p: *mut i32| unsafe { *p = 2 });
        {
            let p: cell::ConstPtr<i32> = c.get();
            unsafe { p.deref() };
            p.with(|q: *const i32| ());
            dbg_(&p);
        }
        {
            let p: cell::MutPtr<i32> = c.get_mut();
            unsafe { *p.deref() = 3 };
            p.with(|q: *mut i32| ());
            dbg_(&p);
        }
        dbg_(&c);
        c.into_inner();
        let u: &cell::UnsafeCell<[u8]> = &cell::UnsafeCell::new([1u8]);
        u.with(|p: *const [u8]| ());
    }
    {
        let c = cell::Cell::new(1);
        let d: cell::Cell<i32> = 2.into();
        let _: cell::Cell<i32> = Default::default();
        c.set(1);
        c.swap(&d);
        c.replace(3);
        let _: i32 = c.get();
        c.take();
        let e = c.clone();
        let _ = c == e;
        let _ = c < e;
        c.cmp(&e);
        dbg_(&c);
        c.into_inner();
    }
    // thread
    {
        let rc = Rc::new(5);
        let h: thread::JoinHandle<Rc<i32>> = thread::spawn(move || rc);
        let t: &thread::Thread = h.thread();
        let id: thread::ThreadId = t.id();
        t.name();
        t.unpark();
        dbg_(t);
        dbg_(&id);
        dbg_(&h);
        let r: std::thread::Result<Rc<i32>> = {
            let h2 = h;
            h2.join()
        };
        let h = thread::Builder::new().name("n".into()).stack_size(1 << 14).spawn(|| 1).unwrap();
        assert_eq!(h.thread().name(), Some("n"));
        h.join().unwrap();
        let c: thread::Thread = thread::current();
        let _ = c.clone();
        c.unpark();
        thread::park();
        thread::yield_now();
        thread::panicking();
        assert!(c.id() == thread::current().id());
        let mut hs = std::collections::HashSet::new();
        hs.insert(c.id());
        T1.with(|v| *v.borrow_mut() += 1);
        let r: Result<usize, thread::AccessError> = T2.try_with(|v| *v);
        let k: &'static thread::LocalKey<usize> = &T2;
        dbg_(k);
        send::<thread::JoinHandle<()>>();
        sync_::<thread::JoinHandle<()>>();
        dbg_(&thread::Builder::new());
    }
    // alloc / hint / lazy_static
    unsafe {
        let l = alloc::Layout::new::<u64>();
        let p = alloc::alloc(l);
        alloc::dealloc(p, l);
        let p = alloc::alloc_zeroed(l);
        alloc::dealloc(p, l);
    }
    {
        let mut t = alloc::Track::new(1);
        t.get_ref();
        *t.get_mut() = 2;
        dbg_(&t);
        t.into_inner();
    }
    hint::spin_loop();
    sync::atomic::spin_loop_hint();
    if false {
        unsafe { hint::unreachable_unchecked() }
    }
    {
        L1.load(SeqCst);
        let _: &'static usize = &*L2;
        let _ = L3.len();
        fn l<T>(x: &'static loom::lazy_static::Lazy<T>)
        where
            T: 'static,
        {
            x.get();
            dbg_(x);
        }
    }
    // future
    {
        let w = future::AtomicWaker::new();
        let _: future::AtomicWaker = Default::default();
        w.wake();
        let _: Option<std::task::Waker> = w.take_waker();
        dbg_(&w);
        assert_eq!(future::block_on(async { 3 }), 3);
        future::block_on(std::future::poll_fn(|cx| {
            w.register_by_ref(cx.waker());
            w.register(cx.waker().clone());
            std::task::Poll::Ready(())
        }));
    }
    // exploration control
    loom::stop_exploring();
    loom::explore();
    loom::skip_branch();
}
#[test]
fn every_item_is_there() {
    let mut b = model::Builder::new();
    let _: model::Builder = Default::default();
    dbg_(&b);
    b.max_threads = 3;
    b.max_branches = 10_000;
    b.max_permutations = None;
    b.max_duration = Some(Duration::from_secs(60));
    b.preemption_bound = Some(1);
    b.checkpoint_file = None;
    b.checkpoint_interval = 1000;
    b.expect_explicit_explore = false;
    b.location = true;
    b.log = false;
    if false {
        b.checkpoint_file("x.json");
    }
    b.check(body);
    loom::model(|| ());
    model::model(|| ());
    println!("api ok");
}
