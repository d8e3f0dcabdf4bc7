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

Session::Session(const trefoil_config_t& config) : by_environment_(config.algorithm == nullptr) {
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
    int per_node = 1;
    require_success(trefoil_comm_ranks_per_node(comm_, &per_node));
    const Torus torus({sizes.begin(), sizes.end()});
    return per_node > 1 ? torus.with_host_dimension() : torus;
}

void Session::set_algorithm(Collective collective, const std::string& name) {
    if (by_environment_ && name == "auto") {
        return;
    }
    require_success(trefoil_comm_set_algorithm(comm_, std::string(to_string(collective)).c_str(),
                                               name.c_str()));
}

void Session::set_schedule(Collective collective, const std::string& json) {
    require_success(
        trefoil_comm_set_schedule(comm_, std::string(to_string(collective)).c_str(), json.c_str()));
}

std::string Session::algorithm(Collective collective, std::size_t count, DataType type,
                               bool vector_variant) const {
    const char* name = "";
    const CollectiveTraits& row = traits_of(collective);
    const std::string call(vector_variant ? row.vector_variant : row.name);
    require_success(trefoil_comm_algorithm(comm_, call.c_str(), count,
                                           static_cast<trefoil_datatype_t>(type), &name));
    return name;
}

trefoil_op_t Session::no_arithmetic(std::size_t element_bytes) {
    const auto found = idle_operations_.find(element_bytes);
    if (found != idle_operations_.end()) {
        return found->second;
    }
    const auto leave = [](const void*, void*, std::size_t, void*) {};
    trefoil_op_t operation{};
    require_success(trefoil_op_create(leave, nullptr, element_bytes, 1, &operation));
    return idle_operations_[element_bytes] = operation;
}

/// An allreduce in place by the default algorithm.
void Session::reduce_here(void* values, std::size_t count, DataType type, Operation operation) {
    set_algorithm(Collective::allreduce, "auto");
    call({Collective::allreduce, TREFOIL_IN_PLACE, values, count,
          static_cast<trefoil_datatype_t>(type), static_cast<trefoil_op_t>(operation)});
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
