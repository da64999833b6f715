//! The part of Redis' protocol that a failing loopback server needs.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

/// Reads the words of a command.
pub async fn read_command(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<String>> {
    let mut words = Vec::new();
    for _ in 0..read_number(stream).await? {
        let mut word = vec![0; read_number(stream).await? + 2];
        stream.read_exact(&mut word).await?;
        words.push(String::from_utf8_lossy(&word).trim().to_owned());
    }
    Ok(words)
}

/// Reads the number of words, or of bytes in a word: `*2` or `$3`.
async fn read_number(stream: &mut BufReader<TcpStream>) -> io::Result<usize> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let digits = line.trim().get(1..).unwrap_or_default();
    digits.parse().map_err(io::Error::other)
}
