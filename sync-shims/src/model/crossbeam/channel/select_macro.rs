//! `select!` and `select_biased!`: they write out what one would do with a [`Select`](super::Select) by hand.

/// Stands in for [`crossbeam_channel::select!`]: the same syntax.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_crossbeam_select {
    ($($tokens:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@start new ($($tokens)*))
    };
}

/// Stands in for [`crossbeam_channel::select_biased!`]: the same syntax.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_crossbeam_select_biased {
    ($($tokens:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@start new_biased ($($tokens)*))
    };
}

/// The work of `select!`, in three steps.
///
/// 1. `@case` takes the cases apart, one at a time, into `[kind (arguments) (pattern) (body)]`. The case `default` goes to a list
///    of its own.
/// 2. `@add` adds the operations to the selection, each within a `match` that keeps its handle alive; the names `handle` and
///    `index` are different ones each time.
/// 3. `@run` selects, and `@complete` completes what was selected.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_crossbeam_select_cases {
    (@start $new:ident ()) => {
        ::core::compile_error!("empty `select!` block")
    };
    (@start $new:ident ($($tokens:tt)*)) => {
        $crate::__model_crossbeam_select_cases!(@case $new [] [] $($tokens)*)
    };

    // All cases have been taken apart.
    (@case $new:ident [$($cases:tt)*] [$($default:tt)*]) => {{
        #[allow(unused_mut)]
        let mut select = $crate::model::crossbeam::channel::Select::$new();
        $crate::__model_crossbeam_select_cases!(@add select [$($cases)*] [] [$($default)*])
    }};

    // Leave out the commas between cases.
    (@case $new:ident $cases:tt $default:tt , $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@case $new $cases $default $($rest)*)
    };

    (@case $new:ident $cases:tt [] default => $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@body $new $cases [] default () (_) $($rest)*)
    };
    (@case $new:ident $cases:tt [] default($($timeout:expr $(,)?)?) => $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@body $new $cases [] default ($($timeout)?) (_) $($rest)*)
    };
    (@case $new:ident $cases:tt [$($default:tt)+] default $($rest:tt)*) => {
        ::core::compile_error!("there can be only one `default` case in a `select!` block")
    };
    (@case $new:ident $cases:tt $default:tt default $($rest:tt)*) => {
        ::core::compile_error!("expected `default => ...` or `default(timeout) => ...`")
    };

    (@case $new:ident $cases:tt $default:tt recv($receiver:expr $(,)?) -> $result:pat => $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@body $new $cases $default recv ($receiver) ($result) $($rest)*)
    };
    (@case $new:ident $cases:tt $default:tt send($sender:expr, $message:expr $(,)?) -> $result:pat => $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@body $new $cases $default send ($sender, $message) ($result) $($rest)*)
    };
    (@case $new:ident $cases:tt $default:tt recv $($rest:tt)*) => {
        ::core::compile_error!("expected `recv(receiver) -> result => ...`")
    };
    (@case $new:ident $cases:tt $default:tt send $($rest:tt)*) => {
        ::core::compile_error!("expected `send(sender, message) -> result => ...`")
    };
    (@case $new:ident $cases:tt $default:tt $($rest:tt)*) => {
        ::core::compile_error!("expected `recv(...) -> result => ...`, `send(...) -> result => ...` or `default => ...`")
    };

    // What follows the arrow: a block, an expression and a comma, or the last expression.
    (@body $new:ident $cases:tt $default:tt $kind:ident $args:tt $pattern:tt { $($body:tt)* }, $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(
            @file $new $cases $default $kind $args $pattern ({ $($body)* }) $($rest)*
        )
    };
    (@body $new:ident $cases:tt $default:tt $kind:ident $args:tt $pattern:tt $body:expr, $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@file $new $cases $default $kind $args $pattern ($body) $($rest)*)
    };
    (@body $new:ident $cases:tt $default:tt $kind:ident $args:tt $pattern:tt { $($body:tt)* } $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(
            @file $new $cases $default $kind $args $pattern ({ $($body)* }) $($rest)*
        )
    };
    (@body $new:ident $cases:tt $default:tt $kind:ident $args:tt $pattern:tt $body:expr) => {
        $crate::__model_crossbeam_select_cases!(@file $new $cases $default $kind $args $pattern ($body))
    };

    (@file $new:ident $cases:tt $default:tt default $args:tt $pattern:tt $body:tt $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(@case $new $cases [$args $body] $($rest)*)
    };
    (@file $new:ident [$($cases:tt)*] $default:tt $kind:ident $args:tt $pattern:tt $body:tt $($rest:tt)*) => {
        $crate::__model_crossbeam_select_cases!(
            @case $new [$($cases)* [$kind $args $pattern $body]] $default $($rest)*
        )
    };

    (@add $select:ident [[recv ($receiver:expr) $pattern:tt $body:tt] $($cases:tt)*] [$($added:tt)*] $default:tt) => {
        match $receiver {
            ref handle => {
                let handle: &$crate::model::crossbeam::channel::Receiver<_> = handle;
                let index = $select.recv(handle);
                $crate::__model_crossbeam_select_cases!(
                    @add $select [$($cases)*] [$($added)* [index recv (handle) $pattern $body]] $default
                )
            }
        }
    };
    (@add $select:ident [[send ($sender:expr, $message:expr) $pattern:tt $body:tt] $($cases:tt)*] [$($added:tt)*] $default:tt) => {
        match $sender {
            ref handle => {
                let handle: &$crate::model::crossbeam::channel::Sender<_> = handle;
                let index = $select.send(handle);
                $crate::__model_crossbeam_select_cases!(
                    @add $select [$($cases)*] [$($added)* [index send (handle, $message) $pattern $body]] $default
                )
            }
        }
    };
    // What was selected may no longer borrow its handle when the body runs, which may use it up: its destructor would.
    (@add $select:ident [] $added:tt []) => {{
        let selected = $select.select();
        // SAFETY: 1. It is completed within the `match` that keeps the handle alive, before anything else happens.
        let selected = unsafe { selected.__unbound() };
        $crate::__model_crossbeam_select_cases!(@complete selected $added)
    }};
    (@add $select:ident [] $added:tt [() ($default:expr)]) => {
        match $select.try_select().map(|selected| unsafe { selected.__unbound() }) {
            ::core::result::Result::Err(_) => $default,
            ::core::result::Result::Ok(selected) => {
                $crate::__model_crossbeam_select_cases!(@complete selected $added)
            }
        }
    };
    (@add $select:ident [] $added:tt [($timeout:expr) ($default:expr)]) => {
        match $select.select_timeout($timeout).map(|selected| unsafe { selected.__unbound() }) {
            ::core::result::Result::Err(_) => $default,
            ::core::result::Result::Ok(selected) => {
                $crate::__model_crossbeam_select_cases!(@complete selected $added)
            }
        }
    };

    (@complete $selected:ident []) => {{
        let _ = $selected;
        ::core::unreachable!("one of the operations was selected")
    }};
    (@complete $selected:ident [[$index:ident $kind:ident ($handle:ident $(, $message:expr)?) ($pattern:pat) ($body:expr)] $($rest:tt)*]) => {
        if $selected.index() == $index {
            let $pattern = $selected.$kind($handle $(, $message)?);
            $body
        } else {
            $crate::__model_crossbeam_select_cases!(@complete $selected [$($rest)*])
        }
    };
}
