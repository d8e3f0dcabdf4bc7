! SPDX-License-Identifier: BSD-3-Clause
! Frees communicators by MPI's module mpi_f08, which in MPICH calls PMPI_Comm_free: what Trefoil had for them is to go, too.
program fortran_frees
  use mpi_f08
  implicit none
  integer, parameter :: at_once = 3, limit = 1000
  type(MPI_Comm) :: comms(at_once)
  integer :: rank, ranks, i, before, after, calls, failures, all_failures

  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call use_and_check(MPI_COMM_WORLD)
  before = descriptors()

  ! One after the other, more than there are descriptors for.
  do i = 1, 40
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comms(1))
    call use_and_check(comms(1))
    call MPI_Comm_free(comms(1))
  end do

  ! Many, then none, and no new one: calls of another communicator let them go.
  do i = 1, at_once
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comms(i))
    call use_and_check(comms(i))
  end do
  call check(descriptors() >= before + at_once, "communicators have descriptors, or this test shows nothing")
  do i = 1, at_once
    call MPI_Comm_free(comms(i))
  end do
  do calls = 1, limit
    call use_and_check(MPI_COMM_WORLD)
    ! All ranks go on until each has seen it.
    i = 0
    after = descriptors()
    if (after > before) i = 1
    call MPI_Allreduce(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    if (i == 0) exit
  end do
  call check(calls <= limit, "communicators that were freed keep their descriptors")
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', all_failures, " failure(s)"
  call MPI_Finalize()
  if (failures > 0) error stop

contains

  subroutine use_and_check(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: sum
    sum = 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, comm)
    call check(sum == ranks, "allreduce")
  end subroutine

  !> How many this process has open, of the first 256.
  integer function descriptors()
    character(32) :: name
    logical :: open
    integer :: d
    descriptors = 0
    do d = 0, 255
      write (name, '(a, i0)') "/proc/self/fd/", d
      inquire (file=trim(name), exist=open)
      if (open) descriptors = descriptors + 1
    end do
  end function

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      failures = failures + 1
      print '(a, i0, 2a)', "rank ", rank, ": ", what
    end if
  end subroutine
end program
