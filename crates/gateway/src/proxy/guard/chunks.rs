//! Finds the end of a chunked body with the same strictness as the head's reader.

#[cfg(test)]
mod tests;

/// The most bytes of chunk extensions in a line, and of trailers altogether.
const MAX_EXTRA: usize = 4096;

/// Follows a chunked body byte by byte, skipping over the data of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    at: ChunkState,
    extra: usize,
}

/// The next expected element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    Size { size: u64, digits: u8 },
    Extension { size: u64 },
    SizeLf { size: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    End,
}

/// The body is not chunked as RFC 9112 requires, or has more extensions and trailers than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Chunks {
    pub(crate) fn new() -> Self {
        Self { at: ChunkState::Size { size: 0, digits: 0 }, extra: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at == ChunkState::End
    }

    /// How many of `bytes` belong to the body.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            match &mut self.at {
                ChunkState::End => break,
                ChunkState::Data { left } => {
                    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= skipped as u64;
                    if *left == 0 {
                        self.at = ChunkState::DataCr;
                    }
                    rest = rest.get(skipped..).unwrap_or_default();
                }
                _ => {
                    self.step(*byte)?;
                    rest = behind;
                }
            }
        }
        Ok(bytes.len() - rest.len())
    }

    fn step(&mut self, byte: u8) -> Result<(), Malformed> {
        self.at = match (self.at, byte) {
            (ChunkState::Size { size, digits }, _) => size_digit(size, digits, byte)?,
            (ChunkState::Extension { size }, b'\r') => ChunkState::SizeLf { size },
            (ChunkState::Extension { size }, _) => self.beside(byte, ChunkState::Extension { size })?,
            (ChunkState::SizeLf { size: 0 }, b'\n') => ChunkState::TrailerStart,
            (ChunkState::SizeLf { size }, b'\n') => ChunkState::Data { left: size },
            (ChunkState::DataCr, b'\r') => ChunkState::DataLf,
            (ChunkState::DataLf, b'\n') => ChunkState::Size { size: 0, digits: 0 },
            (ChunkState::TrailerStart, b'\r') => ChunkState::LastLf,
            (ChunkState::TrailerStart, b' ' | b'\t') => return Err(Malformed),
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerLf,
            (ChunkState::TrailerStart | ChunkState::Trailer, _) => self.beside(byte, ChunkState::Trailer)?,
            (ChunkState::TrailerLf, b'\n') => ChunkState::TrailerStart,
            (ChunkState::LastLf, b'\n') => ChunkState::End,
            _ => return Err(Malformed),
        };
        Ok(())
    }

    /// A byte of an extension or a trailer.
    fn beside(&mut self, byte: u8, next: ChunkState) -> Result<ChunkState, Malformed> {
        self.extra += 1;
        let fine = self.extra <= MAX_EXTRA && (!byte.is_ascii_control() || byte == b'\t');
        if fine { Ok(next) } else { Err(Malformed) }
    }
}

/// At least one hexadecimal digit, and no more than fit.
fn size_digit(size: u64, digits: u8, byte: u8) -> Result<ChunkState, Malformed> {
    match (byte, char::from(byte).to_digit(16)) {
        (_, Some(digit)) if digits < 15 => {
            Ok(ChunkState::Size { size: size * 16 + u64::from(digit), digits: digits + 1 })
        }
        (b';', _) if digits > 0 => Ok(ChunkState::Extension { size }),
        (b'\r', _) if digits > 0 => Ok(ChunkState::SizeLf { size }),
        _ => Err(Malformed),
    }
}
