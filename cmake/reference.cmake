# SPDX-License-Identifier: BSD-3-Clause
# Manual pages of the C interface, section 3, which a script writes from the comments of the headers.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "Manual pages of the C interface are left out: there is no Python 3.9 or later")
  return()
endif()
set(reference ${PROJECT_BINARY_DIR}/reference)
set(publishing ${PROJECT_SOURCE_DIR}/scripts/publishing)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/trefoil/*.h)
add_custom_command(
  OUTPUT ${reference}/done
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND Python3::Interpreter -B ${publishing}/build.py --manual ${reference}/man3
  COMMAND ${CMAKE_COMMAND} -E touch ${reference}/done
  DEPENDS ${public_headers} ${publishing}/build.py ${publishing}/headers.py ${publishing}/reference.py
  VERBATIM)
add_custom_target(trefoil_reference ALL DEPENDS ${reference}/done)
# Who builds the library alone may install that.
install(DIRECTORY ${reference}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT development OPTIONAL)
