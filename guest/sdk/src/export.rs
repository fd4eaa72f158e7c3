//! The macro that makes a component's exports of a type's traits.

/// Makes a component of a type: `plugin!(MyPlugin: gate, tracker);` exports [`Plugin`](crate::Plugin) and the hooks that
/// are named, see the table of the crate, and nothing else. A type that lacks a trait that is named does not compile.
///
/// Outside WebAssembly it only checks that the traits are there.
#[macro_export]
macro_rules! plugin {
    ($plugin:ident: $($hook:ident),+ $(,)?) => {
        const _: () = {
            #[allow(dead_code, reason = "only that it compiles counts")]
            fn has_traits() {
                $($crate::__has!($hook $plugin);)+
            }
        };

        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code)]
        mod toolgate_exports {
            use super::$plugin;

            struct Component;

            ::std::thread_local! {
                // A component has one thread.
                static PLUGIN: ::std::cell::RefCell<$plugin> = ::std::cell::RefCell::default();
            }

            #[allow(dead_code, reason = "not every hook needs the plugin")]
            fn with<T>(work: impl FnOnce(&mut $plugin) -> T) -> T {
                PLUGIN.with_borrow_mut(work)
            }

            $crate::__export!(lifecycle Component with);
            $($crate::__export!($hook Component with);)+
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __has {
    (gate $plugin:ident) => { $crate::__has!(@Gate $plugin) };
    (permission $plugin:ident) => { $crate::__has!(@Permission $plugin) };
    (memory $plugin:ident) => { $crate::__has!(@Memory $plugin) };
    (observer $plugin:ident) => { $crate::__has!(@Observer $plugin) };
    (execution $plugin:ident) => { $crate::__has!(@Execution $plugin) };
    (turns $plugin:ident) => { $crate::__has!(@Turns $plugin) };
    (timer $plugin:ident) => { $crate::__has!(@Timer $plugin) };
    (tracker $plugin:ident) => { $crate::__has!(@Tracker $plugin) };
    (predicate $plugin:ident) => { $crate::__has!(@Predicate $plugin) };
    (tools $plugin:ident) => { $crate::__has!(@Tools $plugin) };
    (handover $plugin:ident) => { $crate::__has!(@Handover $plugin) };
    (@$trait:ident $plugin:ident) => {{
        fn of<T: $crate::$trait>() {}
        of::<$plugin>();
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    (lifecycle $component:ident $with:ident) => {
        impl $crate::bindings::lifecycle::exports::toolgate::plugin::lifecycle::Guest for $component {
            fn prepare() {}

            fn start(
                session: $crate::bindings::lifecycle::exports::toolgate::plugin::lifecycle::Session,
            ) -> Result<$crate::bindings::lifecycle::exports::toolgate::plugin::lifecycle::Started, String> {
                $with(|plugin| $crate::glue::start(plugin, session))
            }

            fn shutdown(reason: String) {
                $with(|plugin| $crate::Plugin::shutdown(plugin, &reason))
            }
        }
        $crate::bindings::lifecycle::export_lifecycle!($component with_types_in $crate::bindings::lifecycle);
    };
    (gate $component:ident $with:ident) => {
        impl $crate::bindings::gate::exports::toolgate::plugin::tool_gate::Guest for $component {
            fn judge(
                call: $crate::bindings::capabilities::toolgate::plugin::types::ToolCall,
            ) -> $crate::bindings::capabilities::toolgate::plugin::types::Verdict {
                $with(|plugin| $crate::glue::judge(plugin, call))
            }
        }
        $crate::bindings::gate::export_gate!($component with_types_in $crate::bindings::gate);
    };
    (permission $component:ident $with:ident) => {
        impl $crate::bindings::permission::exports::toolgate::plugin::permission_gate::Guest for $component {
            fn judge(
                call: $crate::bindings::capabilities::toolgate::plugin::types::ToolCall,
            ) -> $crate::bindings::capabilities::toolgate::plugin::types::Verdict {
                $with(|plugin| $crate::glue::judge_permission(plugin, call))
            }
        }
        $crate::bindings::permission::export_permission!($component with_types_in $crate::bindings::permission);
    };
    (memory $component:ident $with:ident) => {
        impl $crate::bindings::memory::exports::toolgate::plugin::session_memory::Guest for $component {
            fn after() -> Option<String> {
                $with(|plugin| $crate::glue::after(plugin))
            }
        }
        $crate::bindings::memory::export_memory!($component with_types_in $crate::bindings::memory);
    };
    (observer $component:ident $with:ident) => {
        impl $crate::bindings::observer::exports::toolgate::plugin::tool_observer::Guest for $component {
            fn observe(
                outcome: $crate::bindings::observer::exports::toolgate::plugin::tool_observer::ToolResult,
            ) -> Option<$crate::bindings::observer::exports::toolgate::plugin::tool_observer::Addition> {
                $with(|plugin| $crate::glue::observe(plugin, outcome))
            }
        }
        $crate::bindings::observer::export_observer!($component with_types_in $crate::bindings::observer);
    };
    (execution $component:ident $with:ident) => {
        impl $crate::bindings::execution::exports::toolgate::plugin::execution_observer::Guest for $component {
            fn on_update(update: $crate::bindings::execution::exports::toolgate::plugin::execution_observer::Update) {
                $with(|plugin| $crate::glue::on_update(plugin, update))
            }

            fn on_end(end: $crate::bindings::execution::exports::toolgate::plugin::execution_observer::End) {
                $with(|plugin| $crate::glue::on_end(plugin, end))
            }
        }
        $crate::bindings::execution::export_execution!($component with_types_in $crate::bindings::execution);
    };
    (turns $component:ident $with:ident) => {
        impl $crate::bindings::turns::exports::toolgate::plugin::turn_observer::Guest for $component {
            fn on_turn_end(
                turn: $crate::bindings::turns::exports::toolgate::plugin::turn_observer::Turn,
            ) -> Option<String> {
                $with(|plugin| $crate::glue::on_turn_end(plugin, turn))
            }
        }
        $crate::bindings::turns::export_turns!($component with_types_in $crate::bindings::turns);
    };
    (timer $component:ident $with:ident) => {
        impl $crate::bindings::timer::exports::toolgate::plugin::timer::Guest for $component {
            fn on_timer(id: String) {
                $with(|plugin| $crate::Timer::on_timer(plugin, &id))
            }
        }
        $crate::bindings::timer::export_timer!($component with_types_in $crate::bindings::timer);
    };
    (tracker $component:ident $with:ident) => {
        impl $crate::bindings::tracker::exports::toolgate::plugin::trackers::Guest for $component {
            fn describe() -> String {
                $with(|plugin| $crate::glue::trackers(plugin))
            }

            fn modify(request: String) -> Result<String, String> {
                $with(|plugin| $crate::glue::modify(plugin, &request))
            }
        }
        $crate::bindings::tracker::export_tracker!($component with_types_in $crate::bindings::tracker);
    };
    (predicate $component:ident $with:ident) => {
        impl $crate::bindings::predicate::exports::toolgate::plugin::predicates::Guest for $component {
            fn describe() -> String {
                $with(|plugin| $crate::glue::predicates(plugin))
            }

            fn evaluate(
                name: String,
                request: String,
            ) -> $crate::bindings::capabilities::toolgate::plugin::types::Truth {
                $with(|plugin| $crate::glue::evaluate(plugin, &name, &request))
            }
        }
        $crate::bindings::predicate::export_predicate!($component with_types_in $crate::bindings::predicate);
    };
    (tools $component:ident $with:ident) => {
        impl $crate::bindings::tools::exports::toolgate::plugin::provided_tools::Guest for $component {
            fn describe() -> Vec<$crate::bindings::tools::exports::toolgate::plugin::provided_tools::Tool> {
                $with(|plugin| $crate::glue::tools(plugin))
            }

            fn run(
                name: String,
                input: String,
            ) -> Result<$crate::bindings::tools::exports::toolgate::plugin::provided_tools::Output, String> {
                $with(|plugin| $crate::glue::run(plugin, &name, &input))
            }
        }
        $crate::bindings::tools::export_tools!($component with_types_in $crate::bindings::tools);
    };
    (handover $component:ident $with:ident) => {
        impl $crate::bindings::handover::exports::toolgate::plugin::handover::Guest for $component {
            fn save() -> Vec<u8> {
                $with(|plugin| $crate::Handover::save(plugin))
            }

            fn restore(state: Vec<u8>) -> Result<(), String> {
                $with(|plugin| $crate::Handover::restore(plugin, &state))
            }
        }
        $crate::bindings::handover::export_handover!($component with_types_in $crate::bindings::handover);
    };
}
