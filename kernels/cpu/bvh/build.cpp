#include "build.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../threads.h"
#include "quantize.h"
#include "split.h"
#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace rt {
namespace {

constexpr int64_t kParallel = 1 << 16;  // larger ranges are split by all threads together
constexpr int64_t kChunk = 1 << 14;     // unit of work; fixed, so that the order is too
constexpr int64_t kShared = 1 << 19;    // larger nodes are built by all threads together
constexpr int64_t kSubtree = 1 << 14;   // nodes up to this size are built completely by one thread
// From as many primitives on, memory goes back to the system while the tree is built, and once it is. A frame of a
// movie is smaller: the next one needs the same memory, and taking every page anew costs more than the few MB.
constexpr int64_t kGiveBack = 1 << 20;
constexpr int kMaxSahDepth = 24;        // deeper nodes are halved, which bounds the depth (kMaxLevels)

template <int kFloats>
struct Storage {
  Record<kFloats>* prim;
  int32_t* id;
};

// Returns freed memory to the system, which the allocator would keep.
void give_back_freed(int64_t count) {
#if defined(__GLIBC__)
  if (count > kGiveBack) malloc_trim(0);
#else
  (void)count;
#endif
}

struct Child {
  Range range;
  float area;
};

// Returns the whole pages of items begin..end - 1 to the system; their content is lost. Processed items are
// returned while the nodes grow, so that peak memory does not depend on the number of nodes.
template <class T> void give_back(T* items, int64_t begin, int64_t end) {
#if defined(__linux__)
  static const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)(items + begin) + page - 1) / page * page,
            last = (uintptr_t)(items + end) / page * page;
  if (first < last) madvise((void*)first, last - first, MADV_DONTNEED);
#else
  (void)items, (void)begin, (void)end;
#endif
}

// A node to be built: its spheres, its index, and the output position of its spheres.
struct Pending {
  Range range;
  int depth = 0;
  size_t node = 0;
  int64_t out = 0;
};

// The centre boxes of both sides, grown without a branch: on the other side a centre counts as -inf.
struct TwoBoxes {
  Box box[2];
  void grow(V4 s, int side) {
    static const float kAway[2][2] = {{0.0f, -INFINITY}, {-INFINITY, 0.0f}};
    V4 neg = v4(0.0f) - s;
    for (int i = 0; i < 2; ++i) {
      V4 away = v4(kAway[i][side]);
      box[i].grow(neg + away, s + away);
    }
  }
};

// The node of `children`, and its inner slots as pending nodes. The spheres of the leaf slots must be
// contiguous: they come first in the output range of the node, followed by those of its inner slots, then by
// spheres in no slot because they equal another one.
struct NodePlan {
  Node node;
  Pending inner[8];
  int inners = 0;
};

NodePlan plan_node(const Pending& p, const Child* children, int count, size_t child_base) {
  NodePlan plan;
  NodeChild slots[8];
  int64_t out = p.out;
  for (int i = 0; i < count; ++i) {
    const Range& c = children[i].range;
    slots[i].box = c.geometry;
    slots[i].inner = !c.equal && c.count() > kLeafSize;
    slots[i].spheres = slots[i].inner ? 0 : c.equal ? 1 : (int)c.count();
    out += slots[i].spheres;
  }
  for (int i = 0; i < count; ++i) {
    if (!slots[i].inner) continue;
    plan.inner[plan.inners] = {children[i].range, p.depth + 1, child_base + (size_t)plan.inners, out};
    out += children[i].range.count();
    ++plan.inners;
  }
  plan.node = make_node(slots, count, (uint32_t)child_base, (uint32_t)p.out);
  return plan;
}

// The numbers of a solid that are not in its record; null where they were not given.
const float* numbers_of(const Record<kSolidFloats>& r, int rows, const BuildOptions& options) {
  const int64_t row = (int64_t)as_uint(r.v[3]) - options.first_row;
  return row >= 0 && row + rows <= options.row_count ? options.rows + row * kSolidFloats : nullptr;
}

bool are_equal(const Record<kSphereFloats>& a, const Record<kSphereFloats>& b, const BuildOptions&) {
  return std::equal(a.v, a.v + kSphereFloats, b.v);
}

