//! Prints a line for each shipped model: its trajectory hash and its name.

fn main() {
    for (name, text) in proof::models() {
        println!("{:016x} {name}", proof::trajectory(name, text));
    }
}
