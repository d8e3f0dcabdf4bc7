// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 as FIPS 180-4 defines it, HMAC over it, and the system's random numbers.
#include "backend/system/secrets.hpp"

#include <bit>
#include <cstring>

#include "topo/random_bytes.hpp"

namespace trefoil {

namespace {

constexpr std::size_t block_bytes = 64;

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// Of the square roots of the first eight primes.
using State = std::array<std::uint32_t, 8>;
constexpr State initial_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t big_endian(const char* bytes) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    }
    return value;
}

void take_block(State& state, const char* block) {
    std::array<std::uint32_t, 64> words;
    for (std::size_t i = 0; i < 16; ++i) {
        words[i] = big_endian(block + 4 * i);
    }
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t w15 = words[i - 15], w2 = words[i - 2];
        const std::uint32_t s0 = std::rotr(w15, 7) ^ std::rotr(w15, 18) ^ w15 >> 3;
        const std::uint32_t s1 = std::rotr(w2, 17) ^ std::rotr(w2, 19) ^ w2 >> 10;
        words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t t1 = h + s1 + choice + round_constants[i] + words[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + s0 + majority;
    }
    const State change{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] += change[i];
    }
}

Digest hash(std::string text) {
    const std::uint64_t bits = text.size() * 8;
    text.push_back('\x80');
    text.resize((text.size() + 8 + block_bytes - 1) / block_bytes * block_bytes - 8);
    for (int shift = 56; shift >= 0; shift -= 8) {
        text.push_back(static_cast<char>(bits >> shift & 0xff));
    }
    State state = initial_state;
    for (std::size_t at = 0; at < text.size(); at += block_bytes) {
        take_block(state, text.data() + at);
    }
    Digest digest;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    }
    return digest;
}

}  // namespace

Digest keyed_hash(std::string_view key, std::string_view text) {
    std::string padded(key);
    if (padded.size() > block_bytes) {
        padded = bytes_of(hash(padded));
    }
    padded.resize(block_bytes);
    std::string inner = padded, outer = padded;
    for (std::size_t i = 0; i < block_bytes; ++i) {
        inner[i] = static_cast<char>(inner[i] ^ 0x36);
        outer[i] = static_cast<char>(outer[i] ^ 0x5c);
    }
    return hash(outer.append(bytes_of(hash(inner.append(text)))));
}

std::uint64_t number_of(const Digest& digest) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i) {
        number = number << 8 | digest[i];
    }
    return number;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) {
        return false;
    }
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    }
    return difference == 0;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    fill_randomly(bytes);
    return bytes;
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    const std::string bytes = random_bytes(sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

}  // namespace trefoil
