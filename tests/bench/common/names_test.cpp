// SPDX-License-Identifier: BSD-3-Clause
// Names, sizes and lists as users type them.
#include "bench/common/names.hpp"

#include <gtest/gtest.h>

#include "topo/error.hpp"

namespace trefoil::tool {
namespace {

TEST(Names, every_type_and_operation_is_found_by_its_name) {
    for (int i = 0; i < datatype_count; ++i) {
        const auto type = static_cast<DataType>(i);
        EXPECT_EQ(parse_datatype(to_string(type)), type);
    }
    for (int i = 0; i < operation_count; ++i) {
        const auto operation = static_cast<Operation>(i);
        EXPECT_EQ(parse_operation(to_string(operation)), operation);
    }
}

TEST(Names, usual_other_names_are_understood) {
    EXPECT_EQ(parse_datatype("bf16"), DataType::bfloat16);
    EXPECT_EQ(parse_datatype("half"), DataType::float16);
    EXPECT_EQ(parse_datatype("float64"), DataType::float64);
    EXPECT_EQ(parse_datatype("complex_float"), DataType::complex_float);
    EXPECT_EQ(parse_datatype("short_int"), DataType::short_int);
    EXPECT_EQ(parse_datatype("int-int"), DataType::int_int);
}

TEST(Names, an_unknown_name_offers_the_nearest) {
    try {
        parse_datatype("doubel");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        EXPECT_NE(std::string(error.what()).find("did you mean double"), std::string::npos)
            << error.what();
    }
    EXPECT_THROW(parse_operation("plus-or-minus"), Error);
    EXPECT_THROW(check_backend("carrier-pigeon"), Error);
    EXPECT_NO_THROW(check_backend("memory"));
}

TEST(Names, sizes_have_binary_suffixes) {
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("1000"), 1000U);
    EXPECT_EQ(parse_size("8B"), 8U);
    EXPECT_EQ(parse_size("64K"), 65536U);
    EXPECT_EQ(parse_size("1Mi"), 1048576U);
    EXPECT_EQ(parse_size("4MiB"), 4194304U);
    EXPECT_EQ(parse_size("2G"), std::size_t{2} << 30);
}

TEST(Names, what_is_no_size_is_refused) {
    for (const char* text : {"", "K", "-1", "1.5M", "4Q", "8 ", "18446744073709551615G", "1MM"}) {
        EXPECT_THROW(parse_size(text), Error) << text;
    }
}

TEST(Names, a_size_reads_back) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000},
                                   std::size_t{1024}, std::size_t{3} << 20, std::size_t{5} << 31}) {
        EXPECT_EQ(parse_size(size_text(size)), size);
    }
    EXPECT_EQ(size_text(65536), "64K");
}

TEST(Names, lists_are_split_at_commas) {
    EXPECT_EQ(split_list("a"), std::vector<std::string>{"a"});
    EXPECT_EQ(split_list("a,b-c,d"), (std::vector<std::string>{"a", "b-c", "d"}));
    EXPECT_THROW(split_list(""), Error);
    EXPECT_THROW(split_list("a,,b"), Error);
    EXPECT_THROW(split_list("a,"), Error);
}

}  // namespace
}  // namespace trefoil::tool
