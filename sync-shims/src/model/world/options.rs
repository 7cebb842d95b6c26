//! Options of TCP sockets that change nothing here but what is read back: TCP_NODELAY and IP_TTL.

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::entry::look;
use crate::model::event::Site;

/// The options of one socket, which all its descriptors share.
#[derive(Debug)]
pub(crate) struct Options(Object);

const NODELAY: u64 = 1 << 8;
/// The lowest bits: IP_TTL.
const TTL: u64 = 0xff;
/// Linux's `net.ipv4.ip_default_ttl`.
const DEFAULT_TTL: u64 = 64;

/// The bits `args[1]` become `args[0]`.
fn set(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !args[1] | args[0], 0));
}

impl Options {
    /// The default ones.
    pub(crate) fn new(site: Site) -> Self {
        Options(Object::new(DEFAULT_TTL, site).named(format_args!("socket options")))
    }

    /// TCP_NODELAY.
    pub(crate) fn nodelay(&self, call: Call<'_>) -> Sys<bool> {
        static NODELAY_STEP: Step = Step::new("TcpStream", "nodelay", look);
        Ok(call.act(&self.0, &NODELAY_STEP, [0, 0])? & NODELAY != 0)
    }

    /// Sets TCP_NODELAY.
    pub(crate) fn set_nodelay(&self, call: Call<'_>, nodelay: bool) -> Sys<()> {
        static SET_NODELAY: Step = Step::new("TcpStream", "set_nodelay", set);
        call.act(&self.0, &SET_NODELAY, [if nodelay { NODELAY } else { 0 }, NODELAY])?;
        Ok(())
    }

    /// IP_TTL.
    pub(crate) fn ttl(&self, call: Call<'_>) -> Sys<u32> {
        static TTL_STEP: Step = Step::new("net", "ttl", look);
        Ok((call.act(&self.0, &TTL_STEP, [0, 0])? & TTL) as u32)
    }

    /// Sets IP_TTL, which is 1 to 255.
    pub(crate) fn set_ttl(&self, call: Call<'_>, ttl: u32) -> Sys<()> {
        static SET_TTL: Step = Step::new("net", "set_ttl", set);
        if !(1..=255).contains(&ttl) {
            return Err(super::errno::Errno::INVAL.into());
        }
        call.act(&self.0, &SET_TTL, [u64::from(ttl), TTL])?;
        Ok(())
    }
}
