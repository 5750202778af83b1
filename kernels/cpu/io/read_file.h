// Reading a part of a file into memory with its CRC-32, on several threads.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rt {

// Fills `out` with `size` bytes of an open file from `offset` on. Returns how many there are, fewer only
// at the end of the file; -1 if the system refuses, with errno set. `crc` goes in as the sum of what came
// before and out as that of all together. The position of the descriptor is left alone.
int64_t read_file(int descriptor, int64_t offset, uint8_t* out, size_t size, uint32_t& crc, int threads);

}  // namespace rt
