//! The error of a handle that has no result.

use crate::task::Cancelled;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic;

type Payload = Box<dyn Any + Send>;

/// Error of a [handle](crate::JoinHandle) without a result: the task panicked or was
/// [cancelled](crate::JoinHandle::cancel).
///
/// It implements [`Error`], for `?`. [`into_panic`](Self::into_panic) returns the panic's payload.
///
/// ```
/// use std::error::Error;
///
/// async fn hash(text: &'static str) -> Result<usize, Box<dyn Error + Send + Sync>> {
///     Ok(drowse::spawn_handle(move || text.len()).await?)
/// }
/// assert_eq!(drowse::block_on(hash("abc")).unwrap(), 3);
///
/// let error = drowse::spawn_handle(|| panic!("bad dream")).join().unwrap_err();
/// assert_eq!(error.to_string(), "a job panicked: bad dream");
/// assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "bad dream");
/// ```
pub struct JoinError(Why);

enum Why {
    Cancelled,
    Panicked { message: Option<String>, payload: Payload },
}

// SAFETY: a shared reference gives no access to the payload; the rest is `Sync`.
unsafe impl Sync for JoinError {}

/// Holds for any payload: it can only be taken out as a whole.
impl panic::RefUnwindSafe for JoinError {}
impl panic::UnwindSafe for JoinError {}

impl JoinError {
    /// Takes what a task without a result leaves in place of it.
    pub(super) fn new(payload: Payload) -> Self {
        if payload.is::<Cancelled>() {
            return Self(Why::Cancelled);
        }
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self(Why::Panicked { message, payload })
    }

    /// Returns `true` if the task was cancelled.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| 42);
    ///     assert!(handle.cancel()); // the only worker is here, so it has not begun
    ///     assert!(handle.join().unwrap_err().is_cancelled());
    /// });
    /// ```
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Why::Cancelled)
    }

    /// Returns `true` if the task panicked.
    ///
    /// ```
    /// assert!(drowse::spawn_handle(|| panic!("bad dream")).join().unwrap_err().is_panic());
    /// ```
    pub fn is_panic(&self) -> bool {
        !self.is_cancelled()
    }

    /// Returns the payload of the panic, for example for
    /// [`resume_unwind`](std::panic::resume_unwind).
    ///
    /// # Panics
    ///
    /// If the task was cancelled: see [`try_into_panic`](Self::try_into_panic).
    ///
    /// ```
    /// let error = drowse::spawn_handle(|| std::panic::panic_any(42)).join().unwrap_err();
    /// assert_eq!(*error.into_panic().downcast::<i32>().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Payload {
        self.try_into_panic().expect("there is no panic")
    }

    /// Returns the payload of the panic, if there was one.
    ///
    /// # Errors
    ///
    /// If the task was cancelled: this error itself.
    ///
    /// ```
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     let handle = drowse::spawn_handle(|| 42);
    ///     handle.cancel();
    ///     assert!(handle.join().unwrap_err().try_into_panic().is_err());
    /// });
    /// ```
    pub fn try_into_panic(self) -> Result<Payload, Self> {
        match self.0 {
            Why::Cancelled => Err(self),
            Why::Panicked { payload, .. } => Ok(payload),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Cancelled => f.write_str("a job was cancelled"),
            Why::Panicked { message: Some(message), .. } => write!(f, "a job panicked: {message}"),
            Why::Panicked { message: None, .. } => f.write_str("a job panicked"),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Cancelled => f.write_str("Cancelled"),
            Why::Panicked { message: Some(message), .. } => write!(f, "Panicked({message:?})"),
            Why::Panicked { message: None, .. } => f.write_str("Panicked(..)"),
        }
    }
}

impl Error for JoinError {}
