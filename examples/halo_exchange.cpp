// SPDX-License-Identifier: BSD-3-Clause
// Heat that spreads on a torus: each rank has a block of the grid and swaps faces with neighbours.
//
//   halo_exchange [STEPS]     default 200
//
// The ranks' own torus carries the grid, in as many dimensions as it has, so each face goes over
// one link. Blocks are longer in some dimensions than in others, so faces differ in size: the
// exchange is neighbor_alltoallv. It is under way while the points inside the block are computed;
// those at the faces follow.
//
// A wave of the grid keeps its form and shrinks by a known factor in each step, so every point can
// be checked.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double strength = 0.05;  // of the spreading, per dimension and step

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A rank's block with a layer of its neighbours' points around it.
class Block {
  public:
    explicit Block(const trefoil::Comm& comm)
        : comm_(comm.handle()), torus_(comm.torus()), place_(comm.coordinates(comm.rank())) {
        std::size_t points = 1;
        for (std::size_t j = 0; j < torus_.size(); ++j) {
            sizes_.push_back(torus_.size() > 2 ? 8 + 2 * j : 24 + 16 * j);
            whole_.push_back(sizes_[j] * static_cast<std::size_t>(torus_[j]));
        }
        strides_.resize(sizes_.size());
        for (std::size_t j = sizes_.size(); j-- > 0;) {
            strides_[j] = points;
            points *= sizes_[j] + 2;
        }
        now_.resize(points);
        next_.resize(points);
        std::vector<std::size_t> at(sizes_.size(), 1);
        walk(0, 0, at);
        // As in MPI's Cartesian communicators: of each dimension the negative direction first.
        for (std::size_t j = 0; j < sizes_.size(); ++j) {
            const std::size_t face = faces_[2 * j].size();
            for (int side = 0; side < 2; ++side) {
                counts_.push_back(face);
                begins_.push_back(out_.size());
                out_.resize(out_.size() + face);
            }
        }
        in_.resize(out_.size());
    }

    /// One wave along every dimension of the whole grid.
    void fill() {
        for_each_point(
            [&](std::size_t index, const std::vector<std::size_t>& at) { now_[index] = wave(at); });
    }

    void step() {
        trefoil_request_t exchange = TREFOIL_REQUEST_NULL;
        for (std::size_t side = 0; side < faces_.size(); ++side) {
            for (std::size_t i = 0; i < faces_[side].size(); ++i) {
                out_[begins_[side] + i] = now_[faces_[side][i]];
            }
        }
        timed([&] {
            return trefoil_ineighbor_alltoallv(out_.data(), counts_.data(), begins_.data(),
                                               in_.data(), counts_.data(), begins_.data(),
                                               TREFOIL_DOUBLE, comm_, &exchange);
        });
        for (const std::size_t index : inner_) {
            spread(index);
        }
        timed([&] { return trefoil_wait(&exchange); });
        for (std::size_t side = 0; side < faces_.size(); ++side) {
            const std::size_t stride = strides_[side / 2];
            for (std::size_t i = 0; i < faces_[side].size(); ++i) {
                const std::size_t inside = faces_[side][i];
                now_[side % 2 == 0 ? inside - stride : inside + stride] = in_[begins_[side] + i];
            }
        }
        for (const std::size_t index : outer_) {
            spread(index);
        }
        std::swap(now_, next_);
    }

    /// How much the wave shrinks in a step: its second difference along dimension j is
    /// -2 (1 - cos(2 pi / n_j)) times itself.
    double factor() const {
        double sum = 0;
        for (const std::size_t n : whole_) {
            sum += 1 - std::cos(2 * pi / static_cast<double>(n));
        }
        return 1 - 2 * strength * sum;
    }

    double error_after(int steps) {
        const double shrunk = std::pow(factor(), steps);
        double most = 0;
        for_each_point([&](std::size_t index, const std::vector<std::size_t>& at) {
            most = std::max(most, std::abs(now_[index] - shrunk * wave(at)));
        });
        return most;
    }

    std::size_t points() const { return inner_.size() + outer_.size(); }
    double in_collectives() const { return in_collectives_; }

  private:
    static constexpr double pi = 3.14159265358979323846;

