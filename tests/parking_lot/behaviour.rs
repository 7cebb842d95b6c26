// What the types do in one thread. Every function is run with the real crate, with the shims outside a model, and in a model
// of one thread.

use std::cell::Cell;
use time::{Duration, Instant};

use lib::lock_api::{GetThreadId, RawMutex as _, RawMutexFair, RawMutexTimed};
use lib::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
    Condvar, FairMutex, FairMutexGuard, MappedMutexGuard, MappedReentrantMutexGuard, MappedRwLockReadGuard,
    MappedRwLockWriteGuard, Mutex, MutexGuard, Once, OnceState, RawMutex, RawThreadId, ReentrantMutex,
    ReentrantMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, const_mutex,
};

use crate::panic_message;

const SOON: Duration = Duration::from_millis(1);

fn past() -> Instant {
    Instant::now()
}

cases! {
    fn a_mutex_is_held_by_one() {
        let mut mutex = Mutex::new(vec![1]);
        assert!(!mutex.is_locked());
        let mut guard = mutex.lock();
        guard.push(2);
        assert!(mutex.is_locked());
        assert!(mutex.try_lock().is_none());
        assert!(mutex.try_lock_for(SOON).is_none());
        assert!(mutex.try_lock_until(past()).is_none());
        assert!(std::ptr::eq(MutexGuard::mutex(&guard), &mutex));
        drop(guard);
        mutex.try_lock().unwrap().push(3);
        mutex.try_lock_for(SOON).unwrap().push(4);
        mutex.try_lock_until(past()).unwrap().push(5);
        mutex.get_mut().push(6);
        assert_eq!(mutex.into_inner(), [1, 2, 3, 4, 5, 6]);
    }

    fn panics_poison_nothing() {
        let mutex = Mutex::new(1);
        let lock = RwLock::new(1);
        panic_message(|| {
            let mut held = (mutex.lock(), lock.write());
            *held.0 = 2;
            *held.1 = 2;
            panic!("with the locks held");
        });
        assert_eq!((*mutex.lock(), *lock.read()), (2, 2));
    }

    fn mutex_guards_give_the_lock_away_for_a_while() {
        let mutex = Mutex::new(0);
        let mut guard = mutex.lock();
        let seen = MutexGuard::unlocked(&mut guard, || {
            *mutex.lock() += 1;
            mutex.is_locked()
        });
        assert!(!seen);
        MutexGuard::unlocked_fair(&mut guard, || *mutex.try_lock().unwrap() += 1);
        MutexGuard::bump(&mut guard);
        assert!(mutex.is_locked());
        panic_message(|| MutexGuard::unlocked(&mut guard, || panic!("without the lock")));
        assert!(mutex.is_locked());
        *guard += 1;
        MutexGuard::unlock_fair(guard);
        assert!(!mutex.is_locked());
        assert_eq!(*mutex.lock(), 3);
    }

    fn mapped_mutex_guards() {
        let mutex = Mutex::new((1, 2));
        let mut mapped: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
        *mapped = 3;
        assert!(mutex.is_locked());
        drop(mapped);
        assert!(!mutex.is_locked());
        let guard = MutexGuard::try_map(mutex.lock(), |_| None::<&mut i32>).err().unwrap();
        let (guard, error) = MutexGuard::try_map_or_err(guard, |_| Err::<&mut i32, _>('e')).err().unwrap();
        assert_eq!((*guard, error), ((3, 2), 'e'));
        let mapped = MutexGuard::try_map_or_err(guard, |pair| Ok::<_, ()>(&mut pair.1)).ok().unwrap();
        let mapped = MappedMutexGuard::try_map(mapped, |_| None::<&mut i32>).err().unwrap();
        let (mapped, ()) = MappedMutexGuard::try_map_or_err(mapped, |_| Err::<&mut i32, _>(())).err().unwrap();
        let mapped = MappedMutexGuard::map(mapped, |value| value);
        assert_eq!(format!("{mapped} {mapped:?}"), "2 2");
        MappedMutexGuard::unlock_fair(mapped);
        assert!(!mutex.is_locked());
    }

    fn locks_without_guards() {
        let mutex = Mutex::new(1);
        std::mem::forget(mutex.lock());
        assert!(mutex.is_locked());
        // SAFETY: 1. It is held, and the guards are forgotten.
        unsafe {
            mutex.force_unlock();
            assert!(!mutex.is_locked());
            mutex.raw().lock();
            assert!(mutex.try_lock().is_none());
            *mutex.data_ptr() = 2;
            assert_eq!(*mutex.make_guard_unchecked(), 2);
            assert!(!mutex.is_locked());
            std::mem::forget(mutex.lock());
            mutex.force_unlock_fair();
        }
        *MutexGuard::leak(mutex.lock()) = 3;
        assert!(mutex.is_locked());
        assert_eq!(mutex.into_inner(), 3);
    }

    fn an_owner_leaves_the_lock_as_it_is() {
        let mut mutex = Mutex::new(1);
        std::mem::forget(mutex.lock());
        *mutex.get_mut() += 1;
        assert!(mutex.is_locked() && mutex.try_lock().is_none());
        let mut lock = RwLock::new(1);
        std::mem::forget(lock.read());
        *lock.get_mut() += 1;
        assert!(lock.try_write().is_none() && lock.try_read().is_some());
    }

    fn raw_mutexes() {
        let raw = RawMutex::INIT;
        raw.lock();
        assert!(raw.is_locked() && !raw.try_lock() && !raw.try_lock_for(SOON) && !raw.try_lock_until(past()));
        // SAFETY: 1. It is held.
        unsafe {
            raw.bump();
            raw.unlock_fair();
        }
        assert!(raw.try_lock());
        // SAFETY: 1. It is held.
        unsafe { raw.unlock() };
    }

    fn arc_mutex_guards() {
        let mutex = Arc::new(Mutex::new(1));
        let mut guard: ArcMutexGuard<RawMutex, i32> = mutex.lock_arc();
        *guard += 1;
        assert!(mutex.try_lock_arc().is_none());
        assert!(mutex.try_lock_arc_for(SOON).is_none() && mutex.try_lock_arc_until(past()).is_none());
        assert!(Arc::ptr_eq(ArcMutexGuard::mutex(&guard), &mutex));
        ArcMutexGuard::unlocked(&mut guard, || *mutex.lock() += 1);
        ArcMutexGuard::unlocked_fair(&mut guard, || *mutex.lock() += 1);
        ArcMutexGuard::bump(&mut guard);
        let mut same = ArcMutexGuard::into_arc(guard);
        assert!(!same.is_locked());
        same = ArcMutexGuard::into_arc_fair(same.try_lock_arc().unwrap());
        ArcMutexGuard::unlock_fair(Mutex::lock_arc(&same));
        drop(Mutex::try_lock_arc_for(&same, SOON).unwrap());
        drop(mutex);
        assert_eq!(Arc::try_unwrap(same).ok().unwrap().into_inner(), 4);
    }

    fn fair_mutexes() {
        let mutex = FairMutex::new(1);
        let mut guard = mutex.lock();
        assert!(mutex.is_locked() && mutex.try_lock().is_none() && mutex.try_lock_for(SOON).is_none());
        FairMutexGuard::bump(&mut guard);
        let mapped = FairMutexGuard::map(guard, |value| value);
        drop(mapped);
        FairMutexGuard::unlock_fair(mutex.lock());
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 1 }");
    }

    fn a_reentrant_mutex_is_held_by_one_thread() {
        let mutex = ReentrantMutex::new(Cell::new(0));
        assert!(!mutex.is_owned_by_current_thread());
        let outer = mutex.lock();
        let mut inner = mutex.try_lock().unwrap();
        let third = mutex.try_lock_for(SOON).unwrap();
        drop(mutex.try_lock_until(past()).unwrap());
        third.set(1);
        assert!(mutex.is_locked() && mutex.is_owned_by_current_thread());
        drop(third);
        ReentrantMutexGuard::bump(&mut inner);
        assert!(mutex.is_owned_by_current_thread());
        drop(outer);
        assert!(mutex.is_locked() && mutex.is_owned_by_current_thread());
        ReentrantMutexGuard::bump(&mut inner);
        let owned = ReentrantMutexGuard::unlocked(&mut inner, || mutex.is_locked() || mutex.is_owned_by_current_thread());
        assert!(!owned && mutex.is_locked() && mutex.is_owned_by_current_thread());
        ReentrantMutexGuard::unlocked_fair(&mut inner, || assert!(!mutex.is_locked()));
        assert!(std::ptr::eq(ReentrantMutexGuard::remutex(&inner), &mutex));
        ReentrantMutexGuard::unlock_fair(inner);
        assert!(!mutex.is_locked());
        assert_eq!(mutex.into_inner().get(), 1);
    }

    fn mapped_and_arc_guards_of_reentrant_mutexes() {
        let mutex = Arc::new(ReentrantMutex::new((1, 2)));
        let outer = mutex.lock();
        let guard = ReentrantMutexGuard::try_map(mutex.lock(), |_| None::<&i32>).err().unwrap();
        let (guard, ()) = ReentrantMutexGuard::try_map_or_err(guard, |_| Err::<&i32, _>(())).err().unwrap();
        let mapped: MappedReentrantMutexGuard<'_, i32> = ReentrantMutexGuard::map(guard, |pair| &pair.1);
        drop(outer);
        assert!(mutex.is_locked());
        let mapped = MappedReentrantMutexGuard::try_map(mapped, |_| None::<&i32>).err().unwrap();
        let (mapped, ()) = MappedReentrantMutexGuard::try_map_or_err(mapped, |_| Err::<&i32, _>(())).err().unwrap();
        assert_eq!(format!("{mapped} {mapped:?}"), "2 2");
        MappedReentrantMutexGuard::unlock_fair(MappedReentrantMutexGuard::map(mapped, |value| value));
        assert!(!mutex.is_locked());

        let mut guard: ArcReentrantMutexGuard<RawMutex, RawThreadId, _> = mutex.lock_arc();
        drop((mutex.try_lock_arc().unwrap(), mutex.try_lock_arc_for(SOON).unwrap()));
        assert_eq!(guard.0, 1);
        ArcReentrantMutexGuard::unlocked(&mut guard, || assert!(!mutex.is_locked()));
        ArcReentrantMutexGuard::bump(&mut guard);
        let same = ArcReentrantMutexGuard::into_arc(guard);
        assert!(Arc::ptr_eq(&same, &mutex) && !mutex.is_locked());
        // SAFETY: 1. It is held, and the guard is forgotten.
        unsafe {
            std::mem::forget(mutex.lock());
            drop(mutex.make_arc_guard_unchecked());
            std::mem::forget(mutex.lock());
            mutex.force_unlock();
        }
        assert!(!mutex.is_locked());
    }

    fn threads_have_numbers() {
        let number = RawThreadId::INIT.nonzero_thread_id();
        assert_eq!(RawThreadId.nonzero_thread_id(), number);
    }

    fn readers_share_and_a_writer_is_alone() {
        let mut lock = RwLock::new(1);
        let readers = (lock.read(), lock.try_read().unwrap(), lock.read_recursive(), lock.try_read_recursive().unwrap());
        let timed = (lock.try_read_for(SOON).unwrap(), lock.try_read_until(past()).unwrap());
        let recursive = (lock.try_read_recursive_for(SOON).unwrap(), lock.try_read_recursive_until(past()).unwrap());
        assert!(lock.is_locked() && !lock.is_locked_exclusive());
        assert!(lock.try_write().is_none() && lock.try_write_for(SOON).is_none() && lock.try_write_until(past()).is_none());
        assert!(lock.try_read().is_some());
        assert!(std::ptr::eq(RwLockReadGuard::rwlock(&readers.0), &lock));
        drop((readers, timed, recursive));
        let mut writer = lock.write();
        *writer += 1;
        assert!(lock.is_locked() && lock.is_locked_exclusive());
        assert!(lock.try_write().is_none() && lock.try_read().is_none() && lock.try_read_recursive().is_none());
        assert!(lock.try_read_for(SOON).is_none() && lock.try_read_recursive_for(SOON).is_none());
        assert!(lock.try_read_until(past()).is_none() && lock.try_read_recursive_until(past()).is_none());
        assert!(lock.try_upgradable_read().is_none() && lock.try_upgradable_read_for(SOON).is_none());
        assert!(std::ptr::eq(RwLockWriteGuard::rwlock(&writer), &lock));
        drop(writer);
        *lock.try_write().unwrap() += 1;
        *lock.try_write_for(SOON).unwrap() += 1;
        *lock.try_write_until(past()).unwrap() += 1;
        *lock.get_mut() += 1;
        assert_eq!(lock.into_inner(), 6);
    }

    fn an_upgradable_reader_keeps_writers_out() {
        let lock = RwLock::new(1);
        let upgradable = lock.upgradable_read();
        assert!(lock.is_locked() && !lock.is_locked_exclusive());
        assert!(lock.try_upgradable_read().is_none() && lock.try_upgradable_read_for(SOON).is_none());
        assert!(lock.try_upgradable_read_until(past()).is_none() && lock.try_write().is_none());
        assert!(lock.try_write_for(SOON).is_none() && lock.try_read().is_some());
        assert!(std::ptr::eq(RwLockUpgradableReadGuard::rwlock(&upgradable), &lock));
        let reader = lock.read();
        let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).err().unwrap();
        let upgradable = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SOON).err().unwrap();
        let mut upgradable = RwLockUpgradableReadGuard::try_upgrade_until(upgradable, past()).err().unwrap();
        assert!(upgradable.try_with_upgraded(|_| ()).is_none());
        assert!(upgradable.try_with_upgraded_for(SOON, |_| ()).is_none());
        assert!(upgradable.try_with_upgraded_until(past(), |_| ()).is_none());
        assert!(!lock.is_locked_exclusive() && lock.try_read().is_some() && lock.try_upgradable_read().is_none());
        drop(reader);
        assert_eq!(upgradable.with_upgraded(|value| { *value += 1; lock.is_locked_exclusive() }), true);
        assert_eq!(upgradable.try_with_upgraded(|value| *value += 1), Some(()));
        assert_eq!(upgradable.try_with_upgraded_for(SOON, |value| *value += 1), Some(()));
        assert_eq!(upgradable.try_with_upgraded_until(past(), |value| *value += 1), Some(()));
        assert!(!lock.is_locked_exclusive() && lock.try_upgradable_read().is_none());
        panic_message(|| upgradable.with_upgraded(|_| panic!("as a writer")));
        assert!(!lock.is_locked_exclusive() && lock.try_upgradable_read().is_none());
        let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
        *writer += 1;
        assert!(lock.is_locked_exclusive());
        drop(writer);
        for upgrade in [
            |guard| RwLockUpgradableReadGuard::try_upgrade(guard),
            |guard| RwLockUpgradableReadGuard::try_upgrade_for(guard, SOON),
            |guard| RwLockUpgradableReadGuard::try_upgrade_until(guard, past()),
        ] {
            *upgrade(lock.upgradable_read()).unwrap() += 1;
        }
        assert!(!lock.is_locked());
        assert_eq!(*lock.try_upgradable_read_until(past()).unwrap(), 9);
    }

    fn ways_down() {
        let lock = RwLock::new(1);
        let reader = RwLockWriteGuard::downgrade(lock.write());
        assert!(!lock.is_locked_exclusive() && lock.try_read().is_some() && lock.try_write().is_none());
        drop(reader);
        assert!(!lock.is_locked());
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(lock.write());
        assert!(lock.try_upgradable_read().is_none() && lock.try_read().is_some());
        let reader = RwLockUpgradableReadGuard::downgrade(upgradable);
        assert!(lock.try_upgradable_read().is_some() && lock.try_write().is_none());
        drop(reader);
        assert!(!lock.is_locked());
    }

    fn guards_of_readers_and_writers_give_the_lock_away_for_a_while() {
        let lock = RwLock::new(1);
        let mut reader = lock.read();
        RwLockReadGuard::unlocked(&mut reader, || *lock.write() += 1);
        RwLockReadGuard::unlocked_fair(&mut reader, || *lock.write() += 1);
        RwLockReadGuard::bump(&mut reader);
        assert_eq!(*reader, 3);
        RwLockReadGuard::unlock_fair(reader);
        let mut writer = lock.write();
        RwLockWriteGuard::unlocked(&mut writer, || *lock.write() += 1);
        RwLockWriteGuard::unlocked_fair(&mut writer, || *lock.write() += 1);
        RwLockWriteGuard::bump(&mut writer);
        assert!(lock.is_locked_exclusive());
        RwLockWriteGuard::unlock_fair(writer);
        let mut upgradable = lock.upgradable_read();
        RwLockUpgradableReadGuard::unlocked(&mut upgradable, || *lock.write() += 1);
        RwLockUpgradableReadGuard::unlocked_fair(&mut upgradable, || *lock.write() += 1);
        RwLockUpgradableReadGuard::bump(&mut upgradable);
        assert_eq!(*upgradable, 7);
        RwLockUpgradableReadGuard::unlock_fair(upgradable);
        assert!(!lock.is_locked());
    }

    fn mapped_guards_of_readers_and_writers() {
        let lock = RwLock::new((1, 2));
        let guard = RwLockReadGuard::try_map(lock.read(), |_| None::<&i32>).err().unwrap();
        let (guard, ()) = RwLockReadGuard::try_map_or_err(guard, |_| Err::<&i32, _>(())).err().unwrap();
        let mapped: MappedRwLockReadGuard<'_, i32> = RwLockReadGuard::map(guard, |pair| &pair.1);
        let mapped = MappedRwLockReadGuard::try_map(mapped, |_| None::<&i32>).err().unwrap();
        let (mapped, ()) = MappedRwLockReadGuard::try_map_or_else(mapped, |_| Err::<&i32, _>(())).err().unwrap();
        assert_eq!(format!("{mapped} {mapped:?}"), "2 2");
        assert!(lock.try_read().is_some() && lock.try_write().is_none());
        MappedRwLockReadGuard::unlock_fair(MappedRwLockReadGuard::map(mapped, |value| value));
        let guard = RwLockWriteGuard::try_map(lock.write(), |_| None::<&mut i32>).err().unwrap();
        let (guard, ()) = RwLockWriteGuard::try_map_or_err(guard, |_| Err::<&mut i32, _>(())).err().unwrap();
        let mapped: MappedRwLockWriteGuard<'_, i32> = RwLockWriteGuard::map(guard, |pair| &mut pair.1);
        let mapped = MappedRwLockWriteGuard::try_map(mapped, |_| None::<&mut i32>).err().unwrap();
        let (mut mapped, ()) = MappedRwLockWriteGuard::try_map_or_err(mapped, |_| Err::<&mut i32, _>(())).err().unwrap();
        *mapped += 1;
        assert_eq!(format!("{mapped} {mapped:?}"), "3 3");
        MappedRwLockWriteGuard::unlock_fair(MappedRwLockWriteGuard::map(mapped, |value| value));
        assert!(!lock.is_locked());
    }

    fn arc_guards_of_readers_and_writers() {
        let lock = Arc::new(RwLock::new(1));
        let mut reader: ArcRwLockReadGuard<_, i32> = lock.read_arc();
        drop((lock.try_read_arc().unwrap(), lock.read_arc_recursive(), lock.try_read_recursive_arc().unwrap()));
        drop((lock.try_read_arc_for(SOON).unwrap(), lock.try_read_arc_until(past()).unwrap()));
        drop((lock.try_read_arc_recursive_for(SOON).unwrap(), lock.try_read_arc_recursive_until(past()).unwrap()));
        assert!(lock.try_write_arc().is_none() && lock.try_write_arc_for(SOON).is_none());
        ArcRwLockReadGuard::unlocked(&mut reader, || *lock.write() += 1);
        ArcRwLockReadGuard::bump(&mut reader);
        assert_eq!(format!("{reader} {reader:?}"), "2 2");
        drop(ArcRwLockReadGuard::into_arc(reader));
        let mut writer: ArcRwLockWriteGuard<_, i32> = lock.write_arc();
        *writer += 1;
        assert!(lock.try_read_arc().is_none() && lock.try_upgradable_read_arc().is_none());
        ArcRwLockWriteGuard::unlocked(&mut writer, || *lock.write() += 1);
        assert_eq!(format!("{writer} {writer:?}"), "4 4");
        drop(ArcRwLockWriteGuard::downgrade(writer));
        let upgradable = ArcRwLockWriteGuard::downgrade_to_upgradable(lock.try_write_arc_until(past()).unwrap());
        let mut upgradable: ArcRwLockUpgradableReadGuard<_, i32> = upgradable;
        upgradable.with_upgraded(|value| *value += 1);
        assert_eq!(format!("{upgradable} {upgradable:?}"), "5 5");
        let writer = ArcRwLockUpgradableReadGuard::upgrade(upgradable);
        ArcRwLockWriteGuard::unlock_fair(writer);
        let reader = lock.read_arc();
        let upgradable = ArcRwLockUpgradableReadGuard::try_upgrade(lock.upgradable_read_arc()).err().unwrap();
        let mut upgradable = ArcRwLockUpgradableReadGuard::try_upgrade_for(upgradable, SOON).err().unwrap();
        assert!(upgradable.try_with_upgraded(|_| ()).is_none());
        assert!(upgradable.try_with_upgraded_until(past(), |_| ()).is_none());
        drop((reader, ArcRwLockUpgradableReadGuard::downgrade(upgradable)));
        drop((lock.try_upgradable_read_arc().unwrap(), RwLock::try_upgradable_read_arc_for(&lock, SOON)));
        // SAFETY: 1. It is held, and the guards are forgotten.
        unsafe {
            std::mem::forget(lock.read());
            drop(lock.make_arc_read_guard_unchecked());
            std::mem::forget(lock.write());
            drop(lock.make_arc_write_guard_unchecked());
            std::mem::forget(lock.upgradable_read());
            drop(lock.make_upgradable_arc_guard_unchecked());
            std::mem::forget(lock.read());
            lock.force_unlock_read();
            std::mem::forget(lock.write());
            lock.force_unlock_write_fair();
            assert_eq!(*lock.data_ptr(), 5);
        }
        assert!(!lock.is_locked());
        assert_eq!(Arc::try_unwrap(lock).ok().unwrap().into_inner(), 5);
    }

    fn debug_output() {
        let (mutex, reentrant, lock) = (Mutex::new(5), ReentrantMutex::new(5), RwLock::new(5));
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 5 }");
        let guard = mutex.lock();
        assert_eq!(format!("{mutex:?} {guard:?} {guard}"), "Mutex { data: <locked> } 5 5");
        let guard = reentrant.lock();
        assert_eq!(format!("{reentrant:?} {guard:?} {guard}"), "ReentrantMutex { data: 5 } 5 5");
        let guard = lock.upgradable_read();
        assert_eq!(format!("{lock:?} {guard:?} {guard}"), "RwLock { data: 5 } 5 5");
        let guard = RwLockUpgradableReadGuard::upgrade(guard);
        assert_eq!(format!("{lock:?} {guard:?} {guard}"), "RwLock { data: <locked> } 5 5");
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(format!("{lock:#?} {guard:?} {guard}"), "RwLock {\n    data: 5,\n} 5 5");
        assert_eq!(format!("{:?}", Condvar::new()), "Condvar { .. }");
        assert_eq!(format!("{:?} {:?}", Once::new(), OnceState::InProgress), "Once { state: New } InProgress");
    }

    fn unsized_values() {
        let mutex: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
        mutex.lock()[1] = 7;
        assert_eq!(*mutex.lock(), [1, 7, 3]);
        let mut lock: Box<RwLock<dyn std::fmt::Debug + Send>> = Box::new(RwLock::new(5));
        assert_eq!(format!("{:?}", &*lock.read()), "5");
        assert_eq!(format!("{:?}", &*lock.write()), "5");
        assert_eq!(format!("{:?}", lock.get_mut()), "5");
        let changed = Condvar::new();
        assert!(changed.wait_for(&mut mutex.lock(), SOON).timed_out());
    }

    fn defaults() {
        assert_eq!((Mutex::<u8>::default().into_inner(), Mutex::from(4).into_inner()), (0, 4));
        assert_eq!((RwLock::<u8>::default().into_inner(), RwLock::from(4).into_inner()), (0, 4));
        assert_eq!((ReentrantMutex::<u8>::default().into_inner(), ReentrantMutex::from(4).into_inner()), (0, 4));
    }

    fn nobody_to_notify() {
        let changed = Condvar::default();
        assert_eq!((changed.notify_one(), changed.notify_all()), (false, 0));
        let mutex = Mutex::new(3);
        let mut guard = mutex.lock();
        assert!(changed.wait_for(&mut guard, SOON).timed_out());
        assert!(changed.wait_until(&mut guard, past()).timed_out());
        assert!(changed.wait_while_for(&mut guard, |_| true, SOON).timed_out());
        assert!(changed.wait_while_until(&mut guard, |_| true, past()).timed_out());
        assert!(!changed.wait_while_for(&mut guard, |value| *value != 3, SOON).timed_out());
        assert!(!changed.wait_while_until(&mut guard, |value| *value != 3, past()).timed_out());
        changed.wait_while(&mut guard, |value| std::mem::replace(value, 4) != 3);
        assert!(mutex.is_locked() && *guard == 4);
        assert_eq!((changed.notify_one(), changed.notify_all()), (false, 0));
        // It may be used with another mutex now.
        assert!(changed.wait_for(&mut const_mutex(()).lock(), SOON).timed_out());
    }

    fn once() {
        let once = Once::new();
        let calls = Cell::new(0);
        assert_eq!(once.state(), OnceState::New);
        once.call_once(|| {
            assert_eq!(once.state(), OnceState::InProgress);
            calls.set(calls.get() + 1);
        });
        once.call_once(|| calls.set(calls.get() + 1));
        once.call_once_force(|_| calls.set(calls.get() + 1));
        assert_eq!((calls.get(), once.state()), (1, OnceState::Done));
        assert!(once.state().done() && !once.state().poisoned());
    }

    fn once_after_a_panic() {
        let once = Once::new();
        panic_message(|| once.call_once(|| panic!("in the closure")));
        assert_eq!(once.state(), OnceState::Poisoned);
        assert_eq!(panic_message(|| once.call_once(|| ())), "Once instance has previously been poisoned");
        panic_message(|| once.call_once_force(|_| panic!("again")));
        let mut seen = None;
        once.call_once_force(|state| seen = Some(state));
        assert!(once.state().done());
        once.call_once(|| unreachable!());
        assert_eq!(seen, Some(OnceState::Poisoned));
    }
}
