// Bindings only: NumPy arrays in, NumPy arrays out, the interpreter lock released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <type_traits>

#include "bvh/build.h"
#include "../core/structs.h"
#include "../film/histogram.h"
#include "../integrator/first_hit.h"
#include "../integrator/integrators.h"
#include "io/text_table.h"
#include "floats.h"
#include "launch.h"
#include "moving_spheres.h"
#include "neighbors.h"
#include "reach.h"
#include "scene_check.h"
#include "threads.h"
#include "tone.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int N> using In = nb::ndarray<const T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Out = nb::ndarray<T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

using AnyArray = nb::ndarray<nb::ro>;

// What a DLPack capsule says of an array, on any device; the owner keeps its memory.
nb::tuple read_dlpack(const AnyArray& array) {
  nb::list shape, strides;
  for (size_t k = 0; k < array.ndim(); k++) shape.append(array.shape(k)), strides.append(array.stride(k));
  nb::capsule owner(new AnyArray(array), [](void* p) noexcept { delete (AnyArray*)p; });
  return nb::make_tuple((uintptr_t)array.data(), nb::tuple(shape), nb::tuple(strides), array.dtype().code,
                        array.dtype().bits, array.dtype().lanes, array.device_type(), array.device_id(), owner);
}

// An object with __dlpack__ that describes memory on any device, and keeps its owner.
nb::ndarray<nb::array_api> make_dlpack(uintptr_t address, const std::vector<size_t>& shape,
                                       const std::vector<int64_t>& strides, uint8_t code, uint8_t bits,
                                       std::array<int, 2> device, nb::object owner) {
  return nb::ndarray<nb::array_api>((void*)address, shape.size(), shape.data(), owner, strides.data(), {code, bits, 1},
                                    device[0], device[1]);
}

// A NumPy array of one of the shared structs, seen through the buffer protocol; without the description of its
// fields, which takes NumPy longer than all else that happens to a view in a frame.
template <class T> class Structs {
 public:
  // Without the format, which NumPy does not give for a union.
  explicit Structs(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) throw nb::python_error();
    const char* problem = nullptr;
    if (view_.itemsize != (Py_ssize_t)sizeof(T)) problem = "has items of the wrong size";
    if ((uintptr_t)view_.buf % alignof(T)) problem = "is not aligned";
    if (problem) {
      PyBuffer_Release(&view_);
      throw nb::type_error(
          ("an array of structs " + std::string(problem) + ": use the dtypes of raytracer.layout").c_str());
    }
  }
  ~Structs() { PyBuffer_Release(&view_); }
  Structs(const Structs&) = delete;
  const T* data() const { return (const T*)view_.buf; }
  int64_t count() const { return view_.len / view_.itemsize; }
  std::vector<T> all() const { return std::vector<T>(data(), data() + count()); }
  // the only one, of an array that must hold one
  const T& one() const {
    if (count() != 1) throw nb::value_error("an array of structs holds not one, where one is needed");
    return *data();
  }

 private:
  Py_buffer view_{};
};

