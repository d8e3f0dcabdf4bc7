# SPDX-License-Identifier: BSD-3-Clause
# Optional libraries. What is missing is left out and named by `trefoil info`; nothing is downloaded.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)  # headers only: schedules of the user's are JSON (Debian: nlohmann-json3-dev)

# trefoil_optional(NAME MODULE "what was" PACKAGE "what it is for" [default]): looks for a pkg-config module unless the option
# TREFOIL_WITH_NAME is off. Sets TREFOIL_HAVE_NAME and, for `trefoil info`, TREFOIL_NAME_REASON: why it is missing. What is
# found is PkgConfig::NAME.
function(trefoil_optional name module what package purpose)
  set(default ON)
  if(ARGC GREATER 5)
    set(default ${ARGV5})
  endif()
  option(TREFOIL_WITH_${name} "${purpose}" ${default})
  set(have OFF)
  set(reason "switched off with -DTREFOIL_WITH_${name}=OFF")
  if(TREFOIL_WITH_${name})
    pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${module})
    if(${name}_FOUND)
      set(have ON)
      set(reason "")
    else()
      set(reason "${what} not found when Trefoil was built (Debian: ${package})")
    endif()
  endif()
  set(TREFOIL_HAVE_${name} ${have} PARENT_SCOPE)
  set(TREFOIL_${name}_REASON "${reason}" PARENT_SCOPE)
endfunction()

# Those of the transports stand in backend/CMakeLists.txt.
trefoil_optional(HWLOC hwloc>=2.1 "hwloc >= 2.1 was" libhwloc-dev "Tell where NICs are attached when hwloc is found")
# Only the headers: the library is loaded at run time, when a PMIx launcher has started the process.
trefoil_optional(PMIX pmix>=3 "its headers were" libpmix-dev
                 "Build the PMIx launcher when its headers are found (nothing is linked)")
# The MPI layer is built once for each of them.
trefoil_optional(OPENMPI ompi-c>=4.1 "Open MPI >= 4.1 was" libopenmpi-dev
                 "Build the MPI layer for Open MPI when it is found" ${PROJECT_IS_TOP_LEVEL})
trefoil_optional(MPICH mpich>=4.0 "MPICH >= 4.0 was" libmpich-dev
                 "Build the MPI layer for MPICH when it is found" ${PROJECT_IS_TOP_LEVEL})
# A program beside the tool; the tool itself is not linked with it.
trefoil_optional(SIMGRID simgrid>=3.32 "SimGrid >= 3.32 was" libsimgrid-dev
                 "Build the engine simgrid of trefoil sim when the library is found" ${PROJECT_IS_TOP_LEVEL})
if(TREFOIL_SANITIZE AND TREFOIL_HAVE_SIMGRID)
  set(TREFOIL_HAVE_SIMGRID OFF)
  set(TREFOIL_SIMGRID_REASON "SimGrid changes stacks itself, which sanitizers do not bear")
endif()

# The Fortran module. Its compiler must fill in the descriptors of ISO_Fortran_binding.h as the standard says.
option(TREFOIL_WITH_FORTRAN "Build the Fortran module when gfortran >= 12 is found" ${PROJECT_IS_TOP_LEVEL})
set(TREFOIL_HAVE_FORTRAN OFF)
set(TREFOIL_FORTRAN_REASON "switched off with -DTREFOIL_WITH_FORTRAN=OFF")
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_Fortran_COMPILER)
  set(TREFOIL_FORTRAN_REASON "no Fortran compiler was named for another machine (CMAKE_Fortran_COMPILER)")
elseif(TREFOIL_WITH_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran)
  set(TREFOIL_FORTRAN_REASON "gfortran >= 12 was not found (Debian: gfortran)")
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU" AND CMAKE_Fortran_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      set(TREFOIL_HAVE_FORTRAN ON)
      set(TREFOIL_FORTRAN_REASON "")
    endif()
  endif()
endif()
if(TREFOIL_SANITIZE AND TREFOIL_HAVE_FORTRAN)
  set(TREFOIL_HAVE_FORTRAN OFF)
  set(TREFOIL_FORTRAN_REASON "the sanitizers' build leaves it out")
endif()
