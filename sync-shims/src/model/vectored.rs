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

/// `Read` and `Write` for a kind of stream, through `&mut` and through `&`, of its methods `read_from` and `write_as`. A macro,
/// because what the caller is must not get lost on the way.
macro_rules! stream_io_traits {
    ($type:ty, $access:expr) => {
        impl Read for $type {
            #[track_caller]
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.read_from(buffer)
            }

            #[track_caller]
            fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                scatter(buffers, |buffer| self.read_from(buffer))
            }
        }

        impl Write for $type {
            #[track_caller]
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                self.write_as($access, data)
            }

            #[track_caller]
            fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
                self.write_as($access, &gather(buffers))
            }

            /// As std's default, but the steps are at the caller's place.
            #[track_caller]
            fn write_all(&mut self, mut data: &[u8]) -> io::Result<()> {
                while !data.is_empty() {
                    match self.write_as($access, data) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(count) => data = &data[count..],
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
    };
}

pub(crate) use stream_io_traits;
