// SPDX-License-Identifier: BSD-3-Clause
// Loads a make-believe device runtime, which a test tells what is a device's memory.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace trefoil::test {

class FakeDevice {
  public:
    /// `file` stays loaded until the process ends.
    explicit FakeDevice(const char* file) : library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(library_, nullptr) << dlerror();
    }
    void owns(const void* begin, std::size_t bytes) {
        variable<std::uintptr_t>("fake_begin") = reinterpret_cast<std::uintptr_t>(begin);
        variable<std::uintptr_t>("fake_end") = reinterpret_cast<std::uintptr_t>(begin) + bytes;
    }
    void owns_nothing() { owns(nullptr, 0); }
    int& is_managed() { return variable<int>("fake_is_managed"); }
    int& questions() { return variable<int>("fake_questions"); }
    int& last_error() { return variable<int>("fake_last_error"); }

  private:
    template <typename T>
    T& variable(const char* name) {
        return *static_cast<T*>(dlsym(library_, name));
    }
    void* library_;
};

}  // namespace trefoil::test
