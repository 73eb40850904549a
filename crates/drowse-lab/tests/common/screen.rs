//! A terminal of 80 columns, as far as progress bars need one.

const COLUMNS: usize = 80;

/// The lines that stand on it after all of this was written.
pub(crate) fn screen(written: &str) -> Vec<String> {
    let mut screen = Screen { lines: vec![Vec::new()], row: 0, column: 0 };
    let mut rest = written.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => screen.column = 0,
            '\n' => screen.down(),
            '\u{1b}' => {
                let bracket = rest.next();
                assert_eq!(bracket, Some('['), "an escape of another kind in {written:?}");
                let mut number = String::new();
                let letter = rest.by_ref().find(|c| {
                    c.is_alphabetic() || {
                        number.push(*c);
                        false
                    }
                });
                screen.obey(&number, letter.unwrap());
            }
            c => screen.put(c),
        }
    }
    screen.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect()
}

struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        // The cursor stays behind the last column until there is something to put on the next line.
        if self.column == COLUMNS {
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        self.lines.resize(self.lines.len().max(self.row + 1), Vec::new());
    }

    /// A sequence of escape, bracket, a number or none, and a letter.
    fn obey(&mut self, number: &str, letter: char) {
        let count = number.parse().unwrap_or(1);
        match (letter, number) {
            ('K', "2") => self.lines[self.row].clear(),
            ('K', _) => self.lines[self.row].truncate(self.column),
            ('A', _) => self.row = self.row.saturating_sub(count),
            ('B', _) => (0..count).for_each(|_| self.down()),
            _ => {}
        }
    }
}
