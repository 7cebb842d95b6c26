//! One operation of a `Select`: to send by a certain sender, or to receive from a certain receiver.

use dpor::{Action, Info};

use super::ends::Side;
use super::{Attempt, Chan, Patience, Receiver, Sender, receiver, sender};
use crate::model::event::{Answer, Site, perform_alone};

/// How to begin an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// If it is ready.
    IfReady,
    /// If it is ready; it has been chosen, so a timer fires.
    Chosen,
    /// If it is ready; if not, the thread begins to wait for it.
    Waiting,
    /// The thread has begun to wait for it: if it is ready now.
    WaitingAlready,
    /// As soon as it is ready.
    WhenReady,
}

/// Why it is asked whether an operation is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// To know it: a timer has fired or not.
    Whether,
    /// It has been chosen: a timer fires.
    Chosen,
    /// Another one has been chosen: whether this one could be, now or as soon as time goes by.
    Instead,
    /// None has been chosen: whether that is wrong. With a timeout, others may run before at no cost.
    InVain { timed: bool },
}

/// An operation that can be selected.
pub(super) trait Arm {
    /// Begins it.
    fn begin(&self, begin: Begin, site: Site) -> Attempt;

    /// Whether it would not have to wait.
    fn is_ready(&self, ask: Ask, site: Site) -> bool;

    /// The thread waits until something changes that it has looked at.
    fn park(&self, info: &'static Info, site: Site) -> Answer;

    /// Adds the operation to a real selection; none if it belongs to a model.
    fn add_to<'a>(&'a self, select: &mut crossbeam_channel::Select<'a>) -> Option<usize>;

    /// Whether it is about a channel that was created outside a model.
    fn is_real(&self) -> bool;
}

impl<T> Chan<T> {
    fn begin(&self, side: Side, begin: Begin, site: Site) -> Attempt {
        match (self, begin) {
            (Chan::Slots(slots), _) => {
                let patience = if begin == Begin::WhenReady { Patience::Forever } else { Patience::None };
                match side {
                    Side::Send => slots.begin_send(patience, site),
                    Side::Recv => slots.begin_recv(patience, site),
                }
            }
            (Chan::Meeting(meeting), Begin::IfReady | Begin::Chosen) => meeting.begin(side, false, site),
            (Chan::Meeting(meeting), Begin::WaitingAlready) => meeting.look(side, site),
            (Chan::Meeting(meeting), Begin::Waiting | Begin::WhenReady) => match meeting.begin(side, true, site) {
                Attempt::Waiting if begin == Begin::WhenReady => meeting.wait_for_ever(side, site),
                Attempt::Waiting => meeting.look(side, site),
                begun => begun,
            },
        }
    }

    fn is_ready(&self, side: Side, ask: Ask, site: Site) -> bool {
        let timed = ask == Ask::InVain { timed: true };
        match (self, side) {
            (Chan::Meeting(meeting), _) => meeting.is_ready(side, timed, site),
            (Chan::Slots(slots), Side::Send) => slots.send_is_ready(timed, site),
            (Chan::Slots(slots), Side::Recv) => slots.recv_is_ready(timed, site),
        }
    }

    fn park(&self, side: Side, info: &'static Info, site: Site) -> Answer {
        match self {
            Chan::Slots(slots) => slots.park(side, info, site),
            Chan::Meeting(meeting) => meeting.park(info, site),
        }
    }
}

impl<T> Arm for Sender<T> {
    fn begin(&self, begin: Begin, site: Site) -> Attempt {
        match &self.0 {
            sender::Flavor::Model(chan) => chan.begin(Side::Send, begin, site),
            sender::Flavor::Real(_) => Attempt::NotYet,
        }
    }

    fn is_ready(&self, ask: Ask, site: Site) -> bool {
        match &self.0 {
            sender::Flavor::Model(chan) => chan.is_ready(Side::Send, ask, site),
            sender::Flavor::Real(_) => false,
        }
    }

    fn park(&self, info: &'static Info, site: Site) -> Answer {
        match &self.0 {
            sender::Flavor::Model(chan) => chan.park(Side::Send, info, site),
            sender::Flavor::Real(_) => perform_alone(Action::Spin, info, site),
        }
    }

    fn add_to<'a>(&'a self, select: &mut crossbeam_channel::Select<'a>) -> Option<usize> {
        match &self.0 {
            sender::Flavor::Real(sender) => Some(select.send(sender)),
            sender::Flavor::Model(_) => None,
        }
    }

    fn is_real(&self) -> bool {
        matches!(self.0, sender::Flavor::Real(_))
    }
}

impl<T> Arm for Receiver<T> {
    fn begin(&self, begin: Begin, site: Site) -> Attempt {
        match (&self.0, begin) {
            (receiver::Flavor::Model(chan), _) => chan.begin(Side::Recv, begin, site),
            (receiver::Flavor::Timer(timer, _), Begin::IfReady) => timer.recv(Patience::None, site),
            (receiver::Flavor::Timer(timer, _), Begin::WhenReady) => timer.recv(Patience::Forever, site),
            (receiver::Flavor::Timer(timer, _), _) => timer.fire_and_take(site),
            (receiver::Flavor::Never(_), Begin::WhenReady) => {
                _ = self.recv();
                Attempt::Over
            }
            (receiver::Flavor::Never(_) | receiver::Flavor::Real(_) | receiver::Flavor::RealTimer(..), _) => {
                Attempt::NotYet
            }
        }
    }

    fn is_ready(&self, ask: Ask, site: Site) -> bool {
        match (&self.0, ask) {
            (receiver::Flavor::Model(chan), _) => chan.is_ready(Side::Recv, ask, site),
            (receiver::Flavor::Timer(timer, _), Ask::Whether) => timer.has_fired(site),
            (receiver::Flavor::Timer(timer, _), Ask::Chosen) => timer.fires(site),
            (receiver::Flavor::Timer(timer, _), Ask::Instead) => timer.may_fire(site),
            (receiver::Flavor::Timer(timer, _), Ask::InVain { .. }) => timer.is_known_to_have_fired(site),
            (receiver::Flavor::Never(_) | receiver::Flavor::Real(_) | receiver::Flavor::RealTimer(..), _) => false,
        }
    }

    fn park(&self, info: &'static Info, site: Site) -> Answer {
        match &self.0 {
            receiver::Flavor::Model(chan) => chan.park(Side::Recv, info, site),
            _ => perform_alone(Action::Spin, info, site),
        }
    }

    fn add_to<'a>(&'a self, select: &mut crossbeam_channel::Select<'a>) -> Option<usize> {
        static NEVER: crossbeam_channel::Receiver<()> = crossbeam_channel::never();
        match &self.0 {
            receiver::Flavor::Real(receiver) => Some(select.recv(receiver)),
            receiver::Flavor::RealTimer(receiver, _) => Some(select.recv(receiver)),
            receiver::Flavor::Never(_) => Some(select.recv(&NEVER)),
            receiver::Flavor::Model(_) | receiver::Flavor::Timer(..) => None,
        }
    }

    fn is_real(&self) -> bool {
        matches!(self.0, receiver::Flavor::Real(_) | receiver::Flavor::RealTimer(..))
    }
}
