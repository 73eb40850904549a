//! An HTTP server whose handlers compute, and what becomes of those that do not.
//!
//! Two kinds of requests: `/ping` is answered at once, `/hash` takes some milliseconds of work.
//! While sixteen clients ask for hashes, one asks for pings, and notes how long each takes. The
//! work is done on the executor's own threads, on those of `spawn_blocking`, by tokio-rayon, and on
//! drowse.
//!
//! ```text
//! cargo run --release --package drowse-bridges --example server
//! ```
//!
//! With an address it serves, until you stop it: `... --example server 127.0.0.1:8080`.

use std::env;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

/// Where the work is done.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// On the thread that has read the request.
    Inline,
    SpawnBlocking,
    TokioRayon,
    Drowse,
}

const WAYS: [Way; 4] = [Way::Inline, Way::SpawnBlocking, Way::TokioRayon, Way::Drowse];

/// How many ask for hashes, and for how long.
const CLIENTS: usize = 16;
const HOW_LONG: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let done = match env::args().nth(1) {
        None => runtime.block_on(compare()),
        Some(address) if address.starts_with('-') => {
            eprintln!("usage: server [ADDRESS]   without one: compares four ways to serve");
            return ExitCode::from(2);
        }
        Some(address) => runtime.block_on(async {
            let listener = TcpListener::bind(&address).await?;
            println!("http://{}/hash and /ping; Ctrl-C to stop", listener.local_addr()?);
            serve(listener, Way::Drowse).await
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves each way for a while, and prints what the pings saw.
async fn compare() -> io::Result<()> {
    println!("{:<14} {:>10} {:>10} {:>10} {:>12}", "the work on", "ping p50", "p99", "worst", "hashes/s");
    for way in WAYS {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let server = tokio::spawn(serve(listener, way));
        let end = Instant::now() + HOW_LONG;
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(ask(address.clone(), "/hash", end))).collect();
        let mut pings = ask(address, "/ping", end).await?;
        let mut hashes = 0;
        for client in clients {
            hashes += client.await??.len();
        }
        server.abort();
        pings.sort();
        let at = |part: f64| pings[((pings.len() - 1) as f64 * part) as usize];
        let [p50, p99, worst] =
            [0.5, 0.99, 1.0].map(|part| format!("{:.2} ms", at(part).as_secs_f64() * 1e3));
        let rate = hashes as f64 / HOW_LONG.as_secs_f64();
        println!("{:<14} {p50:>10} {p99:>10} {worst:>10} {rate:>12.0}", format!("{way:?}"));
    }
    Ok(())
}

async fn serve(listener: TcpListener, way: Way) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        // A client that goes away is no reason to stop.
        drop(tokio::spawn(talk(stream, way)));
    }
}

/// Answers one request after the other, as long as the client likes.
async fn talk(stream: TcpStream, way: Way) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut request, mut header) = (String::new(), String::new());
    loop {
        request.clear();
        if stream.read_line(&mut request).await? == 0 {
            return Ok(());
        }
        while header.trim_end() != "" || header.is_empty() {
            header.clear();
            if stream.read_line(&mut header).await? == 0 {
                return Ok(());
            }
        }
        header.clear();
        let (status, body) = match request.split(' ').nth(1) {
            Some("/ping") => ("200 OK", "pong".to_string()),
            Some("/hash") => ("200 OK", format!("{:016x}", hash_somewhere(way, request.clone()).await?)),
            _ => ("404 Not Found", "there is /ping and /hash".to_string()),
        };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await?;
    }
}

/// The one line that matters, four times.
async fn hash_somewhere(way: Way, text: String) -> io::Result<u64> {
    Ok(match way {
        Way::Inline => hash(&text),
        Way::SpawnBlocking => tokio::task::spawn_blocking(move || hash(&text)).await?,
        Way::TokioRayon => tokio_rayon::spawn_fifo(move || hash(&text)).await,
        Way::Drowse => {
            let job = drowse::spawn_handle_fifo(move || hash(&text)).cancel_on_drop();
            job.await.map_err(|_| io::Error::other("the hash panicked"))?
        }
    })
}

/// Some milliseconds of work.
fn hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for _ in 0..black_box(100_000) {
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Asks for this again and again. How long each answer took.
async fn ask(address: String, what: &str, end: Instant) -> io::Result<Vec<Duration>> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let request = format!("GET {what} HTTP/1.1\r\nhost: here\r\n\r\n");
    let (mut times, mut line) = (Vec::new(), String::new());
    while Instant::now() < end {
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        let mut length = 0;
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
                _ if line.trim_end().is_empty() => break,
                _ => (),
            }
        }
        let mut body = vec![0; length];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut body).await?;
        times.push(start.elapsed());
        if what == "/ping" {
            // Now and then, as a person would.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    Ok(times)
}
