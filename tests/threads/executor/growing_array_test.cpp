// SPDX-License-Identifier: BSD-3-Clause
// The array that one thread makes longer: nothing moves, and readers see whole elements.
#include "threads/executor/growing_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace trefoil {
namespace {

struct Element {
    std::size_t number = 0;
    std::uint64_t square = 0;
    std::atomic<int> seen{0};  // so it can neither be copied nor moved
};

void append(GrowingArray<Element>& array, std::size_t number) {
    array.append([number](Element& element) {
        element.number = number;
        element.square = std::uint64_t{number} * number;
    });
}

TEST(GrowingArray, KeepsWhatWasAppendedWhereItIs) {
    GrowingArray<Element> array;
    EXPECT_TRUE(array.empty());
    std::vector<const Element*> places;
    constexpr std::size_t count = 5000;  // over many chunks
    for (std::size_t i = 0; i < count; ++i) {
        append(array, i);
        ASSERT_EQ(array.size(), i + 1);
        ASSERT_EQ(array.back().number, i);
        places.push_back(&array[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(&array[i], places[i]);
        ASSERT_EQ(array[i].number, i);
    }
}

TEST(GrowingArray, IsGoneThroughInOrder) {
    GrowingArray<Element> array;
    for (std::size_t i = 0; i < 100; ++i) {
        append(array, i);
    }
    std::size_t next = 0;
    for (const Element& element : array) {
        EXPECT_EQ(element.number, next++);
    }
    EXPECT_EQ(next, 100U);
    const GrowingArray<Element> none;
    EXPECT_EQ(none.begin(), none.end());
}

TEST(GrowingArray, IsNoLongerWhenAnElementCannotBeFilled) {
    GrowingArray<Element> array;
    for (std::size_t i = 0; i < 16; ++i) {  // the next one needs memory
        append(array, i);
    }
    EXPECT_THROW(array.append([](Element&) { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_EQ(array.size(), 16U);
    append(array, 16);
    EXPECT_EQ(array.size(), 17U);
    EXPECT_EQ(array[16].number, 16U);
}

// ThreadSanitizer sees whether size() publishes what it counts.
TEST(GrowingArray, IsReadWhileItGrows) {
    constexpr std::size_t count = 20'000;
    GrowingArray<Element> array;
    const auto read = [&array] {
        std::size_t checked = 0;
        while (checked < count) {
            const std::size_t size = array.size();
            ASSERT_GE(size, checked);
            for (; checked < size; ++checked) {
                Element& element = array[checked];
                ASSERT_EQ(element.number, checked);
                ASSERT_EQ(element.square, std::uint64_t{checked} * checked);
                element.seen.fetch_add(1, std::memory_order_relaxed);
            }
            for (const Element& element : array) {  // up to where it was
                if (element.number >= 40) {
                    break;
                }
            }
        }
    };
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back(read);
    }
    for (std::size_t i = 0; i < count; ++i) {
        append(array, i);
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    for (const Element& element : array) {
        ASSERT_EQ(element.seen, 3);
    }
}

}  // namespace
}  // namespace trefoil
