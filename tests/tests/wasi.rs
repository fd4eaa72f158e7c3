//! A component that imports WASI: it runs, and reaches nothing by it.

use toolgate_host::{Capabilities, Decision, Engine, Gate, LoadError, Plugin, Session, ToolCall};
use toolgate_tests::root;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The part of WASI that the component below uses, in the shapes of its specification.
const WASI: &str = "
    package made:up;
    world probe {
        import wasi:cli/environment@0.2.6;
        import wasi:cli/stdin@0.2.6;
        import wasi:cli/stderr@0.2.6;
        import wasi:clocks/wall-clock@0.2.6;
        import wasi:filesystem/preopens@0.2.6;
        import wasi:io/streams@0.2.6;
        import wasi:random/random@0.2.6;
        import wasi:sockets/tcp-create-socket@0.2.6;
        import wasi:sockets/udp-create-socket@0.2.6;
        import wasi:sockets/ip-name-lookup@0.2.6;
        import wasi:sockets/instance-network@0.2.6;
        export toolgate:plugin/lifecycle@0.1.0;
        export toolgate:plugin/tool-gate@0.1.0;
    }
    package wasi:cli@0.2.6 {
        interface environment {
            get-environment: func() -> list<tuple<string, string>>;
            get-arguments: func() -> list<string>;
            initial-cwd: func() -> option<string>;
        }
        interface stdin { use wasi:io/streams@0.2.6.{input-stream}; get-stdin: func() -> input-stream; }
        interface stderr { use wasi:io/streams@0.2.6.{output-stream}; get-stderr: func() -> output-stream; }
    }
    package wasi:clocks@0.2.6 {
        interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }
    }
    package wasi:filesystem@0.2.6 {
        interface types { resource descriptor; }
        interface preopens {
            use types.{descriptor};
            get-directories: func() -> list<tuple<descriptor, string>>;
        }
    }
    package wasi:io@0.2.6 {
        interface error { resource error; }
        interface streams {
            use error.{error};
            variant stream-error { last-operation-failed(error), closed }
            resource input-stream { read: func(len: u64) -> result<list<u8>, stream-error>; }
            resource output-stream { blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>; }
        }
    }
    package wasi:random@0.2.6 {
        interface random { get-random-u64: func() -> u64; get-random-bytes: func(len: u64) -> list<u8>; }
    }
    package wasi:sockets@0.2.6 {
        interface network {
            resource network;
            enum error-code {
                unknown, access-denied, not-supported, invalid-argument, out-of-memory, timeout, concurrency-conflict,
                not-in-progress, would-block, invalid-state, new-socket-limit, address-not-bindable, address-in-use,
                remote-unreachable, connection-refused, connection-reset, connection-aborted, datagram-too-large,
                name-unresolvable, temporary-resolver-failure, permanent-resolver-failure,
            }
            enum ip-address-family { ipv4, ipv6 }
        }
        interface tcp { resource tcp-socket; }
        interface udp { resource udp-socket; }
        interface instance-network { use network.{network}; instance-network: func() -> network; }
        interface tcp-create-socket {
            use network.{error-code, ip-address-family};
            use tcp.{tcp-socket};
            create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>;
        }
        interface udp-create-socket {
            use network.{error-code, ip-address-family};
            use udp.{udp-socket};
            create-udp-socket: func(address-family: ip-address-family) -> result<udp-socket, error-code>;
        }
        interface ip-name-lookup {
            use network.{network, error-code};
            resource resolve-address-stream;
            resolve-addresses: func(network: borrow<network>, name: string) -> result<resolve-address-stream, error-code>;
        }
    }
";

