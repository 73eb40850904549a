//! Misuse of spawns with a bound, and of scopes that can be cancelled.

/// Borrows: a job that is accepted may run after the scope's closure has returned, so it must not
/// borrow the closure's own variables, not even if it is given back at once.
///
/// ```compile_fail,E0373
/// drowse::scope(|s| {
///     let local = 1;
///     let _ = s.try_spawn(0, |_| println!("{local}"));
/// });
/// ```
///
/// ```compile_fail,E0597
/// drowse::scope_fifo(|s| {
///     let local = 1;
///     let borrowed = &local;
///     let _ = s.try_spawn_fifo(1, move |_| println!("{borrowed}"));
/// });
/// ```
///
/// ```
/// let outlives = 1;
/// drowse::scope(|s| s.try_spawn(1, |_| println!("{outlives}")).unwrap());
/// drowse::scope_fifo(|s| s.try_spawn_fifo(1, |_| println!("{outlives}")).unwrap());
/// ```
mod scope_borrows {}

/// Escapes: a closure that was given back still borrows: it must not leave the scope with a borrow
/// from inside, and what it borrows stays borrowed while it exists.
///
/// ```compile_fail,E0505
/// let mut numbers = vec![1];
/// let refused = drowse::in_place_scope(|s| s.try_spawn(0, |_| numbers.push(2)).unwrap_err());
/// drop(numbers);
/// drop(refused);
/// ```
///
/// ```
/// let mut numbers = vec![1];
/// let refused = drowse::in_place_scope(|s| s.try_spawn(0, |_| numbers.push(2)).unwrap_err());
/// drop(refused);
/// drop(numbers);
/// ```
mod what_is_given_back {}

/// Borrows: no thread waits for a job that is spawned into a pool, so it must not borrow, and its
/// captures must be `Send`.
///
/// ```compile_fail,E0373
/// let local = 1;
/// drowse::try_spawn(8, || println!("{local}")).unwrap();
/// ```
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// let _ = drowse::try_spawn(8, move || println!("{mine}"));
/// ```
///
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(1);
/// drowse::in_place_scope(|s| s.try_spawn(8, |_| println!("{mine}")).is_ok());
/// ```
///
/// ```
/// let (local, mine) = (1, std::sync::Arc::new(1));
/// drowse::try_spawn(8, move || println!("{local}")).unwrap();
/// drowse::in_place_scope(|s| s.try_spawn(8, |_| println!("{mine}")).is_ok());
/// ```
mod pool_borrows {}

/// Escapes: a scope must not escape in order to be cancelled later: that takes a token.
///
/// ```compile_fail,E0521
/// let mut escaped = None;
/// drowse::in_place_scope(|s| escaped = Some(s));
/// escaped.unwrap().cancel();
/// ```
///
/// ```
/// let token = drowse::CancelToken::new();
/// drowse::in_place_scope(|s| s.cancel_on(&token));
/// token.cancel();
/// ```
mod scope_escapes {}
