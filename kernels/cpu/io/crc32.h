// CRC-32 as zip archives, PNG and zlib have it: polynomial 0x04C11DB7, bits reflected.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rt {

// The sum of `crc`'s bytes followed by these; 0 is the sum of nothing.
uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size);

// The sum of two texts after each other, from the sum of each; `shift` is crc32_shift(bytes of the second).
uint32_t crc32_joined(uint32_t first, uint32_t second, uint32_t shift);
uint32_t crc32_shift(uint64_t bytes);

}  // namespace rt
