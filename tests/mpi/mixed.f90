! SPDX-License-Identifier: BSD-3-Clause
! The ranks in Fortran of a job whose other ranks run mixed.c: they make the same calls, by the module mpi and by mpif.h.
program mixed
  use mpi
  implicit none
  integer :: rank, ranks, sum, failures, all_failures, code
  double precision :: value

  failures = 0
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (sum /= ranks * (ranks - 1) / 2) failures = failures + 1
  value = rank
  call by_include_file(value, ranks - 1)
  if (value /= ranks - 1) failures = failures + 1
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0, a)', all_failures, " failure(s)"
  call MPI_Finalize(code)
  if (failures > 0) error stop
end program

subroutine by_include_file(value, root)
  implicit none
  include 'mpif.h'
  double precision :: value
  integer :: root, code
  call MPI_Bcast(value, 1, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
end subroutine
