! SPDX-License-Identifier: BSD-3-Clause
! Communicators, requests, operations and memory: how the functions of communicators.cpp are called.
module trefoil_communicators
  use, intrinsic :: iso_c_binding
  use trefoil_types
  implicit none
  public

  interface
    subroutine trefoil_comm_create(comm, ierror, torus, algorithm, backend, provider, nics, port_threads, timeout_seconds, &
                                   rank, ranks, allgather, progress, context) bind(C, name="trefoil_fortran_comm_create")
      import
      type(trefoil_comm), intent(out) :: comm
      integer(c_int), intent(out), optional :: ierror
      character(len=*, kind=c_char), intent(in), optional :: torus, algorithm, backend, provider, nics
      integer(c_int), intent(in), optional :: port_threads, rank, ranks
      real(c_double), intent(in), optional :: timeout_seconds
      procedure(trefoil_allgather_function), optional :: allgather
      procedure(trefoil_progress_function), optional :: progress
      type(*), target, optional :: context
    end subroutine
    subroutine trefoil_comm_destroy(comm, ierror) bind(C, name="trefoil_fortran_comm_destroy")
      import
      type(trefoil_comm), intent(inout) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_rank(comm, rank, ierror) bind(C, name="trefoil_fortran_comm_rank")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(out) :: rank
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_size(comm, ranks, ierror) bind(C, name="trefoil_fortran_comm_size")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(out) :: ranks
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_torus(comm, sizes, ierror) bind(C, name="trefoil_fortran_comm_torus")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), allocatable, intent(out) :: sizes(:)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    ! More than 1: the last dimension of the torus is the ranks of a node.
    subroutine trefoil_comm_ranks_per_node(comm, ranks, ierror) bind(C, name="trefoil_fortran_comm_ranks_per_node")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(out) :: ranks
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    ! Ranks and coordinates count from 0, as in MPI.
    subroutine trefoil_comm_coordinates(comm, rank, coordinates, ierror) bind(C, name="trefoil_fortran_comm_coordinates")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(in) :: rank
      integer(c_int), intent(inout), contiguous :: coordinates(:)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_dup(comm, made, ierror) bind(C, name="trefoil_fortran_comm_dup")
      import
      type(trefoil_comm), intent(in) :: comm
      type(trefoil_comm), intent(out) :: made
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_split(comm, colour, key, made, ierror) bind(C, name="trefoil_fortran_comm_split")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(in) :: colour, key
      type(trefoil_comm), intent(out) :: made
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_sub(comm, keep, made, ierror) bind(C, name="trefoil_fortran_comm_sub")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(in), contiguous :: keep(:)
      type(trefoil_comm), intent(out) :: made
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_create_group(comm, ranks, made, ierror, tag) bind(C, name="trefoil_fortran_comm_create_group")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(in), contiguous :: ranks(:)
      type(trefoil_comm), intent(out) :: made
      integer(c_int), intent(out), optional :: ierror
      integer(c_int), intent(in), optional :: tag
    end subroutine
    subroutine trefoil_comm_shrink(comm, made, ierror) bind(C, name="trefoil_fortran_comm_shrink")
      import
      type(trefoil_comm), intent(in) :: comm
      type(trefoil_comm), intent(out) :: made
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_abort(comm, text, ierror) bind(C, name="trefoil_fortran_comm_abort")
      import
      type(trefoil_comm), intent(in) :: comm
      character(len=*, kind=c_char), intent(in) :: text
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_set_algorithm(comm, collective, algorithm, ierror) &
        bind(C, name="trefoil_fortran_comm_set_algorithm")
      import
      type(trefoil_comm), intent(in) :: comm
      character(len=*, kind=c_char), intent(in) :: collective, algorithm
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_set_schedule(comm, collective, json, ierror) bind(C, name="trefoil_fortran_comm_set_schedule")
      import
      type(trefoil_comm), intent(in) :: comm
      character(len=*, kind=c_char), intent(in) :: collective, json
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_status(comm, text, ierror) bind(C, name="trefoil_fortran_comm_status")
      import
      type(trefoil_comm), intent(in) :: comm
      character(len=*, kind=c_char), intent(inout) :: text
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_comm_in_flight(comm, calls, ierror) bind(C, name="trefoil_fortran_comm_in_flight")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(out) :: calls
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_progress(comm, ierror) bind(C, name="trefoil_fortran_progress")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine trefoil_wait(request, ierror) bind(C, name="trefoil_fortran_wait")
      import
      type(trefoil_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_start(request, ierror) bind(C, name="trefoil_fortran_start")
      import
      type(trefoil_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_request_free(request, ierror) bind(C, name="trefoil_fortran_request_free")
      import
      type(trefoil_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! The function gets elements of `element_bytes` bytes; `commutes`: 1 or 0.
    subroutine trefoil_op_create(function, element_bytes, commutes, op, ierror, context) &
        bind(C, name="trefoil_fortran_op_create")
      import
      procedure(trefoil_reduce_function) :: function
      integer(c_size_t), intent(in) :: element_bytes
      integer(c_int), intent(in) :: commutes
      integer(c_int), intent(out) :: op
      integer(c_int), intent(out), optional :: ierror
      type(*), target, optional :: context
    end subroutine
    subroutine trefoil_op_free(op, ierror) bind(C, name="trefoil_fortran_op_free")
      import
      integer(c_int), intent(in) :: op
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_reduce_local(in, inout, op, ierror, datatype) bind(C, name="trefoil_fortran_reduce_local")
      import
      type(*), dimension(..), intent(in), contiguous :: in
      type(*), dimension(..), contiguous :: inout
      integer(c_int), intent(in) :: op
      integer(c_int), intent(out), optional :: ierror
      integer(c_int), intent(in), optional :: datatype
    end subroutine

    ! Memory for buffers; c_f_pointer makes an array of it.
    subroutine trefoil_alloc(comm, bytes, memory, ierror) bind(C, name="trefoil_fortran_alloc")
      import
      type(trefoil_comm), intent(in) :: comm
      integer(c_size_t), intent(in) :: bytes
      type(c_ptr), intent(out) :: memory
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_free(comm, memory, ierror) bind(C, name="trefoil_fortran_free")
      import
      type(trefoil_comm), intent(in) :: comm
      type(c_ptr), intent(inout) :: memory
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_register(comm, memory, ierror) bind(C, name="trefoil_fortran_register")
      import
      type(trefoil_comm), intent(in) :: comm
      type(*), dimension(..), asynchronous :: memory
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine trefoil_deregister(comm, memory, ierror) bind(C, name="trefoil_fortran_deregister")
      import
      type(trefoil_comm), intent(in) :: comm
      type(*), dimension(..), asynchronous :: memory
      integer(c_int), intent(out), optional :: ierror
    end subroutine
  end interface
end module
