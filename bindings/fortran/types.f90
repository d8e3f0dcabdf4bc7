! SPDX-License-Identifier: BSD-3-Clause
! Handles and constants of the module trefoil, as trefoil.h has them (tests/bindings compares).
module trefoil_types
  use, intrinsic :: iso_c_binding
  implicit none
  public

  type, bind(C) :: trefoil_comm
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(C) :: trefoil_request
    type(c_ptr) :: handle = c_null_ptr
  end type
  type(trefoil_request), parameter :: TREFOIL_REQUEST_NULL = trefoil_request(c_null_ptr)

  ! Stands where the C interface has TREFOIL_IN_PLACE; known by its address.
  integer(c_int), bind(C, name="trefoil_fortran_in_place"), target :: TREFOIL_IN_PLACE

  integer(c_int), parameter :: TREFOIL_UNDEFINED = -1

  integer(c_int), parameter :: &
    TREFOIL_SUCCESS = 0, &
    TREFOIL_ERROR_INVALID_ARGUMENT = 1, &
    TREFOIL_ERROR_UNSUPPORTED = 2, &
    TREFOIL_ERROR_NOT_FOUND = 3, &
    TREFOIL_ERROR_MISMATCH = 4, &
    TREFOIL_ERROR_TIMEOUT = 5, &
    TREFOIL_ERROR_PEER_LOST = 6, &
    TREFOIL_ERROR_BUSY = 7, &
    TREFOIL_ERROR_OUT_OF_MEMORY = 8, &
    TREFOIL_ERROR_SYSTEM = 9, &
    TREFOIL_ERROR_INTERNAL = 10, &
    TREFOIL_ERROR_ABORTED = 11

  ! The evidence against the culprit of an error.
  integer(c_int), parameter :: &
    TREFOIL_EVIDENCE_NONE = 0, &
    TREFOIL_EVIDENCE_OWN = 1, &
    TREFOIL_EVIDENCE_ENDED = 2, &
    TREFOIL_EVIDENCE_STOPPED = 3, &
    TREFOIL_EVIDENCE_LEFT = 4, &
    TREFOIL_EVIDENCE_UNREACHABLE = 5, &
    TREFOIL_EVIDENCE_SILENT = 6, &
    TREFOIL_EVIDENCE_DISAGREES = 7, &
    TREFOIL_EVIDENCE_ABORTED = 8

  ! Why a call has failed, as fields; see trefoil.h.
  type, bind(C) :: trefoil_cause
    integer(c_size_t) :: size = 0
    real(c_double) :: since = 0
    integer(c_int) :: status = 0, culprit = -1, evidence = 0, finder = -1, before = 0, reserved = 0
  end type

  integer(c_int), parameter :: &
    TREFOIL_INT8 = 0, &
    TREFOIL_INT16 = 1, &
    TREFOIL_INT32 = 2, &
    TREFOIL_INT64 = 3, &
    TREFOIL_UINT8 = 4, &
    TREFOIL_UINT16 = 5, &
    TREFOIL_UINT32 = 6, &
    TREFOIL_UINT64 = 7, &
    TREFOIL_FLOAT16 = 8, &
    TREFOIL_BFLOAT16 = 9, &
    TREFOIL_FLOAT = 10, &
    TREFOIL_DOUBLE = 11, &
    TREFOIL_COMPLEX_FLOAT = 12, &
    TREFOIL_COMPLEX_DOUBLE = 13, &
    TREFOIL_FLOAT_INT = 14, &
    TREFOIL_DOUBLE_INT = 15, &
    TREFOIL_LONG_INT = 16, &
    TREFOIL_2INT = 17, &
    TREFOIL_SHORT_INT = 18, &
    TREFOIL_ELEMENT = 1000

  integer(c_int), parameter :: &
    TREFOIL_SUM = 0, &
    TREFOIL_PROD = 1, &
    TREFOIL_MIN = 2, &
    TREFOIL_MAX = 3, &
    TREFOIL_BAND = 4, &
    TREFOIL_BOR = 5, &
    TREFOIL_BXOR = 6, &
    TREFOIL_LAND = 7, &
    TREFOIL_LOR = 8, &
    TREFOIL_LXOR = 9, &
    TREFOIL_MINLOC = 10, &
    TREFOIL_MAXLOC = 11, &
    TREFOIL_AVG = 12

  ! Elements of TREFOIL_MINLOC and TREFOIL_MAXLOC, with datatype=TREFOIL_FLOAT_INT and so on.
  type, bind(C) :: trefoil_float_pair
    real(c_float) :: value
    integer(c_int) :: index
  end type
  type, bind(C) :: trefoil_double_pair
    real(c_double) :: value
    integer(c_int) :: index
  end type
  type, bind(C) :: trefoil_int_pair
    integer(c_int) :: value
    integer(c_int) :: index
  end type

  abstract interface
    ! An operation of the program's: inout(i) = in(i) op inout(i).
    subroutine trefoil_reduce_function(in, inout, count, context) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: in, inout, context
      integer(c_size_t), value :: count
    end subroutine
    ! The program's own allgather; 0 on success.
    function trefoil_allgather_function(mine, all, bytes, context) bind(C) result(status)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: mine, all, context
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    ! Moves the program's own communication on.
    subroutine trefoil_progress_function(context) bind(C)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
  end interface
end module
