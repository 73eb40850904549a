use super::*;

/// A shared count that counts its steps.
#[derive(Default)]
struct Ledger {
    left: Cell<usize>,
    steps: Cell<usize>,
    ends: Cell<usize>,
}

impl Ledger {
    fn of(left: usize) -> Self {
        Self { left: Cell::new(left), ..Self::default() }
    }

    fn step(&self, left: usize) {
        self.left.set(left);
        self.steps.set(self.steps.get() + 1);
    }
}

impl SharedCount for Ledger {
    fn add(&self, count: usize) {
        self.step(self.left.get() + count);
    }

    fn is_down_to(&self, count: usize) -> bool {
        self.left.get() == count
    }

    unsafe fn subtract(this: *const Self, count: usize) {
        // SAFETY: alive as long as the test runs.
        let this = unsafe { &*this };
        this.step(this.left.get().checked_sub(count).expect("no more is given back than there is"));
        if this.left.get() == 0 {
            this.ends.set(this.ends.get() + 1);
        }
    }
}

fn put(stock: &Stock<Ledger>, ledger: &Ledger) {
    // SAFETY: alive as long as the test runs; `Ledger::subtract` panics if the count is not there.
    unsafe { stock.put(ledger) };
}

#[test]
fn many_jobs_are_few_steps() {
    let (stock, ledger) = (Stock::new(), Ledger::of(1));
    (0..1000).for_each(|_| stock.take(&ledger, || true));
    assert!(ledger.steps.get() <= 6 + 1000 / MOST_AT_ONCE, "{} steps", ledger.steps.get());
    (0..1000).for_each(|_| put(&stock, &ledger));
    let steps = ledger.steps.get();
    stock.settle();
    assert_eq!((ledger.left.get(), ledger.steps.get()), (1, steps + 1));
    stock.settle();
    assert_eq!(ledger.steps.get(), steps + 1, "there is nothing left to give back");
}

#[test]
fn whoever_may_not_take_ahead_takes_what_it_needs() {
    let (stock, ledger) = (Stock::new(), Ledger::of(1));
    for spawned in 1..=100 {
        stock.take(&ledger, || false);
        assert_eq!(ledger.left.get(), 1 + spawned);
    }
}

#[test]
fn whoever_may_not_take_ahead_uses_what_has_come_back() {
    let (stock, ledger) = (Stock::new(), Ledger::of(3));
    put(&stock, &ledger);
    stock.take(&ledger, || false);
    assert_eq!((ledger.left.get(), ledger.steps.get()), (3, 0));
}

#[test]
fn to_turn_from_one_to_another_with_each_job_costs_no_more_than_without_a_stock() {
    let (stock, ledgers) = (Stock::new(), [Ledger::of(1), Ledger::of(1)]);
    for _ in 0..100 {
        ledgers.iter().for_each(|ledger| stock.take(ledger, || true));
    }
    for ledger in &ledgers {
        assert_eq!((ledger.left.get(), ledger.steps.get()), (101, 100));
    }
    for _ in 0..100 {
        ledgers.iter().for_each(|ledger| put(&stock, ledger));
    }
    stock.settle();
    for ledger in &ledgers {
        assert_eq!((ledger.left.get(), ledger.steps.get()), (1, 200));
    }
}

#[test]
fn the_last_job_is_the_end_at_once() {
    let (stock, ledger) = (Stock::new(), Ledger::of(3));
    (0..2).for_each(|_| put(&stock, &ledger));
    assert_eq!((ledger.ends.get(), ledger.steps.get()), (0, 0));
    put(&stock, &ledger);
    assert_eq!((ledger.ends.get(), ledger.left.get()), (1, 0));
}

#[test]
fn what_is_taken_out_as_a_whole_is_of_one_thing() {
    let (stock, ledgers) = (Stock::new(), [Ledger::of(2), Ledger::of(2)]);
    put(&stock, &ledgers[0]);
    assert_eq!((stock.take_all(&ledgers[1]), stock.take_all(&ledgers[0])), (0, 1));
    assert_eq!(stock.take_all(&ledgers[0]), 0);
}

#[test]
fn a_stock_that_is_dropped_is_settled() {
    let ledger = Ledger::of(2);
    put(&Stock::new(), &ledger);
    assert_eq!(ledger.left.get(), 1);
}
