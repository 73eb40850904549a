//! How drowse starts threads.

use crate::thread;
use std::io;

/// Starts a thread. A name or a size of the stack that is not given is the one of `std::thread`.
///
/// Every thread of the library is started here: what `std::thread` makes for each type of closure
/// is in a program once.
///
/// # Errors
///
/// If the system starts none. Then the closure was dropped.
///
/// ```
/// let thread = drowse_sync::spawn_thread(Some("dozer"), None, Box::new(|| println!("awake")));
/// thread.unwrap().join().unwrap();
/// ```
pub fn spawn_thread(
    name: Option<&str>,
    stack_size: Option<usize>,
    run: Box<dyn FnOnce() + Send>,
) -> io::Result<thread::JoinHandle<()>> {
    let mut builder = thread::Builder::new();
    if let Some(name) = name {
        builder = builder.name(name.to_owned());
    }
    if let Some(stack_size) = stack_size {
        builder = builder.stack_size(stack_size);
    }
    builder.spawn(run)
}
