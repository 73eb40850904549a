//! `Configuration`, rayon-core's predecessor of the builder.
#![allow(deprecated)]

use crate::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::error::Error;

/// Old name of [`ThreadPoolBuilder`].
#[deprecated(note = "use `ThreadPoolBuilder`")]
#[derive(Debug, Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

/// Builds the global pool as configured.
///
/// # Errors
///
/// See [`ThreadPoolBuilder::build_global`].
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(config: Configuration) -> Result<(), Box<dyn Error>> {
    Ok(config.builder.build_global()?)
}

impl Configuration {
    /// Returns a configuration with default choices. See [`ThreadPoolBuilder::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool. See [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        Ok(self.builder.build()?)
    }

    /// Sets how threads are named. See [`ThreadPoolBuilder::thread_name`].
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Self { builder: self.builder.thread_name(closure) }
    }

    /// Sets the number of threads. See [`ThreadPoolBuilder::num_threads`].
    pub fn num_threads(self, num_threads: usize) -> Self {
        Self { builder: self.builder.num_threads(num_threads) }
    }

    /// Sets the panic handler. See [`ThreadPoolBuilder::panic_handler`].
    pub fn panic_handler<H>(self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Self { builder: self.builder.panic_handler(panic_handler) }
    }

    /// Sets the size of the stacks. See [`ThreadPoolBuilder::stack_size`].
    pub fn stack_size(self, stack_size: usize) -> Self {
        Self { builder: self.builder.stack_size(stack_size) }
    }

    /// Lets workers run their oldest jobs first. See [`ThreadPoolBuilder::breadth_first`].
    pub fn breadth_first(self) -> Self {
        Self { builder: self.builder.breadth_first() }
    }

    /// Sets the start handler. See [`ThreadPoolBuilder::start_handler`].
    pub fn start_handler<H>(self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self { builder: self.builder.start_handler(start_handler) }
    }

    /// Sets the exit handler. See [`ThreadPoolBuilder::exit_handler`].
    pub fn exit_handler<H>(self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self { builder: self.builder.exit_handler(exit_handler) }
    }
}