/// Asks WASI for everything, and blocks with what it got as the reason: a letter for each answer. `E`, `A` and `D` for no
/// variables, arguments and folders, `W` for no working directory, `S` for standard input at its end, `O` for output that is
/// taken, `T`, `U` and `N` for TCP, UDP and names that are denied, `C` for the clock that stands, `R` for numbers that are the
/// same each time. What is not as it should be is `!`.
const MODULE: &str = r#"
(module
  (import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))
  (import "wasi:cli/environment@0.2.6" "get-arguments" (func $arguments (param i32)))
  (import "wasi:cli/environment@0.2.6" "initial-cwd" (func $cwd (param i32)))
  (import "wasi:cli/stdin@0.2.6" "get-stdin" (func $stdin (result i32)))
  (import "wasi:cli/stderr@0.2.6" "get-stderr" (func $stderr (result i32)))
  (import "wasi:clocks/wall-clock@0.2.6" "now" (func $now (param i32)))
  (import "wasi:filesystem/preopens@0.2.6" "get-directories" (func $folders (param i32)))
  (import "wasi:io/streams@0.2.6" "[method]input-stream.read" (func $read (param i32 i64 i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))
  (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
  (import "wasi:sockets/tcp-create-socket@0.2.6" "create-tcp-socket" (func $tcp (param i32 i32)))
  (import "wasi:sockets/udp-create-socket@0.2.6" "create-udp-socket" (func $udp (param i32 i32)))
  (import "wasi:sockets/instance-network@0.2.6" "instance-network" (func $network (result i32)))
  (import "wasi:sockets/ip-name-lookup@0.2.6" "resolve-addresses" (func $lookup (param i32 i32 i32 i32)))
  (memory (export "memory") 4)
  (global $free (mut i32) (i32.const 65536))
  (global $said (mut i32) (i32.const 1024))
  (data (i32.const 2048) "example.com")
  (data (i32.const 3072) "said\n")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.set $free (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $say (param $letter i32) (param $right i32)
    (i32.store8 (global.get $said) (select (local.get $letter) (i32.const 33) (local.get $right)))
    (global.set $said (i32.add (global.get $said) (i32.const 1))))
  ;; An answer of a list with nothing in it: its length is the second word.
  (func $none (result i32) (i32.eqz (i32.load (i32.const 20))))
  ;; An answer that is an error, of this number.
  (func $refused (param i32) (result i32)
    (i32.and (i32.eq (i32.load8_u (i32.const 16)) (i32.const 1))
             (i32.eq (i32.load8_u (i32.const 20)) (local.get 0))))
  (func (export "toolgate:plugin/lifecycle@0.1.0#prepare"))
  (func (export "toolgate:plugin/lifecycle@0.1.0#start")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 512))
  (func (export "toolgate:plugin/lifecycle@0.1.0#shutdown") (param i32 i32))
  (func (export "toolgate:plugin/tool-gate@0.1.0#judge") (param i32) (result i32)
    (local $count i32)
    (call $environment (i32.const 16)) (call $say (i32.const 69) (call $none))
    (call $arguments (i32.const 16)) (call $say (i32.const 65) (call $none))
    (call $folders (i32.const 16)) (call $say (i32.const 68) (call $none))
    (call $cwd (i32.const 16)) (call $say (i32.const 87) (i32.eqz (i32.load8_u (i32.const 16))))
    ;; The second case of `stream-error` is `closed`.
    (call $read (call $stdin) (i64.const 10) (i32.const 16)) (call $say (i32.const 83) (call $refused (i32.const 1)))
    ;; Far more than is kept, and it is taken all the same.
    (local.set $count (i32.const 900))
    (loop $more
      (call $write (call $stderr) (i32.const 3072) (i32.const 4096) (i32.const 16))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $more (local.get $count)))
    (call $say (i32.const 79) (i32.eqz (i32.load8_u (i32.const 16))))
    ;; The second error code is `access-denied`.
    (call $tcp (i32.const 0) (i32.const 16)) (call $say (i32.const 84) (call $refused (i32.const 1)))
    (call $udp (i32.const 1) (i32.const 16)) (call $say (i32.const 85) (call $refused (i32.const 1)))
    (call $lookup (call $network) (i32.const 2048) (i32.const 11) (i32.const 16))
    (call $say (i32.const 78) (i32.or (call $refused (i32.const 1)) (call $refused (i32.const 20))))
    (call $now (i32.const 16)) (call $say (i32.const 67) (i64.eq (i64.load (i32.const 16)) (i64.const 946684800)))
    (call $say (i32.const 82) (i64.eq (call $random) (i64.const RANDOM)))
    (i32.store8 (i32.const 640) (i32.const 1))
    (i32.store (i32.const 644) (i32.const 1024))
    (i32.store (i32.const 648) (i32.sub (global.get $said) (i32.const 1024)))
    (global.set $said (i32.const 1024))
    (i32.const 640)))
