//! Inputs out of other inputs, by a number that can be said again. libFuzzer does it better, and needs its own compiler flags.

/// Steele, Lea and Flood's splitmix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// Longest input, in bytes.
const LONGEST: usize = 4 << 10;

/// An input: one of these changed in a few places, with these words and pieces of others put in.
pub fn mutated(seeds: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let mut input = random.of(seeds).cloned().unwrap_or_default();
    for _ in 0..=random.below(6) {
        let (from, to) = range(input.len(), random);
        match random.below(9) {
            0 => input.insert(from, random.below(256) as u8),
            1 if from < input.len() => input[from] ^= 1 << random.below(8),
            2 => drop(input.drain(from..to)),
            3 => {
                let piece = input[from..to].to_vec();
                let times = 1 + random.below(20);
                insert(&mut input, from, &piece.repeat(times));
            }
            4 => {
                let other = random.of(seeds).cloned().unwrap_or_default();
                let (start, end) = range(other.len(), random);
                insert(&mut input, from, &other[start..end]);
            }
            5 => {
                let other = random.of(seeds).cloned().unwrap_or_default();
                input.truncate(from);
                input.extend_from_slice(&other[range(other.len(), random).0..]);
            }
            6 => drop(input.splice(from..to, random.of(words).copied().unwrap_or_default().bytes())),
            _ => insert(&mut input, from, random.of(words).copied().unwrap_or_default().as_bytes()),
        }
        input.truncate(LONGEST);
    }
    input
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Two places in so many bytes, in order; mostly near each other.
fn range(length: usize, random: &mut Random) -> (usize, usize) {
    let start = random.below(length + 1);
    let longest = if random.below(4) == 0 { length } else { 16 };
    (start, (start + random.below(longest + 1)).min(length))
}
