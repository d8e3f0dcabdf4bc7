# SPDX-License-Identifier: BSD-3-Clause
# Compiler settings shared by every target, and the helper that declares one room of the house.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(trefoil_options INTERFACE)
target_compile_options(trefoil_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                 -Wno-sign-conversion)
# gcc 12 sees overlaps in the standard library's string concatenation that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(trefoil_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(TREFOIL_WARNINGS_AS_ERRORS)
  target_compile_options(trefoil_options INTERFACE -Werror)
endif()
if(TREFOIL_SANITIZE)
  target_compile_options(trefoil_options INTERFACE -fsanitize=${TREFOIL_SANITIZE}
                                                   -fno-omit-frame-pointer)
  target_link_options(trefoil_options INTERFACE -fsanitize=${TREFOIL_SANITIZE})
endif()
if(TREFOIL_FUZZERS)
  target_compile_options(trefoil_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# trefoil_room(NAME USES rooms and libraries that NAME may know): a static library of all sources in the room's sub-rooms.
# `LEFT_OUT` names sources, relative to the room, that this build has no use for.
function(trefoil_room name)
  cmake_parse_arguments(ROOM "" "" "LEFT_OUT;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS ROOM_LEFT_OUT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
  endforeach()
  add_library(trefoil_${name} STATIC ${sources})
  target_include_directories(trefoil_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(trefoil_${name} PUBLIC ${ROOM_USES} PRIVATE trefoil_options)
endfunction()
