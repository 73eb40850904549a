//! Reads from the section headers of an ELF file how much machine code it has, and its size without
//! symbols. For files of 64 bits, little-endian.

/// Sizes of an executable, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Machine code: all sections that are executable.
    pub(crate) text: u64,
    /// The file without symbol table and debug information: some hundred bytes more than `strip`
    /// leaves.
    pub(crate) stripped: u64,
}

/// A section's header, as far as it is needed.
struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    offset: u64,
    size: u64,
}

const IDENTIFICATION: &[u8] = b"\x7fELF\x02\x01";

/// Section types: symbol table, string table, no bytes in the file.
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const NOBITS: u32 = 8;

/// Section flags: in memory at run time, executable.
const ALLOC: u64 = 2;
const EXECINSTR: u64 = 4;

impl Sizes {
    /// Reads the headers of a file. The error says what is wrong with it.
    pub(crate) fn of(file: &[u8]) -> Result<Self, String> {
        if !file.starts_with(IDENTIFICATION) {
            return Err("it is no ELF file of 64 bits, little-endian".to_string());
        }
        read(file).ok_or_else(|| "it ends before its sections do".to_string())
    }
}

fn read(file: &[u8]) -> Option<Sizes> {
    let (start, size) = (number(file, 0x28, 8)?, number(file, 0x3a, 2)?);
    let (count, names) = (number(file, 0x3c, 2)?, number(file, 0x3e, 2)?);
    let headers = (0..count).map(|index| section(file, start.checked_add(index * size)?));
    let sections: Vec<Section> = headers.collect::<Option<_>>()?;
    let names_at = sections.get(usize::try_from(names).ok()?)?.offset;

    let (mut text, mut removable) = (0, 0);
    for (index, section) in (0..).zip(&sections) {
        if section.flags & ALLOC != 0 {
            text += if section.flags & EXECINSTR != 0 { section.size } else { 0 };
            continue;
        }
        let name_at = usize::try_from(names_at.checked_add(section.name.into())?).ok()?;
        let is_debug = file.get(name_at..)?.starts_with(b".debug_");
        let is_table = section.kind == SYMTAB || section.kind == STRTAB && index != names;
        if section.kind != NOBITS && (is_debug || is_table) {
            removable += section.size;
        }
    }
    Some(Sizes { text, stripped: u64::try_from(file.len()).ok()?.checked_sub(removable)? })
}

fn section(file: &[u8], at: u64) -> Option<Section> {
    let at = usize::try_from(at).ok()?;
    let header = file.get(at..at.checked_add(64)?)?;
    let short = |at| number(header, at, 4)?.try_into().ok();
    let long = |at| number(header, at, 8);
    Some(Section {
        name: short(0)?,
        kind: short(4)?,
        flags: long(8)?,
        offset: long(24)?,
        size: long(32)?,
    })
}

/// Reads a little-endian number of so many bytes.
fn number(file: &[u8], at: u64, width: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = file.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a file of a header, 100 bytes of contents, names, and these sections: name, type,
    /// flags, size. The last one holds the names.
    fn file(sections: &[(&str, u32, u64, u64)]) -> Vec<u8> {
        let mut names = Vec::new();
        let mut headers = Vec::new();
        for (name, kind, flags, size) in sections {
            let mut header = [0; 64];
            header[0..4].copy_from_slice(&u32::try_from(names.len()).unwrap().to_le_bytes());
            header[4..8].copy_from_slice(&kind.to_le_bytes());
            header[8..16].copy_from_slice(&flags.to_le_bytes());
            header[24..32].copy_from_slice(&164_u64.to_le_bytes());
            header[32..40].copy_from_slice(&size.to_le_bytes());
            headers.extend(header);
            names.extend([name.as_bytes(), b"\0"].concat());
        }
        let mut file = vec![0; 164];
        file[..6].copy_from_slice(IDENTIFICATION);
        let count = u16::try_from(sections.len()).unwrap();
        let start = 164 + u64::try_from(names.len()).unwrap();
        file[0x28..0x30].copy_from_slice(&start.to_le_bytes());
        file[0x3a..0x3c].copy_from_slice(&64_u16.to_le_bytes());
        file[0x3c..0x3e].copy_from_slice(&count.to_le_bytes());
        file[0x3e..0x40].copy_from_slice(&(count - 1).to_le_bytes());
        [file, names, headers].concat()
    }

    #[test]
    fn executable_sections_are_text_and_tables_are_stripped() {
        let file = file(&[
            ("", 0, 0, 0),
            (".init", 1, ALLOC | EXECINSTR, 3),
            (".text", 1, ALLOC | EXECINSTR, 40),
            (".rodata", 1, ALLOC, 20),
            (".dynstr", STRTAB, ALLOC, 7),
            (".bss", NOBITS, ALLOC | 1, 1_000_000),
            (".comment", 1, 0, 9),
            (".debug_info", 1, 0, 11),
            (".symtab", SYMTAB, 0, 30),
            (".strtab", STRTAB, 0, 13),
            (".shstrtab", STRTAB, 0, 80),
        ]);
        let stripped = u64::try_from(file.len()).unwrap() - 11 - 30 - 13;
        assert_eq!(Sizes::of(&file), Ok(Sizes { text: 43, stripped }));
    }

    #[test]
    fn other_files_and_torn_ones_are_refused() {
        assert!(Sizes::of(b"MZ").unwrap_err().contains("no ELF file"));
        let whole = file(&[(".text", 1, ALLOC | EXECINSTR, 3), (".shstrtab", STRTAB, 0, 20)]);
        for length in IDENTIFICATION.len()..whole.len() {
            assert!(Sizes::of(&whole[..length]).unwrap_err().contains("it ends"), "{length}");
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    fn this_program_is_read() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let sizes = Sizes::of(&file).unwrap();
        assert!(100_000 < sizes.text && sizes.text < sizes.stripped, "{sizes:?}");
        assert!(sizes.stripped < u64::try_from(file.len()).unwrap(), "{sizes:?}");
    }
}
