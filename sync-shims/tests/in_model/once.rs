use std::panic::{AssertUnwindSafe, catch_unwind};

use sync_shims::model::sync::{LazyLock, Once, OnceLock, RwLock};

use crate::controller::{Failed, Fake};

#[test]
fn initialisation_is_two_operations() {
    let model = Fake::new();
    model.run(|| {
        let once = Once::new();
        once.call_once(|| ());
        once.call_once(|| unreachable!());
        assert!(once.is_completed());
        once.wait();
        let lock = OnceLock::new();
        assert_eq!((lock.get(), *lock.get_or_init(|| 1), lock.set(2), lock.wait()), (None, 1, Err(2), &1));
        assert_eq!(lock.into_inner(), Some(1));
        let lazy = LazyLock::new(|| 3);
        assert_eq!((*lazy, LazyLock::get(&lazy)), (3, Some(&3)));
    });
    assert_eq!(
        model.log(),
        [
            "t0 Once::call_once of 0",
            "t0 Once::initialized of 0",
            "t0 Once::call_once of 0",
            "t0 Once::is_completed of 0",
            "t0 Once::wait of 0",
            "t0 OnceLock::get of 1",
            "t0 OnceLock::get_or_init of 1",
            "t0 OnceLock::initialized of 1",
            "t0 OnceLock::get_or_init of 1",
            "t0 OnceLock::wait of 1",
            "t0 exclusive get_mut",
            "t0 LazyLock::force of 2",
            "t0 LazyLock::initialized of 2",
            "t0 LazyLock::get of 2",
        ]
    );
}

#[test]
fn panics_poison() {
    Fake::new().run(|| {
        let once = Once::new();
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("in it")))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| once.wait())).is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.call_once(|| ());
        let lock = OnceLock::new();
        assert!(catch_unwind(AssertUnwindSafe(|| _ = lock.get_or_init(|| panic!("in it")))).is_err());
        assert_eq!(*lock.get_or_init(|| 1), 1);
        let lazy: LazyLock<u8> = LazyLock::new(|| panic!("in it"));
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
    });
}

#[test]
fn whoever_waits_for_itself_is_blocked() {
    for (i, body) in [(|| Once::new().wait()) as fn(), || {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    }]
    .into_iter()
    .enumerate()
    {
        let payload = catch_unwind(|| Fake::new().run(body)).unwrap_err();
        assert_eq!(payload.downcast_ref::<Failed>().unwrap().0, "blocked", "{i}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "statics are not known under Miri")]
fn statics_are_initialised_in_every_execution() {
    static ONCE: Once = Once::new();
    static LOCK: OnceLock<String> = OnceLock::new();
    static LAZY: LazyLock<Vec<String>> = LazyLock::new(|| vec!["made".into()]);
    static OUTSIDE: OnceLock<String> = OnceLock::new();
    static LIST: RwLock<Vec<String>> = RwLock::new(Vec::new());
    OUTSIDE.set("outside".into()).unwrap();
    for _ in 0..3 {
        Fake::new().run(|| {
            let mut called = false;
            ONCE.call_once(|| called = true);
            assert!(called);
            assert_eq!(LOCK.set("set".into()), Ok(()));
            assert_eq!(LazyLock::get(&LAZY), None);
            assert_eq!(*LAZY, ["made"]);
            assert_eq!(OUTSIDE.get().unwrap(), "outside");
            assert!(LIST.read().unwrap().is_empty());
            LIST.write().unwrap().push("a".into());
        });
    }
    assert!(!ONCE.is_completed());
    assert_eq!((LOCK.get(), LazyLock::get(&LAZY)), (None, None));
    assert_eq!((LAZY.len(), LIST.read().unwrap().len()), (1, 0));
    assert_eq!(OUTSIDE.get().unwrap(), "outside");
    Fake::new().run(|| assert!(LazyLock::get(&LAZY).is_some()));
}
