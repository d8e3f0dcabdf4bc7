// SPDX-License-Identifier: BSD-3-Clause
// A shared library that is loaded when it is first needed, and stays until the process ends.
#pragma once

#include <string>

namespace trefoil {

/// It leaves the program its signal handlers, and its standard descriptors, which it may have
/// closed.
class LoadedLibrary {
  public:
    /// `name` is what users call it, `file` its soname, `package` Debian's, and `otherwise`
    /// completes "install it (...), name its directory in LD_LIBRARY_PATH, or ...". Throws
    /// Error(not_found) that says all this.
    LoadedLibrary(std::string name, std::string file, const std::string& package,
                  const std::string& otherwise);

    /// Throws Error(not_found) if the library has no such function.
    template <typename Function>
    void find(const char* symbol, Function& function) const {
        function = reinterpret_cast<Function>(address(symbol));
    }

  private:
    void* address(const char* symbol) const;

    std::string name_, file_;
    void* handle_ = nullptr;
};

/// Before libraries are loaded that bring libnuma: it never returns from being loaded where the
/// kernel denies sched_getaffinity, as some sandboxes do. Throws Error(unsupported), with the name
/// of the library and what to do otherwise.
void require_affinity_to_be_told(const std::string& name, const std::string& otherwise);

}  // namespace trefoil