bool is_main_thread() {
  nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// Calls work(cancel) without the interpreter lock. On Python's main thread, handlers of signals run meanwhile;
// if one raises (KeyboardInterrupt), the work stops early and the exception is raised here.
template <class Work> void interruptible(Work work) {
  bool raised = false;
  const auto run_handlers = [](void* raised) {
    nb::gil_scoped_acquire acquire;
    rt::DefaultFloats floats;
    return *(bool*)raised = PyErr_CheckSignals() != 0;
  };
  rt::Cancel cancel(is_main_thread() ? +run_handlers : nullptr, &raised);
  try {
    nb::gil_scoped_release release;
    work(&cancel);
  } catch (...) {
    if (!raised) throw;  // what a handler raised goes before what a worker threw
  }
  if (raised) throw nb::python_error();
}

// An array of memory that `owner` keeps, which Python may not change.
template <class T, class Owner, size_t N> nb::object array_of(const T* data, Owner owner, const size_t (&shape)[N]) {
  nb::capsule kept(new Owner(std::move(owner)), [](void* p) noexcept { delete (Owner*)p; });
  return nb::cast(nb::ndarray<nb::numpy, const T>(data, N, shape, kept));
}

template <class T, size_t N> nb::object own(std::unique_ptr<T[]> data, const size_t (&shape)[N]) {
  const T* first = data.get();
  return array_of(first, std::move(data), shape);
}

template <class T> std::unique_ptr<T[]> copied(const T* data, size_t count) {
  std::unique_ptr<T[]> copy(new T[std::max(count, (size_t)1)]);
  std::copy_n(data, count, copy.get());
  return copy;
}

template <class T, class... Sides> nb::object copy_of(const T* data, Sides... sides) {
  return own(copied(data, (... * (size_t)sides)), {(size_t)sides...});
}

nb::object own_nodes(std::vector<rt::Node> nodes) {
  if (nodes.empty()) nodes.reserve(1);  // an address, even if nothing is there
  const size_t count = nodes.size();
  const auto* bytes = (const uint8_t*)nodes.data();
  return array_of(bytes, std::move(nodes), {count, sizeof(rt::Node)});
}

template <class T> std::string kind() {
  using Base = std::remove_all_extents_t<T>;
#define RT_STRUCT_KIND(S) \
  if (std::is_same_v<Base, rt::S>) return #S;
  RT_STRUCTS(RT_STRUCT_KIND)
  return (std::is_floating_point_v<Base> ? "f" : std::is_signed_v<Base> ? "i" : "u") + std::to_string(sizeof(Base));
}

template <class T> constexpr size_t numbers = sizeof(T) / sizeof(std::remove_all_extents_t<T>);

#define RT_MEMBER(type, name, count) \
  fields.append(nb::make_tuple(#name, kind<decltype(T::name)>(), numbers<decltype(T::name)>, offsetof(T, name)));
#define RT_STRUCT_ROWS(S)                              \
  {                                                    \
    using T = rt::S;                                   \
    nb::list fields;                                   \
    RT_FIELDS_##S(RT_MEMBER)                           \
    structs[#S] = nb::make_tuple(sizeof(T), fields);   \
  }

nb::dict layout() {
  nb::dict structs;
  RT_STRUCTS(RT_STRUCT_ROWS)
  RT_STRUCT_ROWS(ImageLattice)
  return structs;
}

#define RT_ENUM_ROW(name, word) numbers[word] = (int)rt::name;
#define RT_ENUM_ROWS(E)         \
  {                             \
    nb::dict numbers;           \
    RT_WORDS_##E(RT_ENUM_ROW)   \
    enums[#E] = numbers;        \
  }

nb::dict enums() {
  nb::dict enums;
  RT_ENUMS(RT_ENUM_ROWS)
  RT_ENUM_ROWS(LightKind)
  RT_ENUM_ROWS(MaterialKind)
  RT_ENUM_ROWS(IntegratorKind)
  return enums;
}

// Numbers that Python computes with too, under the kernels' names.
#define RT_CONSTANTS(C)                                                                           \
  C(kToneBins) C(kBinUncovered) C(kBinNonFinite) C(kBinBlack) C(kFirstBin) C(kLastBin)            \
  C(kBinOffset) C(kWarpTileWidth) C(kWarpTileHeight) C(kHistogramScratchBytes) C(kBuildStateBytes)    \
  C(kMaxLargeSpheres)                                                                                             \
  C(kDraftPlanes) C(kDraftMargin) C(kNoSphere) C(kOpaque) C(kMaxClipPlanes) C(kAgingRefits)
#define RT_CONSTANT(name) numbers[#name] = rt::name;

nb::dict constants() {
  nb::dict numbers;
  RT_CONSTANTS(RT_CONSTANT)
  return numbers;
}

void check_aligned(const void* address, size_t alignment = sizeof(float)) {
  if ((uintptr_t)address % alignment) throw nb::type_error("an array is not aligned");
}

// The numbers of one of several columns, which are of the same length.
template <class Column> auto* column_of(const Column& column, int64_t count) {
  if ((int64_t)column.shape(0) != count) throw nb::value_error("columns: differ in length");
  check_aligned(column.data());
  return column.data();
}

template <int kFloats>
nb::tuple build_bvh_of(const std::vector<In<float, 1>>& columns, int threads, const std::vector<int32_t>& large,
                       const In<float, 2>* rows) {
  const size_t n = columns[0].shape(0);
  const float* numbers[kFloats];
  for (size_t k = 0; k < columns.size(); ++k) numbers[k] = column_of(columns[k], (int64_t)n);
  if (n > (size_t)INT32_MAX) throw nb::value_error("an int32 numbers the spheres: at most 2^31 - 1");
  for (size_t i = 0; i < large.size(); ++i)
    if (large[i] < (i ? large[i - 1] + 1 : 0) || large[i] >= (int64_t)n)
      throw nb::value_error("large: numbers of spheres, ascending");
  if (large.size() >= n && n) throw nb::value_error("large: all spheres but one at most");
  rt::BuildOptions options;
  options.threads = threads;
  options.apart = large.data(), options.apart_count = (int64_t)large.size();
  if (rows) {
    if (rows->shape(1) != rt::kSolidFloats) throw nb::value_error("rows: are not the numbers of solids");
    check_aligned(rows->data());
    options.rows = rows->data(), options.first_row = (int64_t)n, options.row_count = (int64_t)rows->shape(0);
  }
  rt::BuildResult<kFloats> r;
  interruptible([&](rt::Cancel* cancel) {
    options.cancel = cancel;
    r = rt::build_bvh<kFloats>(numbers, (int64_t)n, options);
  });
  if (!n) r.order.reset(new int32_t[1]), r.records.reset(new rt::Record<kFloats>[1]);
  std::unique_ptr<float[]> spheres((float*)r.records.release());
  return nb::make_tuple(own_nodes(std::move(r.nodes)), own(std::move(r.order), {n}),
                        own(std::move(spheres), {n, kFloats}));
}

nb::tuple build_bvh(const std::vector<In<float, 1>>& columns, int threads, const std::vector<int32_t>& large,
                    const std::optional<In<float, 2>>& rows) {
  const In<float, 2>* numbers = rows ? &*rows : nullptr;
  if (columns.size() == rt::kSphereFloats) return build_bvh_of<rt::kSphereFloats>(columns, threads, large, numbers);
  if (columns.size() == rt::kSolidFloats) return build_bvh_of<rt::kSolidFloats>(columns, threads, large, numbers);
  throw nb::value_error("columns: are not the numbers of a record");
}

void raise(const char* problem) {
  if (problem) throw nb::value_error(problem);
}

// The frame of first hits, which look at neither lights nor materials.
rt::Frame unlit(rt::Frame frame) {
  frame.scene.light_count = frame.scene.material_mode = frame.scene.material_count = 0;
  return frame;
}

// An array that stays as it is checked: itself if it is read-only, else a copy.
template <class T, int N> In<T, N> unchanging(nb::handle array, const char* name, size_t alignment = sizeof(float)) {
  In<T, N> kept;
  if (!nb::try_cast(array, kept, false))
    throw nb::type_error((std::string(name) + ": is not a C-contiguous NumPy array of its dtype").c_str());
  check_aligned(kept.data(), alignment);
  Out<T, N> writable;
  if (!nb::try_cast(array, writable, false)) return kept;
  size_t shape[N];
  for (int i = 0; i < N; ++i) shape[i] = kept.shape(i);
  return nb::cast<In<T, N>>(own(copied(kept.data(), kept.size()), shape));
}

// Records of spheres hold no index; those of capsules do.
In<float, 2> kept_records(nb::handle array) {
  In<float, 2> kept;
  if (!nb::try_cast(array, kept, false)) throw nb::type_error("spheres: is not a C-contiguous NumPy array of float32");
  return kept.shape(1) == rt::kSolidFloats ? unchanging<float, 2>(array, "spheres") : kept;
}

void check_draft(const Out<float, 3>& planes, const Out<float, 3>& sums) {
  check_aligned(planes.data());
  if (planes.shape(0) != rt::kDraftPlanes || planes.shape(1) != sums.shape(0) + 2 * rt::kDraftMargin ||
      planes.shape(2) != sums.shape(1) + 2 * rt::kDraftMargin || sums.shape(2) != 4)
    throw nb::value_error("draft: not the planes of the film");
}

// float32 or float64 numbers, with any strides
template <int N> using Given = nb::ndarray<nb::ro, nb::ndim<N>, nb::device::cpu>;

template <int N> rt::Numbers numbers_of(const std::optional<Given<N>>& array, size_t columns, int64_t count) {
  if (!array) return {};
  const bool is_double = array->dtype() == nb::dtype<double>();
  if (!is_double && array->dtype() != nb::dtype<float>()) throw nb::type_error("float32 or float64 is needed");
  const bool is_one = N == 1 && array->shape(0) == 1;
  if ((!is_one && (int64_t)array->shape(0) != count) || (N == 2 && array->shape(N - 1) != columns))
    throw nb::value_error("not the numbers of so many spheres");
  check_aligned(array->data(), is_double ? sizeof(double) : sizeof(float));
  return {array->data(), is_double, is_one ? 0 : array->stride(0), array->stride(N - 1)};
}

rt::SphereMotion motion_of(int64_t first, int64_t count, const std::optional<Given<2>>& positions,
                           const std::optional<Given<1>>& radii, const std::array<double, 9>& linear,
                           const std::array<double, 3>& offset, double scale) {
  rt::SphereMotion motion{first, count, numbers_of<2>(positions, 3, count), numbers_of<1>(radii, 1, count), {},
                          {},    scale};
  std::copy_n(linear.data(), 9, motion.linear[0]);
  std::copy_n(offset.data(), 3, motion.offset);
  return motion;
}

// The number of the first sphere that cannot be placed, or None.
std::optional<int64_t> place(const Given<2>& positions, const Given<1>& radii, const std::array<double, 9>& linear,
                             const std::array<double, 3>& offset, double scale,
                             const std::array<Out<float, 1>, 4>& columns, int threads) {
  const int64_t count = (int64_t)positions.shape(0);
  const rt::SphereMotion motion = motion_of(0, count, positions, radii, linear, offset, scale);
  rt::SphereColumns out{{}, 1};
  for (int k = 0; k < 4; ++k) out.column[k] = column_of(columns[k], count);
  int64_t bad = -1;
  interruptible([&](rt::Cancel* cancel) {
    rt::ThreadPool pool(rt::threads_for(count, threads), cancel);
    bad = rt::place_spheres(motion, out, pool);
  });
  return bad < 0 ? std::nullopt : std::optional(bad);
}

nb::tuple reach(const std::array<In<float, 1>, 4>& columns, const In<double, 2>& normals, const In<int64_t, 1>& skipped,
                const std::optional<std::array<double, 3>>& center, double limit, int threads) {
  rt::ReachQuery query{{},
                       (int64_t)columns[0].shape(0),
                       skipped.data(),
                       (int64_t)skipped.shape(0),
                       normals.data(),
                       (int64_t)normals.shape(0),
                       center ? center->data() : nullptr,
                       limit};
  for (int k = 0; k < 4; ++k) query.column[k] = column_of(columns[k], query.count);
  if (normals.shape(1) != 3) throw nb::value_error("normals: a normal has three numbers");
  rt::Reach r;
  interruptible([&](rt::Cancel* cancel) {
    rt::ThreadPool pool(rt::threads_for(query.count, threads), cancel);
    r = rt::reach_of(query, pool);
  });
  return nb::make_tuple(r.reached, r.far, r.farthest, r.distance);
}

// The spheres of a scene, their tree and their looks, checked once, when a scene is made: arrays of Python's. What
// is used as an index can no longer change then. A view (camera, lights, materials, frame) comes with each call
// and is checked against them.
class Scene {
 public:
  Scene(nb::object nodes, nb::object records, nb::object order, In<float, 2> color, nb::object color_id,
        nb::object material_id, nb::object large, nb::object emitters, nb::object opacity, nb::object sky,
        nb::object images)
      : nodes_(unchanging<uint8_t, 2>(nodes, "nodes")),
        spheres_(kept_records(records)),
        order_(unchanging<int32_t, 1>(order, "order")),
        color_(color),
        color_id_(unchanging<int32_t, 1>(color_id, "color_id")),
        material_id_(unchanging<int32_t, 1>(material_id, "material_id")),
        large_(Structs<rt::LargeSphere>(large).all()),
        emitters_(Structs<rt::Emitter>(emitters).all()),
        opacity_(unchanging<uint16_t, 1>(opacity, "opacity", sizeof(uint16_t))),
        sky_(Structs<rt::EnvironmentTexel>(sky).all()),
        images_(Structs<rt::ImageLattice>(images).all()) {
    const In<float, 2>& spheres = spheres_;
    const bool has_capsules = spheres.shape(1) == rt::kSolidFloats;
    if (nodes_.shape(1) != sizeof(rt::Node) || (!has_capsules && spheres.shape(1) != rt::kSphereFloats) ||
        order_.shape(0) > spheres.shape(0) || (!has_capsules && order_.shape(0) != spheres.shape(0)))
      throw nb::value_error("nodes, spheres and order are not those of one build_bvh");
    if (color.shape(1) != 3) throw nb::value_error("color: a colour has three numbers");
    check_aligned(spheres.data());
    check_aligned(color.data());
    tables_.order = order_.data(), tables_.color = color.data(), tables_.color_id = color_id_.data();
    tables_.material_id = material_id_.data(), tables_.large = large_.data(), tables_.emitters = emitters_.data();
    tables_.sky = sky_.data(), tables_.images = images_.empty() ? nullptr : images_.data();
    tables_.opacity = opacity_.shape(0) ? opacity_.data() : nullptr;
    tables_.nodes = nodes_.shape(0) ? (const rt::Node*)nodes_.data() : nullptr;
    tables_.spheres = spheres.data(), tables_.has_capsules = has_capsules;
    tables_.sphere_count = (int64_t)order_.shape(0);
    lengths_ = {.nodes = (int64_t)nodes_.shape(0),
                .spheres = (int64_t)order_.shape(0),
                .colors = (int64_t)color.shape(0),
                .color_ids = (int64_t)color_id_.shape(0),
                .material_ids = (int64_t)material_id_.shape(0),
                .large = (int64_t)large_.size(),
                .emitters = (int64_t)emitters_.size(),
                .opacities = (int64_t)opacity_.shape(0),
                .texels = (int64_t)sky_.size(),
                .materials = 0,
                .records = (int64_t)spheres.shape(0)};
    const char* problem;
    {
      nb::gil_scoped_release release;
      problem = rt::scene_problem(tables_, lengths_);
    }
    raise(problem);
  }

  int64_t nbytes() const {
    const int64_t tree = moving_ ? moving_->nbytes() : (int64_t)(nodes_.nbytes() + spheres_.nbytes() + order_.nbytes());
    return tree + (int64_t)(color_.nbytes() + color_id_.nbytes() + material_id_.nbytes() + opacity_.nbytes()) +
           (int64_t)(large_.size() * sizeof(rt::LargeSphere) + emitters_.size() * sizeof(rt::Emitter) +
                     sky_.size() * sizeof(rt::EnvironmentTexel));
  }

  int64_t render(nb::object camera, nb::object lights, nb::object materials, nb::object frame, Out<float, 3> film,
                 int64_t first_tile, double budget, int threads, std::optional<Out<float, 3>> draft) {
    Structs<rt::Camera> camera_view(camera);
    Structs<rt::Light> light(lights);
    Structs<rt::Material> material(materials);
    Structs<rt::Frame> frame_view(frame);
    rt::SceneView scene = seen(camera_view, frame_view);
    scene.lights = light.data(), scene.materials = material.data();
    raise(rt::view_problem(*scene.frame, lengths_, light.count(), material.count()));
    check_shape(frame_view.one().film, film, 4);
    if (first_tile < 0) throw nb::value_error("the first tile has number 0");
    scene.film = film.data();
    if (draft) check_draft(*draft, film), scene.draft = draft->data();
    int64_t next = first_tile;
    interruptible([&](rt::Cancel* cancel) {
      scene.cancel = cancel;
      next = rt::render(scene, first_tile, budget, threads);
    });
    return next;
  }

  void first_hits(nb::object camera, nb::object frame, Out<uint8_t, 3> out, int threads) {
    check_shape(Structs<rt::Frame>(frame).one().film, out, sizeof(rt::FirstHit));
    const rt::FirstHits to = {(rt::FirstHit*)out.data(), nullptr};
    trace_unlit(camera, frame, [=](const rt::SceneView& scene) { rt::first_hits(scene, to, threads); });
  }

  void first_numbers(nb::object camera, nb::object frame, Out<uint32_t, 3> out, int threads) {
    check_shape(Structs<rt::Frame>(frame).one().film, out, 1);
    const rt::FirstHits to = {nullptr, out.data()};
    trace_unlit(camera, frame, [=](const rt::SceneView& scene) { rt::first_hits(scene, to, threads); });
  }

  void exposures(nb::object camera, nb::object frame, Out<uint8_t, 2> out, int threads) {
    if (out.shape(1) != sizeof(rt::Exposure) || (int64_t)out.shape(0) > tables_.sphere_count)
      throw nb::value_error("out: is not of the spheres of the scene");
    rt::Exposure* to = (rt::Exposure*)out.data();
    const int64_t count = (int64_t)out.shape(0);
    trace_unlit(camera, frame, [=](const rt::SceneView& scene) { rt::exposures(scene, to, count, threads); });
  }

  void replace_sky(nb::object sky) {
    sky_ = Structs<rt::EnvironmentTexel>(sky).all();
    tables_.sky = sky_.data(), lengths_.texels = (int64_t)sky_.size();
  }

  nb::tuple tree() const {
    const int64_t rows = lengths_.records, floats = tables_.has_capsules ? rt::kSolidFloats : rt::kSphereFloats;
    return nb::make_tuple(copy_of((const uint8_t*)tables_.nodes, lengths_.nodes, (int64_t)sizeof(rt::Node)),
                          copy_of(tables_.order, tables_.sphere_count), copy_of(tables_.spheres, rows, floats));
  }

  double growth() const { return moving_ ? moving_->growth() : 1.0; }

  // None where a sphere cannot be placed; else whether the tree was built anew.
  std::optional<bool> move(std::optional<Given<2>> positions, std::optional<Given<1>> radii,
                           const std::array<double, 9>& linear, const std::array<double, 3>& offset, double scale,
                           int64_t first, int64_t count, const std::vector<int32_t>& apart, double limit, int threads) {
    if (first < 0 || count < 0 || first + count > tables_.sphere_count)
      throw nb::value_error("there are no such spheres");
    const rt::SphereMotion motion = motion_of(first, count, positions, radii, linear, offset, scale);
    std::optional<bool> built;
    interruptible([&](rt::Cancel* cancel) {
      if (!moving_) start_moving(apart, threads);
      struct Taken {  // also where a build was cancelled
        Scene* scene;
        ~Taken() { scene->take_tree(); }
      } taken{this};
      built = moving_->move(motion, limit, threads, cancel);
    });
    nodes_ = {}, spheres_ = {}, order_ = {};
    return built;
  }

 private:
  void start_moving(const std::vector<int32_t>& apart, int threads) {
    const rt::BuiltTree built = {tables_.nodes, lengths_.nodes,       tables_.spheres, lengths_.records,
                                 tables_.order, tables_.sphere_count, apart.data(),    (int64_t)apart.size()};
    moving_ = rt::MovingSpheres::make(tables_.has_capsules ? rt::kSolidFloats : rt::kSphereFloats, built, threads);
  }
  void take_tree() {
    tables_.nodes = moving_->nodes(), tables_.spheres = moving_->records(), tables_.order = moving_->order();
    lengths_.nodes = moving_->node_count();
  }
  rt::SceneView seen(const Structs<rt::Camera>& camera, const Structs<rt::Frame>& frame) const {
    rt::SceneView scene = tables_;
    scene.camera = &camera.one(), scene.frame = &frame.one();
    return scene;
  }
  // Calls trace(scene) without the interpreter lock, for rays that look at neither lights nor materials.
  template <class Trace> void trace_unlit(nb::object camera, nb::object frame, const Trace& trace) const {
    Structs<rt::Camera> camera_view(camera);
    Structs<rt::Frame> frame_view(frame);
    rt::SceneView scene = seen(camera_view, frame_view);
    const rt::Frame f = unlit(frame_view.one());
    scene.frame = &f;
    raise(rt::view_problem(f, lengths_, 0, 1));
    interruptible([&](rt::Cancel* cancel) {
      scene.cancel = cancel;
      trace(scene);
    });
  }
  template <class Array> static void check_shape(const rt::Film& f, const Array& out, size_t depth) {
    check_aligned(out.data());
    if ((int64_t)out.shape(0) != f.y1 - f.y0 || (int64_t)out.shape(1) != f.x1 - f.x0 || out.shape(2) != depth)
      throw nb::value_error("the film's shape is not that of the frame's crop");
  }

  In<uint8_t, 2> nodes_;
  In<float, 2> spheres_;
  In<int32_t, 1> order_;
  In<float, 2> color_;
  In<int32_t, 1> color_id_, material_id_;
  std::vector<rt::LargeSphere> large_;
  std::vector<rt::Emitter> emitters_;
  In<uint16_t, 1> opacity_;
  std::vector<rt::EnvironmentTexel> sky_;
  std::vector<rt::ImageLattice> images_;  // one, or none
  std::unique_ptr<rt::MovingSpheres> moving_;  // instead of nodes_, spheres_ and order_, once spheres have moved
  rt::SceneView tables_{};
  rt::SceneLengths lengths_{};
};

// The check of a view for scenes in the memory of a device, whose indices were checked when they were packed.
void check_view(nb::object camera, nb::object lights, nb::object materials, nb::object frame, int64_t spheres,
                int64_t colors, int64_t color_ids, int64_t material_ids, int64_t least_materials, int64_t large,
                int64_t emitters, int64_t opacities, int64_t texels, int64_t color_rows) {
  const rt::SceneLengths lengths = {0,        spheres,   colors, color_ids,       material_ids, large,
                                    emitters, opacities, texels, least_materials, color_rows};
  Structs<rt::Camera>(camera).one();
  const Structs<rt::Frame> frames(frame);
  if (lights.is_none()) return raise(rt::view_problem(unlit(frames.one()), lengths, 0, 1));
  const int64_t light_count = Structs<rt::Light>(lights).count();
  raise(rt::view_problem(frames.one(), lengths, light_count, Structs<rt::Material>(materials).count()));
}

bool needs_path_tracing(nb::object camera, nb::object lights, nb::object materials, nb::object frame) {
  const Structs<rt::Light> light(lights);
  const Structs<rt::Material> material(materials);
  const Structs<rt::Frame> frames(frame);
  const rt::Frame& f = frames.one();
  if (light.count() < f.scene.light_count || material.count() < f.scene.material_count)
    throw nb::value_error("lights, materials: fewer than the frame says");
  return rt::filters_hits(f) ||
         rt::needs_path_tracing(f, Structs<rt::Camera>(camera).one(), light.data(), material.data());
}

void check_histogram(const Out<uint8_t, 1>& histogram) {
  if (histogram.shape(0) != sizeof(rt::FilmHistogram) || (uintptr_t)histogram.data() % alignof(rt::FilmHistogram))
    throw nb::value_error("histogram: not one struct FilmHistogram");
}

// The bytes of a film and of what goes with it; throws where shapes or sizes do not fit.
void check_tone(const Structs<rt::ToneArgs>& args, const Out<uint8_t, 1>& histogram, const In<float, 3>& sums) {
  const rt::ToneArgs& a = args.one();
  check_aligned(sums.data());
  if (a.curve < 0 || a.curve >= rt::kToneCurveCount) throw nb::value_error("there is no such tone curve");
  if ((int64_t)sums.shape(0) != a.height || (int64_t)sums.shape(1) != a.width || sums.shape(2) != 4)
    throw nb::value_error("the sums' shape is not that of the arguments");
  check_histogram(histogram);
  if (a.samples < 1) throw nb::value_error("a film has at least one sample");
  if (a.width < 1 || a.height < 1) throw nb::value_error("a film has at least one pixel");
  if (a.bits != 8 && a.bits != 16) throw nb::value_error("bits must be 8 or 16");
}

void measure_film(In<float, 3> sums, nb::object arguments, Out<uint8_t, 1> histogram, int threads) {
  Structs<rt::ToneArgs> args(arguments);
  check_tone(args, histogram, sums);
  interruptible([&](rt::Cancel* cancel) {
    rt::measure_film(sums.data(), *args.data(), *(rt::FilmHistogram*)histogram.data(), threads, cancel);
  });
}

float meter(nb::object arguments, Out<uint8_t, 1> histogram) {
  check_histogram(histogram);
  return rt::metered_exposure_of(Structs<rt::ToneArgs>(arguments).one(), *(const rt::FilmHistogram*)histogram.data());
}

void tone_map_film(In<float, 3> sums, nb::object arguments, Out<uint8_t, 1> histogram,
                   nb::ndarray<nb::numpy, nb::ndim<3>, nb::c_contig> out, int threads) {
  Structs<rt::ToneArgs> args(arguments);
  check_tone(args, histogram, sums);
  if (out.dtype() != (args.data()->bits == 8 ? nb::dtype<uint8_t>() : nb::dtype<uint16_t>()))
    throw nb::type_error("out must be uint8 for 8 bits and uint16 for 16");
  for (size_t a = 0; a < 3; ++a)
    if (out.shape(a) != sums.shape(a)) throw nb::value_error("out and sums differ in shape");
  void* to = out.data();
  interruptible([&](rt::Cancel* cancel) {
    rt::tone_map_film(sums.data(), *args.data(), *(rt::FilmHistogram*)histogram.data(), to, threads, cancel);
  });
}

void denoise_draft(Out<float, 3> planes, Out<float, 3> sums, int threads) {
  check_draft(planes, sums);
  interruptible([&](rt::Cancel* cancel) {
    rt::denoise_draft(planes.data(), sums.data(), (int32_t)sums.shape(1), (int32_t)sums.shape(0), threads, cancel);
  });
}

// Cells are rows of four numbers: kind, place, width, offset; see `TextCell`.
nb::tuple parse_rows(In<uint8_t, 1> text, const std::string& split, int most, In<int32_t, 2> cells, int64_t first,
                     Out<double, 2> numbers, Out<uint8_t, 2> texts, const std::vector<std::string>& records,
                     const std::string& stop, int threads) {
  const size_t rows = numbers.shape(0);
  if (cells.shape(1) != 4 || texts.shape(0) != rows)
    throw nb::value_error("cells, numbers and texts do not fit each other");
  if (first < 0 || (size_t)first > rows) throw nb::value_error("there is no such first row");
  if (text.shape(0) && text.data()[text.shape(0) - 1] != '\n') throw nb::value_error("the text ends within a line");
  rt::TextLayout layout{rt::CellSplit::kSpaces, 0, most, {}, {}, nullptr};
  if (split == "fixed") layout.split = rt::CellSplit::kFixed;
  if (split.size() == 1) layout.split = rt::CellSplit::kSeparator, layout.separator = split[0];
  for (size_t i = 0; i < cells.shape(0); ++i) {
    const int32_t* c = cells.data() + 4 * i;
    const bool is_text = c[0] == (int32_t)rt::CellKind::kText;
    const size_t end = (size_t)c[3] + (is_text ? (size_t)c[2] : 1);
    if (c[0] < 0 || c[0] > 2 || c[1] < 0 || c[2] < 0 || c[3] < 0 || end > (is_text ? texts.shape(1) : numbers.shape(1)))
      throw nb::value_error("a cell lies outside of its rows");
    layout.cells.push_back({(rt::CellKind)c[0], c[1], c[2], c[3]});
  }
  for (const std::string& record : records) {
    if (record.size() != 6) throw nb::value_error("a record has six letters");
    layout.records.push_back(record.c_str());
  }
  if (stop.size() == 6) layout.stop = stop.c_str();
  rt::TextRows found;
  {
    nb::gil_scoped_release release;
    found = rt::parse_rows(layout, text.data(), text.shape(0), (int64_t)rows - first,
                           numbers.data() + (size_t)first * numbers.shape(1), numbers.shape(1),
                           texts.data() + (size_t)first * texts.shape(1), texts.shape(1), threads);
  }
  return nb::make_tuple(found.rows, found.consumed, found.stopped);
}

nb::object close_pairs(In<double, 2> points, In<int32_t, 1> kinds, In<double, 2> reaches, In<double, 2> box,
                       const std::vector<bool>& periodic, int threads) {
  const size_t n = points.shape(0);
  if (points.shape(1) != 3 || kinds.shape(0) != n || reaches.shape(0) != reaches.shape(1) || box.shape(0) != 4 ||
      box.shape(1) != 3 || periodic.size() != 3 || n > (size_t)INT32_MAX)
    throw nb::value_error("close_pairs: the arrays do not fit together");
  for (size_t i = 0; i < n; ++i)
    if (kinds.data()[i] < 0 || (size_t)kinds.data()[i] >= reaches.shape(0))
      throw nb::value_error("kinds: points outside of the table of reaches");
  rt::NeighborSearch search = {.points = points.data(),
                               .count = (int64_t)n,
                               .kinds = kinds.data(),
                               .reaches = reaches.data(),
                               .kind_count = (int64_t)reaches.shape(0),
                               .box = {},
                               .periodic = {periodic[0], periodic[1], periodic[2]},
                               .threads = threads,
                               .cancel = nullptr};
  std::copy_n(box.data(), 12, search.box);
  std::vector<rt::Pair> found;
  bool too_many = false;
  interruptible([&](rt::Cancel* cancel) {
    search.cancel = cancel;
    found = rt::close_pairs(search, too_many);
  });
  if (too_many) throw nb::value_error("close_pairs: too many");
  std::unique_ptr<int32_t[]> rows(new int32_t[5 * std::max(found.size(), (size_t)1)]);
  for (size_t i = 0; i < found.size(); ++i) {
    rows[5 * i] = found[i].a, rows[5 * i + 1] = found[i].b;
    std::copy_n(found[i].shift, 3, rows.get() + 5 * i + 2);
  }
  return own(std::move(rows), {found.size(), 5});
}

std::vector<std::string> isas() {
  int n;
  const rt::Isa* list = rt::usable_isas(&n);
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back(list[i].name);
  return names;
}

}  // namespace

NB_MODULE(_core, m) {
  // A scene may outlive the interpreter, in a thread that was not waited for; that is nothing to print.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled part of raytracer: BVH build, CPU rendering, tone mapping, reading of arrays.";
  m.def("layout", layout, "Shared structs: name -> (size, [(field, kind, count, offset)]).");
  m.def("enums", enums, "Choices: name of the enum -> {word: number}.");
  m.def("constants", constants, "Numbers of the kernels by name.");
  m.def("build_bvh", build_bvh, "columns"_a.noconvert(), "threads"_a, "large"_a = std::vector<int32_t>(),
        "rows"_a.noconvert() = nb::none(),
        "Columns x, y, z, radius of spheres, or these, half of the axis and tag of capsules, float32 (N,) each; rows: "
        "float32 (M, 8), the further numbers of solids, of which the first is row N -> "
        "nodes uint8 (M, 80), order int32 (N,), spheres float32 (N, 4) or (N, 8) in leaf order; all of them "
        "read-only.");
  m.def("place", place, "positions"_a, "radii"_a, "linear"_a, "offset"_a, "scale"_a, "columns"_a.noconvert(),
        "threads"_a,
        "Spheres to render space: positions (N, 3) and radii (N,) or (1,), float32 or float64 with any strides; linear "
        "(9,) and offset (3,) take positions there, scale radii, in float64. columns: x, y, z and radius, float32 (N,) "
        "each, which are written. Returns the number of the first sphere that is too far, too large, too small or not "
        "finite, or None.");
  m.def("reach", reach, "columns"_a.noconvert(), "normals"_a.noconvert(), "skipped"_a.noconvert(), "center"_a.none(),
        "limit"_a, "threads"_a,
        "How far spheres reach: columns x, y, z and radius, float32 (N,) each; normals float64 (P, 3); skipped int64 "
        "(S,), ascending numbers of spheres that do not count; center (3,): spheres farther from it than limit do not "
        "count either; None: all count -> max(n . c + r) for each normal, how many are too far, number and distance of "
        "the farthest.");
  nb::class_<Scene>(
      m, "Scene",
      "Spheres, their tree and their looks, checked once. The arrays are kept; those of indices are copied if they "
      "are writable.")
      .def(nb::init<nb::object, nb::object, nb::object, In<float, 2>, nb::object, nb::object, nb::object, nb::object,
                    nb::object, nb::object, nb::object>(),
           "nodes"_a, "spheres"_a, "order"_a, "color"_a.noconvert(), "color_id"_a, "material_id"_a, "large"_a,
           "emitters"_a, "opacity"_a, "sky"_a, "images"_a,
           "nodes uint8 (M, 80), spheres float32 (N, 4), with other solids (N + S, 8), order int32 (N,), color float32 "
           "(K, 3), color_id and material_id int32 (N,) or (0,), large LargeSphere (G,), emitters Emitter (E,), "
           "opacity uint16 (N,) or (0,), sky EnvironmentTexel (M,). Raises ValueError if the arrays do not fit "
           "together or an index in one points outside of another.")
      .def_prop_ro("nbytes", &Scene::nbytes, "Bytes of all arrays.")
      .def(
          "render", &Scene::render, "camera"_a, "lights"_a, "materials"_a, "frame"_a, "film"_a.noconvert(),
          "first_tile"_a, "budget_seconds"_a, "threads"_a, "draft"_a.noconvert() = nb::none(),
          "Adds the frame's samples to film, float32 (h, w, 4), from first_tile on; returns the first tile not "
          "rendered. draft: planes float32 (8, h + 32, w + 32), zero at first, that keep the ambient light of surfaces "
          "for denoise_draft, with one ray a surface; None adds it.")
      .def("replace_sky", &Scene::replace_sky, "sky"_a, "Takes another map of the environment, EnvironmentTexel (M,).")
      .def("move", &Scene::move, "positions"_a.none(), "radii"_a.none(), "linear"_a, "offset"_a, "scale"_a, "first"_a,
           "count"_a, "large"_a, "limit"_a, "threads"_a,
           "Moves spheres first to first + count - 1: positions (N, 3) and radii (N,) or (1,), float32 or float64 with "
           "any strides, or None; linear (9,) and offset (3,) take positions to render space, scale radii. large: "
           "numbers of spheres that are not in the tree, as for build_bvh. The tree is refitted, or built anew where "
           "what it grew at each call, added since the last build, is above `limit`. Returns whether it was built; "
           "None, and all stays as it was, where a sphere is too far, too large, too small or not finite. No render of "
           "the scene may run meanwhile.")
      .def("tree", &Scene::tree, "Copies of nodes, order and spheres as they are now; see build_bvh.")
      .def_prop_ro("growth", &Scene::growth,
                   "Surfaces of the boxes of the tree at its last refit, by those after it was built.")
      .def("first_hits", &Scene::first_hits, "camera"_a, "frame"_a, "out"_a.noconvert(), "threads"_a,
           "What the rays through the pixels' centres meet first: FirstHit as uint8 (h, w, 48).")
      .def("first_numbers", &Scene::first_numbers, "camera"_a, "frame"_a, "out"_a.noconvert(), "threads"_a,
           "The numbers of these hits alone: uint32 (h, w, 1).")
      .def("exposures", &Scene::exposures, "camera"_a, "frame"_a, "out"_a.noconvert(), "threads"_a,
           "How far the first spheres are exposed: Exposure as uint8 (N, 16), by number.");
  m.def("check_view", check_view, "camera"_a, "lights"_a.none(), "materials"_a.none(), "frame"_a, "spheres"_a,
        "colors"_a, "color_ids"_a, "material_ids"_a, "least_materials"_a, "large"_a, "emitters"_a, "opacities"_a = 0,
        "texels"_a = 0, "color_rows"_a = 0,
        "Raises ValueError for a view that does not fit a scene with arrays of these lengths, whose material ids ask "
        "for `least_materials`, and the capsules for `color_rows` rows of colours. lights None: for first hits, which "
        "look at neither lights nor materials.");
  m.def("needs_path_tracing", needs_path_tracing, "camera"_a, "lights"_a, "materials"_a, "frame"_a,
        "Whether a picture needs the kernels of path tracing, as opposed to those of Phong's materials alone.");
  m.def("tile_count", [](nb::object frame) { return rt::tile_count(Structs<rt::Frame>(frame).one().film); }, "frame"_a);
  m.def("measure_film", measure_film, "sums"_a.noconvert(), "arguments"_a, "histogram"_a.noconvert(), "threads"_a,
        "Fills a FilmHistogram, uint8 (1072,), from film sums float32 (h, w, 4): histogram, sums, metered exposure.");
  m.def("meter", meter, "arguments"_a, "histogram"_a.noconvert(),
        "The exposure in stops metered from a FilmHistogram.");
  m.def("tone_map_film", tone_map_film, "sums"_a.noconvert(), "arguments"_a, "histogram"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a,
        "Film sums float32 (h, w, 4) to code values, uint8 or uint16 (h, w, 4), straight alpha; counts into the "
        "FilmHistogram.");
  m.def("denoise_draft", denoise_draft, "draft"_a.noconvert(), "sums"_a.noconvert(), "threads"_a,
        "Adds the ambient light of a draft, filtered, to the film sums float32 (h, w, 4).");
  m.def("parse_rows", parse_rows, "text"_a.noconvert(), "split"_a, "most"_a, "cells"_a.noconvert(), "first"_a,
        "numbers"_a.noconvert(), "texts"_a.noconvert(), "records"_a, "stop"_a, "threads"_a,
        "Rows of a text, uint8 (N,), into numbers, float64 (R, K), and texts, uint8 (R, B), from row `first` on -> "
        "rows (-1 if the text is not regular), bytes of them, whether a line `stop` ended them.");
  m.def("close_pairs", close_pairs, "points"_a.noconvert(), "kinds"_a.noconvert(), "reaches"_a.noconvert(),
        "box"_a.noconvert(), "periodic"_a, "threads"_a,
        "Pairs of points, float64 (N, 3), that are not farther apart than reaches, float64 (K, K), of their kinds, "
        "int32 (N,), in a box of origin and edges, float64 (4, 3) -> int32 (M, 5): two numbers, and the shift of the "
        "second in edges. Raises ValueError if there are more than 64 pairs to a point.");
  m.def("read_dlpack", read_dlpack, "capsule"_a,
        "Array of a DLPack capsule -> address, shape, strides in items, code, bits and lanes of its type, kind and "
        "number of its device, owner of its memory. TypeError: a capsule that was used, or none.");
  m.def("make_dlpack", make_dlpack, "address"_a, "shape"_a, "strides"_a, "code"_a, "bits"_a, "device"_a, "owner"_a,
        "Object with __dlpack__ that describes memory; strides in items, device as kind and number.");
  m.def("isas", isas, "Usable instruction sets, best first.");
  m.def(
      "processor_isa", [] { return std::string(rt::processor_isa()); },
      "The best instruction set of this processor, compiled or not.");
  m.def("isa", [] { return std::string(rt::current_isa().name); });
  m.def(
      "use_isa",
      [](const std::string& name) {
        if (!rt::use_isa(name.c_str())) throw nb::value_error(("this CPU or build has no " + name).c_str());
      },
      "name"_a);
}
