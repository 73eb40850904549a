//! What must not compile, each beside a twin that does.
