// SPDX-License-Identifier: BSD-3-Clause
// Calls and checks: every buffer is surrounded by guards, and what must not change is compared,
// too.
#include "collective_check.hpp"

#include <numeric>

namespace trefoil::test {
namespace {

constexpr std::int64_t untouched = -777;
constexpr std::size_t guard = 3;  // elements around each buffer

/// A vector between guards.
class Guarded {
  public:
    explicit Guarded(std::size_t count) : values_(count + 2 * guard, untouched) {}
    std::int64_t* data() { return values_.data() + guard; }
    bool guards_hold() const {
        for (std::size_t i = 0; i < guard; ++i) {
            if (values_[i] != untouched || values_[values_.size() - 1 - i] != untouched) {
                return false;
            }
        }
        return true;
    }

  private:
    std::vector<std::int64_t> values_;
};

class Checker {
  public:
    Checker(trefoil_comm_t comm, const CollectiveCase& what) : comm_(comm), what_(what) {
        trefoil_comm_rank(comm, &rank_);
        trefoil_comm_size(comm, &ranks_);
        std::size_t at = 0;
        for (int r = 0; r < ranks_; ++r) {
            counts_.push_back(what.uneven.empty() ? what.count
                                                  : what.uneven[static_cast<std::size_t>(r)]);
            displacements_.push_back(at);
            at += counts_.back() + what.gap;
        }
        span_ = at;
    }

    std::string run() {
        const trefoil_status_t set = trefoil_comm_set_algorithm(
            comm_, std::string(to_string(what_.collective)).c_str(), what_.algorithm.c_str());
        if (set != TREFOIL_SUCCESS) {
            return trefoil_last_error(nullptr);
        }
        switch (what_.collective) {
            case Collective::allreduce:
            case Collective::reduce:
                return reduce();
            case Collective::reduce_scatter:
                return reduce_scatter();
            case Collective::allgather:
            case Collective::gather:
                return gather();
            case Collective::bcast:
                return bcast();
            case Collective::scatter:
                return scatter();
            case Collective::alltoall:
                return alltoall();
            case Collective::barrier:
                return after(trefoil_barrier(comm_));
        }
        return "no such collective";
    }

  private:
    /// Element i of the vector, or of the block of `owner`, that rank r contributes.
    std::int64_t value(int r, int owner, std::size_t i) const {
        return (static_cast<std::int64_t>(i) * 131 + owner * 7919 + what_.salt) * (r + 1);
    }
    std::int64_t sum(int owner, std::size_t i) const {
        return value(0, owner, i) * ranks_ * (ranks_ + 1) / 2;
    }
    bool is_root() const { return rank_ == what_.root; }
    std::size_t own() const { return counts_[static_cast<std::size_t>(rank_)]; }
    std::size_t shift(int r) const { return displacements_[static_cast<std::size_t>(r)]; }
    bool uneven() const { return !what_.uneven.empty(); }

    std::string after(trefoil_status_t status) const {
        return status == TREFOIL_SUCCESS ? "" : trefoil_last_error(nullptr);
    }

    template <typename Expected>
    std::string compare(const std::int64_t* data, std::size_t count, const char* name,
                        Expected&& expected) const {
        for (std::size_t i = 0; i < count; ++i) {
            if (data[i] != expected(i)) {
                return std::string(name) + " element " + std::to_string(i) + " is " +
                       std::to_string(data[i]) + ", not " + std::to_string(expected(i));
            }
        }
        return {};
    }
    std::string guards(const Guarded& a, const Guarded& b) const {
        return a.guards_hold() && b.guards_hold() ? "" : "wrote outside a buffer";
    }
    static std::string first_of(const std::string& a, const std::string& b,
                                const std::string& c = {}) {
        return !a.empty() ? a : !b.empty() ? b : c;
    }

    std::string reduce() {
        const std::size_t n = what_.count;
        const bool here = what_.collective == Collective::allreduce || is_root();
        const bool in_place = what_.in_place && here;
        Guarded send(n), recv(n);
        for (std::size_t i = 0; i < n; ++i) {
            (in_place ? recv : send).data()[i] = value(rank_, 0, i);
        }
        const void* from = in_place ? TREFOIL_IN_PLACE : send.data();
        const std::string error =
            after(what_.collective == Collective::allreduce
                      ? trefoil_allreduce(from, recv.data(), n, TREFOIL_INT64, TREFOIL_SUM, comm_)
                      : trefoil_reduce(from, here ? recv.data() : nullptr, n, TREFOIL_INT64,
                                       TREFOIL_SUM, what_.root, comm_));
        std::string result, input;
        if (here) {
            result = compare(recv.data(), n, "result", [&](std::size_t i) { return sum(0, i); });
        }
        if (!in_place) {
            input =
                compare(send.data(), n, "input", [&](std::size_t i) { return value(rank_, 0, i); });
        }
        return first_of(error, first_of(result, input), guards(send, recv));
    }

