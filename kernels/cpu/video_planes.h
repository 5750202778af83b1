// Pictures as encoders of movies take them: YUV 4:2:0 by BT.709 in limited range.
#pragma once
#include <cstdint>

namespace rt {

// out: the rows of Y, then those of U and of V at half the size (I420), for even_width x even_height pixels,
// which are width and height or one more: the last column or row is repeated.
struct VideoSize {
  int64_t width, height;
  int64_t even_width() const { return width + width % 2; }
  int64_t even_height() const { return height + height % 2; }
};

// pixels: `channels` bytes each, red, green and blue first
void video_planes(const uint8_t* pixels, int channels, VideoSize size, uint8_t* out);

}  // namespace rt
