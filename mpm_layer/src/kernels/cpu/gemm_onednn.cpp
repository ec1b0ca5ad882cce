// SPDX-License-Identifier: Apache-2.0
#include <omp.h>
#include <dnnl.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernels/cpu/rounding.h"
#include "kernels/cpu/tiles.h"
#include "kernels/instruction_set.h"
#include "kernels/linear.h"
#include "kernels/precision.h"
#include "kernels/scratch.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

using dnnl::memory;

// oneDNN's OpenMP threads would compete with the pool that runs our tasks. The setting belongs to the calling thread. A
// primitive reads it when it is created and when it runs.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// MPM_INSTRUCTION_SET limits oneDNN too, before its first primitive. The tiles of AMX are ours alone: with those of
// oneDNN a row's bytes depend on how many rows there are.
void limitInstructionSet() {
  static const bool once = [] {
    const bool asked = std::getenv("MPM_INSTRUCTION_SET") != nullptr, amx = availableInstructionSets().front() == "amx";
    const std::string set = asked ? instructionSet() : amx ? "amx" : "";
    if (set == "amx" || set == "avx512") dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    if (set == "avx2" || set == "avx_vnni") dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
    if (set == "sse4") dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
    return true;
  }();
  static_cast<void>(once);
}

bool cpuHas(dnnl::cpu_isa isa) {
  limitInstructionSet();
  const auto bits = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

// Never destroyed, like the products below: a program may end while one of its threads is still in a forward().
const dnnl::engine& engine() {
  limitInstructionSet();
  static const auto& cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return cpu;
}

// Runs `work` and turns the errors of oneDNN into errors that callers know.
template <class Work>
auto withOurErrors(Work work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    throw Error(std::string("oneDNN: ") + error.what());
  }
}

struct Shape {
  int rows, in, out;
  std::ptrdiff_t x_stride, y_stride;
  bool accumulate;
  Precision precision;
  auto operator<=>(const Shape&) const = default;  // NOLINT(modernize-use-nullptr): clang 14 compares with 0
};

struct Product {
  dnnl::matmul primitive;
  memory::desc x, weights, y, scratchpad;
};

