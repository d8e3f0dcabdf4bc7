// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by butterflies of whole vectors along one dimension after the other: what Swing
// and recursive doubling have in common when they are run for latency.
#pragma once

#include "algorithms/latency/butterfly_partner.hpp"
#include "algorithms/schedule/product_flows.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// 2D parts (D: dimensions of more than one coordinate), D of them plain and D seen in a mirror
/// (x -> -x in every dimension). In global step i part p moves along the first unfinished dimension
/// among p+i, p+i+1, ... (modulo D), so that the parts share the ports. Sizes that are not powers
/// of two are folded (folded_ring.hpp), for two steps more.
Schedule butterfly_allreduce(const Torus& torus, Rank rank, ButterflyPartner partner);

/// All its messages.
ProductFlows butterfly_flows(const Torus& torus, ButterflyPartner partner);

/// One part, the first of those; everyone sends one message at a time and receives one. Sizes that
/// are not powers of two are folded in pairs.
Schedule butterfly_allreduce_single_port(const Torus& torus, Rank rank, ButterflyPartner partner);

/// The same on the ring of all ranks in linear order.
Schedule butterfly_allreduce_in_line(const Torus& torus, Rank rank, ButterflyPartner partner);

}  // namespace trefoil