    template <typename Call>
    void timed(Call&& call) {
        const auto begin = Clock::now();
        trefoil::check(call());
        in_collectives_ += seconds_since(begin);
    }

    /// `at` counts from 1 in each dimension.
    double wave(const std::vector<std::size_t>& at) const {
        double value = 1;
        for (std::size_t j = 0; j < at.size(); ++j) {
            const std::size_t global = sizes_[j] * static_cast<std::size_t>(place_[j]) + at[j] - 1;
            value *=
                std::cos(2 * pi * static_cast<double>(global) / static_cast<double>(whole_[j]));
        }
        return value;
    }

    /// Sorts the points: inside the block, at its faces, and which face.
    void walk(std::size_t dimension, std::size_t index, std::vector<std::size_t>& at) {
        if (dimension == 0) {
            faces_.resize(2 * sizes_.size());
        }
        if (dimension < sizes_.size()) {
            for (at[dimension] = 1; at[dimension] <= sizes_[dimension]; ++at[dimension]) {
                walk(dimension + 1, index + at[dimension] * strides_[dimension], at);
            }
            return;
        }
        bool outer = false;
        for (std::size_t j = 0; j < sizes_.size(); ++j) {
            if (at[j] == 1) {
                faces_[2 * j].push_back(index);
            }
            if (at[j] == sizes_[j]) {
                faces_[2 * j + 1].push_back(index);
            }
            outer = outer || at[j] == 1 || at[j] == sizes_[j];
        }
        (outer ? outer_ : inner_).push_back(index);
    }

    template <typename Visit>
    void for_each_point(Visit&& visit) {
        std::vector<std::size_t> at(sizes_.size());
        for (const auto* const list : {&inner_, &outer_}) {
            for (const std::size_t index : *list) {
                for (std::size_t j = 0; j < at.size(); ++j) {
                    at[j] = index / strides_[j] % (sizes_[j] + 2);
                }
                visit(index, at);
            }
        }
    }

    void spread(std::size_t index) {
        double sum = 0;
        for (const std::size_t stride : strides_) {
            sum += now_[index - stride] + now_[index + stride] - 2 * now_[index];
        }
        next_[index] = now_[index] + strength * sum;
    }

    trefoil_comm_t comm_;
    std::vector<int> torus_, place_;
    std::vector<std::size_t> sizes_, whole_, strides_;  ///< by dimension; strides with the layer
    std::vector<double> now_, next_;
    std::vector<std::size_t> inner_, outer_;
    std::vector<std::vector<std::size_t>> faces_;  ///< -0, +0, -1, ...: this rank's points there
    std::vector<std::size_t> counts_, begins_;     ///< of a face, in the same order
    std::vector<double> out_, in_;
    double in_collectives_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    try {
        trefoil::Comm comm;  // rank, number of ranks and torus: from the launcher
        const int steps = count > 1 ? std::stoi(arguments[1]) : 200;
        Block block(comm);
        block.fill();
        block.step();  // the first call connects the neighbours
        comm.barrier();
        const double before = block.in_collectives();
        const auto begin = Clock::now();
        for (int step = 1; step < steps; ++step) {
            block.step();
        }
        const double seconds = seconds_since(begin);
        std::array<double, 3> worst{block.error_after(steps),
                                    (block.in_collectives() - before) / seconds, seconds};
        double share = worst[1];
        comm.allreduce(std::span(worst), TREFOIL_MAX);  // in place
        comm.allreduce(std::span(&share, 1), TREFOIL_AVG);
        const bool right = worst[0] < 1e-12;
        if (comm.rank() == 0) {
            std::string torus;
            for (const int size : comm.torus()) {
                torus += (torus.empty() ? "" : "x") + std::to_string(size);
            }
            std::printf(
                "%s ranks with %zu points each, %d steps in %.3f s, error %.1e: %s\n"
                "in collectives: %.0f %% of the ranks' time on average, %.0f %% at most\n",
                torus.c_str(), block.points(), steps, worst[2], worst[0], right ? "right" : "WRONG",
                100 * share, 100 * worst[1]);
        }
        comm.barrier();  // nobody needs this rank any more
        return right ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
