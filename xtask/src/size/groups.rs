//! Groups the functions of a program: those that differ only in generic arguments are instances of
//! one group.

use std::collections::{BTreeMap, BTreeSet};

/// The functions of a group in one program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) bytes: u64,
    pub(crate) instances: usize,
}

/// The groups of a program, by name.
pub(crate) type Groups = BTreeMap<String, Group>;

/// Groups the functions in the output of `nm --demangle --print-size --defined-only`. Functions at
/// one address count once.
pub(crate) fn groups(symbols: &str) -> Groups {
    let mut seen = BTreeSet::new();
    let mut groups = Groups::new();
    for line in symbols.lines() {
        let mut words = line.splitn(4, ' ');
        let [Some(address), Some(size), Some(kind), Some(name)] = [(); 4].map(|()| words.next())
        else {
            continue;
        };
        let Ok(size) = u64::from_str_radix(size, 16) else { continue };
        if matches!(kind, "t" | "T" | "w" | "W") && seen.insert(address) {
            let group = groups.entry(family(name)).or_default();
            group.bytes += size;
            group.instances += 1;
        }
    }
    groups
}

/// Formats the largest groups of two programs side by side, a line each, below their totals.
pub(crate) fn table(theirs: &Groups, ours: &Groups, count: usize) -> Vec<String> {
    let sum = |groups: &Groups| Group {
        bytes: groups.values().map(|group| group.bytes).sum(),
        instances: groups.values().map(|group| group.instances).sum(),
    };
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let of = |groups: &Groups, name: &String| groups.get(name).copied().unwrap_or_default();
    let mut rows: Vec<_> =
        names.into_iter().map(|name| (of(theirs, name), of(ours, name), name.as_str())).collect();
    rows.sort_by_key(|(theirs, ours, _)| std::cmp::Reverse(theirs.bytes.max(ours.bytes)));
    rows.truncate(count);
    rows.insert(0, (sum(theirs), sum(ours), "all functions"));
    let row = |(theirs, ours, name): (Group, Group, &str)| {
        format!(
            "{:>9} {:>6} {:>9} {:>6}  {name}",
            theirs.bytes, theirs.instances, ours.bytes, ours.instances
        )
    };
    let head = format!("{:>16} {:>16}", "rayon-core", "drop-in");
    [head, format!("{:>9} {:>6} {:>9} {:>6}  function", "bytes", "number", "bytes", "number")]
        .into_iter()
        .chain(rows.into_iter().map(row))
        .collect()
}

/// Returns the path of a function without generic arguments and hash.
fn family(symbol: &str) -> String {
    let symbol = symbol.split(" [clone").next().unwrap_or_default();
    let symbol = symbol.split(".llvm.").next().unwrap_or_default();
    let symbol = match symbol.rsplit_once("::h") {
        Some((path, hash))
            if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            path
        }
        _ => symbol,
    };
    let mut path = String::new();
    // For each bracket that is open: whether its contents stay.
    let mut open = Vec::new();
    let mut before = ' ';
    for (at, letter) in symbol.char_indices() {
        match letter {
            '<' => {
                let rest = &symbol[at + 1..];
                let is_after_name =
                    path.ends_with(|c: char| c.is_alphanumeric() || "_}".contains(c));
                let is_argument = path.ends_with("::") && !rest.starts_with("impl ");
                let stays =
                    open.last().is_none_or(|stays| *stays) && !is_after_name && !is_argument;
                if is_argument && open.last().is_none_or(|stays| *stays) {
                    path.truncate(path.len() - "::".len());
                }
                open.push(stays);
                if stays {
                    path.push(letter);
                }
            }
            // Not the arrow of a function's type.
            '>' if before != '-' => {
                let stays = open.pop().unwrap_or(true);
                path.extend(stays.then_some(letter));
            }
            _ if open.last().is_none_or(|stays| *stays) => path.push(letter),
            _ => {}
        }
        before = letter;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_no_generic_arguments_and_no_hash() {
        for (symbol, expected) in [
            ("main", "main"),
            ("rayon_core::join::join_context::h0123456789abcdef", "rayon_core::join::join_context"),
            ("a::b::hash", "a::b::hash"),
            (
                "core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
                "core::ptr::drop_in_place",
            ),
            ("a::b::<u8, <c::D as e::F>::G>", "a::b"),
            ("a::b::<u8>::{closure#0}", "a::b::{closure#0}"),
            (
                "<r::job::StackJob<L, fn(u8) -> R> as r::job::Job>::execute",
                "<r::job::StackJob as r::job::Job>::execute",
            ),
            ("<r::Set<u8>>::wake_any [clone .llvm.77]", "<r::Set>::wake_any"),
            (
                "std::thread::local::LocalKey<T>::with.llvm.123",
                "std::thread::local::LocalKey::with",
            ),
            (
                "core::fn::<impl core::fn::Fn<A> for &F>::call",
                "core::fn::<impl core::fn::Fn for &F>::call",
            ),
            ("a::{{closure}}<T>::b", "a::{{closure}}::b"),
        ] {
            assert_eq!(family(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn functions_are_counted_by_group_and_shown_side_by_side() {
        let theirs = groups("0000000000001000 0000000000000010 t a::b::<u8>\n");
        let ours = groups(
            "0000000000001000 0000000000000010 t a::b::<u8>\n\
             0000000000001000 0000000000000010 T a::b::<i8>\n\
             0000000000002000 0000000000000020 t a::b::<(u8, u16)>\n\
             0000000000003000 0000000000000050 T c\n\
             0000000000004000 0000000000000100 r a table\n\
             0000000000005000 t without_size\n",
        );
        assert_eq!(ours.len(), 2);
        assert_eq!(ours["a::b"], Group { bytes: 0x30, instances: 2 });
        assert_eq!(
            table(&theirs, &ours, 40)[2..],
            [
                "       16      1       128      3  all functions",
                "        0      0        80      1  c",
                "       16      1        48      2  a::b",
            ]
        );
        assert_eq!(table(&theirs, &ours, 1).len(), 4);
    }
}