// Two triangles are where they have the same corners; those of closed meshes also bound the same glass.
bool are_equal(const Record<kSolidFloats>& a, const Record<kSolidFloats>& b, const BuildOptions& options) {
  const uint32_t tag = as_uint(a.v[7]);
  if (tag != as_uint(b.v[7]) || !std::equal(a.v, a.v + 3, b.v) || !std::equal(a.v + 4, a.v + 7, b.v + 4)) return false;
  if (as_uint(a.v[3]) == as_uint(b.v[3])) return true;
  if (tag >> kFormShift < (uint32_t)kConeForm) return a.v[3] == b.v[3];
  const bool is_triangle = tag >> (kFormShift - 1) == kTriangleForm;
  const int rows = is_triangle ? kTriangleRows : 1;
  const float *of_a = numbers_of(a, rows, options), *of_b = numbers_of(b, rows, options);
  if (!of_a || !of_b) return false;
  if (!is_triangle) return std::equal(of_a, of_a + kSolidFloats, of_b);
  return std::equal(of_a, of_a + 9, of_b) && (!(tag & kClosedMesh) || as_uint(of_a[15]) == as_uint(of_b[15]));
}

template <int kFloats> class Builder {
 public:
  Builder(int64_t count, const BuildOptions& options, ThreadPool& pool)
      : options_(options), pool_(pool), count_(count) {
    for (int i = 0; i < 2; ++i) {
      prim_[i].reset(new Record[(size_t)count]);  // not initialised: first touched by the threads
      id_[i].reset(new int32_t[(size_t)count]);
    }
    main_ = {prim_[0].get(), id_[0].get()};
    scratch_ = {prim_[1].get(), id_[1].get()};
  }

  BuildResult<kFloats> build(const float* const (&columns)[kFloats]) {
    Range root = load(columns);
    std::vector<Pending> jobs = top(root);
    bottom(jobs);
    give_back_freed(count_);
    return {std::move(prim_[1]), std::move(id_[1]), std::move(nodes_)};
  }

 private:
  using Record = rt::Record<kFloats>;
  using Storage = rt::Storage<kFloats>;

  Storage at(const Range& r) const { return r.in_scratch ? scratch_ : main_; }
  bool is_leaf(const Range& r) const { return r.equal || r.count() <= kLeafSize; }

  Range load(const float* const (&columns)[kFloats]) {
    int64_t chunks = (count_ + kChunk - 1) / kChunk;
    std::vector<Range> part((size_t)chunks);
    pool_.each(chunks, [&](int64_t c, int) {
      Range r;
      const float* column[kFloats];
      std::copy_n(columns, kFloats, column);
      const int32_t* apart_end = options_.apart + options_.apart_count;
      const int32_t* apart = std::lower_bound(options_.apart, apart_end, c * kChunk);
      for (int64_t i = c * kChunk, end = std::min(count_, i + kChunk); i < end; ++i) {
        Record record;
        for (int k = 0; k < kFloats; ++k) record.v[k] = column[k][i * options_.stride];
        main_.prim[i] = record;
        main_.id[i] = (int32_t)i;
        if (apart != apart_end && *apart == i) {
          ++apart;
          continue;
        }
        grow(r.geometry, r.centers, record);
      }
      part[(size_t)c] = r;
    });
    Range all;
    all.end = count_ - options_.apart_count;
    // from the last one, so that none overwrites another
    for (int64_t k = options_.apart_count; k-- > 0;) {
      const int64_t from = options_.apart[k], to = all.end + k;
      std::swap(main_.prim[from], main_.prim[to]), std::swap(main_.id[from], main_.id[to]);
      scratch_.prim[to] = main_.prim[to], scratch_.id[to] = main_.id[to];
    }
    for (const Range& r : part) all.geometry.grow(r.geometry), all.centers.grow(r.centers);
    return all;
  }

  Split find_plane(const Range& r, const Binner& binner, bool parallel, std::vector<BinSet>& chunks) {
    Storage from = at(r);
    if (!parallel) {
      BinSet bins;
      bins.clear(binner.bins);
      bins.add(binner, from.prim + r.begin, r.count());
      return best_split(bins, binner.bins);
    }
    chunks.resize((size_t)((r.count() + kChunk - 1) / kChunk));
    pool_.each((int64_t)chunks.size(), [&](int64_t c, int) {
      BinSet& bins = chunks[(size_t)c];
      bins.clear(binner.bins);
      int64_t first = r.begin + c * kChunk;
      bins.add(binner, from.prim + first, std::min(r.end - first, kChunk));
    });
    BinSet all = chunks[0];
    for (size_t c = 1; c < chunks.size(); ++c) all.merge(chunks[c], binner.bins);
    return best_split(all, binner.bins);
  }

  // In place, by one thread, without an unpredictable branch on the side: each sphere is swapped with the
  // first sphere of the right side, and that border advances if the sphere belongs to the left.
  void partition_serial(const Range& r, const Binner& binner, const Split& s, Range& left, Range& right) {
    Storage a = at(r);
    TwoBoxes centers;
    int64_t border = r.begin;
    for (int64_t i = r.begin; i < r.end; ++i) {
      Record prim = a.prim[i];
      int32_t id = a.id[i];
      V4 p = center_of(prim);
      int32_t bin[4];
      binner.index(p, bin);
      int side = bin[s.axis] >= s.bin;
      centers.grow(p, side);
      a.prim[i] = a.prim[border], a.id[i] = a.id[border];
      a.prim[border] = prim, a.id[border] = id;
      border += 1 - side;
    }
    left.begin = r.begin, left.end = right.begin = border, right.end = r.end;
    left.geometry = s.left_box, right.geometry = s.right_box;
    left.centers = centers.box[0], right.centers = centers.box[1];
    left.in_scratch = right.in_scratch = r.in_scratch;
  }

  // Spheres of one slot: halfway along the longest axis of their centres.
  bool split_leaf(const Range& r, Range& left, Range& right) {
    V4 extent = r.centers.extent(), lo = r.centers.lo();
    int axis = extent[0] >= extent[1] ? (extent[0] >= extent[2] ? 0 : 2) : (extent[1] >= extent[2] ? 1 : 2);
    if (!(extent[axis] > 0.0f)) return false;
    float middle = lo[axis] + 0.5f * extent[axis];
    Storage a = at(r);
    left = right = Range();
    int64_t border = r.begin;
    for (int64_t i = r.begin; i < r.end; ++i) {
      bool goes_left = center_of(a.prim[i])[axis] < middle;
      Range& side = goes_left ? left : right;
      grow(side.geometry, side.centers, a.prim[i]);
      std::swap(a.prim[i], a.prim[border]);
      std::swap(a.id[i], a.id[border]);
      border += goes_left;
    }
    left.begin = r.begin, left.end = right.begin = border, right.end = r.end;
    left.in_scratch = right.in_scratch = r.in_scratch;
    return border > r.begin && border < r.end;
  }

  // To the other array; the bins give the number of spheres of each chunk on each side.
  void partition_parallel(const Range& r, const Binner& binner, const Split& s, const std::vector<BinSet>& chunks,
                          Range& left, Range& right) {
    Storage from = at(r), to = r.in_scratch ? main_ : scratch_;
    std::vector<int64_t> left_at(chunks.size());
    int64_t lefts = 0;
    for (size_t c = 0; c < chunks.size(); ++c) {
      left_at[c] = lefts;
      for (int b = 0; b < s.bin; ++b) lefts += chunks[c].count[s.axis][b];
    }
    std::vector<Box> centers(2 * chunks.size());
    pool_.each((int64_t)chunks.size(), [&](int64_t c, int) {
      int64_t i = r.begin + c * kChunk;
      int64_t cursor[2] = {r.begin + left_at[(size_t)c], r.begin + lefts + (c * kChunk - left_at[(size_t)c])};
      TwoBoxes box;
      for (int64_t end = std::min(r.end, i + kChunk); i < end; ++i) {
        V4 p = center_of(from.prim[i]);
        int32_t bin[4];
        binner.index(p, bin);
        bool goes_right = bin[s.axis] >= s.bin;
        box.grow(p, goes_right);
        int64_t k = cursor[goes_right]++;
        to.prim[k] = from.prim[i];
        to.id[k] = from.id[i];
      }
      centers[2 * (size_t)c] = box.box[0], centers[2 * (size_t)c + 1] = box.box[1];
    });
    left.begin = r.begin, left.end = right.begin = r.begin + lefts, right.end = r.end;
    left.geometry = s.left_box, right.geometry = s.right_box;
    left.centers = right.centers = Box();
    for (size_t c = 0; c < chunks.size(); ++c)
      left.centers.grow(centers[2 * c]), right.centers.grow(centers[2 * c + 1]);
    left.in_scratch = right.in_scratch = !r.in_scratch;
  }

  void halve(const Range& r, Range& left, Range& right) {
    Storage a = at(r);
    int64_t middle = r.begin + r.count() / 2;
    left = right = Range();
    left.begin = r.begin, left.end = right.begin = middle, right.end = r.end;
    left.in_scratch = right.in_scratch = r.in_scratch;
    for (int64_t i = r.begin; i < r.end; ++i) {
      Range& side = i < middle ? left : right;
      grow(side.geometry, side.centers, a.prim[i]);
    }
  }

  // Every ray nearby would test all spheres in one place. Of equal ones traversal finds the lowest leaf
  // position, and they block the same shadow rays: one of them is sufficient.
  void find_equal(Range& r) const {
    if (is_leaf(r)) return;
    V4 extent = r.centers.extent();
    if (extent[0] != 0.0f || extent[1] != 0.0f || extent[2] != 0.0f) return;
    const Record* prim = at(r).prim;
    for (int64_t i = r.begin + 1; i < r.end; ++i)
      if (!are_equal(prim[i], prim[r.begin], options_)) return;
    r.equal = true;
  }

  void split(const Range& r, int depth, bool parallel, Range& left, Range& right) {
    if (is_leaf(r)) {
      if (!split_leaf(r, left, right)) halve(r, left, right);
      return;
    }
    if (depth <= kMaxSahDepth) {
      Binner binner(r.centers, r.count());
      std::vector<BinSet> chunks;
      Split s = find_plane(r, binner, parallel, chunks);
      if (s.axis >= 0) {
        if (parallel)
          partition_parallel(r, binner, s, chunks, left, right);
        else
          partition_serial(r, binner, s, left, right);
        return;
      }
    }
    halve(r, left, right);
  }

  // Splits the child with the largest surface until eight slots are used. Leaves are split into remaining
  // slots: a box costs nothing, and rays miss smaller leaves more often. Below kMaxSahDepth the child with
  // most spheres is halved, so that each level leaves an eighth of them.
  int expand(const Range& r, int depth, bool parallel, Child* children) {
    int n = 1;
    children[0] = {r, r.geometry.half_area()};
    find_equal(children[0].range);
    while (n < 8) {
      int pick = -1;
      float largest = -1.0f;
      for (int i = 0; i < n; ++i) {
        const Range& c = children[i].range;
        if (c.count() < 2 || c.equal) continue;
        float gain = is_leaf(c) ? kLeafSplitGain * children[i].area : children[i].area;
        if (depth > kMaxSahDepth) gain = (float)c.count();
        if (gain > largest) largest = gain, pick = i;
      }
      if (pick < 0) break;
      Range left, right;
      split(children[pick].range, depth, parallel && children[pick].range.count() > kParallel, left, right);
      find_equal(left);
      find_equal(right);
      for (int i = n; i > pick + 1; --i) children[i] = children[i - 1];  // preserves spatial order
      children[pick] = {left, left.geometry.half_area()};
      children[pick + 1] = {right, right.geometry.half_area()};
      ++n;
    }
    return n;
  }

  void subtree(const Pending& p, std::vector<Node>& nodes, Node& root) {
    Child children[8];
    int n = expand(p.range, p.depth, false, children);
    NodePlan plan = plan_node(p, children, n, nodes.size());
    int64_t out = p.out, hidden = p.out + p.range.count();
    auto place = [&](int64_t from, int64_t to) {
      scratch_.prim[to] = main_.prim[from];
      scratch_.id[to] = main_.id[from];
    };
    for (int i = 0; i < n; ++i) {
      const Range& r = children[i].range;
      if (!is_leaf(r)) continue;
      const int64_t shown = r.equal ? r.begin + 1 : r.end;
      for (int64_t k = r.begin; k < shown; ++k) place(k, out++);
      for (int64_t k = shown; k < r.end; ++k) place(k, --hidden);
    }
    root = plan.node;
    nodes.resize(nodes.size() + (size_t)plan.inners);
    for (int i = 0; i < plan.inners; ++i) {
      Node child;  // the vector may be reallocated while descendants are built
      subtree(plan.inner[i], nodes, child);
      nodes[plan.inner[i].node] = child;
    }
  }

  // Builds nodes above kSubtree, level by level: large ones one after another with all threads on each split,
  // the others in parallel. Returns the remaining subtrees.
  std::vector<Pending> top(const Range& root) {
    std::vector<Pending> level(1), jobs;
    level[0].range = root;
    nodes_.resize(1);
    while (!level.empty()) {
      std::vector<Pending> work, next;
      for (const Pending& p : level) (p.range.count() > kSubtree ? work : jobs).push_back(p);
      std::vector<std::pair<int, std::vector<Child>>> made(work.size());
      auto make = [&](size_t i, bool shared) {
        made[i].second.resize(8);
        made[i].first = expand(work[i].range, work[i].depth, shared, made[i].second.data());
      };
      for (size_t i = 0; i < work.size(); ++i)
        if (work[i].range.count() > kShared) make(i, true);
      pool_.each((int64_t)work.size(), [&](int64_t i, int) {
        if (work[(size_t)i].range.count() <= kShared) make((size_t)i, false);
      });
      for (size_t i = 0; i < work.size(); ++i) {
        const Child* children = made[i].second.data();
        NodePlan plan = plan_node(work[i], children, made[i].first, nodes_.size());
        int64_t out = work[i].out, hidden = work[i].out + work[i].range.count();
        for (int c = 0; c < made[i].first; ++c) {
          Range r = children[c].range;
          if (!is_leaf(r)) continue;
          const int64_t shown = r.equal ? r.begin + 1 : r.end;
          for (int64_t k = r.begin; k < shown; ++k) early_.push_back({out++, at(r).prim[k], at(r).id[k]});
          r.begin = shown;
          hidden -= r.count();
          if (r.count()) hidden_.push_back({r, hidden});
        }
        nodes_[work[i].node] = plan.node;
        nodes_.resize(nodes_.size() + (size_t)plan.inners);
        next.insert(next.end(), plan.inner, plan.inner + plan.inners);
      }
      level.swap(next);
    }
    return jobs;
  }

  void bring_home(Range& r) {
    if (!r.in_scratch) return;
    std::memcpy(main_.prim + r.begin, scratch_.prim + r.begin, (size_t)r.count() * sizeof(Record));
    std::memcpy(main_.id + r.begin, scratch_.id + r.begin, (size_t)r.count() * sizeof(int32_t));
    r.in_scratch = false;
  }

  void bottom(std::vector<Pending>& jobs) {
    pool_.each((int64_t)jobs.size(), [&](int64_t i, int) { bring_home(jobs[(size_t)i].range); });
    for (Hidden& h : hidden_) bring_home(h.range);
    std::vector<std::vector<Node>> made(jobs.size());
    std::vector<Node> roots(jobs.size());
    pool_.each((int64_t)jobs.size(), [&](int64_t i, int) {
      size_t k = (size_t)i;
      const Range& r = jobs[k].range;
      made[k].reserve((size_t)r.count() / 12 + 8);
      subtree(jobs[k], made[k], roots[k]);
      if (count_ > kGiveBack) give_back(main_.prim, r.begin, r.end), give_back(main_.id, r.begin, r.end);
    });
    for (const Placed& s : early_) scratch_.prim[s.out] = s.prim, scratch_.id[s.out] = s.id;
    for (const Hidden& h : hidden_) {
      std::memcpy(scratch_.prim + h.out, main_.prim + h.range.begin, (size_t)h.range.count() * sizeof(Record));
      std::memcpy(scratch_.id + h.out, main_.id + h.range.begin, (size_t)h.range.count() * sizeof(int32_t));
    }
    prim_[0].reset(), id_[0].reset();  // main_, whose spheres are in the output
    std::vector<size_t> offset(jobs.size());
    size_t total = nodes_.size();
    for (size_t k = 0; k < jobs.size(); ++k) offset[k] = total, total += made[k].size();
    nodes_.resize(total);
    pool_.each((int64_t)jobs.size(), [&](int64_t i, int) {
      size_t k = (size_t)i;
      roots[k].child_base += (uint32_t)offset[k];
      nodes_[jobs[k].node] = roots[k];
      for (size_t j = 0; j < made[k].size(); ++j) {
        made[k][j].child_base += (uint32_t)offset[k];
        nodes_[offset[k] + j] = made[k][j];
      }
      std::vector<Node>().swap(made[k]);
    });
  }

  BuildOptions options_;
  ThreadPool& pool_;
  int64_t count_;
  std::unique_ptr<Record[]> prim_[2];
  std::unique_ptr<int32_t[]> id_[2];
  Storage main_, scratch_;
  std::vector<Node> nodes_;
  struct Placed {
    int64_t out;
    Record prim;
    int32_t id;
  };
  std::vector<Placed> early_;  // leaf spheres of top nodes, stored until the output is free
  struct Hidden {
    Range range;  // equal spheres except the first
    int64_t out;
  };
  std::vector<Hidden> hidden_;  // of top nodes
};

}  // namespace

template <int kFloats>
BuildResult<kFloats> build_bvh(const float* const (&columns)[kFloats], int64_t count, const BuildOptions& options) {
  if (count == 0) return {};
  ThreadPool pool(options.threads, options.cancel);
  return Builder<kFloats>(count, options, pool).build(columns);
}

template BuildResult<kSphereFloats> build_bvh(const float* const (&)[kSphereFloats], int64_t, const BuildOptions&);
template BuildResult<kSolidFloats> build_bvh(const float* const (&)[kSolidFloats], int64_t, const BuildOptions&);

}  // namespace rt
