//! Starting of threads.

use crate::thread;
use std::io;

/// Starts a thread. Without a name or a stack size, the defaults of `std::thread` apply.
///
/// Every thread of the library is started here, with a boxed closure: so the code that
/// `std::thread` generates for each type of closure is in a program once.
///
/// # Errors
///
/// If the system cannot start a thread. The closure is dropped then.
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
