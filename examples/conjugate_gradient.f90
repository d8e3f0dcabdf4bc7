! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients in Fortran: Poisson's equation on a square, -laplace u = f, with five points.
!
!   conjugate_gradient_fortran [N]     N x N unknowns, at least one column for each rank; default 64
!
! Each rank has some columns of the square. The dot products are allreduces that block. The columns at the edges travel to
! the ranks on the left and on the right by one exchange, which is prepared once, started in each iteration, and waited for
! when the columns between them are done. The right side is made from a known solution, so each rank can check its columns.
program conjugate_gradient
  use, intrinsic :: iso_fortran_env, only: real64
  use trefoil
  implicit none

  type(trefoil_comm) :: comm
  type(trefoil_request) :: exchange
  integer :: n, rank, ranks, first, columns, iteration
  integer, allocatable :: counts(:), places(:)
  real(real64), allocatable, asynchronous :: edge(:, :), halo(:, :)
  real(real64), allocatable :: exact(:, :), x(:, :), r(:, :), p(:, :), q(:, :)
  real(real64) :: rho, rho_before, rho_first, alpha, worst
  integer, parameter :: most = 10000

  n = argument(64)
  call trefoil_comm_create(comm)  ! rank, number of ranks and torus: from the launcher
  call trefoil_comm_rank(comm, rank)
  call trefoil_comm_size(comm, ranks)
  if (n < ranks) error stop "give at least one column for each rank"
  first = n * rank / ranks
  columns = n * (rank + 1) / ranks - first

  ! Column 1 of edge goes to the left and column 2 to the right; there are none beyond the square.
  allocate (counts(0:ranks - 1), places(0:ranks - 1), source=0)
  allocate (edge(n, 2), halo(n, 2), source=0.0_real64)
  if (rank > 0) counts(rank - 1) = n
  if (rank + 1 < ranks) then
    counts(rank + 1) = n
    places(rank + 1) = n
  end if
  call trefoil_alltoallv_init(edge, counts, halo, counts, comm, exchange, send_displacements=places, &
                              recv_displacements=places)

  allocate (exact(n, columns), x(n, columns), r(n, columns), p(n, columns), q(n, columns))
  call fill(exact)
  call apply(exact, r)
  x = 0
  p = r
  rho = dot(r, r)
  rho_first = rho
  do iteration = 1, most
    call apply(p, q)
    alpha = rho / dot(p, q)
    x = x + alpha * p
    r = r - alpha * q
    rho_before = rho
    rho = dot(r, r)
    ! All ranks have the same bits here, so all end in the same iteration.
    if (rho <= 1e-20_real64 * rho_first) exit
    p = r + (rho / rho_before) * p
  end do

  worst = maxval(abs(x - exact))
  call trefoil_allreduce(TREFOIL_IN_PLACE, worst, TREFOIL_MAX, comm)
  if (rank == 0) then
    print '(i0, a, i0, a, i0, a, i0, a, es8.1, a)', ranks, " ranks, ", n, " x ", n, " unknowns: ", iteration, &
      " iterations, error ", worst, merge(": right", ": WRONG", worst < 1e-8_real64)
  end if
  call trefoil_request_free(exchange)
  call trefoil_barrier(comm)  ! nobody needs this rank any more
  call trefoil_comm_destroy(comm)
  if (worst >= 1e-8_real64) error stop

contains

  integer function argument(default)
    integer, intent(in) :: default
    character(20) :: text
    argument = default
    if (command_argument_count() > 0) then
      call get_command_argument(1, text)
      read (text, *) argument
    end if
  end function

  !> The known solution, zero at the edges of the square.
  subroutine fill(u)
    real(real64), intent(out) :: u(:, :)
    real(real64) :: across, down
    integer :: i, j
    do j = 1, columns
      across = real(first + j, real64) / (n + 1)
      do i = 1, n
        down = real(i, real64) / (n + 1)
        u(i, j) = down * (1 - down) * sin(3 * across) * (1 - across) * exp(down)
      end do
    end do
  end subroutine

  !> to = A from. The edges travel while the columns between them are computed.
  subroutine apply(from, to)
    real(real64), intent(in) :: from(:, :)
    real(real64), intent(out) :: to(:, :)
    integer :: j
    edge(:, 1) = from(:, 1)
    edge(:, 2) = from(:, columns)
    call trefoil_start(exchange)
    do j = 2, columns - 1
      call column(from(:, j - 1), from(:, j), from(:, j + 1), to(:, j))
    end do
    call trefoil_wait(exchange)
    if (columns == 1) then
      call column(halo(:, 1), from(:, 1), halo(:, 2), to(:, 1))
    else
      call column(halo(:, 1), from(:, 1), from(:, 2), to(:, 1))
      call column(from(:, columns - 1), from(:, columns), halo(:, 2), to(:, columns))
    end if
  end subroutine

  subroutine column(left, here, right, to)
    real(real64), intent(in) :: left(n), here(n), right(n)
    real(real64), intent(out) :: to(n)
    to = 4 * here - left - right
    to(2:) = to(2:) - here(:n - 1)
    to(:n - 1) = to(:n - 1) - here(2:)
  end subroutine

  real(real64) function dot(a, b)
    real(real64), intent(in) :: a(:, :), b(:, :)
    dot = sum(a * b)
    call trefoil_allreduce(TREFOIL_IN_PLACE, dot, TREFOIL_SUM, comm)
  end function
end program
