//! Null twin of the detector.

use super::{Awake, Mark};
use drowse_sync::ThreadId;

/// A detector, of which there is none.
#[derive(Debug)]
pub(crate) enum Detector {}

impl Detector {
    pub(crate) fn fall_asleep(&self, _: usize, _: bool, _: impl Fn() -> bool) -> bool {
        match *self {}
    }

    pub(crate) fn wake(&self, _: &mut dyn FnMut(&mut Awake<'_>)) {
        match *self {}
    }

    pub(crate) fn mark_blocked(&self, _: usize, _: Mark) {
        match *self {}
    }

    pub(crate) fn mark_unblocked(&self, _: usize, _: &Mark) {
        match *self {}
    }

    pub(crate) fn mark_away(&self, _: usize, _: Option<ThreadId>) {
        match *self {}
    }

    pub(crate) fn mark_here(&self, _: usize) {
        match *self {}
    }

    pub(crate) fn mark_gone(&self, _: usize) {
        match *self {}
    }

    pub(crate) fn end(&self) {
        match *self {}
    }
}