    std::string bcast() {
        const std::size_t n = what_.count;
        Guarded buffer(n);
        for (std::size_t i = 0; i < n && is_root(); ++i) {
            buffer.data()[i] = value(what_.root, 0, i);
        }
        const std::string error =
            after(trefoil_bcast(buffer.data(), n, TREFOIL_INT64, what_.root, comm_));
        return first_of(error,
                        compare(buffer.data(), n, "result",
                                [&](std::size_t i) { return value(what_.root, 0, i); }),
                        guards(buffer, buffer));
    }

    std::string reduce_scatter() {
        const std::size_t n = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
        Guarded all(n), mine(own());
        std::size_t at = 0;
        for (int r = 0; r < ranks_; ++r) {
            for (std::size_t i = 0; i < counts_[static_cast<std::size_t>(r)]; ++i) {
                all.data()[at++] = value(rank_, r, i);
            }
        }
        const void* from = what_.in_place ? TREFOIL_IN_PLACE : all.data();
        std::int64_t* to = what_.in_place ? all.data() : mine.data();
        const std::string error =
            after(uneven() ? trefoil_reduce_scatter(from, to, counts_.data(), TREFOIL_INT64,
                                                    TREFOIL_SUM, comm_)
                           : trefoil_reduce_scatter_block(from, to, what_.count, TREFOIL_INT64,
                                                          TREFOIL_SUM, comm_));
        return first_of(error,
                        compare(to, own(), "result", [&](std::size_t i) { return sum(rank_, i); }),
                        guards(all, mine));
    }

    std::string gather() {
        const bool here = what_.collective == Collective::allgather || is_root();
        const bool in_place = what_.in_place && here;
        Guarded mine(own()), all(here ? span_ : 0);
        for (std::size_t i = 0; i < own(); ++i) {
            (in_place ? all.data() + shift(rank_) : mine.data())[i] = value(rank_, rank_, i);
        }
        const void* from = in_place ? TREFOIL_IN_PLACE : mine.data();
        const std::string error = after(call_gather(from, here ? all.data() : nullptr));
        std::string result;
        for (int r = 0; here && r < ranks_ && result.empty(); ++r) {
            const std::size_t count = counts_[static_cast<std::size_t>(r)];
            result = compare(all.data() + shift(r), count, "result",
                             [&](std::size_t i) { return value(r, r, i); });
            if (result.empty() && what_.gap > 0) {
                result = compare(all.data() + shift(r) + count, what_.gap, "gap",
                                 [](std::size_t) { return untouched; });
            }
        }
        return first_of(error, result, guards(mine, all));
    }

    trefoil_status_t call_gather(const void* from, void* to) {
        const bool everywhere = what_.collective == Collective::allgather;
        if (uneven()) {
            return everywhere
                       ? trefoil_allgatherv(from, own(), to, counts_.data(), displacements_.data(),
                                            TREFOIL_INT64, comm_)
                       : trefoil_gatherv(from, own(), to, is_root() ? counts_.data() : nullptr,
                                         is_root() ? displacements_.data() : nullptr, TREFOIL_INT64,
                                         what_.root, comm_);
        }
        return everywhere ? trefoil_allgather(from, to, what_.count, TREFOIL_INT64, comm_)
                          : trefoil_gather(from, to, what_.count, TREFOIL_INT64, what_.root, comm_);
    }

