! SPDX-License-Identifier: BSD-3-Clause
! C functions that the module trefoil wraps: what they take or give is not Fortran's.
module trefoil_c_functions
  use, intrinsic :: iso_c_binding
  use trefoil_types
  implicit none
  public

  interface
    subroutine c_test(request, done, ierror) bind(C, name="trefoil_fortran_test")
      import
      type(trefoil_request), intent(inout) :: request
      integer(c_int), intent(out) :: done
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine c_testall(count, requests, done, ierror) bind(C, name="trefoil_fortran_testall")
      import
      integer(c_int), intent(in) :: count
      type(trefoil_request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: done
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine c_waitall(count, requests, ierror) bind(C, name="trefoil_fortran_waitall")
      import
      integer(c_int), intent(in) :: count
      type(trefoil_request), intent(inout) :: requests(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine c_waitany(count, requests, index, ierror) bind(C, name="trefoil_fortran_waitany")
      import
      integer(c_int), intent(in) :: count
      type(trefoil_request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: index
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    subroutine c_startall(count, requests, ierror) bind(C, name="trefoil_fortran_startall")
      import
      integer(c_int), intent(in) :: count
      type(trefoil_request), intent(inout) :: requests(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    function told_by(comm) bind(C, name="trefoil_fortran_last_error") result(text)
      import
      type(c_ptr), value :: comm
      type(c_ptr) :: text
    end function
    subroutine c_last_cause(comm, cause, ierror) bind(C, name="trefoil_fortran_last_cause")
      import
      type(c_ptr), value :: comm
      type(trefoil_cause), intent(inout) :: cause
      integer(c_int), intent(out), optional :: ierror
    end subroutine
    function c_version() bind(C, name="trefoil_version_string") result(text)
      import
      type(c_ptr) :: text
    end function
    function c_status_string(status) bind(C, name="trefoil_status_string") result(text)
      import
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function
    function c_transport(comm, backend, provider) bind(C, name="trefoil_comm_transport") result(status)
      import
      type(c_ptr), value :: comm
      type(c_ptr), intent(out) :: backend, provider
      integer(c_int) :: status
    end function
    function c_strlen(text) bind(C, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface
end module
