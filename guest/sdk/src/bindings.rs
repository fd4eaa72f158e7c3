//! What `wit-bindgen` makes of the contract: one module for the capabilities, and one for each hook, so that a plugin
//! exports those that it has and no others.

// The macro's own code is not documented, and it needs `unsafe` to cross the component's border.
#![allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, clippy::pedantic)]

pub mod capabilities {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "
            package toolgate:sdk-capabilities;
            world capabilities {
                import toolgate:plugin/files@0.1.0;
                import toolgate:plugin/git@0.1.0;
                import toolgate:plugin/daemon@0.1.0;
                import toolgate:plugin/ui@0.1.0;
                import toolgate:plugin/journal@0.1.0;
                import toolgate:plugin/message@0.1.0;
                import toolgate:plugin/clock@0.1.0;
                import toolgate:plugin/log@0.1.0;
            }
        ",
        world: "toolgate:sdk-capabilities/capabilities",
        generate_all,
        generate_unused_types: true,
        pub_export_macro: true,
    });
}

pub mod lifecycle {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-lifecycle; world lifecycle { export toolgate:plugin/lifecycle@0.1.0; }",
        world: "toolgate:sdk-lifecycle/lifecycle",
        with: { "toolgate:plugin/types@0.1.0": crate::bindings::capabilities::toolgate::plugin::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_lifecycle",
    });
}

pub mod gate {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-gate; world gate { export toolgate:plugin/tool-gate@0.1.0; }",
        world: "toolgate:sdk-gate/gate",
        with: { "toolgate:plugin/types@0.1.0": crate::bindings::capabilities::toolgate::plugin::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_gate",
    });
}

pub mod permission {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-permission; world permission { export toolgate:plugin/permission-gate@0.1.0; }",
        world: "toolgate:sdk-permission/permission",
        with: { "toolgate:plugin/types@0.1.0": crate::bindings::capabilities::toolgate::plugin::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_permission",
    });
}

pub mod memory {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-memory; world memory { export toolgate:plugin/session-memory@0.1.0; }",
        world: "toolgate:sdk-memory/memory",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_memory",
    });
}

pub mod observer {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-observer; world observer { export toolgate:plugin/tool-observer@0.1.0; }",
        world: "toolgate:sdk-observer/observer",
        with: { "toolgate:plugin/types@0.1.0": crate::bindings::capabilities::toolgate::plugin::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_observer",
    });
}

pub mod execution {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-execution; world execution { export toolgate:plugin/execution-observer@0.1.0; }",
        world: "toolgate:sdk-execution/execution",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_execution",
    });
}

pub mod turns {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-turns; world turns { export toolgate:plugin/turn-observer@0.1.0; }",
        world: "toolgate:sdk-turns/turns",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_turns",
    });
}

pub mod timer {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-timer; world timer { export toolgate:plugin/timer@0.1.0; }",
        world: "toolgate:sdk-timer/timer",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_timer",
    });
}

pub mod tracker {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-tracker; world tracker { export toolgate:plugin/trackers@0.1.0; }",
        world: "toolgate:sdk-tracker/tracker",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_tracker",
    });
}

pub mod predicate {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-predicate; world predicate { export toolgate:plugin/predicates@0.1.0; }",
        world: "toolgate:sdk-predicate/predicate",
        with: { "toolgate:plugin/types@0.1.0": crate::bindings::capabilities::toolgate::plugin::types },
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_predicate",
    });
}

pub mod tools {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-tools; world tools { export toolgate:plugin/provided-tools@0.1.0; }",
        world: "toolgate:sdk-tools/tools",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_tools",
    });
}

pub mod handover {
    wit_bindgen::generate!({
        path: "wit/v0.1",
        inline: "package toolgate:sdk-handover; world handover { export toolgate:plugin/handover@0.1.0; }",
        world: "toolgate:sdk-handover/handover",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export_handover",
    });
}
