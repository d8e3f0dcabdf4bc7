// SPDX-License-Identifier: BSD-3-Clause
// Scenes of drawn calls, between which none is in flight.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/reliability/calls/record.hpp"

namespace trefoil::calls {

/// The names of algorithms, by the collective that has them.
using Names = std::map<std::string, std::vector<std::string>>;

/// A difference that is made on purpose, to show that it is found.
struct Plant {
    /// flip: a bit of rank 0's result; values: others from this call on; traffic: a barrier more.
    std::string what;
    std::size_t number = 0;  ///< of the call
    bool is(const char* name, std::size_t call) const { return what == name && number == call; }
    bool changes_values(std::size_t call) const { return what == "values" && call >= number; }
};

class Scenes {
  public:
    Scenes(trefoil_comm_t first, unsigned seed, const Names& names, bool with_auto,
           const Plant& plant, Record& record);
    ~Scenes();
    Scenes(const Scenes&) = delete;
    Scenes& operator=(const Scenes&) = delete;

    /// Whole scenes until there have been `calls`. False: a communicator has failed.
    bool run(std::size_t calls);
    std::size_t calls() const { return number_; }

  private:
    struct Running {
        std::unique_ptr<OwnCall> call;
        std::size_t number = 0;
    };
    /// A persistent call.
    struct Prepared {
        Running running;
        std::string algorithm;
        trefoil_status_t status = TREFOIL_SUCCESS;  ///< of its making
    };
    using Flight = std::vector<Running*>;

    void one();
    void repeated();
    void changing();
    void in_flight();
    void persistent();
    void mistake();
    void wrong_name();
    void make_group();
    void end_group();

    const Group& draw_group();
    /// The name that was taken.
    std::string set_algorithm(const Group& group, const Call& call);
    Running prepare(const Group& group, const Call& call);
    void begins(Running& running, const std::string& algorithm);
    void ended(Running& running, trefoil_status_t status);
    void blocking(const Group& group, const Call& call);
    void end_all(Flight flight);
    void end_some(Flight& flight);
    void start_all(std::vector<Prepared>& prepared, int start);
    void control(const std::string& text, trefoil_status_t status, std::uint64_t result);
    void quiet(const Group& group, bool last);
    void send_to_neighbours(const Group& group);
    void name_first(const Group& group, const char* collective);
    std::size_t below(std::size_t end) { return shared_() % end; }

    std::vector<std::unique_ptr<Group>> groups_;
    std::mt19937 shared_, own_;  ///< what all ranks draw alike, and what each draws for itself
    Names names_;
    bool with_auto_;
    Plant plant_;
    Record& record_;
    CreatedOperations created_;
    std::size_t number_ = 0, made_ = 0;
    bool failed_ = false;
};

}  // namespace trefoil::calls
