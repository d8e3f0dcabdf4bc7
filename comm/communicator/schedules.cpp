// SPDX-License-Identifier: BSD-3-Clause
// Schedules are built, and large ones kept.
#include "comm/communicator/schedules.hpp"

#include "comm/plan/hash.hpp"

namespace trefoil {

namespace {

void shrink(Schedule& schedule) {
    const auto fit = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
    fit(schedule.parts, schedule.steps, schedule.moves, schedule.sends, schedule.receives,
        schedule.applications, schedule.extents);
}

std::size_t bytes_of(const Schedule& schedule) {
    const auto sum = [](const auto&... lists) { return ((lists.size() * sizeof lists[0]) + ...); };
    return sum(schedule.parts, schedule.steps, schedule.moves, schedule.sends, schedule.receives,
               schedule.applications, schedule.extents);
}

}  // namespace

std::size_t Schedules::Hash::operator()(const Key& key) const noexcept {
    return mix_hash(reinterpret_cast<std::uintptr_t>(key.algorithm),
                    static_cast<std::uint64_t>(key.options.root));
}

std::shared_ptr<const Schedule> Schedules::get(const Choice& choice) {
    const Key key{choice.algorithm, choice.options};
    if (const auto known = schedules_.find(key); known != schedules_.end()) {
        return known->second;
    }
    const TorusMap& map = geometry_.map;
    auto built = std::make_shared<Schedule>(choice.algorithm->build(
        map.torus, map.position_of[static_cast<std::size_t>(rank_)], choice.options));
    map.renumber(*built);
    geometry_.use_ports(*built);
    if (bytes_of(*built) >= kept_from_) {
        shrink(*built);
        schedules_.emplace(key, built);
    }
    return built;
}

}  // namespace trefoil
