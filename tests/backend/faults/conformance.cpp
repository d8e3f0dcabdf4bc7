// SPDX-License-Identifier: BSD-3-Clause
// Faults that keep the contract, under the conformance suite: every put and every arrival is late,
// and every put is refused at first. Over strict port groups, which complain of a decorator that
// breaks the contract itself.
#include "tests/backend/ports/conformance.hpp"
#include "backend/faults/faulty_group.hpp"

namespace trefoil::conformance {
namespace {

template <const char* const& Backend>
std::vector<std::unique_ptr<PortGroup>> open_late(const BackendConfig& config) {
    return with_faults(open_backend(Backend, config), parse_faults("11:delay=150,again=3"),
                       config.rank);
}

constexpr const char* memory = "memory";
constexpr const char* strict = "strict";
constexpr const char* ofi = "ofi";
constexpr const char* ucx = "ucx";

/// Adds backend "late-NAME", if NAME is in this build.
template <const char* const& Backend>
bool add_late() {
    static const std::string name = std::string("late-") + Backend;
    const Transport* const found = registered_transport(Backend);
    if (found == nullptr || !found->built()) {
        return false;
    }
    if (registered_transport(name) != nullptr) {
        return true;  // the suite asks more than once
    }
    Transport late = *found;
    late.name = name;
    late.open = open_late<Backend>;
    register_transport(late);
    return true;
}

std::vector<Subject> subjects() {
    std::vector<Subject> all;
    if (add_late<memory>()) {
        all.push_back({"late_memory_threads", "late-memory", "", false});
        all.push_back({"late_memory_processes", "late-memory", "", true});
    }
    if (add_late<strict>()) {
        all.push_back({"late_strict", "late-strict", "", false});
    }
    if (add_late<ofi>()) {
        all.push_back({"late_ofi", "late-ofi", "net", false});
    }
    if (add_late<ucx>()) {
        all.push_back({"late_ucx", "late-ucx", "tcp", false});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Late, Conformance, testing::ValuesIn(subjects()), test_name);

}  // namespace
}  // namespace trefoil::conformance
