# SPDX-License-Identifier: BSD-3-Clause
# cmake -DROOT=... -DLIST=... -DTARGET=... -P: writes a source that has the hash of all files that LIST names, one a line.
# The hash is that of paths and texts, so that it is alike on all machines and for all compilers.
file(STRINGS ${LIST} files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(CONFIGURE OUTPUT ${TARGET} @ONLY CONTENT [[
// Generated: what the library was built from.
#include "comm/setup/build_identity.hpp"
const char* const trefoil::source_hash = "@hash@";
]])
