// SPDX-License-Identifier: BSD-3-Clause
// The search for Trivance's latency plans: branch and bound over runs, cheapest excess first.
#include "algorithms/trivance/runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace trefoil {

namespace {

using Transfers = std::vector<RunTransfer>;

/// What a coordinate knows, a range of offsets: its pieces in ring order, 1, 2, ... to the right,
/// -1, -2, ... to the left. reach[k] is the last offset, without its sign, of the first k of a
/// side.
class Window {
  public:
    Rank width() const { return sides_[0].reach.back() + sides_[1].reach.back() + 1; }
    int pieces(int side) const { return static_cast<int>(at(side).reach.size()) - 1; }

    void append(const RunTransfer& t) {
        at(t.side).reach.push_back(at(t.side).reach.back() + t.width);
        at(t.side).number.push_back(++count_);
    }
    void drop(const RunTransfer& t) {
        at(t.side).reach.pop_back();
        at(t.side).number.pop_back();
        --count_;
    }

    /// The transfer that appends pieces [first, last] on `side`, behind `before` other offsets.
    RunTransfer transfer(int side, int first, int last, Rank before = 0) const {
        const Rank near = side > 0 ? begin(first) : -end(last);
        const Rank distance = at(side).reach.back() + before + 1 - near;
        std::uint64_t pieces = 0;
        for (int piece = first; piece <= last; ++piece) {
            pieces |= std::uint64_t{1} << (piece == 0 ? 0 : at(piece).number[std::abs(piece)]);
        }
        return {side, pieces, end(last) - begin(first) + 1, distance};
    }

  private:
    struct Side {
        std::vector<Rank> reach{0};
        std::vector<int> number{0};  ///< of the pieces in the order of their arrival
    };

    Side& at(int side) { return sides_[side > 0]; }
    const Side& at(int side) const { return sides_[side > 0]; }
    Rank begin(int piece) const {
        return piece <= 0 ? -at(-1).reach[-piece] : at(+1).reach[piece - 1] + 1;
    }
    Rank end(int piece) const {
        return piece >= 0 ? at(+1).reach[piece] : -at(-1).reach[-piece - 1] - 1;
    }

    Side sides_[2];
    int count_ = 0;
};

// A step of load q that adds w offsets has the excess 2q - w >= 0: every transfer travels at least
// as far as it is wide. The total load is (n - 1 + total excess) / 2, so the search minimises the
// excess. Rounds allow more and more of it; a round that finds a plan improves it to the best one,
// or until the bound on its trials, which keeps a search within milliseconds. When large rings
// exhaust that bound, fewer of the last steps are free to send any runs.
class RunSearch {
  public:
    explicit RunSearch(Rank size) : size_(size), steps_(trivance_steps(size)) {}

    TrivancePattern run() {
        for (free_steps_ = 5; !found_ && free_steps_ >= 2; --free_steps_) {
            for (std::int64_t excess = (size_ - 1) % 2; !found_ && excess < excess_limit();
                 excess = 2 * excess + 2) {
                trials_ = 0;
                allowed_ = excess;
                descend(0, 0);
            }
        }
        return found_ ? TrivancePattern{size_, best_} : one_sided_pattern(size_);
    }

  private:
    static constexpr std::int64_t trial_limit = 250000;

    std::int64_t excess_limit() const { return 4 * static_cast<std::int64_t>(size_); }

    void descend(int step, std::int64_t spent) {
        if (step == steps_) {
            keep(spent);
            return;
        }
        if (step < steps_ - free_steps_) {
            descend_whole(step, spent);
            return;
        }
        const Transfers right = candidates(+1, 0, allowed_ - spent);
        Transfers left = candidates(-1, 0, allowed_ - spent);
        if (step == steps_ - 1) {
            finish(step, spent, right, left);
            return;
        }
        for (const RunTransfer& r : right) {
            advance(step, spent, {r});
            for (const RunTransfer& l : left) {
                advance(step, spent, {r, l});
            }
        }
        for (const RunTransfer& l : left) {
            advance(step, spent, {l});
        }
        if (step > 0) {
            descend_one_sided(step, spent, right);
        }
    }

