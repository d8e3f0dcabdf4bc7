// SPDX-License-Identifier: BSD-3-Clause
// One measurement: the same call many times, timed and checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/perf/options.hpp"
#include "bench/perf/pattern.hpp"
#include "bench/perf/role.hpp"
#include "bench/perf/session.hpp"

namespace trefoil::tool {

struct Case {
    Collective collective = Collective::allreduce;
    std::string algorithm;  ///< a name, or "auto"
    DataType type = DataType::float32;
    std::optional<Operation> operation;  ///< nothing: `none`, or where nothing is reduced
    std::size_t count = 0;               ///< elements; of one block where ranks have blocks
    bool in_place = false;
    Rank root = 0;                             ///< of rooted collectives
    std::optional<std::uint64_t> uneven = {};  ///< seed of the counts of alltoallv

    /// Whether a right result is defined: a barrier has no data, and `none` leaves behind whatever
    /// its schedule moves.
    bool has_result() const;
};

struct Measurement {
    Case what;
    std::string used;  ///< the algorithm, with its modifiers
    /// The same without them.
    std::string algorithm() const { return used.substr(0, used.find(':')); }
    std::size_t bytes = 0;  ///< of the whole vector: of all blocks together, of the mean rank
    int iterations = 0;
    /// Microseconds. p50 and p99 over iterations, each as slow as its slowest rank; min and max
    /// over the ranks' means.
    double p50 = 0, p99 = 0, min = 0, max = 0;
    double algbw = 0, busbw = 0;        ///< bytes per second, by p50
    std::optional<std::int64_t> wrong;  ///< elements, over all ranks; nothing: not checked
    std::optional<bool> identical;      ///< bits alike on all ranks; nothing: not checked
};

/// Measures on one rank; all ranks call with the same cases in the same order.
class Meter {
  public:
    /// `schedule`: of the user's, which goes by its name among the algorithms; or null. Both
    /// outlive this.
    Meter(Session& session, int iterations, int warmup, bool check, const UserSchedule* schedule)
        : session_(session),
          iterations_(iterations),
          warmup_(warmup),
          check_(check),
          schedule_(schedule) {}

    /// The figures are complete on all ranks. Throws what the library reports.
    Measurement measure(const Case& what);

  private:
    struct Data {
        ElementStream input, result, untouched;  ///< exact
        std::optional<ElementStream> mixed;      ///< for types whose results depend on the order
        const ElementStream& of(Content content) const;
    };
    class Buffers;

    const Traits& traits(Collective collective, std::string_view algorithm) const;
    Part part_of(const Case& what) const;
    std::size_t vector_bytes(const Case& what) const;
    void call(const Case& what, Buffers& buffers, bool pointer_in_place);
    Data make_data(const Case& what) const;
    const Data& data_of(const Case& what);
    std::int64_t checked_call(const Case& what, Buffers& buffers);
    bool identical_call(const Case& what, Buffers& buffers);
    std::vector<double> timed_calls(const Case& what, Buffers& buffers);
    void summarize(std::vector<double> seconds, Measurement& m);

    Session& session_;
    int iterations_, warmup_;
    bool check_;
    const UserSchedule* schedule_;
    std::uint64_t salt_ = 0;  ///< another one for each checked call, alike on all ranks
    std::map<std::tuple<DataType, std::optional<Operation>, Prefix>, Data> data_;
};

}  // namespace trefoil::tool
