! SPDX-License-Identifier: BSD-3-Clause
! Trefoil for Fortran 2018: the C interface with arrays of any type and rank, whose lengths and types tell themselves.
! docs/tutorial-fortran.md explains it.
module trefoil
  use, intrinsic :: iso_c_binding
  use trefoil_types
  use trefoil_c_functions
  use trefoil_communicators
  use trefoil_blocking
  use trefoil_nonblocking
  use trefoil_persistent
  implicit none
  public
  private :: text_at, c_test, c_testall, c_waitall, c_waitany, c_startall, told_by, &
             c_last_cause, c_version, c_status_string, c_transport, c_strlen

contains

  subroutine trefoil_test(request, done, ierror)
    type(trefoil_request), intent(inout) :: request
    logical, intent(out) :: done
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: ended
    ended = 0
    call c_test(request, ended, ierror)
    done = ended /= 0
  end subroutine

  subroutine trefoil_testall(requests, done, ierror)
    type(trefoil_request), intent(inout) :: requests(:)
    logical, intent(out) :: done
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: ended
    ended = 0
    call c_testall(size(requests, kind=c_int), requests, ended, ierror)
    done = ended /= 0
  end subroutine

  subroutine trefoil_waitall(requests, ierror)
    type(trefoil_request), intent(inout) :: requests(:)
    integer(c_int), intent(out), optional :: ierror
    call c_waitall(size(requests, kind=c_int), requests, ierror)
  end subroutine

  !> index counts from 1; 0: none is under way.
  subroutine trefoil_waitany(requests, index, ierror)
    type(trefoil_request), intent(inout) :: requests(:)
    integer(c_int), intent(out) :: index
    integer(c_int), intent(out), optional :: ierror
    call c_waitany(size(requests, kind=c_int), requests, index, ierror)
  end subroutine

  subroutine trefoil_startall(requests, ierror)
    type(trefoil_request), intent(inout) :: requests(:)
    integer(c_int), intent(out), optional :: ierror
    call c_startall(size(requests, kind=c_int), requests, ierror)
  end subroutine

  !> Why this communicator has failed, if it has; else the reason of the last call of this thread
  !> that failed.
  function trefoil_last_error(comm) result(text)
    type(trefoil_comm), intent(in), optional :: comm
    character(:), allocatable :: text
    if (present(comm)) then
      text = text_at(told_by(comm%handle))
    else
      text = text_at(told_by(c_null_ptr))
    end if
  end function

  !> The same, as fields: of this communicator, if it has failed, else of this thread's last call of
  !> the C interface that did.
  subroutine trefoil_last_cause(cause, comm, ierror)
    type(trefoil_cause), intent(out) :: cause
    type(trefoil_comm), intent(in), optional :: comm
    integer(c_int), intent(out), optional :: ierror
    cause%size = storage_size(cause)/8
    if (present(comm)) then
      call c_last_cause(comm%handle, cause, ierror)
    else
      call c_last_cause(c_null_ptr, cause, ierror)
    end if
  end subroutine

  function trefoil_status_string(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = text_at(c_status_string(status))
  end function

  function trefoil_version_string() result(text)
    character(:), allocatable :: text
    text = text_at(c_version())
  end function

  !> "memory", "ofi net", ...: the backend and its provider.
  function trefoil_comm_transport(comm) result(text)
    type(trefoil_comm), intent(in) :: comm
    character(:), allocatable :: text
    type(c_ptr) :: backend, provider
    if (c_transport(comm%handle, backend, provider) /= TREFOIL_SUCCESS) then
      text = ""
      return
    end if
    text = trim(text_at(backend)//" "//text_at(provider))
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [c_strlen(address)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function
end module
