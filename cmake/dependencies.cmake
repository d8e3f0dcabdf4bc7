# SPDX-License-Identifier: BSD-3-Clause
# Optional libraries. What is missing is left out and named by `trefoil info`; nothing is downloaded.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

set(TREFOIL_HAVE_OFI OFF)
set(TREFOIL_OFI_REASON "switched off with -DTREFOIL_WITH_OFI=OFF")
if(TREFOIL_WITH_OFI)
  pkg_check_modules(LIBFABRIC IMPORTED_TARGET libfabric>=1.17)
  if(LIBFABRIC_FOUND)
    set(TREFOIL_HAVE_OFI ON)
    set(TREFOIL_OFI_REASON "")
  else()
    set(TREFOIL_OFI_REASON "libfabric >= 1.17 was not found when Trefoil was built (Debian: libfabric-dev)")
  endif()
endif()
