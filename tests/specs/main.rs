//! Bugs that were found in real programs, retold. Each program exists as it was, with fixes that were wrong, and with the fix
//! that is right, from one source. The checker must find the wrong ones with the fewest preemptions that they need, and must
//! exhaust the right one. The numbers of executions are exact.

mod expect;
mod s01_two_daemons;
mod s04_start_lock;
mod s05_second_to_leave;
mod s06_sleep_wake;
mod s09_idle_worker;
mod s10_bit_cleared_twice;
mod s15_stolen_unpark;
mod s16_empty_then_disconnected;
mod strategies;
