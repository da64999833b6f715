use std::io::{self, Read};

use retry_runtime::retry;

#[retry(max = 3)]
fn read_all(reader: &mut impl Read, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = reader.read(buffer)?;
        buffer = &mut buffer[read..];
    }
    Ok(())
}

#[retry(max = 3)]
fn read_anew(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<()> {
    let mut buffer = &mut *buffer;
    while !buffer.is_empty() {
        let read = reader.read(buffer)?;
        buffer = &mut buffer[read..];
    }
    Ok(())
}

fn main() {}