    std::string scatter() {
        const bool in_place = what_.in_place && is_root();
        Guarded mine(own()), all(is_root() ? span_ : 0);
        for (int r = 0; r < ranks_ && is_root(); ++r) {
            for (std::size_t i = 0; i < counts_[static_cast<std::size_t>(r)]; ++i) {
                all.data()[shift(r) + i] = value(what_.root, r, i);
            }
        }
        const void* from = is_root() ? all.data() : nullptr;
        void* to = in_place ? const_cast<void*>(TREFOIL_IN_PLACE) : mine.data();
        const std::string error = after(
            uneven() ? trefoil_scatterv(from, is_root() ? counts_.data() : nullptr,
                                        is_root() ? displacements_.data() : nullptr, to, own(),
                                        TREFOIL_INT64, what_.root, comm_)
                     : trefoil_scatter(from, to, what_.count, TREFOIL_INT64, what_.root, comm_));
        const std::int64_t* result = in_place ? all.data() + shift(rank_) : mine.data();
        return first_of(error,
                        compare(result, own(), "result",
                                [&](std::size_t i) { return value(what_.root, rank_, i); }),
                        guards(mine, all));
    }

    /// Elements from one rank to another; in place as many the other way.
    std::size_t between(int from, int to) const {
        return uneven() ? counts_[static_cast<std::size_t>((from + to * (what_.in_place ? 1 : 2)) %
                                                           ranks_)]
                        : what_.count;
    }

    /// One side of an alltoall: the counts, and where the blocks lie.
    struct Blocks {
        std::vector<std::size_t> counts, displacements;
        std::size_t span = 0;
    };
    Blocks blocks(bool sent) const {
        Blocks result;
        for (int r = 0; r < ranks_; ++r) {
            result.counts.push_back(sent ? between(rank_, r) : between(r, rank_));
            result.displacements.push_back(result.span);
            result.span += result.counts.back() + what_.gap;
        }
        return result;
    }

    trefoil_status_t call_alltoall(const void* from, const Blocks& sent, void* to,
                                   const Blocks& received) {
        if (!uneven()) {
            return trefoil_alltoall(from, to, what_.count, TREFOIL_INT64, comm_);
        }
        const bool both = !what_.in_place;
        return trefoil_alltoallv(
            from, both ? sent.counts.data() : nullptr,
            both && what_.gap > 0 ? sent.displacements.data() : nullptr, to, received.counts.data(),
            what_.gap > 0 ? received.displacements.data() : nullptr, TREFOIL_INT64, comm_);
    }

    std::string alltoall() {
        const Blocks sent = blocks(true), received = blocks(false);
        Guarded out(what_.in_place ? 0 : sent.span), in(received.span);
        std::int64_t* const source = (what_.in_place ? in : out).data();
        const auto fill = [&](auto&& visit) {
            for (std::size_t r = 0; r < sent.counts.size(); ++r) {
                for (std::size_t i = 0; i < sent.counts[r]; ++i) {
                    visit(source[sent.displacements[r] + i], value(rank_, static_cast<int>(r), i));
                }
            }
        };
        fill([](std::int64_t& element, std::int64_t its_value) { element = its_value; });
        const void* from = what_.in_place ? TREFOIL_IN_PLACE : out.data();
        const std::string error = after(call_alltoall(from, sent, in.data(), received));
        std::string result;
        for (int r = 0; r < ranks_ && result.empty(); ++r) {
            const auto b = static_cast<std::size_t>(r);
            const std::int64_t* const block = in.data() + received.displacements[b];
            result = first_of(compare(block, received.counts[b], "result",
                                      [&](std::size_t i) { return value(r, rank_, i); }),
                              compare(block + received.counts[b], what_.gap, "gap",
                                      [](std::size_t) { return untouched; }));
        }
        bool kept = true;
        if (!what_.in_place) {
            fill([&](std::int64_t element, std::int64_t its_value) {
                kept = kept && element == its_value;
            });
        }
        return first_of(error, first_of(result, kept ? "" : "the input has changed"),
                        guards(out, in));
    }

    trefoil_comm_t comm_;
    const CollectiveCase& what_;
    int rank_ = 0, ranks_ = 1;
    std::vector<std::size_t> counts_, displacements_;
    std::size_t span_ = 0;
};

}  // namespace

std::string check_collective(trefoil_comm_t comm, const CollectiveCase& what) {
    return Checker(comm, what).run();
}

std::string describe(const CollectiveCase& what) {
    std::string text = std::string(to_string(what.collective)) + " by " + what.algorithm +
                       ", count " + std::to_string(what.count) + ", root " +
                       std::to_string(what.root) + (what.in_place ? ", in place" : "");
    for (const std::size_t n : what.uneven) {
        text += " " + std::to_string(n);
    }
    return text + (what.gap > 0 ? ", with gaps" : "");
}

}  // namespace trefoil::test
