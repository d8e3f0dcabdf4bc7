! SPDX-License-Identifier: BSD-3-Clause
! Calls everything of the module trefoil, on a ring of three ranks or more, and says whether it is right.
module particles
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none

  type :: particle
    real(real64) :: place(3)
    integer :: kind
  end type

contains

  !> The one that is farther from 0; counts how often it was asked for.
  subroutine farther(in, inout, count, context) bind(C)
    type(c_ptr), value :: in, inout, context
    integer(c_size_t), value :: count
    type(particle), pointer :: a(:), b(:)
    integer, pointer :: calls
    integer(c_size_t) :: i
    call c_f_pointer(in, a, [count])
    call c_f_pointer(inout, b, [count])
    call c_f_pointer(context, calls)
    do i = 1, count
      if (a(i)%place(1) > b(i)%place(1)) b(i) = a(i)
    end do
    calls = calls + 1
  end subroutine
end module

program fortran_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use particles
  use trefoil
  implicit none

  type(trefoil_comm) :: comm
  integer :: rank, n, left, right, failures = 0

  call trefoil_comm_create(comm, torus="1d")
  call trefoil_comm_rank(comm, rank)
  call trefoil_comm_size(comm, n)
  left = modulo(rank - 1, n)
  right = modulo(rank + 1, n)
  call kinds_and_ranks()
  call reductions()
  call movements()
  call lists()
  call neighbours()
  call nonblocking()
  call persistent()
  call operations()
  call made_from_others()
  call errors()
  call memory()
  call trefoil_barrier(comm)
  call trefoil_comm_destroy(comm)
  if (failures == 0) print '(a, i0, a, i0, a)', "rank ", rank, " of ", n, " is right"
  if (failures > 0) error stop

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      print '(a, i0, 2a)', "rank ", rank, ": WRONG: ", what
      failures = failures + 1
    end if
  end subroutine

  subroutine kinds_and_ranks()
    integer(int8) :: i8(2), s8(2)
    integer(int16) :: i16
    integer(int64) :: i64(2, 3, 2)
    real(real32) :: r32(0:4)
    complex(real32) :: c32(2)
    complex(real64) :: c64
    logical :: l(3)
    real(real64) :: wide(4, 6), row(6)
    integer :: j
    i8 = [1_int8, 2_int8]
    call trefoil_allreduce(i8, s8, TREFOIL_SUM, comm)
    call check(all(s8 == n * i8), "integer(int8)")
    i16 = int(rank, int16)
    call trefoil_allreduce(TREFOIL_IN_PLACE, i16, TREFOIL_MAX, comm)
    call check(i16 == n - 1, "a scalar integer(int16)")
    i64 = 2_int64**40 + rank
    call trefoil_allreduce(TREFOIL_IN_PLACE, i64, TREFOIL_MIN, comm)
    call check(all(i64 == 2_int64**40), "integer(int64) of rank 3")
    r32 = real(rank, real32)
    call trefoil_allreduce(TREFOIL_IN_PLACE, r32, TREFOIL_AVG, comm)
    call check(all(abs(r32 - (n - 1) / 2.0) < 1e-6), "real(real32), average")
    c32 = cmplx(1, rank)
    call trefoil_allreduce(TREFOIL_IN_PLACE, c32, TREFOIL_SUM, comm)
    call check(all(c32 == cmplx(n, n * (n - 1) / 2)), "complex(real32)")
    c64 = cmplx(0, 1, real64)
    call trefoil_allreduce(TREFOIL_IN_PLACE, c64, TREFOIL_SUM, comm)
    call check(c64 == cmplx(0, n, real64), "complex(real64)")
    l = [rank == 0, .true., .false.]
    call trefoil_allreduce(TREFOIL_IN_PLACE, l, TREFOIL_LAND, comm)
    call check((l(1) .eqv. n == 1) .and. l(2) .and. .not. l(3), "logical")
    wide = reshape([(real(j, real64), j=1, 24)], [4, 6])
    call trefoil_allreduce(wide(2, :), row, TREFOIL_SUM, comm)
    call check(all(row == n * wide(2, :)), "a row, which is not contiguous")
    call trefoil_allreduce(TREFOIL_IN_PLACE, wide(3, :), TREFOIL_SUM, comm)
    call check(all(wide(3, :) == n * [(real(4 * j + 3, real64), j=0, 5)]) .and. wide(2, 2) == 6, "a row in place")
    call assumed_size(row, 6)
  end subroutine

  subroutine assumed_size(a, length)
    integer, intent(in) :: length
    real(real64), intent(inout) :: a(*)
    a(1:length) = 1
    call trefoil_allreduce(TREFOIL_IN_PLACE, a(1:length), TREFOIL_SUM, comm)
    call check(all(a(1:length) == n), "a section of an array of assumed size")
  end subroutine

  subroutine reductions()
    integer :: all(2 * n), mine(2), sums(n * (n + 1) / 2), counts(n), part(rank + 1), i
    type(trefoil_double_pair) :: pair
    call trefoil_reduce([rank, 1], mine, TREFOIL_SUM, 0, comm)
    if (rank == 0) call check(mine(1) == n * (n - 1) / 2 .and. mine(2) == n, "reduce")
    mine = rank
    if (rank == 1) then
      call trefoil_reduce(TREFOIL_IN_PLACE, mine, TREFOIL_MAX, 1, comm)
      call check(mine(1) == n - 1, "reduce in place")
    else
      call trefoil_reduce(mine, mine, TREFOIL_MAX, 1, comm)
    end if
    mine = -1
    call trefoil_scan(rank, mine(1), TREFOIL_SUM, comm)
    call trefoil_exscan(rank, mine(2), TREFOIL_SUM, comm)
    call check(mine(1) == rank * (rank + 1) / 2, "scan")
    call check(mine(2) == merge(-1, rank * (rank - 1) / 2, rank == 0), "exscan")
    all = [(i, i=1, 2 * n)]
    call trefoil_reduce_scatter_block(all, mine, TREFOIL_SUM, comm)
    call check(mine(1) == n * (2 * rank + 1) .and. mine(2) == n * (2 * rank + 2), "reduce_scatter_block")
    call trefoil_reduce_scatter_block(TREFOIL_IN_PLACE, all, TREFOIL_SUM, comm)
    call check(all(1) == n * (2 * rank + 1), "reduce_scatter_block in place")
    sums = 1
    counts = [(i, i=1, n)]
    call trefoil_reduce_scatter(sums, part, counts, TREFOIL_SUM, comm)
    call check(size(part) == rank + 1 .and. sum(part) == n * (rank + 1), "reduce_scatter")
    pair = trefoil_double_pair(real(modulo(rank + 1, n), c_double), rank)
    call trefoil_allreduce(TREFOIL_IN_PLACE, pair, TREFOIL_MAXLOC, comm, datatype=TREFOIL_DOUBLE_INT)
    call check(pair%index == n - 2 .and. pair%value == n - 1, "maxloc")
  end subroutine

  subroutine movements()
    type(particle) :: mine, everybodys(0:n - 1)
    character(5) :: word, words(n)
    integer :: all(2, 0:n - 1), other(2, 0:n - 1), one(2), i
    mine = particle([1, 2, 3] * real(rank, real64), rank)
    call trefoil_allgather(mine, everybodys, comm)
    call check(all_equal([(everybodys(i)%kind, i=0, n - 1)]) .and. everybodys(n - 1)%place(3) == 3 * (n - 1), &
               "allgather of a derived type")
    word = merge("hello", "xxxxx", rank == 1)
    call trefoil_bcast(word, 1, comm)
    call check(word == "hello", "bcast of characters")
    write (word, '(a, i0)') "r", rank
    call trefoil_gather(word, words, 0, comm)
    if (rank == 0) call check(words(n)(1:1) == "r" .and. words(2) == "r1", "gather of characters")
    all = -1
    if (rank == 0) all = reshape([(i, i=1, 2 * n)], [2, n])
    call trefoil_scatter(all, one, 0, comm)
    call check(one(1) == 2 * rank + 1, "scatter")
    if (rank == 0) then
      call trefoil_scatter(all, TREFOIL_IN_PLACE, 0, comm)
    else
      call trefoil_scatter(all, one, 0, comm)
    end if
    all = spread([10 * rank, 10 * rank + 1], 2, n)
    call trefoil_alltoall(all, other, comm)
    call check(all_equal(other(1, :) / 10), "alltoall")
    call trefoil_alltoall(TREFOIL_IN_PLACE, all, comm)
    call check(any(all == other) .and. .not. any(all /= other), "alltoall in place")
    all = -1
    all(:, rank) = rank
    call trefoil_allgather(TREFOIL_IN_PLACE, all, comm)
    call check(all_equal(all(2, :)), "allgather in place")
  end subroutine

  !> 0, 1, 2, ...
  logical function all_equal(list)
    integer, intent(in) :: list(:)
    integer :: i
    all_equal = all(list == [(i, i=0, size(list) - 1)])
  end function

  subroutine lists()
    integer(int64) :: counts(n), places(n)
    real(real64) :: mine(rank + 1), all(n * (n + 1) / 2 + n)
    integer :: ones(n), i
    counts = [(int(i, int64), i=1, n)]
    places = [(int(i * (i - 1) / 2 + i - 1, int64), i=1, n)]  ! a gap before each block
    mine = rank
    all = -1
    call trefoil_allgatherv(mine, all, counts, comm, displacements=places)
    call check(all(places(n) + 1) == n - 1 .and. all(2) == -1 .and. all(3) == 1, "allgatherv with gaps")
    all = -1
    call trefoil_gatherv(mine, all, counts, 0, comm)
    if (rank == 0) call check(all(n * (n + 1) / 2) == n - 1 .and. all(n * (n + 1) / 2 + 1) == -1, "gatherv")
    mine = -1
    all = 5
    call trefoil_scatterv(all, mine, counts, 0, comm)
    call check(all(1) == 5 .and. .not. any(mine /= 5), "scatterv")
    ones = 1
    all(1:n) = rank
    all(n + 1:) = -1
    call trefoil_alltoallv(all(1:n), ones, all(n + 1:2 * n), ones, comm)
    call check(all_equal(nint(all(n + 1:2 * n))), "alltoallv")
  end subroutine

  subroutine neighbours()
    integer :: from(2), twice(2), ones(2) = 1
    call trefoil_neighbor_allgather(rank, from, comm)
    call check(from(1) == left .and. from(2) == right, "neighbor_allgather")
    from = -1
    call trefoil_neighbor_allgatherv(rank, from, ones, comm)
    call check(from(1) == left .and. from(2) == right, "neighbor_allgatherv")
    twice = [10 * rank, 10 * rank + 1]
    call trefoil_neighbor_alltoall(twice, from, comm)
    call check(from(1) == 10 * left + 1 .and. from(2) == 10 * right, "neighbor_alltoall")
    from = -1
    call trefoil_neighbor_alltoallv(twice, ones, from, ones, comm)
    call check(from(1) == 10 * left + 1 .and. from(2) == 10 * right, "neighbor_alltoallv")
  end subroutine

  subroutine nonblocking()
    type(trefoil_request) :: requests(3), barrier
    integer, asynchronous :: sums(4), seen(4), all(0:n - 1), root(2), mine(n)
    integer :: index, ended, ierror
    real(real64) :: grid(3, 4)
    logical :: done
    sums = [1, 2, 3, 4]
    root = merge(7, 0, rank == 0)
    call trefoil_iallreduce(sums, seen, TREFOIL_SUM, comm, requests(1))
    mine = rank
    call trefoil_iallgather(mine(1), all, comm, requests(2))
    call trefoil_ibcast(root, 0, comm, requests(3))
    ended = 0
    do
      call trefoil_waitany(requests, index)
      if (index == 0) exit
      ended = ended + 1
    end do
    call check(ended == 3, "waitany")
    call check(.not. any(seen /= n * sums) .and. all_equal(all) .and. root(2) == 7, "nonblocking calls")
    call trefoil_ibarrier(comm, barrier)
    done = .false.
    do while (.not. done)
      call trefoil_test(barrier, done)
    end do
    call trefoil_iscan(mine(1), seen(1), TREFOIL_SUM, comm, requests(1))
    call trefoil_ialltoall(mine, all, comm, requests(2))
    requests(3) = TREFOIL_REQUEST_NULL
    call trefoil_waitall(requests)
    call check(seen(1) == rank * (rank + 1) / 2 .and. all_equal(all), "waitall")
    call trefoil_iallreduce(TREFOIL_IN_PLACE, grid(1, :), TREFOIL_SUM, comm, requests(1), ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT .and. index_of("not contiguous") > 0, &
               "a row of a call in flight")
    call trefoil_comm_in_flight(comm, ended)
    call check(ended == 0, "comm_in_flight")
  end subroutine

  subroutine persistent()
    type(trefoil_request) :: requests(2)
    real(real64), asynchronous :: mine(8), sums(8), all(8 * n)
    integer :: i
    logical :: done
    call trefoil_allreduce_init(mine, sums, TREFOIL_SUM, comm, requests(1))
    call trefoil_allgather_init(mine, all, comm, requests(2))
    do i = 1, 3
      mine = i
      call trefoil_startall(requests)
      done = .false.
      do while (.not. done)
        call trefoil_testall(requests, done)
      end do
      call check(sums(1) == n * i .and. all(8 * n) == i, "persistent calls")
    end do
    call trefoil_request_free(requests(1))
    call trefoil_request_free(requests(2))
  end subroutine

  subroutine operations()
    type(particle) :: mine, farthest
    integer, target :: calls
    integer :: op, a(2), b(2)
    calls = 0
    call trefoil_op_create(farther, storage_size(mine, c_size_t) / 8, 1, op, context=calls)
    mine = particle([real(rank * rank, real64), 0.0_real64, 0.0_real64], rank)
    call trefoil_allreduce(mine, farthest, op, comm)
    call trefoil_allreduce(TREFOIL_IN_PLACE, calls, TREFOIL_SUM, comm)
    call check(farthest%kind == n - 1 .and. calls > 0, "an operation of the program's")
    call trefoil_op_free(op)
    a = [1, 2]
    b = [10, 20]
    call trefoil_reduce_local(a, b, TREFOIL_SUM)
    call check(b(2) == 22, "reduce_local")
  end subroutine

  subroutine made_from_others()
    type(trefoil_comm) :: made, part
    integer, allocatable :: sizes(:)
    integer :: place(1), ranks, sum
    call trefoil_comm_torus(comm, sizes)
    call trefoil_comm_coordinates(comm, rank, place)
    call check(size(sizes) == 1 .and. sizes(1) == n .and. place(1) == rank, "comm_torus")
    call trefoil_comm_ranks_per_node(comm, ranks)
    call check(ranks == 1, "comm_ranks_per_node")
    call trefoil_comm_dup(comm, made)
    call trefoil_comm_split(made, merge(TREFOIL_UNDEFINED, 0, rank == 0), -rank, part)
    if (rank > 0) then
      call trefoil_comm_size(part, ranks)
      sum = rank
      call trefoil_allreduce(TREFOIL_IN_PLACE, sum, TREFOIL_SUM, part)
      call check(ranks == n - 1 .and. sum == n * (n - 1) / 2, "comm_split")
      call trefoil_barrier(part)
      call trefoil_comm_destroy(part)
    else
      call check(.not. c_associated(part%handle), "TREFOIL_UNDEFINED")
    end if
    call trefoil_comm_sub(made, [1], part)
    call trefoil_barrier(part)
    call trefoil_comm_destroy(part)
    if (rank < 2) then
      call trefoil_comm_create_group(made, [1, 0], part, tag=3)
      call trefoil_comm_rank(part, ranks)
      call check(ranks == 1 - rank, "comm_create_group")
      call trefoil_barrier(part)
      call trefoil_comm_destroy(part)
    end if
    call trefoil_comm_set_algorithm(made, "allreduce", "ring")
    call trefoil_barrier(made)
    call trefoil_comm_destroy(made)
    call check(len(trefoil_version_string()) >= 5 .and. len(trefoil_comm_transport(comm)) > 0, "texts")
  end subroutine

  integer function index_of(word)
    character(*), intent(in) :: word
    index_of = index(trefoil_last_error(), word)
  end function

  subroutine errors()
    integer :: ierror, a(3), b(2)
    real :: r(3)
    real(kind=selected_real_kind(33)) :: q(3)
    logical :: l(3)
    character(200) :: status
    type(trefoil_cause) :: cause
    call trefoil_bcast(a, -1, comm, ierror)
    call trefoil_last_cause(cause)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT .and. cause%status == ierror .and. cause%culprit == -1, "a cause")
    call trefoil_allreduce(a, b, TREFOIL_SUM, comm, ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT .and. index_of("'send' has 3") > 0, "lengths that differ")
    call trefoil_allreduce(a, r, TREFOIL_SUM, comm, ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT .and. index_of("one type and kind") > 0, "types that differ")
    call trefoil_allreduce(TREFOIL_IN_PLACE, q, TREFOIL_SUM, comm, ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT, "real of 16 bytes")
    l = .true.
    call trefoil_allreduce(TREFOIL_IN_PLACE, l, TREFOIL_SUM, comm, ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT, "a sum of logicals")
    call trefoil_bcast(a, n, comm, ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT .and. len(trefoil_last_error()) > 0, "a root beyond the ranks")
    call trefoil_allgatherv(b, a, [-1, 1], comm, ierror=ierror)
    call check(ierror == TREFOIL_ERROR_INVALID_ARGUMENT, "a list of another length")
    call check(trefoil_status_string(TREFOIL_ERROR_BUSY) /= trefoil_status_string(TREFOIL_SUCCESS), "status_string")
    call trefoil_comm_status(comm, status)
    call check(len_trim(status) > 0, "comm_status")
    ! None of it has harmed the communicator.
    a = 1
    call trefoil_allreduce(TREFOIL_IN_PLACE, a, TREFOIL_SUM, comm)
    call check(a(3) == n, "a call after errors")
  end subroutine

  subroutine memory()
    type(c_ptr) :: address
    real(real64), pointer :: buffer(:)
    real(real64), target :: own(100)
    call trefoil_alloc(comm, 800_c_size_t, address)
    call c_f_pointer(address, buffer, [100])
    buffer = 1
    call trefoil_allreduce(TREFOIL_IN_PLACE, buffer, TREFOIL_SUM, comm)
    call check(buffer(100) == n, "memory of trefoil_alloc")
    call trefoil_free(comm, address)
    call trefoil_register(comm, own)
    call trefoil_deregister(comm, own)
  end subroutine
end program