    /// In the last step the widths have to fit.
    void finish(int step, std::int64_t spent, const Transfers& right, Transfers& left) {
        const auto narrower = [](const RunTransfer& a, const RunTransfer& b) {
            return a.width < b.width;
        };
        std::sort(left.begin(), left.end(), narrower);
        const auto fitting = [&](Rank width) {
            RunTransfer wanted;
            wanted.width = width;
            return std::equal_range(left.begin(), left.end(), wanted, narrower);
        };
        const Rank missing = size_ - window_.width();
        for (const RunTransfer& r : right) {
            if (r.width == missing) {
                advance(step, spent, {r});
            }
            const auto [first, last] = fitting(missing - r.width);
            for (auto l = first; l != last; ++l) {
                advance(step, spent, {r, *l});
            }
        }
        const auto [first, last] = fitting(missing);
        for (auto l = first; l != last; ++l) {
            advance(step, spent, {*l});
        }
    }

    /// Early steps of large rings exchange whole windows, to both sides or to one.
    void descend_whole(int step, std::int64_t spent) {
        const int first = -window_.pieces(-1);
        const int last = window_.pieces(+1);
        const RunTransfer right = window_.transfer(+1, first, last);
        advance(step, spent, {right, window_.transfer(-1, first, last)});
        if (step > 0) {
            advance(step, spent, {right, window_.transfer(+1, first, last, right.width)});
        }
    }

    /// Both transfers appended on the right: the way to sizes just below a power of three, where
    /// a run without the outermost offset is needed.
    void descend_one_sided(int step, std::int64_t spent, const Transfers& right) {
        for (const RunTransfer& r : right) {
            if (4 * static_cast<std::int64_t>(r.distance) > allowed_ - spent) {
                continue;
            }
            for (const RunTransfer& s : candidates(+1, r.width, allowed_ - spent)) {
                advance(step, spent, {r, s});
            }
        }
    }

    void advance(int step, std::int64_t spent, std::initializer_list<RunTransfer> transfers) {
        std::int64_t width = window_.width();
        std::int64_t load[2] = {0, 0};
        for (const RunTransfer& t : transfers) {
            width += t.width;
            load[t.side > 0] += t.distance;
        }
        spent += 2 * std::max(load[0], load[1]) - (width - window_.width());
        if (++trials_ > trial_limit || spent > allowed_ || !can_finish(width, steps_ - step - 1)) {
            return;
        }
        for (const RunTransfer& t : transfers) {
            window_.append(t);
        }
        current_.emplace_back(transfers);
        descend(step + 1, spent);
        current_.pop_back();
        for (const RunTransfer& t : transfers) {
            window_.drop(t);
        }
    }

    bool can_finish(std::int64_t width, int steps) const {
        if (steps == 0) {
            return width == size_;
        }
        for (int i = 0; i < steps && width < size_; ++i) {
            width *= 3;
        }
        return width >= size_;
    }

    Transfers candidates(int side, Rank before, std::int64_t excess) const {
        Transfers found;
        for (int first = -window_.pieces(-1); first <= window_.pieces(+1); ++first) {
            for (int last = first; last <= window_.pieces(+1); ++last) {
                const RunTransfer t = window_.transfer(side, first, last, before);
                const bool short_way = 2 * static_cast<std::int64_t>(t.distance) < size_;
                if (short_way && t.distance - t.width <= excess) {
                    found.push_back(t);
                }
            }
        }
        return found;
    }

    void keep(std::int64_t spent) {
        const std::int64_t work = accumulator_work(current_);
        if (!found_ || spent < allowed_ || work < work_) {
            found_ = true;
            allowed_ = spent;
            work_ = work;
            best_ = current_;
        }
    }

    static std::int64_t accumulator_work(const std::vector<Transfers>& steps) {
        const BufferedPattern program = buffered_pattern(TrivancePattern{0, steps});
        std::int64_t passes = 0;
        for (const BufferedPattern::Step& step : program.steps) {
            passes += static_cast<std::int64_t>(step.copies.size());
            for (const RunMessage& m : step.messages) {
                passes += static_cast<std::int64_t>(m.targets.size());
            }
        }
        return 16 * passes + program.accumulators;
    }

