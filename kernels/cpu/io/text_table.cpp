#include "text_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "../threads.h"

namespace rt {

// Bytes of text for which a thread pays.
static constexpr size_t kLeastBytes = 1 << 18;

// Powers of ten that are exact in float64.
static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static constexpr int kMostPower = 22;

static bool is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }
static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }
static void trim(const uint8_t*& start, const uint8_t*& stop) {
  while (start < stop && is_blank(*start)) ++start;
  while (start < stop && is_blank(stop[-1])) --stop;
}

// The number of digits, point or decimal comma and exponent in [begin, end), which begins with a digit or either.
static bool convert(const uint8_t* begin, const uint8_t* end, double& out) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
  const bool is_copied = std::memchr(begin, ',', (size_t)(end - begin));
#else
  const bool is_copied = true;  // strtod reads to a null
#endif
  std::string copy;
  if (is_copied) copy.assign((const char*)begin, (const char*)end);
  std::replace(copy.begin(), copy.end(), ',', '.');
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
  const char* const first = is_copied ? copy.data() : (const char*)begin;
  const auto found = std::from_chars(first, first + (end - begin), out);
  return found.ec == std::errc() && found.ptr == first + (end - begin);
#else
  char* last = nullptr;
  out = std::strtod(copy.c_str(), &last);
  return last == copy.c_str() + copy.size() && std::isfinite(out);
#endif
}

// nan, inf and infinity, in any case.
static bool parse_word(const uint8_t* p, const uint8_t* end, double& out) {
  char word[9] = {};
  if (end - p > 8) return false;
  for (int i = 0; p + i < end; ++i) word[i] = (char)(p[i] | 0x20);
  const bool infinite = !std::strcmp(word, "inf") || !std::strcmp(word, "infinity");
  if (!infinite && std::strcmp(word, "nan")) return false;
  out = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return true;
}

// Reads the number at p, with a point or another sign before its decimals, up to the first letter that is
// none of one; false if there is none. At `end` or before it there is such a letter.
static bool parse_number(const uint8_t*& p, const uint8_t* end, uint8_t comma, double& out) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const uint8_t* const begin = p;
  uint64_t mantissa = 0;
  while (is_digit(*p)) mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
  int64_t digits = p - begin;
  int64_t power = 0;
  if (*p == '.' || *p == comma) {
    const uint8_t* const point = ++p;
    while (is_digit(*p)) mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
    power = point - p;
    digits -= power;
  }
  bool found = digits > 0;
  if (!found) {
    while (p < end && (uint8_t)((*p | 0x20) - 'a') < 26) ++p;
    found = parse_word(begin, p, out);
  } else {
    if ((*p | 0x20) == 'e') {
      const uint8_t* const letter = p++;
      const bool down = *p == '-';
      if (down || *p == '+') ++p;
      int64_t exponent = 0;
      const uint8_t* const first = p;
      while (is_digit(*p) && p - first < 6) exponent = exponent * 10 + (*p++ - '0');
      if (p == first || is_digit(*p)) return p = letter, false;
      power += down ? -exponent : exponent;
    }
    // Both factors are exact, so that their product or quotient is rounded once.
    const bool exact = digits <= 19 && mantissa <= (uint64_t(1) << 53) && power >= -kMostPower && power <= kMostPower;
    if (exact)
      out = power < 0 ? (double)mantissa / kPowers[-power] : (double)mantissa * kPowers[power];
    else
      found = convert(begin, p, out);
  }
  if (negative) out = -out;
  return found;
}

namespace {

// Lines of one thread: where they begin and end, and what came of them.
struct Part {
  const uint8_t *begin, *end;
  int64_t lines = 0, first = 0, limit = 0;
  int64_t rows = 0;
  const uint8_t* reached = nullptr;
  bool regular = true, stopped = false;
  bool even = false;  // it has as many separators as rows of the most cells have
};

class Parser {
 public:
  Parser(const TextLayout& layout, double* numbers, size_t number_count, uint8_t* texts, size_t text_bytes)
      : layout_(layout),
        comma_(layout.split == CellSplit::kSeparator && layout.separator == ',' ? '.' : ','),
        numbers_(numbers),
        count_(number_count),
        texts_(texts),
        bytes_(text_bytes) {}

