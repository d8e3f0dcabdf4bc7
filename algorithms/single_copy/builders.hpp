// SPDX-License-Identifier: BSD-3-Clause
// Builders of the collectives among ranks that read each other's memory.
#pragma once

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/options.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// The schedule of one rank: of allreduce, reduce_scatter, reduce, allgather, alltoall, bcast,
/// gather or scatter. Each byte is moved once, by the rank that wants it: ranks only pull. One
/// part; messages are signals. Thread-safe; takes time and memory in proportion to the ranks.
template <Collective collective>
Schedule build_single_copy(const Torus& torus, Rank rank, const BuildOptions& options);
template <>
Schedule build_single_copy<Collective::allreduce>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::reduce_scatter>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::reduce>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::allgather>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::alltoall>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::bcast>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::gather>(const Torus&, Rank, const BuildOptions&);
template <>
Schedule build_single_copy<Collective::scatter>(const Torus&, Rank, const BuildOptions&);

/// Of a reduce: the root pulls from one rank after the other, in their order, as they come.
Schedule build_single_copy_root(const Torus& torus, Rank rank, const BuildOptions& options);

}  // namespace trefoil
