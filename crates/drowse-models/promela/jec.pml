/* The jobs event counter, as in crates/drowse-sleep/src/jec.
 *
 * One word of three counts: the workers asleep, those inactive, and the JEC, which has 2 bits here so that it wraps. What reads
 * or changes more than one of them does so in one step.
 *
 * The steps of this model are sequentially consistent: the fences have no counterpart here, and nothing here guards
 * them. A compare-and-swap that is tried until it succeeds is one step.
 */

#include "pool.inc"

/* The last look at the queues alone makes up for either of the first two; it is itself needed only when the JEC has come
 * round, with -DHALVES. See README.md. */
#ifdef MUTANT_ONE_PARITY
#define ONE_PARITY
#define NO_LAST_LOOK
#endif
#ifdef MUTANT_NO_JEC_CHECK
#define NO_JEC_CHECK
#define NO_LAST_LOOK
#endif
#ifdef MUTANT_NO_LAST_LOOK
#define NO_LAST_LOOK
#endif

#ifndef JEC_MASK
#define JEC_MASK 3
#endif
#define JEC_SLEEPY(jec) ((jec & 1) == 0)

/* The word. */
byte sleeping, inactive;
byte jec = 1;

/* The latches on which the workers end. */
#define UNSET 0
#define LATCH_SLEEPY 1
#define LATCH_SLEEPING 2
#define SET 3
byte latch[WORKERS];

inline sub_sleeping() {
    atomic { assert(sleeping > 0); sleeping-- }
}

/* Takes a worker out of bed. `got` says whether it lay there. Who is asleep is un-counted by its waker, who is only about to
 * sleep by itself. */
inline wake_worker(who, got, was_asleep) {
    atomic {
        was_asleep = (bed[who] == ASLEEP);
#ifdef MUTANT_CLAIM_IGNORES_COMMITTING
        got = was_asleep;
#else
        got = (bed[who] != AWAKE);
#endif
        if
        :: got -> bed[who] = AWAKE
        :: else -> skip
        fi
    };
#ifndef MUTANT_NO_WAKER_DECREMENT
    if
    :: was_asleep -> sub_sleeping()
    :: else -> skip
    fi
#endif
}

/* Wakes one sleeper, whichever. */
inline wake_one(got, was_asleep) {
    wake_worker(0, got, was_asleep);
    if
    :: got -> skip
    :: else -> wake_worker(1, got, was_asleep)
    fi
}

/* One job was posted. Those who search are enough for it if its queue was empty. */
inline post(was_empty) {
    atomic { quiet = (!JEC_SLEEPY(jec) && sleeping == 0) };
    if
    :: quiet -> skip
    :: else ->
        atomic {
            if
            :: JEC_SLEEPY(jec) -> jec = (jec + 1) & JEC_MASK
            :: else -> skip
            fi;
            enough = (sleeping == 0 || (was_empty && inactive > sleeping))
        };
        if
        :: enough -> skip
        :: else -> wake_one(got, was_asleep)
        fi
    fi
}

inline post_injected(was_empty) {
    post(was_empty)
}

/* A worker's queue holds one job at most here: it was empty. */
inline post_local() {
    post(true)
}

inline set_latch(who) {
    atomic { must_wake = (latch[who] == LATCH_SLEEPING); latch[who] = SET };
#ifndef MUTANT_SET_FORGETS_SLEEPER
    if
    :: must_wake -> wake_worker(who, got, was_asleep)
    :: else -> skip
    fi
#endif
}

/* One step of the latch's owner. `ok` is false if it is set. */
inline step(me, from, to, ok) {
    atomic {
#ifdef MUTANT_OWNER_OVERWRITES
        ok = true;
#else
        ok = (latch[me] == from);
#endif
        if
        :: ok -> latch[me] = to
        :: else -> skip
        fi
    }
}

/* Searches no more. The last one to do so, while others sleep, passes the baton. */
inline stop_looking(me) {
    atomic {
        assert(inactive > 0);
        inactive--;
        last = (sleeping > 0 && inactive <= sleeping)
    };
#ifndef MUTANT_NO_BATON
    if
    :: last ->
        look(me, seen);
        if
        :: seen -> wake_one(got, was_asleep)
        :: else -> skip
        fi
    :: else -> skip
    fi
#endif
}

proctype worker(byte me) {
    byte job, remembered;
    bool seen, ok, last, quiet, enough, got, was_asleep;

is_active:
    if
    :: latch[me] == SET -> goto end
    :: else -> skip
    fi;
    inactive++;

is_idle:
    if
    :: latch[me] == SET -> stop_looking(me); goto end
    :: else -> skip
    fi;
    search(me, job);
    if
    :: job != NONE -> stop_looking(me); execute(me, job); goto is_active
    :: else -> skip
    fi;

    /* Gets sleepy. */
    atomic {
        if
#ifdef ONE_PARITY
        :: JEC_SLEEPY(jec) -> jec = (jec + 1) & JEC_MASK
#else
        :: !JEC_SLEEPY(jec) -> jec = (jec + 1) & JEC_MASK
#endif
        :: else -> skip
        fi;
        remembered = jec
    };
    if
    :: latch[me] == SET -> stop_looking(me); goto end
    :: else -> skip
    fi;
    search(me, job);
    if
    :: job != NONE -> stop_looking(me); execute(me, job); goto is_active
    :: else -> skip
    fi;

    /* Tells its latch, with the bed made. */
    step(me, UNSET, LATCH_SLEEPY, ok);
    if
    :: ok -> skip
    :: else -> goto is_idle
    fi;
#ifndef MUTANT_LATE_BED
    bed[me] = COMMITTING;
#endif
    step(me, LATCH_SLEEPY, LATCH_SLEEPING, ok);
    if
    :: ok -> skip
    :: else -> bed[me] = AWAKE; goto is_idle
    fi;

    /* From sleepy to asleep, if no job was posted. */
    atomic {
#ifdef NO_JEC_CHECK
        ok = true;
#else
        ok = (jec == remembered);
#endif
        if
        :: ok -> sleeping++
        :: else -> skip
        fi
    };
    if
    :: ok -> skip
    :: else -> bed[me] = AWAKE; goto up
    fi;
#ifdef MUTANT_LATE_BED
    bed[me] = COMMITTING;
#endif
#ifndef NO_LAST_LOOK
    look(me, seen);
    if
    :: seen -> bed[me] = AWAKE; sub_sleeping(); goto up
    :: else -> skip
    fi;
#endif
    atomic {
#ifdef MUTANT_COMMIT_OVERWRITES
        ok = true;
#else
        ok = (bed[me] == COMMITTING);
#endif
        if
        :: ok -> bed[me] = ASLEEP
        :: else -> skip
        fi
    };
    if
    :: ok -> bed[me] != ASLEEP
    :: else -> sub_sleeping()
    fi;

up:
    step(me, LATCH_SLEEPING, UNSET, ok);
    goto is_idle;

end:
    skip
}

proctype poster() {
    bool was_empty, must_wake, quiet, enough, got, was_asleep;
    scenario(was_empty)
}

inline start_all() {
    run worker(0); run worker(1); run poster()
}

init {
    start_and_join();
    assert(sleeping == 0 && inactive == 0)
}
