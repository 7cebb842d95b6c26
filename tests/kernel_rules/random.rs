//! Random scripts of calls on sockets and files, one after the other: each must give the same on both kernels, call by call.
//!
//! No call waits: all sockets are non-blocking, and locks are tried. What the real kernel does in answer to a packet on
//! loopback it does at once.

use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

use crate::{explored_to, on_the_real_kernel_with, real, shim};

/// Which of a few names, sockets, files.
pub(crate) type Index = usize;

/// How many of each there are.
pub(crate) const SLOTS: usize = 3;

/// A call. The first index of most is the socket or file, by the slot that it is kept in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Listen(Index, Index),
    ListenAbstract(Index, Index),
    ListenTcp(Index),
    /// Where another listener is, or was.
    ListenTcpAt(Index, Index),
    CloneListener(Index, Index),
    CloseListener(Index),
    Accept(Index, Index),
    Connect(Index, Index),
    ConnectAbstract(Index, Index),
    ConnectTcp(Index, Index),
    Pair(Index, Index),
    Clone(Index, Index),
    Close(Index),
    Read(Index, usize),
    Write(Index, usize),
    Shutdown(Index, usize),
    TakeError(Index),
    Names(Index),
    BindDatagram(Index, Index),
    BindDatagramAbstract(Index, Index),
    UnboundDatagram(Index),
    DatagramPair(Index, Index),
    ConnectDatagram(Index, Index),
    CloneDatagram(Index, Index),
    CloseDatagram(Index),
    Send(Index, usize),
    SendTo(Index, Index, usize),
    SendToAbstract(Index, Index, usize),
    Receive(Index, usize),
    ShutdownDatagram(Index, usize),
    DatagramNames(Index),
    CreateFile(Index, Index, usize),
    CloneFile(Index, Index),
    CloseFile(Index),
    ReadFile(Index, usize),
    WriteFile(Index, usize),
    Seek(Index, usize),
    SetLen(Index, usize),
    TryLock(Index, usize),
    Unlock(Index),
    Status(Index),
    Remove(Index),
    Rename(Index, Index),
    Link(Index, Index),
    Look(Index),
}

fn op() -> impl Strategy<Value = Op> {
    let slot = || 0..SLOTS;
    let size = || 0..5_usize;
    let way = || 0..3_usize;
    prop_oneof![
        // So that there are sockets to use.
        4 => (slot(), slot()).prop_map(|(a, b)| Op::Listen(a, b)),
        4 => (slot(), slot()).prop_map(|(a, b)| Op::Connect(a, b)),
        4 => (slot(), slot()).prop_map(|(a, b)| Op::Accept(a, b)),
        3 => (slot(), slot()).prop_map(|(a, b)| Op::Pair(a, b)),
        6 => (slot(), size()).prop_map(|(a, b)| Op::Read(a, b)),
        6 => (slot(), size()).prop_map(|(a, b)| Op::Write(a, b)),
        3 => slot().prop_map(Op::Close),
        3 => (slot(), way()).prop_map(|(a, b)| Op::Shutdown(a, b)),
        2 => slot().prop_map(Op::CloseListener),
        2 => slot().prop_map(Op::TakeError),
        1 => slot().prop_map(Op::Names),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::Clone(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::CloneListener(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::ListenAbstract(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::ConnectAbstract(a, b)),
        2 => slot().prop_map(Op::ListenTcp),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::ListenTcpAt(a, b)),
        3 => (slot(), slot()).prop_map(|(a, b)| Op::ConnectTcp(a, b)),
        3 => (slot(), slot()).prop_map(|(a, b)| Op::BindDatagram(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::BindDatagramAbstract(a, b)),
        2 => slot().prop_map(Op::UnboundDatagram),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::DatagramPair(a, b)),
        3 => (slot(), slot()).prop_map(|(a, b)| Op::ConnectDatagram(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::CloneDatagram(a, b)),
        2 => slot().prop_map(Op::CloseDatagram),
        3 => (slot(), size()).prop_map(|(a, b)| Op::Send(a, b)),
        3 => (slot(), slot(), size()).prop_map(|(a, b, c)| Op::SendTo(a, b, c)),
        1 => (slot(), slot(), size()).prop_map(|(a, b, c)| Op::SendToAbstract(a, b, c)),
        4 => (slot(), size()).prop_map(|(a, b)| Op::Receive(a, b)),
        1 => (slot(), way()).prop_map(|(a, b)| Op::ShutdownDatagram(a, b)),
        1 => slot().prop_map(Op::DatagramNames),
        3 => (slot(), slot(), 0..6_usize).prop_map(|(a, b, c)| Op::CreateFile(a, b, c)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::CloneFile(a, b)),
        1 => slot().prop_map(Op::CloseFile),
        2 => (slot(), size()).prop_map(|(a, b)| Op::ReadFile(a, b)),
        2 => (slot(), size()).prop_map(|(a, b)| Op::WriteFile(a, b)),
        1 => (slot(), size()).prop_map(|(a, b)| Op::Seek(a, b)),
        1 => (slot(), size()).prop_map(|(a, b)| Op::SetLen(a, b)),
        2 => (slot(), 0..2_usize).prop_map(|(a, b)| Op::TryLock(a, b)),
        1 => slot().prop_map(Op::Unlock),
        1 => slot().prop_map(Op::Status),
        3 => slot().prop_map(Op::Remove),
        2 => (slot(), slot()).prop_map(|(a, b)| Op::Rename(a, b)),
        1 => (slot(), slot()).prop_map(|(a, b)| Op::Link(a, b)),
        2 => slot().prop_map(Op::Look),
    ]
}

/// What each call gives on the real kernel.
fn on_the_real_kernel(ops: &[Op]) -> Vec<String> {
    let mut said = Vec::new();
    on_the_real_kernel_with(|dir| real::calls::run(dir, ops, |result| said.push(result)));
    said
}

/// What each call gives on the simulated kernel, up to one that is not modelled.
fn on_the_simulated_kernel(ops: &[Op]) -> Result<Vec<String>, String> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let (collected, ops) = (said.clone(), ops.to_vec());
    let report = explored_to(interleave::Builder::new().spurious(0), move |dir: &Path| {
        collected.lock().unwrap().clear();
        shim::calls::run(dir, &ops, |result| collected.lock().unwrap().push(result));
    });
    match report.failure {
        Some(failure) if failure.kind != interleave::Kind::Outside => Err(failure.report),
        _ if report.executions > 1 => Err(format!("{} executions of one thread", report.executions)),
        _ => Ok(std::mem::take(&mut *said.lock().unwrap())),
    }
}

fn agree(cases: u32) {
    let persistence = FileFailurePersistence::Off;
    let config = Config { cases, failure_persistence: Some(Box::new(persistence)), ..Config::default() };
    let scripts = prop::collection::vec(op(), 1..50);
    let result = TestRunner::new(config).run(&scripts, |ops| {
        let real = on_the_real_kernel(&ops);
        let simulated = on_the_simulated_kernel(&ops).map_err(TestCaseError::fail)?;
        for (number, (here, there)) in simulated.iter().zip(&real).enumerate() {
            prop_assert_eq!(here, there, "call {}: {:?}, simulated left, real right", number, ops[number]);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn random_scripts_give_the_same_on_both_kernels() {
    agree(2_000);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_scripts_give_the_same_on_both_kernels() {
    agree(50_000);
}
