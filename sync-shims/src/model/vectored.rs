//! Vectored input and output: one transfer, as readv(2) and writev(2) are.

use std::io::{self, IoSlice, IoSliceMut};

/// All the data, in one piece.
pub(crate) fn gather(buffers: &[IoSlice<'_>]) -> Vec<u8> {
    buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect()
}

/// Reads into the buffers, one after the other.
pub(crate) fn scatter(
    buffers: &mut [IoSliceMut<'_>],
    read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut whole = vec![0; buffers.iter().map(|buffer| buffer.len()).sum()];
    let count = read(&mut whole)?;
    let mut rest = &whole[..count];
    for buffer in buffers {
        let (here, further) = rest.split_at(rest.len().min(buffer.len()));
        buffer[..here.len()].copy_from_slice(here);
        rest = further;
    }
    Ok(count)
}
