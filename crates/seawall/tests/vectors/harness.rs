//! Reads the files, walks the steps and compares, refusing whatever it does not know.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use seawall::{Entropy, Span, Time};
use serde_json::{Map, Value};

/// One policy under test.
pub(crate) trait Machine {
    /// Applies one step and tells what can be observed after it, by the names of the format.
    fn step(&mut self, now: Time, op: &str, input: &Fields<'_>) -> Value;

    /// What turned out after the last step about an earlier one.
    fn later(&mut self, _step: usize) -> Option<Value> {
        None
    }
}

/// Makes a fresh machine from the parameters and all steps of a sequence.
pub(crate) type Build = fn(&Fields<'_>) -> Box<dyn Machine>;

/// Runs every sequence of one policy; how many sequences and steps there were.
pub(crate) fn run(policy: &str, build: Build) -> (usize, usize) {
    run_in(&folder(), policy, build).unwrap_or_else(|| {
        assert!(chosen().is_some(), "{policy} is missing");
        (0, 0)
    })
}

/// The same with the sequences of a folder of one's own; `None`: it has none of the policy.
pub(crate) fn run_in(folder: &Path, policy: &str, build: Build) -> Option<(usize, usize)> {
    let text = fs::read_to_string(folder.join(format!("{policy}.json"))).ok()?;
    let document: Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(document["format"], "policy-vectors/1");
    assert_eq!(document["policy"], policy);
    let sequences = document["sequences"].as_array().expect("sequences");
    let steps = sequences.iter().map(|sequence| {
        let id = sequence["id"].as_str().expect("id");
        run_sequence(&format!("{policy}/{id}"), sequence, build)
    });
    Some((sequences.len(), steps.sum()))
}

/// Sequences beside the recorded ones, from models written from the sources.
pub(crate) fn more() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/more")
}

/// The policies of the folder, by file name.
pub(crate) fn policies() -> Vec<String> {
    let files = fs::read_dir(folder()).expect("the folder of the vectors");
    files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// The folder somebody asked for instead of the one in the repository.
pub(crate) fn chosen() -> Option<PathBuf> {
    std::env::var_os("SEAWALL_VECTORS").map(PathBuf::from)
}

fn folder() -> PathBuf {
    chosen().unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"))
}

fn run_sequence(name: &str, sequence: &Value, build: Build) -> usize {
    let params = Fields::new(format!("{name} params"), &sequence["params"], &[]);
    let mut machine = build(&params);
    params.finish();
    let steps = sequence["steps"].as_array().expect("steps");
    let mut observed: Vec<Value> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let at = step_name(name, i, step);
        let now = Time(step["t_ns"].as_u64().expect("t_ns"));
        let op = step["op"].as_str().expect("op");
        let input = Fields::new(at, step, &["t_ns", "op", "expect"]);
        observed.push(machine.step(now, op, &input));
        input.finish();
    }
    for (i, step) in steps.iter().enumerate() {
        let mut seen = observed[i].take();
        if let Some(later) = machine.later(i) {
            let seen = seen.as_object_mut().expect("an object");
            seen.extend(later.as_object().expect("an object").clone());
        }
        compare(&step_name(name, i, step), &step["expect"], &seen);
    }
    steps.len()
}

fn step_name(name: &str, i: usize, step: &Value) -> String {
    format!("{name} step {i} ({} at {} ns)", step["op"], step["t_ns"])
}

/// What a step or the parameters of a sequence say. Every field must be read.
pub(crate) struct Fields<'a> {
    at: String,
    map: &'a Map<String, Value>,
    unread: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Fields<'a> {
    fn new(at: String, value: &'a Value, known: &[&str]) -> Self {
        let map = value.as_object().expect("an object");
        let unread = map.keys().map(String::as_str);
        Fields {
            at,
            map,
            unread: RefCell::new(unread.filter(|key| !known.contains(key)).collect()),
        }
    }

