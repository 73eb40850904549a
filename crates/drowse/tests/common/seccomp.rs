//! Sandboxes: what the system answers to a call, by a filter.

/// What the filter does with a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// It fails with this error.
    Error(i32),
    /// The thread gets SIGSYS.
    Trap,
}

/// Who is in the sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whom {
    /// The calling thread, and those that it starts.
    ThisThread,
    /// All threads of the process.
    Everyone,
}

/// From now on the system answers so to `call`.
pub(crate) fn answer(call: libc::c_long, answer: Answer, whom: Whom) {
    let load_number = libc::sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let skip_unless_it = libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: call as u32,
    };
    let verdict =
        |k| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let answer = match answer {
        Answer::Error(errno) => libc::SECCOMP_RET_ERRNO | errno as u32,
        Answer::Trap => libc::SECCOMP_RET_TRAP,
    };
    let mut filter =
        [load_number, skip_unless_it, verdict(answer), verdict(libc::SECCOMP_RET_ALLOW)];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    let flags = match whom {
        Whom::ThisThread => 0,
        Whom::Everyone => libc::SECCOMP_FILTER_FLAG_TSYNC,
    };
    // SAFETY: the program is valid and outlives the calls, which copy it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        assert_eq!(libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program), 0);
    }
}
