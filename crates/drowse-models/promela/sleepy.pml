/* The sleepy-worker protocol.
 *
 * One word S. Bit 0: some worker is asleep. The rest: 0, or one more than the index of the one worker that is sleepy.
 *
 * The steps of this model are sequentially consistent: the fences have no counterpart here, and nothing here guards
 * them. A compare-and-swap that is tried until it succeeds is one step.
 */

#include "pool.inc"

/* Either look alone is enough, see README.md: only without both is a wake-up lost. */
#ifdef MUTANT_NO_SECOND_LOOK
#define NO_SEARCH
#define NO_RECHECK
#endif

#define SOMEBODY_ASLEEP 1
#define SLEEPY(who) ((who + 1) << 1)

byte S;
bool latch[WORKERS];

/* Who is sleepy and has not been tickled. Only assertions read this. */
bool sleepy[WORKERS];

/* Takes a worker out of bed. `got` says whether it lay there; if it was asleep, this unblocks it. */
inline claim(who, got) {
    atomic {
#ifdef MUTANT_CLAIM_IGNORES_COMMITTING
        got = (bed[who] == ASLEEP);
#else
        got = (bed[who] != AWAKE);
#endif
        if
        :: got -> bed[who] = AWAKE
        :: else -> skip
        fi
    }
}

/* There is news: nobody may fall asleep, or stay asleep, without having looked. */
inline tickle(word, got) {
    word = S;
    if
    :: word == 0 -> skip
    :: else ->
#ifndef MUTANT_TICKLE_WITHOUT_SWAP
        atomic { word = S; S = 0; sleepy[0] = false; sleepy[1] = false };
#endif
        if
        :: word & SOMEBODY_ASLEEP ->
            claim(0, got);
#ifdef MUTANT_TICKLE_WAKES_ONE
            if
            :: got -> skip
            :: else -> claim(1, got)
            fi
#else
            claim(1, got)
#endif
        :: else -> skip
        fi
    fi
}

inline post_injected(was_empty) {
    tickle(word, got)
}

inline post_local() {
    tickle(word, got)
}

inline set_latch(who) {
    latch[who] = true;
    tickle(word, got)
}

/* Sleepy no more: there is work, or an end. If it fails the worker was tickled, which is as good. */
inline wake_up(me) {
    atomic {
#ifdef MUTANT_WAKE_UP_OVERWRITES
        S = remembered & SOMEBODY_ASLEEP;
        sleepy[me] = false
#else
        if
        :: S == remembered -> S = remembered & SOMEBODY_ASLEEP; sleepy[me] = false
        :: else -> skip
        fi
#endif
    }
}

proctype worker(byte me) {
    byte job, remembered, word;
    bool seen, got;

awake:
    if
    :: latch[me] -> goto end
    :: else -> skip
    fi;
    search(me, job);
    if
    :: job != NONE -> execute(me, job); goto awake
    :: else -> skip
    fi;

    /* Gets sleepy, unless somebody else is. */
    remembered = S;
    if
    :: remembered > SOMEBODY_ASLEEP -> goto awake
    :: else -> skip
    fi;
    atomic {
#ifndef MUTANT_ANNOUNCE_OVERWRITES
        if
        :: S != remembered -> goto awake
        :: else -> skip
        fi;
#endif
        assert(!sleepy[0] && !sleepy[1]);
        remembered = remembered | SLEEPY(me);
        S = remembered;
        sleepy[me] = true
    };

#ifndef NO_SEARCH
    /* The second search. What was published before we got sleepy is found here, by us or by another. */
    if
    :: latch[me] -> wake_up(me); goto end
    :: else -> skip
    fi;
    search(me, job);
    if
    :: job != NONE -> wake_up(me); execute(me, job); goto awake
    :: else -> skip
    fi;
#endif

#ifndef MUTANT_LATE_BED
    bed[me] = COMMITTING;
#endif

#ifndef NO_RECHECK
    if
    :: latch[me] -> seen = true
    :: else -> look(me, seen)
    fi;
    if
    :: seen -> bed[me] = AWAKE; wake_up(me); goto awake
    :: else -> skip
    fi;
#endif

    /* From sleepy to asleep, if nobody has tickled us. */
    atomic {
#ifdef MUTANT_COMMIT_OVERWRITES
        S = SOMEBODY_ASLEEP;
        sleepy[me] = false
#else
        if
        :: S == remembered -> S = SOMEBODY_ASLEEP; sleepy[me] = false
        :: else -> goto tickled
        fi
#endif
    };

#ifdef MUTANT_LATE_BED
    bed[me] = COMMITTING;
#endif
    atomic {
#ifdef MUTANT_BED_OVERWRITES
        bed[me] = ASLEEP
#else
        if
        :: bed[me] == COMMITTING -> bed[me] = ASLEEP
        :: else -> goto awake
        fi
#endif
    };
    bed[me] != ASLEEP;
    goto awake;

tickled:
    bed[me] = AWAKE;
    goto awake;

end:
    assert(!sleepy[me])
}

proctype poster() {
    byte word;
    bool was_empty, got;
    scenario(was_empty)
}

inline start_all() {
    run worker(0); run worker(1); run poster()
}

init {
    start_and_join();
    assert(S <= SOMEBODY_ASLEEP)
}