    /// The field, unless it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.unread.borrow_mut().remove(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn need<T>(&self, key: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> T {
        let value = self.get(key);
        value.and_then(read).unwrap_or_else(|| self.bad(key))
    }

    fn bad(&self, key: &str) -> ! {
        panic!("{}: {key} is {:?}", self.at, self.map.get(key))
    }

    /// A whole number, whether it is written `2` or `2.0`.
    pub(crate) fn u64(&self, key: &str) -> u64 {
        self.need(key, |value| {
            let whole = |x: &f64| *x >= 0.0 && x.fract() == 0.0 && *x < u64::MAX as f64;
            let float = || value.as_f64().filter(whole).map(|x| x as u64);
            value.as_u64().or_else(float)
        })
    }

    pub(crate) fn u32(&self, key: &str) -> u32 {
        u32::try_from(self.u64(key)).unwrap_or_else(|_| self.bad(key))
    }

    pub(crate) fn f64(&self, key: &str) -> f64 {
        self.need(key, Value::as_f64)
    }

    pub(crate) fn bool(&self, key: &str) -> bool {
        self.need(key, Value::as_bool)
    }

    pub(crate) fn str(&self, key: &str) -> &'a str {
        self.need(key, Value::as_str)
    }

    pub(crate) fn list(&self, key: &str) -> &'a [Value] {
        self.need(key, |value| value.as_array().map(Vec::as_slice))
    }

    /// Fields within a field; call [`Fields::finish`] on them.
    pub(crate) fn object(&self, key: &str) -> Fields<'a> {
        let value = self.get(key).unwrap_or_else(|| self.bad(key));
        Fields::new(format!("{} {key}", self.at), value, &[])
    }

    /// A list of fields within a field; call [`Fields::finish`] on each.
    pub(crate) fn objects(&self, key: &str) -> Vec<Fields<'a>> {
        let list = self.list(key).iter().enumerate();
        let each =
            list.map(|(i, value)| Fields::new(format!("{} {key}[{i}]", self.at), value, &[]));
        each.collect()
    }

    /// A length in nanoseconds.
    pub(crate) fn span(&self, key: &str) -> Span {
        Span(self.u64(key))
    }

    /// A length in milliseconds, whole or not.
    pub(crate) fn millis(&self, key: &str) -> Span {
        match self.get(key).and_then(Value::as_u64) {
            Some(whole) => Span::millis(whole),
            None => Span::from_secs_f64(self.f64(key) / 1e3),
        }
    }

    /// The field as `read` reads it, unless it is absent or null.
    pub(crate) fn optional<T>(&self, key: &str, read: fn(&Self, &str) -> T) -> Option<T> {
        self.get(key).map(|_| read(self, key))
    }

    /// A unit draw that a step may leave out when the policy does not draw.
    pub(crate) fn draw(&self) -> f64 {
        self.optional("u", Fields::f64).unwrap_or(0.0)
    }

    /// Refuses an operation nobody here knows.
    pub(crate) fn unknown(&self, what: &str) -> ! {
        panic!("{}: unknown {what}", self.at)
    }

    /// Everything must have been read by now.
    pub(crate) fn finish(&self) {
        let unread = self.unread.borrow();
        assert!(unread.is_empty(), "{}: nobody read {unread:?}", self.at);
    }
}

/// A generator that gives the same, for ever.
pub(crate) struct Always(pub(crate) u64);

impl Entropy for Always {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}

/// Compares what is expected with what was observed; README.md, "Step", has the rules.
fn compare(at: &str, expect: &Value, seen: &Value) {
    let expect = expect.as_object().expect("expect");
    let tolerances = Tolerances::read(expect);
    for (key, want) in expect {
        if Tolerances::is_one(key) {
            continue;
        }
        let got = seen
            .get(key)
            .unwrap_or_else(|| panic!("{at}: unknown expectation {key}"));
        let shown = match got.as_array() {
            Some(many) if many.len() > 100 => {
                format!("[{}, ..., {}]", many[0], many[many.len() - 1])
            }
            _ => got.to_string(),
        };
        let context = format!("{at}: {key} should be {want}, is {shown}");
        match key.as_str() {
            "range_ns" => tolerances.in_range(want, got, false, &context),
            "range_inclusive_ns" => tolerances.in_range(want, got, true, &context),
            _ => assert!(tolerances.agree(key, want, got), "{context}"),
        }
    }
}

struct Tolerances<'a> {
    nanos: f64,
    relative: Option<f64>,
    /// By a part of the name of the field that they are for.
    absolute: Vec<(&'a str, f64)>,
}

impl<'a> Tolerances<'a> {
    fn is_one(key: &str) -> bool {
        key == "tol_ns" || key == "rel_tol" || key.ends_with("_tol") || key.ends_with("_tol_ns")
    }

