// SPDX-License-Identifier: BSD-3-Clause
// What `trefoil plan --help` says below its options.
#pragma once

namespace trefoil::tool {

inline constexpr const char* plan_footer =
    R"(A vector is cut into parts that run side by side, a part into blocks. Ranks are numbered
row-major, the last dimension fastest. Port +0 leads to larger coordinates of dimension
0, -0 to smaller ones; a dimension of size 2 has a link behind each. s0, s1 ... are
scratch blocks. All sends of a step read what is there when the step begins.

--html writes one page that shows all ranks at once and plays their steps: links coloured by
load, blocks by how much they hold, and whose contributions that are. For example:
  trefoil plan allreduce -a swing-b -t 4x8 --beside bucket --html allreduce.html

A schedule as --json: collective, algorithm, torus, ranks, rank, root (or null), steered
(messages go the way of their port even if the other one is as short), parts. A part has
vector_blocks (equal slices of its share), scratch_blocks, in reduce_scatter, allgather,
gather and scatter owners (whose block each of them is), and steps with moves, sends and
receives. A move with a peer is a pull: it reads that rank's block. One that is initial
reads what the rank began with; where a part has input_apart its blocks begin undefined.
acknowledges lists the ranks that learn from this one that it has begun (small messages
together). A send that opens lets its peer pull from then on. In alltoall on p ranks
block t < p goes to rank t, and block p + s comes from rank s. Extents are [first block,
count]; scratch follows the vector's blocks.

The --summary as --json: bytes_sent_* (over the ranks), step_max_link_load (the busiest
directed link of each step in which anybody sends, minimal dimension-ordered routes,
half and half where both ways are equally long) and step_max_hops, their sums
sum_link_load and sum_hops, max_sends_per_port_per_step, max_extents_per_message,
pulled_mean and pulled_max (what a rank reads from its peers' memory),
acknowledgements_mean and acknowledgements_max (messages by which a rank says that it
has begun, small ones every 32nd time only; none where all ranks hear from all),
verified (null: not asked), bound_vectors (what sum_link_load cannot be less than on
this network, whatever the algorithm; null: too many ranks, or no bound is known).
Bytes and loads are fractions of one vector, of all blocks together where every rank has
a block. alltoall: the vector is what one rank sends, p blocks; in blocks there are
block_times (sum_link_load), msg_block_times and rank_block_times (the largest message,
and the most that a rank sends, summed over the steps), peak_blocks_held and
messages_per_rank.
A vector of n bytes takes about steps * alpha + sum_hops * tau + sum_link_load * n *
beta, and pulled_mean * n * pull where ranks read each other's memory (TREFOIL_MODEL).
The exit code is 1 when the proof fails.

Example: trefoil plan allreduce --algorithm trivance-b --torus 3x3 --rank 4
         trefoil plan allreduce --algorithm bucket --torus 16x16 --summary --json
         trefoil plan bcast --algorithm bine-dd --torus 4x4 --root 5 --summary
         trefoil plan allreduce --table --torus 8x8,6x4)";

}  // namespace trefoil::tool
