//! drowse beside async executors. There is nothing to link to: it needs no bridge. See the tests,
//! and the example `server`.
