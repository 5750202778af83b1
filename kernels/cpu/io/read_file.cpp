#include "read_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "../threads.h"
#include "crc32.h"

namespace rt {

// Bytes that a thread reads and then sums: they are in its L2 cache still.
static constexpr size_t kPiece = 1 << 19;

// Pieces of a thread at least (32 MiB, some milliseconds): starting one for less takes longer than it saves.
static constexpr size_t kLeastPieces = 64;

// Makes the system give the memory of a piece at once. Where `pread` touches it first, each page of 4 KiB
// is a fault of its own, and they take longer than the copy. Only whole pages of the piece are asked for;
// a system that does not know the request leaves them to the copy.
static void populate(uint8_t* begin, size_t size) {
#ifdef MADV_POPULATE_WRITE
  static const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1), end = ((uintptr_t)begin + size) & ~(page - 1);
  const int before = errno;
  if (first < end) madvise((void*)first, end - first, MADV_POPULATE_WRITE);
  errno = before;
#else
  (void)begin, (void)size;
#endif
}

// As `pread`, until all bytes are there, the file ends or an error occurs.
static int64_t read_whole(int descriptor, int64_t offset, uint8_t* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(descriptor, out + done, size - done, offset + (int64_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += (size_t)n;
  }
  return (int64_t)done;
}

int64_t read_file(int descriptor, int64_t offset, uint8_t* out, size_t size, uint32_t& crc, int threads) {
  const size_t pieces = (size + kPiece - 1) / kPiece;
  struct Part {
    int64_t bytes;
    uint32_t crc;
    int error;
  };
  std::vector<Part> parts(pieces);
  const auto work = [&](int64_t i, int) {
    const size_t start = (size_t)i * kPiece, length = std::min(kPiece, size - start);
    populate(out + start, length);
    const int64_t n = read_whole(descriptor, offset + (int64_t)start, out + start, length);
    parts[(size_t)i] = {n, n > 0 ? crc32(0, out + start, (size_t)n) : 0, n < 0 ? errno : 0};
  };
  ThreadPool pool(std::max(1, std::min(threads, (int)std::min<size_t>(pieces / kLeastPieces, 64))));
  pool.each((int64_t)pieces, work);
  const uint32_t shift = crc32_shift(kPiece);
  int64_t done = 0;
  for (const Part& part : parts) {
    if (part.bytes < 0) {
      errno = part.error;
      return -1;
    }
    const bool whole = part.bytes == (int64_t)kPiece;
    crc = crc32_joined(crc, part.crc, whole ? shift : crc32_shift((uint64_t)part.bytes));
    done += part.bytes;
    if (!whole) break;  // the last piece, or the file ends here
  }
  return done;
}

}  // namespace rt