  // Counts the lines of a part, and looks whether it has letters that this parser leaves alone.
  void look(Part& part) const {
    int64_t lines = 0, returns = 0, pairs = 0, separators = 0;
    const uint8_t separator = (uint8_t)layout_.separator;
    const uint8_t *p = part.begin, *end = part.end;
    bool strange = false;
    while (p < end) {  // in blocks whose counts fit the loop's vector lanes
      const uint8_t* stop = p + std::min<int64_t>(end - p, 1 << 14);
      int32_t l = 0, r = 0, s = 0, two = 0, odd = 0;
      for (const uint8_t* q = p; q < stop; ++q) {
        const uint8_t c = *q;
        l += c == '\n';
        r += c == '\r';
        s += c == separator;
        odd |= (c == 0x7f) | ((c < ' ') & (c != '\n') & (c != '\r') & (c != '\t'));
      }
      if (r)
        for (const uint8_t* q = p; q < stop; ++q) two += q[0] == '\r' && q + 1 < end && q[1] == '\n';
      lines += l, returns += r, separators += s, pairs += two;
      strange |= odd != 0;
      p = stop;
    }
    part.lines = lines;
    part.even = separators == lines * (layout_.most - 1);
    part.regular = !strange && returns == pairs;
  }

  void parse(Part& part) const {
    const uint8_t* p = part.begin;
    while (p < part.end && part.rows < part.limit) {
      const uint8_t* end = (const uint8_t*)std::memchr(p, '\n', (size_t)(part.end - p));
      bool is_row = true;
      if (!parse_line(p, end, part, is_row)) {
        part.regular = false;
        return;
      }
      if (part.stopped) break;
      part.rows += is_row;
      p = end + 1;
    }
    part.reached = p;
  }

  // Moves rows to where those before them end.
  void move(int64_t from, int64_t to, int64_t rows) const {
    if (from == to || !rows) return;
    std::memmove(numbers_ + to * (int64_t)count_, numbers_ + from * (int64_t)count_,
                 (size_t)rows * count_ * sizeof(double));
    std::memmove(texts_ + to * (int64_t)bytes_, texts_ + from * (int64_t)bytes_, (size_t)rows * bytes_);
  }

 private:
  bool parse_line(const uint8_t* p, const uint8_t* end, Part& part, bool& is_row) const {
    const int64_t row = part.first + part.rows;
    if (layout_.split == CellSplit::kFixed) return parse_fixed(p, end, row, is_row, part.stopped);
    if (layout_.split == CellSplit::kSpaces)
      while (is_blank(*p)) ++p;
    else if (*p == '\r' && p + 1 == end)
      ++p;
    is_row = p != end;
    if (!is_row) return true;
    return layout_.split == CellSplit::kSpaces ? parse_spaced(p, end, row) : parse_separated(p, end, row, part.even);
  }

  bool parse_spaced(const uint8_t* p, const uint8_t* end, int64_t row) const {
    int32_t place = 0;
    const auto skip = [&] {
      while (*p > ' ') ++p;
      while (is_blank(*p)) ++p;
      ++place;
    };
    for (const TextCell& cell : layout_.cells) {
      while (place < cell.place && p != end) skip();
      if (p == end) return false;
      const uint8_t* const start = p;
      if (cell.kind == CellKind::kText) {
        if (layout_.most && *p == '"') return false;  // it may hold spaces
        while (*p > ' ') ++p;
        keep(row, cell, start, p);
      } else if (!parse_number(p, end, comma_, number(row, cell)) || *p > ' ') {
        while (*p > ' ') ++p;
        if (!parse_missing(start, p, row, cell)) return false;
      }
      skip();
    }
    if (layout_.most)
      while (p != end) skip();
    return !layout_.most || place <= layout_.most;
  }

  bool parse_separated(const uint8_t* p, const uint8_t* end, int64_t row, bool even) const {
    const uint8_t separator = (uint8_t)layout_.separator;
    const uint8_t* const last = end[-1] == '\r' ? end - 1 : end;
    const uint8_t *start, *stop;
    int32_t place = 0;
    for (const TextCell& cell : layout_.cells) {
      for (; place < cell.place; ++place)
        if (!cut(p, last, start, stop)) return false;
      ++place;
      if (cell.kind != CellKind::kText) {
        const uint8_t* q = p;
        while (*q == ' ') ++q;
        if (q < last && parse_number(q, last, comma_, number(row, cell))) {
          while (*q == ' ') ++q;
          if (q == last || *q == separator) {
            p = q + 1;
            continue;
          }
        }
      }
      if (!cut(p, last, start, stop)) return false;
      if (cell.kind == CellKind::kText)
        keep(row, cell, start, stop);
      else if (!(start < stop && parse_cell(start, stop, number(row, cell))) && !parse_missing(start, stop, row, cell))
        return false;
    }
    for (; layout_.most && !even && p <= last; ++place)
      if (!cut(p, last, start, stop) || (place >= layout_.most && start < stop)) return false;
    return true;
  }

  // Cuts off the cell at p, without spaces or quotes around it; false where there is none, or of other quotes.
  bool cut(const uint8_t*& p, const uint8_t* last, const uint8_t*& start, const uint8_t*& stop) const {
    if (p > last) return false;
    while (p < last && *p == ' ') ++p;
    start = p;
    if (p < last && *p == '"') {
      ++start;
      stop = (const uint8_t*)std::memchr(start, '"', (size_t)(last - start));
      if (!stop) return false;
      p = stop + 1;
      while (p < last && *p == ' ') ++p;
      if (p < last && *p != (uint8_t)layout_.separator) return false;
    } else {
      while (p < last && *p != (uint8_t)layout_.separator) {
        if (*p == '"') return false;
        ++p;
      }
      stop = p;
    }
    trim(start, stop);
    ++p;
    return true;
  }

