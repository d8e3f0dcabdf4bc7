// SPDX-License-Identifier: BSD-3-Clause
// Numbers as the page reads them: seven bits a byte, the lowest first, and all of it in base64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trefoil::tool {

class ByteText {
  public:
    void add(std::uint64_t value) {
        while (value >= 0x80) {
            bytes_.push_back(static_cast<unsigned char>(value | 0x80));
            value >>= 7;
        }
        bytes_.push_back(static_cast<unsigned char>(value));
    }
    void add_signed(std::int64_t value) {
        add(value < 0 ? 2 * static_cast<std::uint64_t>(-(value + 1)) + 1
                      : 2 * static_cast<std::uint64_t>(value));
    }
    std::size_t size() const { return bytes_.size(); }
    std::string base64() const {
        static constexpr char letters[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string text;
        text.reserve((bytes_.size() + 2) / 3 * 4);
        for (std::size_t i = 0; i < bytes_.size(); i += 3) {
            const auto byte = [&](std::size_t at) {
                return at < bytes_.size() ? std::uint32_t{bytes_[at]} : 0U;
            };
            const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
            text += letters[three >> 18];
            text += letters[three >> 12 & 63];
            text += i + 1 < bytes_.size() ? letters[three >> 6 & 63] : '=';
            text += i + 2 < bytes_.size() ? letters[three & 63] : '=';
        }
        return text;
    }

  private:
    std::vector<unsigned char> bytes_;
};

}  // namespace trefoil::tool