"#;

/// The component of a module, which may use WASI and has the hooks of a gate.
fn componentized(module: &str, wasi: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    resolve.push_path(root().join("wit/v0.1")).expect("the contract parses");
    let package = resolve.push_str("wasi.wit", wasi).expect("the text parses");
    let world = resolve.select_world(&[package], Some("probe")).expect("the world is there");
    let mut module = wat::parse_str(module).expect("a module");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("types");
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(&module).expect("a module with types");
    encoder.encode().expect("a component")
}

async fn said(module: &str) -> Decision {
    let plugin = Plugin::compile(&Engine::new().expect("an engine"), "probe", &componentized(module, WASI));
    let plugin = plugin.expect("it loads");
    assert!(plugin.description().asks_for().is_empty(), "nothing of it is a capability");
    let gate = Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied());
    gate.judge(&ToolCall::shell("ls", "/project")).await.decision
}

#[tokio::test]
async fn a_component_reaches_nothing_by_wasi() {
    // The first number is not known here; that it is the same in a second instance is what counts.
    let Decision::Block(first) = said(&MODULE.replace("RANDOM", "0")).await else { panic!("it blocks") };
    assert_eq!(first, "EADWSOTUNC!");
    let number = MODULE.replace("RANDOM", &format!("{}", first_number() as i64));
    assert_eq!(said(&number).await, Decision::Block("EADWSOTUNCR".to_owned()));
}

/// The beginning of the digest of zero, as WASI's generator takes it: the first word is the high one.
fn first_number() -> u64 {
    let digest = toolgate_host::Digest::of(&0_u32.to_le_bytes()).sha256;
    u64::from_str_radix(&digest[..16], 16).expect("hexadecimal digits")
}

#[tokio::test]
async fn a_component_cannot_have_much_of_the_host_by_wasi() {
    // Each is what the module does first of all, and then what becomes of it.
    let cases = [
        (
            "more random bytes than are given",
            "(call $bytes (i64.const 100000000) (i32.const 16))",
            "the component failed",
        ),
        ("streams without end", "(loop $more (drop (call $stderr)) (br $more))", "the component failed"),
        (
            "looking at the clock without end",
            "(loop $more (call $now (i32.const 16)) (br $more))",
            "exceeded its computing time",
        ),
    ];
    for (what, first, says) in cases {
        let module =
            MODULE.replace("(local $count i32)", &format!("(local $count i32) {first}")).replace("RANDOM", "0");
        let decision = said(&module).await;
        assert!(matches!(&decision, Decision::Block(reason) if reason.contains(says)), "{what}: {decision:?}");
    }
}

#[test]
fn another_import_is_refused_by_its_name() {
    let cases = ["wasi:http/types@0.2.6", "wasi:cli/environment@0.3.0", "made:other/environment@0.2.6"];
    for import in cases {
        let (package, rest) = import.split_once('/').expect("a package");
        let (interface, version) = rest.split_once('@').expect("a version");
        let wasi = format!(
            "package made:up;
            world probe {{
                import {import};
                export toolgate:plugin/lifecycle@0.1.0;
                export toolgate:plugin/tool-gate@0.1.0;
            }}
            package {package}@{version} {{ interface {interface} {{ ask: func(); }} }}"
        );
        let hooks = MODULE.split_once("(memory").expect("the hooks").1;
        let (hooks, _) = hooks.split_once("(call $environment").expect("what it asks");
        let module =
            format!("(module (import \"{import}\" \"ask\" (func $ask)) (memory {hooks} (call $ask) (unreachable)))");
        let outcome = Plugin::compile(&Engine::new().expect("an engine"), "probe", &componentized(&module, &wasi));
        let Err(error) = outcome else { panic!("{import} is refused") };
        assert!(matches!(error, LoadError::UnknownImports { .. }), "{error}");
        assert!(
            error.to_string().starts_with(&format!("probe imports {import}, which Toolgate does not offer")),
            "{error}"
        );
    }
}
