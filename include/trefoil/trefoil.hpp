// SPDX-License-Identifier: BSD-3-Clause
// Trefoil for C++20: the C interface with owned handles, spans, element types that deduce
// themselves, and exceptions. Header only.
#pragma once

#if __cplusplus <= 201703L
#error \
    "trefoil.hpp needs C++20: compile with -std=c++20; C++11 to C++17 have the C interface, trefoil.h"
#else

#include <trefoil/trefoil.h>
#include <trefoil/collectives.hpp>
#include <trefoil/elements.hpp>
#include <trefoil/errors.hpp>
#include <trefoil/log.hpp>
#include <trefoil/operation.hpp>
#include <trefoil/request.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace trefoil {

/// The transport: "ofi" and its provider "net"; "" where a backend has only one.
struct Transport {
    std::string backend, provider;
};

/// Owns a communicator. The thread rules, and that all ranks make the same calls in the same order,
/// are those of trefoil.h; every function throws CallFailed.
class Comm : public Collectives<Blocking> {
  public:
    /// Collective. Without a configuration everything comes from the environment.
    explicit Comm(const trefoil_config_t& config = TREFOIL_CONFIG_INITIALIZER)
        : Collectives(nullptr) {
        check(trefoil_comm_create(&config, &handle_));
    }
    /// Not collective. Peers must not need this rank any more: call barrier() before.
    ~Comm() { trefoil_comm_destroy(handle_); }
    Comm(Comm&& other) noexcept : Collectives(std::exchange(other.handle_, nullptr)) {}
    Comm& operator=(Comm&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    // Communicators that are made from this one; collective, as in communicators.h.
    Comm dup() const {
        Comm made(nullptr);
        check(trefoil_comm_dup(handle_, &made.handle_));
        return made;
    }
    /// Without a communicator (valid() is false) for a rank that gave TREFOIL_UNDEFINED.
    Comm split(int colour, int key = 0) const {
        Comm made(nullptr);
        check(trefoil_comm_split(handle_, colour, key, &made.handle_));
        return made;
    }
    /// Rows or planes; a flag for each dimension of torus().
    Comm sub(const std::vector<bool>& keep) const {
        if (keep.size() != torus().size()) {
            throw CallFailed(TREFOIL_ERROR_INVALID_ARGUMENT,
                             "the list of dimensions to keep has " + std::to_string(keep.size()) +
                                 " flags, and the torus " + std::to_string(torus().size()) +
                                 " dimensions");
        }
        const std::vector<int> flags(keep.begin(), keep.end());
        Comm made(nullptr);
        check(trefoil_comm_sub(handle_, flags.data(), &made.handle_));
        return made;
    }
    Comm create_group(const std::vector<int>& ranks, int tag = 0) const {
        Comm made(nullptr);
        check(trefoil_comm_create_group(handle_, ranks.data(), static_cast<int>(ranks.size()), tag,
                                        &made.handle_));
        return made;
    }
    /// A communicator of the ranks that are left of one that has failed.
    Comm shrink() const {
        Comm made(nullptr);
        check(trefoil_comm_shrink(handle_, &made.handle_));
        return made;
    }
    bool valid() const { return handle_ != nullptr; }

    using Collectives::rank;
    using Collectives::size;

    /// The sizes of the torus's dimensions, and who has decided on them.
    std::vector<int> torus() const {
        int dimensions = 0;
        check(trefoil_comm_torus(handle_, &dimensions, nullptr, 0));
        std::vector<int> sizes(static_cast<std::size_t>(dimensions));
        check(trefoil_comm_torus(handle_, &dimensions, sizes.data(), dimensions));
        return sizes;
    }
    std::string torus_source() const { return text(trefoil_comm_torus_source); }
    /// More than one: the last dimension is the ranks of a node.
    int ranks_per_node() const {
        int ranks = 0;
        check(trefoil_comm_ranks_per_node(handle_, &ranks));
        return ranks;
    }

    /// A rank's place in the torus, one coordinate per dimension.
    std::vector<int> coordinates(int rank) const {
        std::vector<int> place = torus();
        check(
            trefoil_comm_coordinates(handle_, rank, place.data(), static_cast<int>(place.size())));
        return place;
    }

    Transport transport() const {
        const char *backend = nullptr, *provider = nullptr;
        check(trefoil_comm_transport(handle_, &backend, &provider));
        return {backend, provider};
    }
    /// As trefoil_comm_status, of any length.
    std::string status() const {
        std::string text(std::size_t{1} << 16, '\0');
        check(trefoil_comm_status(handle_, text.data(), text.size()));
        text.resize(text.find('\0'));
        return text;
    }
    /// Ends the communicator on all ranks: all calls on it throw CallFailed with
    /// TREFOIL_ERROR_ABORTED and this text. Any thread.
    void abort(const std::string& text) const { check(trefoil_comm_abort(handle_, text.c_str())); }
    /// The resources that this rank holds for its peers, and the traffic of one of its ports.
    trefoil_resources_t resources() const {
        trefoil_resources_t held{};
        held.size = sizeof held;
        check(trefoil_comm_resources(handle_, &held));
        return held;
    }
    trefoil_port_t port(int port) const {
        trefoil_port_t sent{};
        sent.size = sizeof sent;
        check(trefoil_comm_port(handle_, port, &sent));
        return sent;
    }
    /// Why this communicator has failed; "": it has not.
    std::string failure() const { return text(trefoil_comm_failure); }
    /// The same as fields, or those of this thread's last error where it has not failed.
    trefoil_cause_t cause() const {
        trefoil_cause_t cause{};
        cause.size = sizeof cause;
        check(trefoil_last_cause(handle_, &cause));
        return cause;
    }

    void set_algorithm(const std::string& collective, const std::string& name) {
        check(trefoil_comm_set_algorithm(handle_, collective.c_str(), name.c_str()));
    }
    /// The algorithm that a call of `count` elements of type T would use, as set_algorithm() takes
    /// it.
    template <typename T>
    std::string algorithm(const std::string& collective, std::size_t count) const {
        const char* name = nullptr;
        check(trefoil_comm_algorithm(handle_, collective.c_str(), count, datatype_of<T>(), &name));
        return name;
    }
    /// Runs a user schedule, in JSON, once it is verified; all ranks must give the same.
    void set_schedule(const std::string& collective, const std::string& json) {
        check(trefoil_comm_set_schedule(handle_, collective.c_str(), json.c_str()));
    }

    /// The function that makes the circuits of a schedule's steps: as trefoil_comm_set_rewire.
    void set_rewire(trefoil_rewire_fn rewire, void* context = nullptr) {
        check(trefoil_comm_set_rewire(handle_, rewire, context));
    }

    // The collectives that return when they are complete are Collectives'; these begin them:
    /// Request r = comm.begin().allreduce(values);
    Collectives<Nonblocking> begin() const { return Collectives<Nonblocking>(handle_); }
    /// Request r = comm.prepare().allreduce(values); r.start();
    Collectives<Persistent> prepare() const { return Collectives<Persistent>(handle_); }
    /// Moves calls in flight on for a moment, where there are no port threads.
    void progress() { check(trefoil_progress(handle_)); }
    int in_flight() const { return number(trefoil_comm_in_flight); }

    // Memory for buffers (memory.h), of this rank alone.
    void* alloc(std::size_t bytes) const {
        void* memory = nullptr;
        check(trefoil_alloc(handle_, bytes, &memory));
        return memory;
    }
    void free(void* memory) const { check(trefoil_free(handle_, memory)); }
    template <typename T>
    void register_memory(std::span<T> memory) const {
        check(trefoil_register(handle_, memory.data(), memory.size_bytes()));
    }
    template <typename T>
    void deregister_memory(std::span<T> memory) const {
        check(trefoil_deregister(handle_, memory.data()));
    }

    /// For the C interface; stays owned.
    using Collectives::handle;

  private:
    explicit Comm(std::nullptr_t) : Collectives(nullptr) {}

    std::string text(trefoil_status_t (*get)(trefoil_comm_t, const char**)) const {
        const char* value = nullptr;
        check(get(handle_, &value));
        return value;
    }
};

}  // namespace trefoil

#endif
