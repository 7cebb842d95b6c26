//! Objects that come from somewhere else: from an earlier execution, from freed memory, or from under the hands of a thread that
//! is none of the model's.

use dpor::Info;
use sync_shims::model::controller::{FREED, Target};
use sync_shims::model::live;
use sync_shims::model::statics::is_static;

use super::{Engine, Failure, Phase, Site};

impl Engine {
    /// An object that an earlier execution has used was carried over, unless it is a `static`.
    #[inline]
    pub(super) fn check_carried(&self, target: &Target<'_>, info: &'static Info, site: Site) {
        let word = target.slot.get();
        if word != 0 && word >> 24 != self.execution.get() && self.phase.get() == Phase::Running {
            if live::is_marked(word) {
                return self.touched_before(target);
            }
            if word == u64::from_ne_bytes([FREED; 8]) {
                return self.used_after_free(target, info, site);
            }
            self.carried(target, info, site);
        }
    }

    /// An object that somebody has used outside of models before this execution has. It may have been while that ran.
    #[cold]
    #[inline(never)]
    fn touched_before(&self, target: &Target<'_>) {
        let touch = live::touch_of(target.slot, target.created, self.execution.get());
        target.slot.forget();
        // Other tests may use a `static` meanwhile.
        if let Some(touch) = touch
            && is_static(std::ptr::from_ref(target.slot).cast()) == Some(false)
        {
            self.stop(touched_from_outside(&touch));
        }
    }

    /// An object in memory that `alloc::dealloc` has been given: all that is left of it is the filling.
    #[cold]
    #[inline(never)]
    fn used_after_free(&self, target: &Target<'_>, info: &'static Info, site: Site) {
        target.slot.forget();
        self.stop(Failure::Other {
            code: "use_after_free",
            message: format!("`{}::{}` on an object in memory that has been freed", info.family, info.name),
            help: None,
            site: Some(site),
        });
    }

    #[cold]
    #[inline(never)]
    fn carried(&self, target: &Target<'_>, info: &'static Info, site: Site) {
        // Where nothing is known about addresses, every object passes for a `static`.
        if is_static(std::ptr::from_ref(target.slot).cast()) != Some(false) {
            return;
        }
        target.slot.forget();
        self.stop(Failure::Other {
            code: "outside",
            message: format!(
                "`{}::{}` on an object that an earlier execution has used; it was created at {}",
                info.family, info.name, target.created
            ),
            help: Some(
                "every execution must start from the same state: create the object in the body of the model, or make it a \
                 `static`"
                    .to_owned(),
            ),
            site: Some(site),
        });
    }
}

/// A thread that is none of the model's has used an object of it.
pub(super) fn touched_from_outside(touch: &live::Touch) -> Failure {
    let who = "by an OS thread that is not one of the model's";
    Failure::Other {
        code: "outside",
        message: match touch.object {
            Some((info, created)) => {
                format!("`{}::{}` {who}, on an object of it that was created at {created}", info.family, info.name)
            }
            None => format!("use of a file or socket of the model {who}"),
        },
        help: Some(
            "start threads with `interleave::thread` (or `sync_shims::thread`) instead of `std::thread`: nobody else may use \
             the objects of a model while it runs"
                .to_owned(),
        ),
        site: Some(touch.site),
    }
}
