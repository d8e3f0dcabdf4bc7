! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program of MPI's module mpi_f08 that checks its own results: right with Trefoil under it and without it.
program fortran_calls
  use mpi_f08
  implicit none
  integer :: rank, ranks, failures, i, sums(3), all_failures
  integer, allocatable :: everybodys(:), sent(:)
  real(8) :: value, largest
  complex :: turned
  logical :: flag
  type(MPI_Comm) :: half
  type(MPI_Op) :: farther_op
  type(MPI_Request) :: requests(3)

  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (everybodys(ranks), sent(ranks))

  sums = [rank, 1, 2]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(all(sums == [ranks * (ranks - 1) / 2, ranks, 2 * ranks]), "allreduce of integers")
  value = rank
  call MPI_Allreduce(value, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call check(largest == ranks - 1, "allreduce of double precision")
  turned = (0.0, 1.0)
  call MPI_Allreduce(MPI_IN_PLACE, turned, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call check(turned == cmplx(0, ranks), "allreduce of complex")
  flag = rank /= 0
  call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  call check(.not. flag, "allreduce of logical")
  call MPI_Allgather(rank, 1, MPI_INTEGER, everybodys, 1, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(everybodys == [(i, i=0, ranks - 1)]), "allgather")
  sent = rank
  call MPI_Alltoall(sent, 1, MPI_INTEGER, everybodys, 1, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(everybodys == [(i, i=0, ranks - 1)]), "alltoall")
  call MPI_Scan(rank, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(i == rank * (rank + 1) / 2, "scan")
  call MPI_Bcast(value, 1, MPI_REAL8, ranks - 1, MPI_COMM_WORLD)
  call check(value == ranks - 1, "bcast")
  largest = rank
  call MPI_Iallreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(1))
  call MPI_Ialltoall(sent, 1, MPI_INTEGER, everybodys, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(2))
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(3))
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
  call check(largest == ranks * (ranks - 1) / 2, "iallreduce of double precision")
  call check(all(everybodys == [(i, i=0, ranks - 1)]), "ialltoall")
  call MPI_Op_create(farther, .true., farther_op)
  sums = [-rank, rank, 0]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, farther_op, MPI_COMM_WORLD)
  call check(sums(1) == 1 - ranks .and. sums(2) == ranks - 1, "an operation in Fortran")
  call MPI_Op_free(farther_op)
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half)
  i = 1
  call MPI_Allreduce(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_SUM, half)
  call check(i == (ranks + 1 - modulo(rank, 2)) / 2, "allreduce of half the ranks")
  call MPI_Comm_free(half)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', all_failures, " failure(s)"
  call MPI_Finalize()
  if (failures > 0) error stop

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      print *, "rank", rank, "WRONG: ", what
      failures = failures + 1
    end if
  end subroutine

  subroutine farther(in, inout, count, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: count
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [count])
    call c_f_pointer(inout, b, [count])
    where (abs(a) > abs(b)) b = a
  end subroutine
end program
