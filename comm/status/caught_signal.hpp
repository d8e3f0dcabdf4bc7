// SPDX-License-Identifier: BSD-3-Clause
// A signal that asks what this rank is doing: how often it has come.
#pragma once

namespace trefoil {

/// While one lives the signal is caught, however many communicators ask for it; with the last of
/// them it means again what it meant before. Thread-safe.
class CaughtSignal {
  public:
    /// 0: none. Throws Error(system_error) where the program or another library handles it.
    explicit CaughtSignal(int number);
    ~CaughtSignal();
    CaughtSignal(const CaughtSignal&) = delete;
    CaughtSignal& operator=(const CaughtSignal&) = delete;

    /// True: it has come since this was asked last.
    bool has_come() noexcept;

  private:
    int number_;
    unsigned seen_;
};

}  // namespace trefoil
