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
use std::net::SocketAddr;
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

const WAYS: [(Way, &str); 4] = [
    (Way::Inline, "tokio's own threads"),
    (Way::SpawnBlocking, "spawn_blocking"),
    (Way::TokioRayon, "tokio-rayon"),
    (Way::Drowse, "drowse"),
];

/// How many ask for hashes, for how long, and how often each way gets its turn.
const CLIENTS: usize = 16;
const HOW_LONG: Duration = Duration::from_secs(1);
const ROUNDS: usize = 3;

const USAGE: &str = "\
usage: server             compares four ways to serve
       server ADDRESS     serves /ping and /hash there, on drowse, until you stop it: server 127.0.0.1:8080";

fn main() -> ExitCode {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let done = match env::args().nth(1) {
        None => runtime.block_on(compare()),
        Some(help) if help == "-h" || help == "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some(address) if address.parse::<SocketAddr>().is_err() => {
            eprintln!("server: `{address}` is no address with a port\n{USAGE}");
            return ExitCode::from(2);
        }
        Some(address) => runtime.block_on(async {
            let bound = TcpListener::bind(&address).await;
            let listener =
                bound.map_err(|error| io::Error::other(format!("{address}: {error}")))?;
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

/// Serves each way for a while, by turns, and prints what the pings saw.
async fn compare() -> io::Result<()> {
    println!(
        "{CLIENTS} clients ask for hashes, each of which takes some milliseconds, one after the other. One more asks"
    );
    println!(
        "for pings, which are answered at once, by tokio's threads. {ROUNDS} times {HOW_LONG:?} for each way, by turns.\n"
    );
    let mut seen = WAYS.map(|_| Seen::default());
    for round in 1..=ROUNDS {
        for ((way, name), seen) in WAYS.into_iter().zip(&mut seen) {
            eprintln!("round {round} of {ROUNDS}: hashes on {name}");
            seen.add(way).await?;
        }
    }
    println!(
        "{:<20} {:>10} {:>10} {:>10}   {:>20}",
        "hashes on", "ping p50", "p99", "worst", "hashes a second"
    );
    for ((_, name), mut seen) in WAYS.into_iter().zip(seen) {
        seen.pings.sort();
        let at = |part: f64| seen.pings[((seen.pings.len() - 1) as f64 * part) as usize];
        let [p50, p99, worst] =
            [0.5, 0.99, 1.0].map(|part| format!("{:.2} ms", at(part).as_secs_f64() * 1e3));
        seen.rates.sort_by(f64::total_cmp);
        let [least, median, most] = [0, ROUNDS / 2, ROUNDS - 1].map(|i| seen.rates[i]);
        let rate = format!("{median:.0} ({least:.0} to {most:.0})");
        println!("{name:<20} {p50:>10} {p99:>10} {worst:>10}   {rate:>20}");
    }
    Ok(())
}

/// What clients saw.
#[derive(Default)]
struct Seen {
    pings: Vec<Duration>,
    /// Hashes a second, a round each.
    rates: Vec<f64>,
}

impl Seen {
    /// One more round.
    async fn add(&mut self, way: Way) -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let server = tokio::spawn(serve(listener, way));
        let end = Instant::now() + HOW_LONG;
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(ask(address.clone(), "/hash", end))).collect();
        self.pings.extend(ask(address, "/ping", end).await?);
        let mut hashes = 0;
        for client in clients {
            hashes += client.await??.len();
        }
        server.abort();
        self.rates.push(hashes as f64 / HOW_LONG.as_secs_f64());
        Ok(())
    }
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
            Some("/hash") => {
                ("200 OK", format!("{:016x}", hash_somewhere(way, request.clone()).await?))
            }
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
            job.await.map_err(io::Error::other)?
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
                Some(("content-length", value)) => {
                    length = value.parse().map_err(io::Error::other)?
                }
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
