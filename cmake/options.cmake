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
target_compile_options(trefoil_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                                                 -Wno-sign-conversion)
# United, what one file says in its anonymous namespace is in scope in the next.
if(NOT TREFOIL_UNITE)
  target_compile_options(trefoil_options INTERFACE -Wshadow)
endif()
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
  # ThreadSanitizer does not know fences, and gcc says so at each.
  if(TREFOIL_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(trefoil_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()
if(TREFOIL_FUZZERS)
  target_compile_options(trefoil_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# trefoil_unite(TARGET SOURCES...): with TREFOIL_UNITE files are compiled as one, in this order, until they have so many bytes
# together: the headers and templates that they share are compiled once. Their anonymous namespaces become one as well, so names
# in them must differ throughout the target. May be called again for more sources of the same target.
set(bytes_compiled_as_one 150000)
function(trefoil_unite target)
  if(NOT TREFOIL_UNITE)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    get_property(bytes GLOBAL PROPERTY united_bytes_of_${target})
    file(SIZE ${source} size)
    math(EXPR group "0${bytes} / ${bytes_compiled_as_one}")
    math(EXPR bytes "0${bytes} + ${size}")
    set_property(GLOBAL PROPERTY united_bytes_of_${target} ${bytes})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes an anonymous namespace in an included file for a header's.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# trefoil_precompile(TARGET HEADERS...): with TREFOIL_PRECOMPILE the target's files share these headers and the standard ones.
function(trefoil_precompile target)
  if(TREFOIL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <fstream> <functional> <map> <memory> <mutex> <optional> <set>
      <span> <string> <string_view> <thread> <vector> ${ARGN})
  endif()
endfunction()

# trefoil_optimise(TARGET): where tests spend their time. A build that is to be quick (-O0, -Og) has it by -O1, unless a sanitizer
# makes that slow to compile.
function(trefoil_optimise target)
  if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo AND CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O[0g]" AND NOT TREFOIL_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# trefoil_room(NAME USES rooms and libraries that NAME may know): a static library of all sources in the room's sub-rooms.
# `LEFT_OUT` names sources, relative to the room, that this build has no use for.
function(trefoil_room name)
  cmake_parse_arguments(ROOM "" "" "LEFT_OUT;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS ROOM_LEFT_OUT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
  endforeach()
  add_library(trefoil_${name} STATIC ${sources})
  trefoil_unite(trefoil_${name} ${sources})
  trefoil_precompile(trefoil_${name})
  target_include_directories(trefoil_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(trefoil_${name} PUBLIC ${ROOM_USES} PRIVATE trefoil_options)
  trefoil_optimise(trefoil_${name})
  # The program may make calls while it ends, in destructors and functions of atexit(): what the library keeps is never destroyed.
  target_compile_options(trefoil_${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wexit-time-destructors>)
endfunction()
