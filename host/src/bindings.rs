//! What wasmtime generates from the contract. The rest of the crate gives these types their public names.

// The macro's own code is documented where the contract is: in `wit/`.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "wit/v0.1",
    world: "plugin",
    imports: { default: async | trappable },
    exports: { default: async },
    require_store_data_send: true,
});

/// The package that tells what calls change, which a component need not have.
pub(crate) mod changes {
    wasmtime::component::bindgen!({
        path: "wit/changes",
        world: "undoable",
        exports: { default: async },
        require_store_data_send: true,
    });
}
