// SPDX-License-Identifier: BSD-3-Clause
// What the component does and the layers cannot: to run calls that do not block.
#include "mpi/layer.hpp"

namespace trefoil::mpi {

void finish_jobs() {}

}  // namespace trefoil::mpi
