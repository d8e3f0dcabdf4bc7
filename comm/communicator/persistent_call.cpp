// SPDX-License-Identifier: BSD-3-Clause
// Beginning and end of a persistent call.
#include "comm/communicator/persistent_call.hpp"

#include <utility>

#include "backend/ports/powers.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

PersistentCall::PersistentCall(UserMemory& memory, const Request& request, const Buffers& buffers)
    : memory_(memory),
      name_("a persistent " + std::string(request.traits().name)),
      buffers_(buffers) {
    uses_.reserve(2);
    if (buffers.send != nullptr && buffers.bytes.send > 0) {
        uses_.push_back(memory_.use(buffers.send, buffers.bytes.send, name_));
    }
    if (buffers.recv != nullptr && buffers.bytes.recv > 0) {
        uses_.push_back(memory_.use(buffers.recv, buffers.bytes.recv, name_));
    }
}

PersistentCall::~PersistentCall() {
    if (direct_) {
        Engine& engine = lane_->executor().engine();
        const Engine::Exclusive held(engine);
        lane_->executor().end_direct(*direct_);
        for (const DirectCall::Registered& registered : direct_->registered()) {
            if (!engine.groups_are_gone()) {
                memory_.registry(static_cast<std::size_t>(registered.group))
                    .end_use(registered.use);
            }
        }
    }
    for (const std::uint64_t use : uses_) {
        memory_.end_use(use);
    }
}

void PersistentCall::let_land_directly(Lane& lane, const Plan& plan, const RunningCall& running) {
    if (plan.segments.empty() || plan.programs.front()->shares_vectors) {
        return;
    }
    // On all ranks, whatever comes of it here: permissions come by channels' ways back.
    lane.planner().add_ways_back(plan);
    std::vector<const Program*> lowered;
    std::vector<DirectProgram> programs;
    std::vector<bool> groups(lane.channels().groups.size());
    for (const auto& program : plan.programs) {
        lowered.push_back(program.get());
        programs.push_back(
            find_candidates(*program, lane.channels(), static_cast<const std::byte*>(buffers_.send),
                            static_cast<const std::byte*>(buffers_.recv), plan.call.element_bytes));
        for (const DirectProgram::Incoming& incoming : programs.back().incoming) {
            groups[static_cast<std::size_t>(incoming.group)] = true;
        }
    }
    Engine& engine = lane.executor().engine();
    auto registered = register_at(groups, engine);
    lane_ = &lane;
    direct_.emplace(std::move(lowered), std::move(programs), std::move(registered), running);
}

std::vector<DirectCall::Registered> PersistentCall::register_at(const std::vector<bool>& groups,
                                                                Engine& engine) {
    const Engine::Exclusive held(engine);
    std::vector<DirectCall::Registered> all;
    all.reserve(2 * groups.size());
    for (std::size_t g = 0; g < groups.size() && !engine.groups_are_gone(); ++g) {
        PortGroup& group = *engine.groups()[g];
        if (group.registering() == nullptr || !group.registering()->can_register()) {
            continue;
        }
        const bool sends = group.traits().needs_registered_source;
        const auto number = static_cast<int>(g);
        if (groups[g] || (sends && buffers_.recv != nullptr)) {
            register_buffer(number, buffers_.recv, buffers_.bytes.recv, groups[g], group, all);
        }
        if (sends && buffers_.send != nullptr && buffers_.send != buffers_.recv) {
            // Puts only read it.
            register_buffer(number, const_cast<void*>(buffers_.send), buffers_.bytes.send, false,
                            group, all);
        }
    }
    return all;
}

void PersistentCall::register_buffer(int group, void* data, std::size_t bytes, bool for_peers,
                                     PortGroup& port_group,
                                     std::vector<DirectCall::Registered>& all) {
    if (bytes == 0) {
        return;
    }
    try {
        const auto place =
            memory_.registry(static_cast<std::size_t>(group)).use(data, bytes, name_);
        all.push_back({group, place.memory, place.offset, place.use, {}});
        if (for_peers) {
            all.back().description = port_group.describe(place.memory);
        }
    } catch (const Error& error) {  // memory that cannot be written, for one
        log_info(LogTopic::transport, [&] {
            return name_ +
                   " uses landing slots and gathers what it sends: a buffer cannot be "
                   "registered: " +
                   error.what();
        });
    }
}

}  // namespace trefoil
