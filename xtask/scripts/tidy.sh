#!/bin/sh
# The house rules that clippy does not know, for the repository in the current directory. Prints a
# line for each problem, and then how many there are.
set -eu
export LC_ALL=C.UTF-8

# How many lines above its ordering an argument for it may begin.
reach=14

libraries='crates/drowse/src crates/drowse-sleep/src crates/drowse-sync/src'

command -v git >/dev/null && git rev-parse --git-dir >/dev/null || { echo "this is no git repository"; exit 77; }

files() {
    git ls-files --cached --others --exclude-standard -- "$@"
}

# Says WHAT is wrong with each line that matches: found WHAT [PATTERN OPTIONS] -- PATHS
found() {
    what=$1
    shift
    git grep --untracked -nIE "$@" | sed "s|^\([^:]*:[0-9]*\):.*|\1: $what|" || true
}

plain_text() {
    found 'a tab' -e "$(printf '\t')" -- $written_by_hand
    found 'trailing whitespace' -e '[[:space:]]$' -- $written_by_hand
    found 'a path of one machine' -e '(^|[^[:alnum:]_.~}*-])/(work|root|tmp)/' -- .
    found 'a forbidden word' -e '\b(unimplemented!|todo!\(|dbg!|FIXME\b|TODO\b|XXX\b)|#\[ignore' -- '*.rs'
    found 'a comment of more than 100 columns' -e '^ *//' --and -e '^.{101,}$' -- '*.rs'
}
written_by_hand='*.rs *.toml *.md *.sh *.yml *.yaml *.json *.py *.pml *.c'

# Only drowse-sync names std's, loom's and shuttle's threads and atomics. `core` and `alloc` are back
# doors to the same things. The models, the lab, programs and tests are no part of the runtime.
facade() {
    found 'goes around drowse-sync' \
        -e '\b(std|core|alloc)::(sync\b|\{.*\bsync\b|\{$)|\b(loom|shuttle)::' --and --not -e '^ *//' -- \
        '*.rs' ':!crates/drowse-sync' ':!crates/drowse-models' ':!crates/drowse-lab' ':!crates/drowse-soak' \
        ':!shim/app' ':!xtask' ':!*/tests/*' ':!*/tests.rs' ':!*/benches/*' ':!*/examples/*'
}

# Models do not wait by yielding or sleeping. Elsewhere it is std's functions, and clippy knows those.
waiting() {
    found 'no way of waiting' -e '\bthread::(yield_now|sleep)\b' --and --not -e '^ *//' -- crates/drowse-models
}

# A library prints nothing by itself: what it has to say goes through its log.
printing() {
    found 'a library that prints' -e '\be?print(ln)?!' --and --not -e '^ *//' -- $libraries shim/rayon-core/src
}

# Every memory ordering is argued for, but for those of tests.
orderings() {
    for place in $libraries; do files "$place/*.rs"; done | grep -v '/tests\.rs$' | xargs awk -v reach=$reach '
        FNR == 1 { argued = -reach - 1; in_tests = 0 }
        /^mod .*\{$/ && attribute ~ /cfg\(.*test/ { in_tests = 1 }
        /\/[\/*].*ORDERING:/ { argued = FNR }
        /^}/ { in_tests = 0 }
        { attribute = $0 }
        !in_tests {
            sub(/\/\/.*/, " ")
            if (/(^|[^A-Za-z_])(Relaxed|Acquire|Release|AcqRel|SeqCst)([^A-Za-z_]|$)/ && FNR - argued > reach)
                print FILENAME ":" FNR ": no ORDERING: comment within " reach " lines above"
        }'
}

# Every crate of a workspace takes the workspace's lints.
manifests() {
    for manifest in $(files '*/Cargo.toml' ':!shim/Cargo.toml' ':!shim/old-locks'); do
        grep -A1 '^\[lints\]' "$manifest" | grep -qx 'workspace = true' ||
            echo "$manifest:1: no \`[lints]\` with \`workspace = true\`"
    done
}

# The environment variables that the libraries read are all in one table, which the guide and
# rustdoc show.
variables() {
    variable='(DROWSE|RAYON)_[A-Z0-9_]+'
    read_ones=$(git grep --untracked -hE "\"$variable\"" -- $libraries shim/rayon-core/src |
        grep -v '^ *//' | grep -oE "\"$variable\"" | tr -d '"' | sort -u)
    for file in docs/guide/environment.md crates/drowse/src/environment.md; do
        rows=$(grep -E "^\| \`$variable\`" $file || true)
        listed=$(echo "$rows" | cut -d'`' -f2 | sort -u)
        echo "$read_ones" | grep -vxF "$listed" | sed "s|^|$file:1: the table of variables lacks |" || true
        echo "$listed" | grep -vxF "$read_ones" | sed "s|^|$file:1: no library reads |" || true
        [ "$rows" = "${first=$rows}" ] || echo "$file:1: the table of variables is not that of docs/guide/environment.md"
    done
}

# The glossary has only words that are used elsewhere.
glossary() {
    sed -n 's/^| \*\*\([^*]*\)\*\*.*/\1/p' docs/internals/glossary.md | sed 's/, */\n/g' | while read -r word; do
        pattern=$(echo "$word" | sed 's/ /[ _-]/g')
        git grep --untracked -qiwE -e "$pattern" -- . ':!docs/internals/glossary.md' ||
            echo "docs/internals/glossary.md:1: no other file says \`$word\`"
    done
}

problems=$(plain_text; facade; waiting; printing; orderings; manifests; variables; glossary)
if [ -n "$problems" ]; then
    echo "$problems" | sort -t: -k1,1 -k2,2n
    echo "problems: $(echo "$problems" | wc -l)"
    exit 1
fi
echo "$(files . | wc -l) files"
