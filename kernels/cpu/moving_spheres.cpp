#include "moving_spheres.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../geom/pack_sphere.h"
#include "bvh/refit.h"
#include "threads.h"

namespace rt {
namespace {

constexpr int64_t kChunk = 1 << 14;      // spheres that a thread places at a time
constexpr int64_t kAlone = 1 << 13;      // fewer are not worth the start of a thread
constexpr double kAging = 1.0 / 128.0;   // growth of any tree per call: one that shrinks may get worse unseen

int threads_for(int64_t count, int threads) { return (int)std::clamp<int64_t>(count / kAlone, 1, threads); }

// False where a sphere is too far.
template <class T, int kFloats>
bool place_centers(const SphereMotion& m, int64_t begin, int64_t end, Record<kFloats>* out) {
  const double(&l)[3][3] = m.linear, (&offset)[3] = m.offset;
  const bool is_diagonal = l[0][0] != 0.0 && l[1][1] != 0.0 && l[2][2] != 0.0 && l[0][1] == 0.0 && l[0][2] == 0.0 &&
                           l[1][0] == 0.0 && l[1][2] == 0.0 && l[2][0] == 0.0 && l[2][1] == 0.0;
  const int64_t column = m.positions.column;
  const T* from = (const T*)m.positions.data + m.positions.row * begin;
  bool fits = true;
  for (int64_t i = begin; i < end; ++i, from += m.positions.row) {
    const double p[3] = {(double)from[0], (double)from[column], (double)from[2 * column]};
    for (int k = 0; k < 3; ++k) {
      const float x = (float)(is_diagonal ? p[k] * l[k][k] + offset[k] : affine(l[k], p, offset[k]));
      out[i].v[k] = x;
      fits &= std::fabs(x) < kLargestLength;
    }
  }
  return fits;
}

template <class T, int kFloats>
bool place_radii(const SphereMotion& m, int64_t begin, int64_t end, Record<kFloats>* out) {
  const T* r = (const T*)m.radii.data;
  bool fits = true;
  for (int64_t i = begin; i < end; ++i) {
    const float v = (float)((double)r[m.radii.row * i] * m.scale);
    out[i].v[3] = v;
    fits &= v >= 1.0f / kLargestLength && v < kLargestLength;
  }
  return fits;
}

template <int kFloats> class Moving final : public MovingSpheres {
 public:
  using Record = rt::Record<kFloats>;

  Moving(const BuiltTree& b, int threads)
      : count_(b.count), record_count_(b.record_count), apart_(b.apart, b.apart + b.apart_count),
        nodes_(b.nodes, b.nodes + b.node_count), placed_(new Record[(size_t)b.count]),
        records_(new Record[(size_t)b.record_count]), order_(new int32_t[(size_t)b.count]) {
    std::memcpy(records_.get(), b.records, (size_t)b.record_count * sizeof(Record));
    std::copy_n(b.order, b.count, order_.get());
    put_back();
    start_following(threads);
  }

  std::optional<bool> move(const SphereMotion& m, double limit, int threads, Cancel* cancel) override {
    {
      ThreadPool pool(threads_for(count_, threads));
      if (!place(m, pool)) {
        put_back();
        return {};
      }
      if (plan_.in_slots + (int64_t)apart_.size() == count_) {
        growth_ = refit(nodes_, plan_, placed_.get(), order_.get(), records_.get(), pool);
        excess_ += std::max(growth_ - 1.0, 0.0) + kAging;
        if (excess_ <= limit) return false;
      }
    }
    build(threads, cancel);
    return true;
  }

  double growth() const override { return growth_; }
  const Node* nodes() const override { return nodes_.data(); }
  int64_t node_count() const override { return (int64_t)nodes_.size(); }
  const float* records() const override { return records_[0].v; }
  const int32_t* order() const override { return order_.get(); }
  int64_t nbytes() const override {
    const size_t of_node = sizeof(Node) + sizeof(Box) + sizeof(int32_t) + sizeof(float);  // with the plan
    return (int64_t)(nodes_.size() * of_node + (size_t)count_ * (sizeof(Record) + sizeof(int32_t)) +
                     (size_t)record_count_ * sizeof(Record));
  }

 private:
  // The records by number as they are in the tree.
  void put_back() {
    for (int64_t k = 0; k < count_; ++k) placed_[(size_t)order_[(size_t)k]] = records_[(size_t)k];
  }

  bool place(const SphereMotion& m, ThreadPool& pool) {
    Record* out = placed_.get() + m.first;
    std::vector<uint8_t> fits((size_t)((m.count + kChunk - 1) / kChunk));
    pool.each((int64_t)fits.size(), [&](int64_t c, int) {
      const int64_t begin = c * kChunk, end = std::min(m.count, begin + kChunk);
      bool good = true;
      if (m.positions.data)
        good &= m.positions.is_double ? place_centers<double>(m, begin, end, out)
                                      : place_centers<float>(m, begin, end, out);
      if (m.radii.data)
        good &= m.radii.is_double ? place_radii<double>(m, begin, end, out) : place_radii<float>(m, begin, end, out);
      fits[(size_t)c] = good;
    });
    return std::all_of(fits.begin(), fits.end(), [](uint8_t f) { return f; });
  }

  // The first refit measures the tree.
  void start_following(int threads) {
    plan_ = plan_refit(nodes_);
    ThreadPool pool(threads_for(count_, threads));
    refit(nodes_, plan_, placed_.get(), order_.get(), records_.get(), pool);
    growth_ = 1.0, excess_ = 0.0;
  }

  void build(int threads, Cancel* cancel) {
    BuildOptions options;
    options.threads = threads;
    options.stride = kFloats;
    options.apart = apart_.data(), options.apart_count = (int64_t)apart_.size();
    options.cancel = cancel;
    const float* columns[kFloats];
    for (int k = 0; k < kFloats; ++k) columns[k] = placed_[0].v + k;
    BuildResult<kFloats> built = build_bvh<kFloats>(columns, count_, options);
    plan_ = {};                  // where memory is short now, the tree is built anew at the next call
    if (record_count_ > count_)  // rows of numbers of solids follow
      std::copy_n(built.records.get(), count_, records_.get());
    else
      records_ = std::move(built.records);
    order_ = std::move(built.order), nodes_ = std::move(built.nodes);
    start_following(threads);
  }

  int64_t count_, record_count_;
  std::vector<int32_t> apart_;
  std::vector<Node> nodes_;
  std::unique_ptr<Record[]> placed_;   // by number
  std::unique_ptr<Record[]> records_;  // leaf order
  std::unique_ptr<int32_t[]> order_;
  RefitPlan plan_;
  double growth_ = 1.0, excess_ = 0.0;
};

}  // namespace

std::unique_ptr<MovingSpheres> MovingSpheres::make(int floats, const BuiltTree& built, int threads) {
  if (floats == kSphereFloats) return std::make_unique<Moving<kSphereFloats>>(built, threads);
  return std::make_unique<Moving<kSolidFloats>>(built, threads);
}

}  // namespace rt