  // An optional number that has no value, as tables of other programs write it.
  bool parse_missing(const uint8_t* start, const uint8_t* stop, int64_t row, const TextCell& cell) const {
    static constexpr const char* kMissing[] = {"", "NA", "N/A", "NULL", "null", "None"};
    if (cell.kind != CellKind::kOptional) return false;
    const size_t length = (size_t)(stop - start);
    number(row, cell) = std::numeric_limits<double>::quiet_NaN();
    return std::any_of(std::begin(kMissing), std::end(kMissing), [&](const char* word) {
      return std::strlen(word) == length && !std::memcmp(word, start, length);
    });
  }

  bool parse_fixed(const uint8_t* p, const uint8_t* end, int64_t row, bool& is_row, bool& stopped) const {
    const auto begins = [&](const char* word) { return end - p >= 6 && !std::memcmp(p, word, 6); };
    stopped = layout_.stop && begins(layout_.stop);
    const bool is_any = layout_.records.empty();
    is_row = !stopped && (is_any || std::any_of(layout_.records.begin(), layout_.records.end(), begins));
    if (!is_row) return true;
    for (const TextCell& cell : layout_.cells) {
      const uint8_t *start = std::min(p + cell.place, end), *stop = std::min(p + cell.place + cell.width, end);
      trim(start, stop);
      if (cell.kind == CellKind::kText) {
        keep(row, cell, start, stop);
        continue;
      }
      double& value = number(row, cell);
      if (start < stop && parse_cell(start, stop, value)) continue;
      if (cell.kind != CellKind::kOptional) return false;
      value = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }

  // A number that another one may follow without a space in between.
  bool parse_cell(const uint8_t* start, const uint8_t* stop, double& out) const {
    uint8_t copy[32] = {};
    const size_t length = (size_t)(stop - start);
    if (length >= sizeof copy) return false;
    std::memcpy(copy, start, length);
    const uint8_t* p = copy;
    return parse_number(p, copy + length, comma_, out) && p == copy + length;
  }

  double& number(int64_t row, const TextCell& cell) const { return numbers_[row * (int64_t)count_ + cell.offset]; }

  void keep(int64_t row, const TextCell& cell, const uint8_t* start, const uint8_t* stop) const {
    uint8_t* to = texts_ + row * (int64_t)bytes_ + cell.offset;
    const size_t length = std::min((size_t)(stop - start), (size_t)cell.width);
    std::memcpy(to, start, length);
    std::memset(to + length, 0, (size_t)cell.width - length);
  }

  const TextLayout& layout_;
  const uint8_t comma_;  // before decimals, besides a point
  double* numbers_;
  size_t count_;
  uint8_t* texts_;
  size_t bytes_;
};

}  // namespace

TextRows parse_rows(const TextLayout& layout, const uint8_t* text, size_t size, int64_t capacity, double* numbers,
                    size_t number_count, uint8_t* texts, size_t text_bytes, int threads) {
  const uint8_t* const end = text + size;
  const size_t most = std::max<size_t>(1, std::min((size_t)std::max(threads, 1), size / kLeastBytes));
  std::vector<Part> parts;
  const uint8_t* begin = text;
  for (size_t i = 1; i <= most && begin < end; ++i) {
    const uint8_t* stop = end;
    if (i < most) {
      const uint8_t* const middle = std::max(text + size / most * i, begin);
      stop = (const uint8_t*)std::memchr(middle, '\n', (size_t)(end - middle)) + 1;
    }
    parts.push_back({begin, stop});
    begin = stop;
  }
  const Parser parser(layout, numbers, number_count, texts, text_bytes);
  ThreadPool pool((int)std::max<size_t>(1, parts.size()));
  pool.each((int64_t)parts.size(), [&](int64_t i, int) { parser.look(parts[(size_t)i]); });
  int64_t first = 0;
  for (Part& part : parts) {
    if (!part.regular) return {-1, 0, false};
    part.first = first;
    part.limit = std::max<int64_t>(0, std::min(part.lines, capacity - first));
    first += part.lines;
  }
  pool.each((int64_t)parts.size(), [&](int64_t i, int) { parser.parse(parts[(size_t)i]); });
  TextRows result{0, 0, false};
  for (const Part& part : parts) {
    if (!part.regular) return {-1, 0, false};
    parser.move(part.first, result.rows, part.rows);
    result.rows += part.rows;
    result.consumed = part.reached - text;
    result.stopped = part.stopped;
    if (part.stopped || part.reached < part.end) break;
  }
  return result;
}

}  // namespace rt
