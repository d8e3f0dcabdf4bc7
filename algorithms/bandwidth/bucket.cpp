// SPDX-License-Identifier: BSD-3-Clause
// bucket: the ring reduce-scatter and allgather, one dimension after the other, on any torus.
//
// In each dimension's step k coordinate c sends block c-1-k to c+1 and so ends with block c. 2D
// parts: part p takes dimensions p, p+1, ... in the '+' sense, part D+p the same in the '-' sense,
// so that in every phase each port works for one part. Shorter dimensions wait at the end of their
// phase, because another part may still use the links that the next phase needs: all phases are
// d_max - 1 steps long. Every rank sends (n-1)/n of the vector in the reduce-scatter and again in
// the allgather, to neighbours only.
//
// Single-port: part 0 alone, which has nobody to wait for.
//
//     c      0      1      2      3
//     k=0    3 ->   0 ->   1 ->   2 ->
//     k=1    2 ->   3 ->   0 ->   1 ->
//     k=2    1 ->   2 ->   3 ->   0 ->       then c holds block c
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/schedule/by_size.hpp"
#include "algorithms/schedule/long_dimensions.hpp"

namespace trefoil {

namespace {

class BucketRing final : public RingScatter {
  public:
    explicit BucketRing(Rank size) : RingScatter(size, size - 1, {size}) {}

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        out.push_back({wrapped(coordinate + 1), 1, {single(coordinate - 1 - step)}});
    }
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        out.push_back({wrapped(coordinate - 1), 1, {single(coordinate - 2 - step)}});
    }
    std::vector<Extent> held(Rank coordinate, int step) const override {
        // All but the blocks c-1, ..., c-step that are gone: the run of c, ..., c-1-step upwards.
        const auto first = static_cast<Block>(coordinate);
        const auto end = first + static_cast<Block>(size() - step);
        const auto all = static_cast<Block>(size());
        if (step == 0) {
            return {{0, all}};  // as one run: numbering blocks takes time for each
        }
        if (end <= all) {
            return {{first, end - first}};
        }
        return {{0, end - all}, {first, all - first}};
    }

  private:
    Rank wrapped(Rank coordinate) const {
        return coordinate < 0 ? coordinate + size()
                              : (coordinate >= size() ? coordinate - size() : coordinate);
    }
    Extent single(Rank coordinate) const { return {static_cast<Block>(wrapped(coordinate)), 1}; }
};

std::vector<int> bucket_order(const Torus& torus, const std::vector<int>& moving, int part,
                              bool single_port) {
    const Rank longest = *std::max_element(torus.sizes().begin(), torus.sizes().end());
    std::vector<int> order;
    for (std::size_t i = 0; i < moving.size(); ++i) {
        const int dimension = moving[(part + i) % moving.size()];
        const Rank steps = torus.size(dimension) - 1;
        order.insert(order.end(), steps, dimension);
        order.insert(order.end(), single_port ? 0 : longest - 1 - steps, -1);
    }
    return order;
}

}  // namespace

std::vector<ProductPart> bucket_parts(const Torus& torus, Collective /*collective*/,
                                      const BuildOptions& options) {
    const std::vector<int> moving = long_dimensions(torus);
    std::vector<ProductPart> parts = interleaved_parts(by_size(torus, [](Rank size) -> RingPair {
        const auto plain = std::make_shared<BucketRing>(size);
        return {plain, mirrored(plain)};
    }));
    for (std::size_t p = 0; p < parts.size() && !moving.empty(); ++p) {
        parts[p].order =
            bucket_order(torus, moving, static_cast<int>(p % moving.size()), options.single_port);
    }
    parts.resize(options.single_port ? 1 : parts.size());
    return parts;
}

// In a phase each dimension has one part either way round, which has gone through some others.
LinkSteps bucket_link_steps(const Torus& torus, Collective collective) {
    std::vector<std::int64_t> sizes;
    for (const Rank size : torus.sizes()) {
        if (size > 1) {
            sizes.push_back(size);
        }
    }
    LinkSteps result{std::max(1, 2 * static_cast<int>(sizes.size())), {}, 0};
    if (sizes.empty()) {
        return result;
    }
    const auto steps = static_cast<std::size_t>(std::ranges::max(sizes) - 1);
    for (std::size_t phase = 0; phase < sizes.size(); ++phase) {
        const std::size_t first = result.steps.size();
        result.steps.resize(first + steps, {0, 1, 1});
        for (std::size_t p = 0; p < sizes.size(); ++p) {
            std::int64_t others = 1;  // that the part has not gone through
            for (std::size_t i = phase + 1; i < sizes.size(); ++i) {
                others *= sizes[(p + i) % sizes.size()];
            }
            const std::int64_t size = sizes[(p + phase) % sizes.size()];
            for (std::int64_t k = 0; k < size - 1; ++k) {
                std::int64_t& load = result.steps[first + static_cast<std::size_t>(k)].load;
                load = std::max(load, 2 * others);
            }
        }
    }
    std::vector<LinkStep> back(result.steps.rbegin(), result.steps.rend());
    if (collective == Collective::allgather) {
        result.steps = std::move(back);
    } else if (collective == Collective::allreduce) {
        result.steps.insert(result.steps.end(), back.begin(), back.end());
    }
    return result;
}

}  // namespace trefoil
