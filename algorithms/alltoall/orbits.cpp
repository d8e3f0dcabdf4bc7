// SPDX-License-Identifier: BSD-3-Clause
// Offsets that are images of one another under turns; orbits of few offsets share a step.
//
// A turn takes each dimension to the next one, and the last one to the first with its sign changed:
// in a plane, a quarter of a circle. 2D turns are none, so an orbit has at most 2D offsets, one for
// each port, and every direction carries alike. Those that a few turns leave as they are have
// fewer; in two dimensions of 8 these are
//
//     0,4  4,0          through a port of dimensions 1 and 0: even coordinates up, odd ones down
//     4,4               through dimension 0, the other way
//
// Loads of such orbits add up, whether in one step or in two, so that nothing is lost. Of up to
// three dimensions, ceil((p - 1) / 2D) steps come out, and fewer need a port twice.
#include "algorithms/alltoall/orbits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace trefoil {

namespace {

using Steps = std::vector<std::vector<OrbitShift>>;

/// An orbit, by turns. Coordinate e of image e is that of image 0, up to its sign, and not 0.
struct Orbit {
    std::vector<Rank> images;
    std::int64_t hops = 0;
    /// Every offset is its own opposite: all coordinates are 0 or half of the size. Else the
    /// opposites of the first half of the images are the second half.
    bool halves = false;

    /// How many dimensions the images travel first.
    int dimensions() const { return static_cast<int>(halves ? images.size() : images.size() / 2); }
};

Rank turned(const Torus& torus, Rank offset) {
    const int last = torus.dimensions() - 1;
    Rank result = 0;
    for (int j = 0; j < last; ++j) {
        result = torus.with_coordinate(result, j + 1, torus.coordinate(offset, j));
    }
    const Rank size = torus.size(last);
    return torus.with_coordinate(result, 0, (size - torus.coordinate(offset, last)) % size);
}

Orbit orbit_of(const Torus& torus, Rank offset) {
    Orbit orbit;
    orbit.hops = torus.hops(0, offset);
    for (Rank image = offset; orbit.images.empty() || image != offset;
         image = turned(torus, image)) {
        orbit.images.push_back(image);
    }
    orbit.halves = torus.dimensions() % orbit.images.size() == 0;
    // Ways round dimension 0 that are half of it will do only if there are no others.
    const auto first = std::ranges::find_if(orbit.images, [&](Rank image) {
        return torus.coordinate(image, 0) != 0 && (orbit.halves || !torus.is_tie(0, image, 0));
    });
    std::rotate(orbit.images.begin(), first, orbit.images.end());
    return orbit;
}

std::vector<Orbit> all_orbits(const Torus& torus) {
    std::vector<Orbit> orbits;
    std::vector<bool> seen(torus.ranks(), false);
    for (Rank offset = 1; offset < torus.ranks(); ++offset) {
        if (!seen[offset]) {
            orbits.push_back(orbit_of(torus, offset));
            for (const Rank image : orbits.back().images) {
                seen[image] = true;
            }
        }
    }
    return orbits;
}

/// A step that is being filled.
class Filling {
  public:
    explicit Filling(int dimensions) : taken_(dimensions) {}

    /// False if the ports that are left are not enough.
    bool add(const Orbit& orbit) {
        const int dimensions = orbit.dimensions();
        // From a multiple of the orbit's own dimensions on, the images fit like those from 0 on.
        for (int first = 0; first < std::ssize(taken_); first += dimensions) {
            for (int side = 0; side < (orbit.halves ? 2 : 1); ++side) {
                if (free(orbit, first, side)) {
                    take(orbit, first, side);
                    return true;
                }
            }
        }
        return false;
    }

    std::int64_t hops() const { return hops_; }
    std::vector<OrbitShift>& shifts() { return shifts_; }

  private:
    bool free(const Orbit& orbit, int first, int side) const {
        return std::all_of(
            taken_.begin() + first, taken_.begin() + first + orbit.dimensions(),
            [&](auto sides) { return !sides[side] && (orbit.halves || !sides[1 - side]); });
    }

    void take(const Orbit& orbit, int first, int side) {
        hops_ = std::max(hops_, orbit.hops);
        for (std::size_t e = 0; e < orbit.images.size(); ++e) {
            const int j = first + static_cast<int>(e) % orbit.dimensions();
            shifts_.push_back({orbit.images[e], j, side == 1});
            taken_[j][side] = true;
            taken_[j][1 - side] |= !orbit.halves;
        }
    }

    std::vector<std::array<bool, 2>> taken_;  // by dimension: the one way, and the other
    std::int64_t hops_ = 0;
    std::vector<OrbitShift> shifts_;
};

}  // namespace

std::vector<std::vector<OrbitShift>> orbit_steps(const Torus& torus) {
    std::vector<Orbit> orbits = all_orbits(torus);
    std::ranges::stable_sort(orbits, {}, [](const Orbit& orbit) {
        return std::pair(-std::ssize(orbit.images), -orbit.hops);
    });
    std::vector<Filling> steps;
    std::size_t full = 0;  // the first so many steps have no port left
    for (const Orbit& orbit : orbits) {
        const bool fills = std::ssize(orbit.images) == torus.ports();
        const auto with_room =
            std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(full), steps.end(),
                         [&](Filling& step) { return !fills && step.add(orbit); });
        if (with_room == steps.end()) {
            steps.emplace_back(torus.dimensions());
            steps.back().add(orbit);
            full += fills ? 1 : 0;
        }
    }
    std::ranges::stable_sort(steps, {}, &Filling::hops);
    Steps result;
    result.reserve(steps.size());
    for (Filling& step : steps) {
        result.push_back(std::move(step.shifts()));
    }
    return result;
}

}  // namespace trefoil
