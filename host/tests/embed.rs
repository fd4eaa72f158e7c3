//! The example that an agent's author copies runs and does what it says.

#[path = "../examples/embed.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().expect("it blocks what it should");
}
