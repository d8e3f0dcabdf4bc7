// SPDX-License-Identifier: BSD-3-Clause
// The C interface's memory for buffers.
#include "comm/api/c_guard.hpp"
#include "topo/device_memory.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

UserMemory& memory_of(const Entry& entry) {
    return entry->user_memory();
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_alloc(trefoil_comm_t comm, size_t bytes, void** memory) {
    if (memory != nullptr) {
        *memory = nullptr;
    }
    return guarded([&] {
        const Entry entry(comm);
        require(memory != nullptr, "the place for the memory's address is NULL");
        require(bytes > 0, "0 bytes of memory are asked for");
        *memory = memory_of(entry).allocate(bytes);
    });
}

trefoil_status_t trefoil_free(trefoil_comm_t comm, void* memory) {
    return guarded([&] {
        const Entry entry(comm);
        require(memory != nullptr, "the memory to be freed is NULL");
        memory_of(entry).free(memory);
    });
}

trefoil_status_t trefoil_register(trefoil_comm_t comm, void* memory, size_t bytes) {
    return guarded([&] {
        const Entry entry(comm);
        require(memory != nullptr, "the memory to be registered is NULL");
        require(bytes > 0, "0 bytes of memory are to be registered");
        require(bytes <= ~std::size_t{0} - reinterpret_cast<std::uintptr_t>(memory),
                "the memory to be registered exceeds the address space");
        look_for_device_runtimes();
        require_host_memory(memory, "memory to be registered");
        memory_of(entry).hold(memory, bytes);
    });
}

trefoil_status_t trefoil_deregister(trefoil_comm_t comm, void* memory) {
    return guarded([&] {
        const Entry entry(comm);
        require(memory != nullptr, "the memory to be deregistered is NULL");
        memory_of(entry).drop(memory);
    });
}

}  // extern "C"
