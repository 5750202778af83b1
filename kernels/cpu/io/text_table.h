// Numbers and words of text tables, on several threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rt {

enum class CellKind : int32_t { kSkipped, kNumber, kOptional, kText };

// A column of the text. What an optional number lacks, or has in its place, becomes NaN.
struct TextCell {
  CellKind kind;
  int32_t start, width;  // of fixed columns: bytes from the start of the line
  int32_t offset;        // of a number: its column of `numbers`; of a text: its byte of a row of `texts`
  int32_t bytes;         // of a text: bytes that are kept, filled up with zeros
};

enum class CellSplit : int32_t { kSpaces, kSeparator, kFixed };

// How lines are cut into cells. Lines of fixed columns are rows if they begin with one of `records`, six
// letters each, and end with the first that begins with `stop`.
struct TextLayout {
  CellSplit split;
  char separator;
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
// and texts (capacity, text_bytes), row by row. Blank lines are no rows. `lacking`, one for each cell, is set
// where an optional number is not there.
//
// It takes what is unmistakable: letters of ASCII, lines that end with LF or CR LF, decimal numbers, nan and
// inf. Numbers are rounded correctly. Of anything else a slower parser shall say what is wrong with it.
TextRows parse_rows(const TextLayout& layout, const uint8_t* text, size_t size, int64_t capacity, double* numbers,
                    size_t number_count, uint8_t* texts, size_t text_bytes, uint8_t* lacking, int threads);

}  // namespace rt
