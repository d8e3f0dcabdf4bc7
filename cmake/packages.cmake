# SPDX-License-Identifier: BSD-3-Clause
# Packages by `cpack -G DEB`, or RPM, in a build for /usr; scripts/packages does all of it.
if(NOT TREFOIL_PACKAGES)
  return()
endif()
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "TREFOIL_PACKAGES is for -DCMAKE_INSTALL_PREFIX=/usr; run scripts/packages")
endif()

set(CPACK_PACKAGE_NAME trefoil)
set(CPACK_PACKAGE_VENDOR Trefoil)
set(CPACK_PACKAGE_CONTACT "${TREFOIL_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL "")
# As Fedora names them. They were looked at with rpm, and installed nowhere.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR})
# What a package needs of Debian's is read from its binaries; so is what an rpm needs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/bindings/fortran)

set(folder ${PROJECT_BINARY_DIR}/packages)
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND date -R OUTPUT_VARIABLE now OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
# In Debian's own form; what has changed in Trefoil is in CHANGELOG.md.
file(WRITE ${folder}/changelog "trefoil (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * Built by scripts/packages.\n\n"
                               " -- ${TREFOIL_MAINTAINER}  ${now}\n")
execute_process(COMMAND ${GZIP} -9 -n -f -k ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
set(copyright ${folder}/copyright)
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
file(WRITE ${copyright} "This package was made by Trefoil's own cmake/packages.cmake.\n\n${licence}")

set(same "(= ${PROJECT_VERSION})")
set(library libtrefoil${TREFOIL_INTERFACE})
string(CONCAT about "Trefoil runs collectives (allreduce, bcast, alltoall and others) on machines\n"
                    "whose nodes have many network interfaces and are wired as a torus.\n")
# trefoil_package(COMPONENT NAME SECTION TEXT RPM name [DEPENDS of others] [SHLIBS library interface] [LDCONFIG]): TEXT tells what is
# in it.
function(trefoil_package component name section text)
  cmake_parse_arguments(PARSE_ARGV 4 one "LDCONFIG" "DEPENDS;RPM" "SHLIBS")
  string(TOUPPER ${component} upper)
  install(FILES ${copyright} ${folder}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${about}${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${one_DEPENDS}" PARENT_SCOPE)
  set(control "")
  if(one_LDCONFIG)
    set(control ${folder}/triggers)
  endif()
  if(one_SHLIBS)
    list(JOIN one_SHLIBS " " shlibs)
    file(WRITE ${folder}/${component}/shlibs "${shlibs} ${name} ${same}\n")
    list(APPEND control ${folder}/${component}/shlibs)
  endif()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${control}" PARENT_SCOPE)
  set(CPACK_RPM_${upper}_PACKAGE_NAME ${one_RPM} PARENT_SCOPE)
  set(CPACK_RPM_${upper}_PACKAGE_GROUP System/Libraries PARENT_SCOPE)
endfunction()

set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libfabric1, libpmix2, libucx0")  # which it loads when asked to
trefoil_package(library ${library} libs "This package has the library." RPM trefoil-libs LDCONFIG SHLIBS libtrefoil ${TREFOIL_INTERFACE})
set(development_depends "${library} ${same}")
if(TARGET trefoil_fortran)
  trefoil_package(fortran libtrefoil-fortran${TREFOIL_INTERFACE} libs "This package has the library for Fortran programs."
                  RPM trefoil-fortran DEPENDS "${library} ${same}" LDCONFIG SHLIBS libtrefoil_fortran ${TREFOIL_INTERFACE})
  string(APPEND development_depends ", libtrefoil-fortran${TREFOIL_INTERFACE} ${same}")
endif()
trefoil_package(development libtrefoil-dev libdevel
                "This package has the headers, the module for Fortran, and files for CMake and\npkg-config."
                RPM trefoil-devel DEPENDS "${development_depends}")
trefoil_package(tools trefoil-tools net
                "This package has the command trefoil, which starts jobs, measures, explains and\nsimulates."
                RPM trefoil-tools)
if(TARGET mca_coll_trefoil)
  trefoil_package(openmpi-coll openmpi-coll-trefoil libs
                  "This package has a component of Open MPI's framework coll, by which MPI\nprograms run their collectives unchanged."
                  RPM trefoil-openmpi DEPENDS "${library} ${same}")
endif()
if(TARGET trefoil_mpi_mpich)
  trefoil_package(mpi-mpich trefoil-mpich libs
                  "This package has a library to preload, by which programs of MPICH run their\ncollectives unchanged."
                  RPM trefoil-mpich DEPENDS "${library} ${same}" LDCONFIG)
endif()
include(CPack)
