// SPDX-License-Identifier: BSD-3-Clause
// The C interface with errors thrown, and reductions of the ranks' figures.
#include "bench/perf/session.hpp"

#include <array>

#include "topo/error.hpp"

namespace trefoil::tool {

void require_success(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        const std::string message = trefoil_last_error(nullptr);
        throw Error(static_cast<Status>(status),
                    message.empty() ? trefoil_status_string(status) : message);
    }
}

Session::Session(const trefoil_config_t& config) {
    require_success(trefoil_comm_create(&config, &comm_));
    try {
        require_success(trefoil_comm_rank(comm_, &rank_));
        torus_ = read_torus();
    } catch (...) {
        trefoil_comm_destroy(comm_);
        throw;
    }
}

Session::~Session() {
    trefoil_comm_destroy(comm_);
    for (const auto& [bytes, operation] : idle_operations_) {
        trefoil_op_free(operation);
    }
}

std::pair<std::string, std::string> Session::transport() const {
    const char* backend = nullptr;
    const char* provider = nullptr;
    require_success(trefoil_comm_transport(comm_, &backend, &provider));
    return {backend, provider};
}

std::string Session::torus_source() const {
    const char* source = "";
    require_success(trefoil_comm_torus_source(comm_, &source));
    return source;
}

trefoil_resources_t Session::resources() const {
    trefoil_resources_t held{};
    held.size = sizeof held;
    require_success(trefoil_comm_resources(comm_, &held));
    return held;
}

trefoil_port_t Session::sent(Port port) const {
    trefoil_port_t sent{};
    sent.size = sizeof sent;
    require_success(trefoil_comm_port(comm_, port.index, &sent));
    return sent;
}

Torus Session::read_torus() const {
    int dimensions = 0;
    require_success(trefoil_comm_torus(comm_, &dimensions, nullptr, 0));
    std::vector<int> sizes(dimensions);
    require_success(trefoil_comm_torus(comm_, &dimensions, sizes.data(), dimensions));
    return Torus({sizes.begin(), sizes.end()});
}

void Session::set_algorithm(Collective collective, const std::string& name) {
    require_success(trefoil_comm_set_algorithm(comm_, std::string(to_string(collective)).c_str(),
                                               name.c_str()));
}

std::string Session::algorithm(Collective collective, std::size_t count, DataType type,
                               bool uneven) const {
    const char* name = "";
    const std::string call = std::string(to_string(collective)) + (uneven ? "v" : "");
    require_success(trefoil_comm_algorithm(comm_, call.c_str(), count,
                                           static_cast<trefoil_datatype_t>(type), &name));
    return name;
}

void Session::call(const CollectiveCall& c) {
    const bool idle = traits_of(c.collective).reduces && !c.operation;
    const auto type = idle ? TREFOIL_ELEMENT : static_cast<trefoil_datatype_t>(c.type);
    const auto op = idle ? no_arithmetic(size_of(c.type))
                         : static_cast<trefoil_op_t>(c.operation.value_or(Operation::sum));
    const auto status = [&] {
        switch (c.collective) {
            case Collective::allreduce:
                return trefoil_allreduce(c.send, c.recv, c.count, type, op, comm_);
            case Collective::reduce_scatter:
                return trefoil_reduce_scatter_block(c.send, c.recv, c.count, type, op, comm_);
            case Collective::allgather:
                return trefoil_allgather(c.send, c.recv, c.count, type, comm_);
            case Collective::bcast:
                return trefoil_bcast(c.recv, c.count, type, c.root, comm_);
            case Collective::reduce:
                return trefoil_reduce(c.send, c.recv, c.count, type, op, c.root, comm_);
            case Collective::gather:
                return trefoil_gather(c.send, c.recv, c.count, type, c.root, comm_);
            case Collective::scatter:
                return trefoil_scatter(c.send, c.recv, c.count, type, c.root, comm_);
            case Collective::alltoall:
                return c.receive_counts == nullptr
                           ? trefoil_alltoall(c.send, c.recv, c.count, type, comm_)
                           : trefoil_alltoallv(c.send, c.send_counts, nullptr, c.recv,
                                               c.receive_counts, nullptr, type, comm_);
            case Collective::barrier:
                return trefoil_barrier(comm_);
        }
        return TREFOIL_ERROR_INTERNAL;
    };
    require_success(status());
}

/// Commutes, as the built-in operations do, so that it changes neither algorithm nor schedule.
trefoil_op_t Session::no_arithmetic(std::size_t element_bytes) {
    const auto found = idle_operations_.find(element_bytes);
    if (found != idle_operations_.end()) {
        return found->second;
    }
    const auto leave = [](void*, const void*, std::size_t, void*) {};
    trefoil_op_t operation{};
    require_success(trefoil_op_create(leave, nullptr, element_bytes, 1, &operation));
    return idle_operations_[element_bytes] = operation;
}

/// An allreduce in place by the default algorithm.
void Session::reduce_here(void* values, std::size_t count, DataType type, Operation operation) {
    set_algorithm(Collective::allreduce, "auto");
    call({Collective::allreduce, TREFOIL_IN_PLACE, values, count, type, operation});
}

void Session::barrier() {
    require_success(trefoil_barrier(comm_));
}

void Session::maximize(std::vector<double>& values) {
    reduce_here(values.data(), values.size(), DataType::float64, Operation::max);
}

std::int64_t Session::total(std::int64_t value) {
    reduce_here(&value, 1, DataType::int64, Operation::sum);
    return value;
}

bool Session::equal_everywhere(std::uint64_t value) {
    std::array<std::uint64_t, 2> extremes{value, ~value};  // the largest, and not the smallest
    reduce_here(extremes.data(), extremes.size(), DataType::uint64, Operation::max);
    return extremes[0] == ~extremes[1];
}

}  // namespace trefoil::tool
