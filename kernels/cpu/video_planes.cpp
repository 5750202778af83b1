#include "video_planes.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace rt {
namespace {

// ITU-R BT.709: weights of red, green and blue in luma. Limited range: luma 16 to 235, chroma 16 to 240.
constexpr float kRed = 0.2126f, kBlue = 0.0722f, kGreen = 1.0f - kRed - kBlue;
constexpr float kLuma = 219.0f / 255.0f, kChroma = 224.0f / 255.0f;
constexpr float kU = kChroma / (2.0f * (1.0f - kBlue)), kV = kChroma / (2.0f * (1.0f - kRed));

// A row of float32 for each primary: loops over them are compiled to wide instructions.
struct Row {
  std::vector<float> red, green, blue;
  explicit Row(size_t n) : red(n), green(n), blue(n) {}
};

template <int kChannels> void load(const uint8_t* pixels, const VideoSize& size, Row& row) {
  float *red = row.red.data(), *green = row.green.data(), *blue = row.blue.data();
  for (int64_t x = 0; x < size.width; ++x) {
    red[x] = (float)pixels[kChannels * x];
    green[x] = (float)pixels[kChannels * x + 1];
    blue[x] = (float)pixels[kChannels * x + 2];
  }
  if (size.width % 2) {
    const int64_t last = size.width - 1;
    red[last + 1] = red[last], green[last + 1] = green[last], blue[last + 1] = blue[last];
  }
}

void luma(const Row& row, int64_t n, uint8_t* out) {
  const float *red = row.red.data(), *green = row.green.data(), *blue = row.blue.data();
  for (int64_t x = 0; x < n; ++x)
    out[x] = (uint8_t)(int)(kLuma * (kRed * red[x] + kGreen * green[x] + kBlue * blue[x]) + 16.5f);
}

// Of the mean of two by two pixels.
void chroma(const Row& upper, const Row& lower, int64_t n, uint8_t* u, uint8_t* v) {
  auto mean = [](const std::vector<float>& a, const std::vector<float>& b, int64_t x) {
    return 0.25f * ((a[(size_t)(2 * x)] + a[(size_t)(2 * x + 1)]) + (b[(size_t)(2 * x)] + b[(size_t)(2 * x + 1)]));
  };
  for (int64_t x = 0; x < n; ++x) {
    const float red = mean(upper.red, lower.red, x), green = mean(upper.green, lower.green, x),
                blue = mean(upper.blue, lower.blue, x);
    const float y = kRed * red + kGreen * green + kBlue * blue;
    u[x] = (uint8_t)(int)(kU * (blue - y) + 128.5f);
    v[x] = (uint8_t)(int)(kV * (red - y) + 128.5f);
  }
}

template <int kChannels> void convert(const uint8_t* pixels, const VideoSize& size, uint8_t* out) {
  const int64_t width = size.even_width(), height = size.even_height(), half = width / 2;
  uint8_t *u = out + width * height, *v = u + half * (height / 2);
  Row upper((size_t)width), lower((size_t)width);
  for (int64_t y = 0; y < height; y += 2) {
    load<kChannels>(pixels + kChannels * size.width * y, size, upper);
    load<kChannels>(pixels + kChannels * size.width * std::min(y + 1, size.height - 1), size, lower);
    luma(upper, width, out + width * y);
    luma(lower, width, out + width * (y + 1));
    chroma(upper, lower, half, u + half * (y / 2), v + half * (y / 2));
  }
}

}  // namespace

void video_planes(const uint8_t* pixels, int channels, VideoSize size, uint8_t* out) {
  if (channels == 4)
    convert<4>(pixels, size, out);
  else
    convert<3>(pixels, size, out);
}

}  // namespace rt