memory::data_type dataType(Precision precision) {
  return precision == Precision::kBf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

Product makeProduct(const Shape& shape, const memory::desc& weights) {
  const OneThread one;
  const memory::desc x({shape.rows, shape.in}, dataType(shape.precision), memory::dims{shape.x_stride, 1});
  const memory::desc y({shape.rows, shape.out}, memory::data_type::f32, memory::dims{shape.y_stride, 1});
  const memory::desc bias({1, shape.out}, memory::data_type::f32, memory::format_tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (shape.accumulate) {
    dnnl::post_ops post;
    post.append_sum();
    attributes.set_post_ops(post);
  }
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc made(engine(), x, weights, bias, y, attributes);
#else
  const dnnl::matmul::primitive_desc made({x, weights, bias, y}, attributes, engine());
#endif
  return {dnnl::matmul(made), made.src_desc(), made.weights_desc(), made.dst_desc(), made.scratchpad_desc()};
}

// Layout of packed weights: the best one for the primitive of full height, used for every height. Where that is plain
// rows (below AVX-512, oneDNN 2.6 packs nothing), a row is 16 values longer: rows of 768 or 4096 values meet in a few
// sets of the cache. On a Zen 3, 256 rows times {768, 3072} run at 89 instead of 35 GFLOP/s (bench/kernels).
memory::desc packedLayout(int in, int out, Precision precision) {
  const memory::dims size{in, out};
  const memory::desc any(size, dataType(precision), memory::format_tag::any);
  memory::desc best = makeProduct({PackedLinear::kMaxRows, in, out, in, out, false, precision}, any).weights;
  if (best == memory::desc(size, dataType(precision), memory::format_tag::ab))
    best = memory::desc(size, dataType(precision), memory::dims{out + 16, 1});
  return best;
}

// Process-wide: all blocks of a ViT share a handful of shapes.
const Product& product(const Shape& shape, const memory::desc& weights) {
  static auto& mutex = *new std::mutex;
  static auto& products = *new std::map<Shape, Product>;  // references stay valid
  const std::lock_guard lock(mutex);
  auto found = products.find(shape);
  if (found == products.end()) found = products.emplace(shape, makeProduct(shape, weights)).first;
  return found->second;
}

// Cache of a thread for one shape: the memory objects that point at the operands of the current call.
struct Call {
  const Product* product = nullptr;
  memory x, y, scratchpad;
  std::unordered_map<int, memory> arguments;
};

struct ThreadState {
  dnnl::stream stream{engine()};
  std::map<Shape, Call> calls;
  Scratch<unsigned char> scratchpad;
  Scratch<float> x_tail, y_tail, x_dense, y_dense, x_rounded;
  Scratch<std::uint16_t> x_bf16;
};

Call& callFor(ThreadState& state, const Shape& shape, const memory::desc& weights) {
  const auto found = state.calls.find(shape);
  if (found != state.calls.end()) return found->second;
  Call call;
  call.product = &product(shape, weights);
  call.x = memory(call.product->x, engine(), nullptr);
  call.y = memory(call.product->y, engine(), nullptr);
  call.scratchpad = memory(call.product->scratchpad, engine(), nullptr);
  call.arguments = {{DNNL_ARG_SRC, call.x},
                    {DNNL_ARG_DST, call.y},
                    {DNNL_ARG_SCRATCHPAD, call.scratchpad},
                    {DNNL_ARG_WEIGHTS, memory()},
                    {DNNL_ARG_BIAS, memory()}};
  return state.calls.emplace(shape, std::move(call)).first->second;
}

}  // namespace

const int PackedLinear::kRowUnit = 16;

namespace {

// How many of these rows, a multiple of kRowUnit, the first call multiplies; a second one does the others. Below
// AVX-512 oneDNN multiplies six rows at once and then the rest. A rest of two is added up in another order, and the
// bytes of a row would depend on the height. With 16 rows less the rest is four, and that of the 16 is four, too.
int rowsOfFirstCall(int rows) {
  static const bool six_at_once = !cpuHas(dnnl::cpu_isa::avx512_core);
  return six_at_once && rows % 6 == 2 ? rows - PackedLinear::kRowUnit : rows;
}

}  // namespace

struct PackedLinear::Impl {
  int in, out;
  Precision precision;          // of the products
  bool rounds_to_int8 = false;  // for products in fp32, on a CPU without int8
  Scratch<float> bias_values;
  Scratch<unsigned char> packed;
  memory weights, bias;
  std::optional<TileLinear> tiles;  // in place of oneDNN: int8, and bf16 with AMX

  void pack(MatrixView<const float> weight, const float* given_bias, Precision wanted);
  void run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const;

  // `x` of the precision's type, rows a multiple of kRowUnit.
  void multiply(ThreadState& state, const void* x, std::ptrdiff_t x_stride, int rows, void* y, std::ptrdiff_t y_stride,
                bool accumulate) const {
    Call& call = callFor(state, {rows, in, out, x_stride, y_stride, accumulate, precision}, weights.get_desc());
    call.x.set_data_handle(const_cast<void*>(x));
    call.y.set_data_handle(y);
    call.scratchpad.set_data_handle(state.scratchpad.atLeast(call.product->scratchpad.get_size() + 1));
    call.arguments.find(DNNL_ARG_WEIGHTS)->second = weights;
    call.arguments.find(DNNL_ARG_BIAS)->second = bias;
    call.product->primitive.execute(state.stream, call.arguments);
    // The cache of a thread outlives the net, but must not keep its weights.
    call.arguments.find(DNNL_ARG_WEIGHTS)->second = memory();
    call.arguments.find(DNNL_ARG_BIAS)->second = memory();
  }

  void multiply(ThreadState& state, MatrixView<const float> x, int rows, float* y, std::ptrdiff_t y_stride,
                bool accumulate) const {
    if (precision == Precision::kFp32) return multiply(state, x.data, x.stride, rows, y, y_stride, accumulate);
    std::uint16_t* rounded = state.x_bf16.atLeast(static_cast<std::size_t>(kMaxRows) * in);
    for (int i = 0; i < rows; ++i) toBf16(x.row(i), rounded + static_cast<std::ptrdiff_t>(i) * in, in);
    multiply(state, rounded, in, rows, y, y_stride, accumulate);
  }
};

void PackedLinear::Impl::pack(MatrixView<const float> weight, const float* given_bias, Precision wanted) {
  const OneThread one;
  in = weight.cols;
  out = weight.rows;
  const TileKernel* const kernel = wanted != Precision::kFp32 ? tileKernel(wanted) : nullptr;
  if (kernel != nullptr) {
    tiles.emplace(*kernel, weight, given_bias);
    return;
  }
  rounds_to_int8 = wanted == Precision::kInt8;
  precision = rounds_to_int8 ? Precision::kFp32 : wanted;
  Scratch<float> rounded;
  if (rounds_to_int8) weight = roundedToInt8(weight, rounded);

  float* values = bias_values.atLeast(out);
  if (given_bias != nullptr)
    std::copy_n(given_bias, out, values);
  else
    std::fill_n(values, out, 0.0f);
  bias = memory({{1, out}, memory::data_type::f32, memory::format_tag::ab}, engine(), values);

  // {in, out} to oneDNN is {out, in} to us, transposed: the same bytes with the strides exchanged.
  memory given({{in, out}, memory::data_type::f32, memory::dims{1, weight.stride}}, engine(),
               const_cast<float*>(weight.data));
  const memory::desc layout = packedLayout(in, out, precision);
  weights = memory(layout, engine(), packed.atLeast(layout.get_size()));
  dnnl::stream stream(engine());
  dnnl::reorder(given, weights).execute(stream, given, weights);
  stream.wait();
}

void PackedLinear::Impl::run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const {
  if (tiles) return tiles->run(x, y, accumulate);
  const OneThread one;
  thread_local ThreadState state;
  if (rounds_to_int8) x = roundedToInt8(x, state.x_rounded);
  // Rows with a stride: oneDNN 2.6 falls back to a reference loop (a thousand times slower, and it rounds
  // differently). 3.7 on AVX-512 ignores the stride when it writes a single column.
  if (y.stride != out) {
    const MatrixView<float> dense(state.y_dense.atLeast(static_cast<std::size_t>(x.rows) * out), x.rows, out);
    if (accumulate) copyRows(y, dense);
    run(x, dense, accumulate);
    return copyRows(dense, y);
  }
  if (x.stride != in && precision == Precision::kFp32) {  // bf16 is copied anyway
    const MatrixView<float> dense(state.x_dense.atLeast(static_cast<std::size_t>(x.rows) * in), x.rows, in);
    copyRows(x, dense);
    return run(dense, y, accumulate);
  }
  const int whole = x.rows / kRowUnit * kRowUnit, first = rowsOfFirstCall(whole);
  if (first > 0) multiply(state, x, first, y.data, y.stride, accumulate);
  if (first < whole)
    multiply(state, x.rowRange(first, whole), whole - first, y.rowRange(first, whole).data, y.stride, accumulate);
  if (whole == x.rows) return;
  const std::size_t x_size = static_cast<std::size_t>(kRowUnit) * in, y_size = static_cast<std::size_t>(kRowUnit) * out;
  const MatrixView<float> x_tail(state.x_tail.atLeast(x_size), kRowUnit, in);
  const MatrixView<float> y_tail(state.y_tail.atLeast(y_size), kRowUnit, out);
  const MatrixView<float> y_rest = y.rowRange(whole, x.rows);
  std::fill_n(x_tail.data, x_size, 0.0f);
  copyRows(x.rowRange(whole, x.rows), x_tail);
  if (accumulate) {
    std::fill_n(y_tail.data, y_size, 0.0f);
    copyRows(y_rest, y_tail);
  }
  multiply(state, x_tail, kRowUnit, y_tail.data, out, accumulate);
  copyRows(y_tail.rowRange(0, y_rest.rows), y_rest);
}

PackedLinear::PackedLinear(MatrixView<const float> weight, const float* bias, Precision precision)
    : impl_(std::make_shared<Impl>()) {
  requireOnCpu(precision);
  withOurErrors([&] { impl_->pack(weight, bias, multipliedIn(precision)); });
}

void PackedLinear::run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const {
  withOurErrors([&] { impl_->run(x, y, accumulate); });
}

int PackedLinear::in() const { return impl_->in; }
int PackedLinear::out() const { return impl_->out; }

void multiply(const Operand& a, const Operand& b, MatrixView<float> c, bool accumulate) {
  limitInstructionSet();
  const OneThread one;
  const auto order = [](const Operand& of) { return of.transposed ? 'T' : 'N'; };
  withOurErrors([&] {
    const dnnl_status_t status =
        dnnl_sgemm(order(a), order(b), c.rows, c.cols, a.cols(), 1.0f, a.view.data, a.view.stride, b.view.data,
                   b.view.stride, accumulate ? 1.0f : 0.0f, c.data, c.stride);
    dnnl::error::wrap_c_api(status, "a matrix product failed");
  });
}

bool cpuHasBf16() {
  static const bool has = cpuHas(dnnl::cpu_isa::avx512_core_bf16);
  return has;
}

}  // namespace mpm
