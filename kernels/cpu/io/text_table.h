// Numbers and words of text tables, on several threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rt {

enum class CellKind : int32_t { kNumber, kOptional, kText };

// A column of the text. An optional number without a value becomes NaN.
struct TextCell {
  CellKind kind;
  int32_t place;   // of the cell in its row, from 0; of fixed columns its first byte
  int32_t width;   // bytes of a fixed column, and bytes that are kept of a text, filled up with zeros
  int32_t offset;  // of a number: its column of `numbers`; of a text: its byte of a row of `texts`
};

enum class CellSplit : int32_t { kSpaces, kSeparator, kFixed };

// How lines are cut into cells, which are in the order of their places. Lines of fixed columns are rows if
// they begin with one of `records`, six letters each, or where there are none; the first line that begins
// with `stop` ends them. Cells between separators may be in quotes.
struct TextLayout {
  CellSplit split;
  char separator;
  int32_t most;  // cells of a row, but for empty ones at its end; 0 is any number
  std::vector<TextCell> cells;
  std::vector<const char*> records;
  const char* stop;  // six letters, or null
};

struct TextRows {
  int64_t rows;      // that were read; -1 if the text is not as regular as this parser needs
  int64_t consumed;  // bytes of them, and of lines before and between that are none
  bool stopped;      // by a line `stop`
};

// Reads rows of a text that ends with a line feed, at most `capacity`, into numbers (capacity, number_count)
// and texts (capacity, text_bytes), row by row. Blank lines are no rows, but for fixed columns.
//
// It takes what is unmistakable: lines that end with LF or CR LF, decimal numbers, nan and inf. Decimals follow a
// point, or a comma where none separates cells. Numbers are rounded correctly. Of anything else a slower parser
// shall say what is wrong with it.
TextRows parse_rows(const TextLayout& layout, const uint8_t* text, size_t size, int64_t capacity, double* numbers,
                    size_t number_count, uint8_t* texts, size_t text_bytes, int threads);

}  // namespace rt
