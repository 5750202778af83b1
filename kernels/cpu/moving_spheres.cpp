#include "moving_spheres.h"

#include <algorithm>
#include <cstring>

#include "bvh/refit.h"

namespace rt {
namespace {

template <int kFloats> class Moving final : public MovingSpheres {
 public:
  using Record = rt::Record<kFloats>;

  Moving(const BuiltTree& b, int threads)
      : count_(b.count),
        record_count_(b.record_count),
        apart_(b.apart, b.apart + b.apart_count),
        nodes_(b.nodes, b.nodes + b.node_count),
        placed_(new Record[(size_t)b.count]),
        records_(new Record[(size_t)b.record_count]),
        order_(new int32_t[(size_t)b.count]) {
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
        excess_ += std::max(growth_ - 1.0, 0.0) + 1.0 / kAgingRefits;
        if (excess_ <= limit) return false;
      }
    }
    build(threads, cancel);
    return true;
  }

  double growth() const override { return growth_; }
  const Node* nodes() const override { return nodes_.data(); }
  int64_t node_count() const override { return (int64_t)nodes_.size(); }
  const float* records() const override { return (const float*)records_.get(); }  // null without any
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
    float* out = placed_[(size_t)m.first].v;
    return place_spheres(m, {{out, out + 1, out + 2, out + 3}, kFloats}, pool) < 0;
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
    if (record_count_ > count_) {  // rows of numbers of solids follow, which stay there
      options.rows = records_[(size_t)count_].v;
      options.first_row = count_, options.row_count = record_count_ - count_;
    }
    options.cancel = cancel;
    const float* columns[kFloats];
    for (int k = 0; k < kFloats; ++k) columns[k] = placed_[0].v + k;
    BuildResult<kFloats> built = build_bvh<kFloats>(columns, count_, options);
    plan_ = {};                  // where memory is short now, the tree is built anew at the next call
    if (record_count_ > count_)
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
