// SPDX-License-Identifier: BSD-3-Clause
// The refusal of memory that lies where this process cannot look: descriptions of memory say where
// their maker lives.
#pragma once

#include <cstddef>

namespace trefoil::memory {

/// What a description holds: process_space(), as text that ends with 0.
struct MakersSpace {
    char text[80];

    void fill();
};

/// Throws Error(unsupported) where numbers of processes do not mean the same to this process and to
/// process `maker` of that space.
void require_same_space(MakersSpace& space, int maker);

}  // namespace trefoil::memory
