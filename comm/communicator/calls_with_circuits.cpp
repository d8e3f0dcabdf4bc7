// SPDX-License-Identifier: BSD-3-Clause
// Calls during which circuits change: stage by stage, and between stages a wait for all, the
// caller's function, and a wait for all. The ranks wait where they met, since no way of the network
// may be left.
#include <algorithm>
#include <cstring>

#include "comm/communicator/communicator.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

void Communicator::set_rewire(Rewire rewire) {
    check_alive();
    if (calls_in_flight() > 0) {
        throw Error(Status::busy,
                    "calls are in flight on this communicator; who makes circuits can "
                    "be set when they are over");
    }
    rewire_ = std::move(rewire);
}

void Communicator::refuse_circuits(const Request& request, const char* why) const {
    throw Error(Status::unsupported,
                request.text() + " cannot run: its schedule names circuits, " + why);
}

/// Alike on all ranks, as far as one rank can tell; nothing has moved.
void Communicator::require_circuits_possible(const Request& request) const {
    const Geometry& first = world_->geometry();
    if (geometry_.first_rank != first.first_rank || !(torus() == first.map.torus)) {
        refuse_circuits(request,
                        "which change only for a communicator of all ranks in their first order");
    }
}

/// Joins the ports of all ranks anew. Nothing is under way: all have come to this place.
void Communicator::change_circuits(const std::vector<JoinedPorts>& circuits) {
    world_->together("circuits", [] {});
    world_->together("circuits", [&] {
        const int told = rewire_(circuits);
        if (told != 0) {
            throw Error(Status::system_error,
                        "the function of trefoil_comm_set_rewire returned " + std::to_string(told));
        }
    });
}

void Communicator::run_in_pieces(const Request& request, const void* send, void* recv) {
    require_circuits_possible(request);
    const Choice choice = chooser_->choose(request, {});
    chooser_->require_root(choice);
    chooser_->require_rank_order(request, choice);
    world_->together("circuits", [&] {
        if (!rewire_) {
            refuse_circuits(request,
                            "and nobody makes them here: give a function to "
                            "trefoil_comm_set_rewire first");
        }
        if (calls_in_flight() > 0) {
            refuse_circuits(request, "and other calls are in flight here; wait for them first");
        }
    });
    const std::size_t bytes = request.count * request.element_bytes();
    if (send != recv && bytes > 0) {
        std::memcpy(recv, send, bytes);
    }
    try {
        run_pieces(request, choice, recv);
    } catch (const Error& error) {
        if (failed_ != Status::success) {
            throw;
        }
        fail(error);
    }
}

void Communicator::run_pieces(const Request& request, const Choice& choice, void* vector) {
    const auto stages = circuit_stages_.of(*choice.algorithm, geometry_.map);
    const std::vector<JoinedPorts> torus = circuits_of_torus(geometry_.map);
    const std::vector<JoinedPorts>* stands = &torus;
    const auto wire = [&](const std::vector<JoinedPorts>& circuits) {
        if (!(circuits == *stands)) {
            change_circuits(circuits);
            stands = &circuits;
        }
    };
    for (const auto& stage : stages) {
        wire(stage->circuits);
        Request part = request;
        part.in_place = true;
        if (part.averages() && stage != stages.back()) {
            part.op = Operation::sum;  // the last stage divides
        }
        Choice chosen = choice;
        chosen.algorithm = &stage->algorithm;
        const Plan* plan = plans_.find(part, chosen);
        if (plan == nullptr) {
            plan = &plans_.insert(part, chosen, plan_in_a_lane(part, chosen));
        }
        run_plan(*plan, vector, vector);
    }
    wire(torus);  // whatever comes next finds the network that it knows
}

}  // namespace trefoil
