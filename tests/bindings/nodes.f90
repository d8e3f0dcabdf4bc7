! SPDX-License-Identifier: BSD-3-Clause
! Four ranks on two nodes: the torus has the ranks of a node as its last dimension, and a communicator of a node has nothing else.
program nodes
  use trefoil
  implicit none
  type(trefoil_comm) :: comm, node
  integer, allocatable :: sizes(:)
  integer :: rank, ranks, per_node, in_part, sum

  call trefoil_comm_create(comm)
  call trefoil_comm_rank(comm, rank)
  call trefoil_comm_size(comm, ranks)
  call trefoil_comm_torus(comm, sizes)
  call trefoil_comm_ranks_per_node(comm, per_node)
  call trefoil_comm_split(comm, rank / per_node, rank, node)
  call trefoil_comm_size(node, in_part)
  sum = 1
  call trefoil_allreduce(TREFOIL_IN_PLACE, sum, TREFOIL_SUM, node)
  if (ranks /= 4 .or. any(sizes /= [2, 2]) .or. per_node /= 2 .or. in_part /= 2 .or. sum /= 2) then
    error stop "the nodes are wrong"
  end if
  print '(a, i0, a)', "rank ", rank, " is right"
  call trefoil_barrier(comm)
  call trefoil_comm_destroy(node)
  call trefoil_comm_destroy(comm)
end program
