//! What programs are compiled to: instructions in one flat array, with side tables.

use seawall::Reply;

use crate::law::Law;

/// An address in [`Code::instrs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pc(pub u32);

/// All programs of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The instructions of all programs, one after the other.
    pub instrs: Vec<Instr>,
    /// Laws named by `Work` and `Delay`.
    pub laws: Vec<Law>,
    /// Branch starts of `Parallel`.
    pub branches: Vec<Pc>,
    /// Arms of `Choose`: cumulative weight (the last is 1) and start.
    pub arms: Vec<(f64, Pc)>,
    /// Answers of `Respond`.
    pub replies: Vec<Reply>,
    /// What follows a look-up, by index in [`Caches::all`](crate::scenario::cache::Caches::all).
    pub lookups: Vec<Lookup>,
}

/// Where a program goes on that looks something up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookup {
    /// Start of the block that is run where it is there, ending in `End`; `None`: nothing is done.
    pub hit: Option<Pc>,
    /// Start of the block that is run where it is not there, ending in `End`.
    pub miss: Pc,
    /// The share of look-ups that miss at best; for estimates before anything is run.
    pub misses: f64,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instr {
    /// Needs a worker for a draw of `laws[.0]`, stretched by `slow` faults.
    Work(u32),
    /// Waits for a draw of `laws[.0]` without working.
    Delay(u32),
    /// Holds `Sessions::all[.0]` with the replica that answered the call just before it, and waits for its end.
    Hold(u32),
    /// Makes the call of `sites[.0]` and waits for it.
    Call(u32),
    /// Runs `count` blocks starting at `branches[first..]` side by side, each ending in `End`; goes on
    /// when all have ended. One that fails fails the program.
    Parallel {
        /// Index into `branches`.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Jumps to one of `arms[first..first + count]`, drawn by weight; each arm ends in `Jump`.
    Choose {
        /// Index into `arms`.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Runs the block at `body` (ending in `End`) `times` times, one after the other.
    Repeat {
        /// At least 1.
        times: u32,
        /// Start of the block.
        body: Pc,
    },
    /// Goes on elsewhere.
    Jump(Pc),
    /// Answers the caller now with `replies[.0]`; what follows runs without anybody waiting.
    Respond(u32),
    /// Goes on at this address; only where the call just before it failed and has another call for a fallback, the
    /// kernel steps over it.
    Otherwise(Pc),
    /// Commits `Effects::effects[.0]`.
    Effect(u32),
    /// Looks for the request's key in `Effects::stores[.0]`: goes on if it is new.
    Claim(u32),
    /// Looks something up in `Caches::all[.0]` and runs one of the blocks of `lookups[.0]`; the next instruction is
    /// `Stored`, which is stepped over unless something was fetched.
    Lookup(u32),
    /// Stores what was fetched.
    Stored(u32),
    /// Ends the block.
    End,
}

impl Code {
    /// The instructions a program may come to, in the order of the code.
    pub fn reachable(&self, entry: Pc) -> impl Iterator<Item = &Instr> {
        let mut seen = vec![false; self.instrs.len()];
        let mut open = vec![entry];
        while let Some(Pc(at)) = open.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            let next = Pc(at + 1);
            match self.instrs[at as usize] {
                Instr::Work(_)
                | Instr::Delay(_)
                | Instr::Hold(_)
                | Instr::Call(_)
                | Instr::Respond(_)
                | Instr::Effect(_)
                | Instr::Claim(_)
                | Instr::Stored(_) => open.push(next),
                Instr::Lookup(cache) => {
                    let Lookup { hit, miss, .. } = self.lookups[cache as usize];
                    open.extend([next, miss]);
                    open.extend(hit);
                }
                Instr::Parallel { first, count } => {
                    open.push(next);
                    open.extend(self.branches_of(first, count));
                }
                Instr::Choose { first, count } => {
                    open.extend(self.arms_of(first, count).iter().map(|arm| arm.1));
                }
                Instr::Repeat { body, .. } => open.extend([next, body]),
                Instr::Otherwise(to) => open.extend([next, to]),
                Instr::Jump(to) => open.push(to),
                Instr::End => {}
            }
        }
        self.instrs
            .iter()
            .zip(seen)
            .filter_map(|(instr, seen)| seen.then_some(instr))
    }

    /// Branch starts of a `Parallel`.
    #[must_use]
    pub fn branches_of(&self, first: u32, count: u32) -> &[Pc] {
        &self.branches[first as usize..(first + count) as usize]
    }

    /// Arms of a `Choose`.
    #[must_use]
    pub fn arms_of(&self, first: u32, count: u32) -> &[(f64, Pc)] {
        &self.arms[first as usize..(first + count) as usize]
    }
}