    Rank size_;
    int steps_;
    int free_steps_ = 0;  ///< the last ones, in which any runs may travel
    Window window_;
    std::vector<Transfers> current_;
    std::vector<Transfers> best_;
    std::int64_t allowed_ = 0;
    std::int64_t work_ = 0;
    std::int64_t trials_ = 0;
    bool found_ = false;
};

double total_load(const TrivancePattern& plan) {
    double total = 0;
    for (const Transfers& step : plan.steps) {
        total += run_step_load(step, plan.size);
    }
    return total;
}

/// Every coordinate joins its two neighbours; then clusters of three follow the plan of a third of
/// the size.
TrivancePattern clustered(const TrivancePattern& third) {
    TrivancePattern plan{3 * third.size, {{{+1, 1, 1, 1}, {-1, 1, 1, 1}}}};
    for (Transfers step : third.steps) {
        for (RunTransfer& t : step) {
            t.pieces = t.pieces << 2 | ((t.pieces & 1) != 0 ? 3 : 0);
            t.width *= 3;
            t.distance *= 3;
        }
        plan.steps.push_back(std::move(step));
    }
    return plan;
}

/// Everyone gets a window of half the ring, and in a last step that of the coordinate straight
/// across; nothing where that takes a step more than is due.
std::optional<TrivancePattern> across(Rank size) {
    const Rank half = size / 2;
    if (size % 2 != 0 || trivance_steps(half) == trivance_steps(size)) {
        return std::nullopt;
    }
    TrivancePattern plan = contiguous_pattern(half);
    plan.size = size;
    int pieces = 1;
    for (const Transfers& step : plan.steps) {
        pieces += static_cast<int>(step.size());
    }
    plan.steps.push_back({{-1, (std::uint64_t{1} << pieces) - 1, half, half}});
    return plan;
}

TrivancePattern make_plan(Rank size) {
    TrivancePattern plan = contiguous_pattern(size);
    if (std::optional<TrivancePattern> halves = across(size);
        halves.has_value() && total_load(*halves) < total_load(plan)) {
        plan = std::move(*halves);
    }
    if (size % 3 == 0 && size > 6) {
        TrivancePattern clusters = clustered(make_plan(size / 3));
        if (total_load(clusters) < total_load(plan)) {
            plan = std::move(clusters);
        }
    }
    const auto bound = static_cast<Rank>(std::ceil(total_load(plan)));
    return spread_pattern(size, bound).value_or(std::move(plan));
}

}  // namespace

int trivance_steps(Rank size) {
    int steps = 0;
    for (std::int64_t reached = 1; reached < size; reached *= 3) {
        ++steps;
    }
    return steps;
}

TrivancePattern contiguous_pattern(Rank size) {
    return RunSearch(size).run();
}

TrivancePattern one_sided_pattern(Rank size) {
    const int steps = trivance_steps(size);
    std::vector<Rank> widths{size};  // from the end
    for (int i = 0; i < steps; ++i) {
        widths.push_back((widths.back() + 2) / 3);
    }
    Window window;
    TrivancePattern plan{size, {}};
    for (int step = 0; step < steps; ++step) {
        const Rank surplus = 3 * widths[steps - step] - widths[steps - step - 1];
        const int last = window.pieces(+1);
        Transfers transfers;
        for (const Rank left_out : {surplus > 1 ? 1 : 0, surplus > 0 ? 1 : 0}) {
            if (left_out <= last) {  // nothing remains where the own contribution is all there is
                const Rank before = transfers.empty() ? 0 : transfers.front().width;
                transfers.push_back(window.transfer(+1, left_out, last, before));
            }
        }
        for (const RunTransfer& t : transfers) {
            window.append(t);
        }
        plan.steps.push_back(std::move(transfers));
    }
    return plan;
}

std::shared_ptr<const TrivancePattern> trivance_pattern(Rank size) {
    static std::mutex mutex;
    static auto& plans = *new std::map<Rank, std::shared_ptr<const TrivancePattern>>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const TrivancePattern>& plan = plans[size];
    if (!plan) {
        plan = std::make_shared<const TrivancePattern>(make_plan(size));
    }
    return plan;
}

}  // namespace trefoil
