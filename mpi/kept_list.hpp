// SPDX-License-Identifier: BSD-3-Clause
// A list among a call's arguments. Programs may not change such a list before the call is over, but
// some free it as soon as MPI's function has returned, and the MPI below does not mind.
#pragma once

#include <cstddef>
#include <vector>

namespace trefoil::mpi {

template <typename Element>
class KeptList {
  public:
    /// Implicit, as back to a pointer: a call is made out of the arguments of MPI's function.
    KeptList(const Element* list) : list_(list) {}
    KeptList(KeptList&&) = default;  // the elements stay where they are
    KeptList& operator=(KeptList&&) = default;

    operator const Element*() const { return list_; }
    const Element* data() const { return list_; }

    /// From now on the list is this call's own. Null stays null.
    void keep(std::size_t elements) {
        if (list_ != nullptr) {
            own_.assign(list_, list_ + elements);
            list_ = own_.data();
        }
    }

  private:
    const Element* list_;
    std::vector<Element> own_;
};

}  // namespace trefoil::mpi