    fn read(expect: &'a Map<String, Value>) -> Self {
        let number = |key: &str| expect.get(key).map(|v| v.as_f64().expect("a tolerance"));
        let absolute = expect.keys().filter_map(|key| {
            let stem = key
                .strip_suffix("_tol")
                .or_else(|| key.strip_suffix("_tol_ns"))?;
            let fits = |other: &&String| !Self::is_one(other) && other.contains(stem);
            if stem == "rel" {
                return None;
            }
            assert!(
                expect.keys().any(|other| fits(&other)),
                "what is {key} for?"
            );
            Some((stem, number(key)?))
        });
        Tolerances {
            nanos: number("tol_ns").unwrap_or(0.0),
            relative: number("rel_tol"),
            absolute: absolute.collect(),
        }
    }

    fn agree(&self, key: &str, want: &Value, got: &Value) -> bool {
        match (want, got) {
            (Value::Array(want), Value::Array(got)) => {
                want.len() == got.len() && want.iter().zip(got).all(|(w, g)| self.agree(key, w, g))
            }
            (Value::Number(w), Value::Number(g)) => {
                let whole = !w.is_f64() && !g.is_f64();
                let (w, g) = (w.as_f64().unwrap(), g.as_f64().unwrap());
                // Lengths saturate where 64 bits of nanoseconds end.
                let w = if key.ends_with("_ns") {
                    w.min(u64::MAX as f64)
                } else {
                    w
                };
                let absolute = self.absolute.iter().find(|(stem, _)| key.contains(stem));
                let within = match absolute {
                    Some(&(_, absolute)) => absolute,
                    None if key.ends_with("_ns") => self.nanos,
                    None if whole => return want == got,
                    None => self.relative.unwrap_or(1e-6) * w.abs(),
                };
                (w - g).abs() <= within
            }
            _ => want == got,
        }
    }

    fn in_range(&self, want: &Value, got: &Value, inclusive: bool, context: &str) {
        let longest = u64::MAX as f64;
        let bound = |i: usize| want[i].as_f64().expect("a range").min(longest);
        let samples = got.as_array().expect("samples");
        for sample in samples.iter().map(|sample| sample.as_f64().unwrap()) {
            let high = bound(1) + self.nanos;
            let below = sample < high || inclusive && sample <= high;
            assert!(sample >= bound(0) - self.nanos && below, "{context}");
        }
        if inclusive {
            let ends = [samples.first(), samples.last()].map(|end| end.and_then(Value::as_f64));
            let wanted = [0, 1].map(|i| Some(bound(i)));
            assert_eq!(ends, wanted, "{context}: ends not reached");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Knows one parameter, one operation with one input, and one expectation.
    struct Echo;

    impl Machine for Echo {
        fn step(&mut self, _now: Time, op: &str, input: &Fields<'_>) -> Value {
            if op != "echo" {
                input.unknown(op);
            }
            json!({ "said": input.u64("say"), "rate": 1.0 })
        }
    }

    fn try_out(params: Value, step: Value) -> std::thread::Result<usize> {
        let sequence = json!({ "params": params, "steps": [step] });
        let build: Build = |params| {
            params.u64("known");
            Box::new(Echo)
        };
        std::panic::catch_unwind(|| run_sequence("echo", &sequence, build))
    }

    fn step(changed: &str, to: Value) -> Value {
        let mut step = json!({ "t_ns": 0, "op": "echo", "say": 7, "expect": { "said": 7 } });
        step[changed] = to;
        step
    }

    #[test]
    fn what_it_does_not_know_makes_it_fail() {
        let known = || json!({ "known": 1 });
        assert!(try_out(known(), step("say", json!(7))).is_ok());
        assert!(try_out(json!({ "known": 1, "unread": 2 }), step("say", json!(7))).is_err());
        assert!(try_out(json!({}), step("say", json!(7))).is_err());
        assert!(try_out(known(), step("op", json!("shout"))).is_err());
        assert!(try_out(known(), step("unread", json!(2))).is_err());
        assert!(try_out(known(), step("expect", json!({ "heard": 7 }))).is_err());
        assert!(try_out(known(), step("expect", json!({ "said": 8 }))).is_err());
        let tolerated = json!({ "rate": 1.5, "rate_tol": 0.5 });
        assert!(try_out(known(), step("expect", tolerated)).is_ok());
        let for_nothing = json!({ "rate": 1.0, "pace_tol": 0.5 });
        assert!(try_out(known(), step("expect", for_nothing)).is_err());
        assert!(try_out(known(), step("expect", json!({ "rate": 1.00001 }))).is_err());
        assert!(try_out(known(), step("expect", json!({ "rate": 1.0000001 }))).is_ok());
    }
}
