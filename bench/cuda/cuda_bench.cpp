// SPDX-License-Identifier: Apache-2.0
// Times the GPU kernels and ViTs made of them; a JSON object per line on stdout, times in ms. The network is a ViT/16
// at 512 x 512 with a linear head of 150 classes, image to label map. Its weights are random, so the numbers of merged
// tokens are imposed: pairing is run and timed as ever, and then a list of pairs is used that leaves `counts` tokens.
//   cuda_bench [--rehearse]      with --rehearse tiny networks, each once: that all of it runs and prints, not how fast
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/launch_queue.h"
#include "kernels/cuda/merging.h"
#include "kernels/cuda/patch_embed.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/transformer_block.h"

namespace mpm::cuda {
namespace {

constexpr int kPatch = 16, kClasses = 150;

struct Size {
  const char* name;
  int dim, heads, blocks;
};

struct Scale {
  int side;
  int counts[2];  ///< image tokens that insertions before blocks 2 and 5 leave, as real street images do
  int pairing_dim;
  int repeats;
  Size sizes[4];

  int grid() const { return side / kPatch; }
  int patches() const { return grid() * grid(); }
};
constexpr Scale kReal = {
    512, {740, 540}, 768, 9, {{"T", 192, 3, 12}, {"S", 384, 6, 12}, {"B", 768, 12, 12}, {"L", 1024, 16, 24}}};
constexpr Scale kRehearsal = {
    64, {12, 9}, 64, 1, {{"T", 64, 1, 6}, {"S", 64, 1, 6}, {"B", 128, 2, 6}, {"L", 64, 1, 6}}};

// Uniform in [-limit, limit]; the same in every run.
std::vector<float> random(std::size_t count, float limit, std::uint64_t seed) {
  std::vector<float> values(count);
  std::uint64_t x = seed * 2654435769u + 1;
  for (float& value : values) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    value = limit * (static_cast<float>(x >> 40) * 0x1p-23f - 1);
  }
  return values;
}

// Median over repeats of the mean of a few calls in a row.
double milliseconds(const Stream& stream, int repeats, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&](int calls) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) work();
    stream.wait();
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / calls;
  };
  if (repeats == 1) return run(1);
  run(2);
  const int calls = std::clamp(static_cast<int>(20 / run(2)), 1, 100);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(run(calls));
  const auto middle = times.begin() + repeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Best neighbours of `from` image tokens of which from - to pairs are mutual, behind one class token, for every image.
Buffer<int> imposedPairs(const Stream& stream, int batch, int from, int to) {
  std::vector<int> best;
  for (int b = 0; b < batch; ++b) {
    best.push_back(0);
    for (int i = 0; i < from; ++i) best.push_back(i < 2 * (from - to) ? i ^ 1 : 0);
  }
  return uploaded(stream, best);
}

class Vit {
 public:
  Vit(const Stream& stream, const Scale& scale, const Size& size, Precision precision, int batch)
      : stream_(stream),
        gemm_(stream),
        scale_(scale),
        size_(size),
        precision_(precision),
        batch_(batch),
        embed_(makeEmbed()),
        resize_(stream, bilinearAxis(scale.grid(), scale.side), bilinearAxis(scale.grid(), scale.side)),
        normaliser_(stream, grey()) {
    const int d = size.dim;
    const float limit = 1 / std::sqrt(static_cast<float>(d));
    const auto qkv = random(area(3 * d, d), limit, 1), proj = random(area(d, d), limit, 2);
    const auto fc1 = random(area(4 * d, d), limit, 3), fc2 = random(area(d, 4 * d), limit / 2, 4);
    const std::vector<float> zeros(area(4, d)), ones(area(1, d), 1.0f);
    TransformerBlockSpec spec;
    spec.precision = precision;
    spec.dim = d;
    spec.heads = size.heads;
    spec.head_dim = d / size.heads;
    spec.scale = 1 / std::sqrt(static_cast<float>(spec.head_dim));
    spec.norm1 = spec.norm2 = {ones.data(), zeros.data(), 1e-6f};
    spec.qkv = {{qkv.data(), 3 * d, d}, zeros.data()};
    spec.proj = {{proj.data(), d, d}, zeros.data()};
    spec.fc1 = {{fc1.data(), 4 * d, d}, zeros.data()};
    spec.fc2 = {{fc2.data(), d, 4 * d}, zeros.data()};
    for (int i = 0; i < size.blocks; ++i) blocks_.emplace_back(stream, spec);
    const auto head = random(area(kClasses, d), limit, 5);
    head_ = Linear(stream, {head.data(), kClasses, d}, zeros.data(), precision);
    norm_ = Norm(stream, {ones.data(), zeros.data(), 1e-6f}, d);
    const std::size_t rows = area(batch, scale.patches() + 1);
    for (auto& tokens : tokens_) tokens.atLeast(stream, rows * static_cast<std::size_t>(d));
    normed_.atLeast(stream, rows * static_cast<std::size_t>(d) * 4);
    scores_.atLeast(stream, rows * kClasses);
    restored_.atLeast(stream, rows * kClasses);
    labels_.atLeast(stream, area(batch, pixels()));
    images_ = uploaded(stream, random(area(batch * 3, pixels()), 1, 6));
    bytes_.atLeast(stream, area(3, pixels()));
    for (int k = 0; k < 2; ++k)
      imposed_[k] = imposedPairs(stream, batch, k == 0 ? scale.patches() : scale.counts[0], scale.counts[k]);
  }

  // One image is a graph, up to the first merge, as in a net; with `launches` it is not.
  void forward(bool merging, bool launches = false) {
    stream_.queue().repeat(stream_, batch_ == 1 && !launches);
    embed_.run(stream_, gemm_, images_.data(), batch_, tokens_[0].data());
    state_.reset(stream_, batch_, scale_.patches(), 1);
    int at = 0;
    for (int block = 0; block < size_.blocks; ++block) {
      if (merging && (block == 2 || block == 5)) at = merge(block == 2 ? 0 : 1, at);
      blocks_[static_cast<std::size_t>(block)].run(stream_, gemm_, workspace_, state_.rows(), {}, tokens_[at].data());
    }
    norm_.run(stream_, state_.rows().total, Number::kFloat, tokens_[at].data(), operandOf(precision_), normed_.data());
    head_.run(stream_, gemm_, normed_.data(), state_.rows().total, Into::kFloat, scores_.data());
    restoreRows(stream_, scores_.data(), kClasses, state_, false, restored_.data());
    resize_.run(stream_, restored_.data(), batch_, kClasses, labels_.data());
    stream_.queue().flush(stream_);
  }

  // What merging adds: both insertions with their waits for the counts, and the way back.
  void mergingAlone() {
    state_.reset(stream_, batch_, scale_.patches(), 1);
    merge(1, merge(0, 0));
    restoreRows(stream_, scores_.data(), kClasses, state_, false, restored_.data());
  }

  // One image, its pixels on the host to its labels on the host.
  void forwardFromHost(PinnedBuffer<unsigned char>& image, PinnedBuffer<unsigned char>& labels, bool merging) {
    upload(stream_, image.data(), bytes_.data(), area(3, pixels()));
    normaliser_.run(stream_, bytes_.data(), pixels(), images_.data());
    forward(merging);
    download(stream_, labels_.data(), labels.data(), area(1, pixels()));
    stream_.wait();
  }

  /// Not 0: cuBLASLt left biases to kernels of ours, which read and write a whole result.
  long long biasKernels() const { return gemm_.biasKernels(); }
  long long refusedShapes() const { return gemm_.refusedShapes(); }

  // Tokens of the first block, for the pairing benchmark to stand on.
  void fillTokens() { embed_.run(stream_, gemm_, images_.data(), batch_, tokens_[0].data()); }

 private:
  PatchEmbed makeEmbed() const {
    const int d = size_.dim, depth = 3 * kPatch * kPatch;
    const auto weight = random(area(d, depth), 0.05f, 7), position = random(area(scale_.patches(), d), 1, 8),
               special = random(area(1, d), 1, 9);
    return {stream_,
            {.geometry = {3, scale_.side, scale_.side, kPatch, kPatch, kPatch, kPatch},
             .weight = {weight.data(), d, depth},
             .position = {position.data(), scale_.patches(), d},
             .special = {special.data(), 1, d},
             .precision = floatPrecision(precision_)}};
  }

  static PixelValues grey() {
    PixelValues values;
    for (auto& channel : values.of_byte)
      for (std::size_t byte = 0; byte < channel.size(); ++byte) channel[byte] = static_cast<float>(byte) / 127.5f - 1;
    values.image_channel = {2, 1, 0};
    return values;
  }

  int pixels() const { return scale_.side * scale_.side; }

  int merge(int insertion, int at) {
    merger_.findPairs(stream_, tokens_[at].data(), size_.dim, state_);
    merger_.mergePairs(stream_, tokens_[at].data(), size_.dim, imposed_[insertion].data(), state_,
                       tokens_[1 - at].data());
    state_.countRows();
    stream_.queue().repeat(stream_, false);
    return 1 - at;
  }

  const Stream& stream_;
  Gemm gemm_;
  const Scale& scale_;
  Size size_;
  Precision precision_;
  int batch_;
  PatchEmbed embed_;
  ResizeArgmax resize_;
  Normaliser normaliser_;
  std::vector<TransformerBlock> blocks_;
  Linear head_;
  BlockWorkspace workspace_;
  TokenState state_;
  MutualPairMerge merger_;
  Norm norm_;
  Buffer<float> tokens_[2], scores_, restored_, images_;
  Buffer<unsigned char> normed_, labels_, bytes_;
  Buffer<int> imposed_[2];
};

void benchmarkPairing(const Stream& stream, const Scale& scale) {
  const int batch = 32, dim = scale.pairing_dim, patches = scale.patches();
  const Buffer<float> x = uploaded(stream, random(area(batch * patches, dim), 1, 10));
  Buffer<float> merged(stream, area(batch * patches, dim));
  TokenState state;
  MutualPairMerge merge;
  const double whole = milliseconds(stream, scale.repeats, [&] {
    state.reset(stream, batch, patches, 0);
    merge.run(stream, x.data(), dim, state, merged.data());
    state.countRows();
  });
  std::printf("{\"what\": \"mpm_call\", \"batch\": %d, \"tokens\": %d, \"dim\": %d, \"ms\": %.4f}\n", batch, patches,
              dim, whole);
  Buffer<int> best(stream, area(batch, patches)), not_finite(stream, 1);
  clear(stream, not_finite.data(), sizeof(int));
  state.reset(stream, batch, patches, 0);
  for (const bool warpgroups : {false, true}) {
    if (warpgroups && !hasWarpgroupProducts(stream.device())) continue;
    Neighbours neighbours(warpgroups);
    const double ms = milliseconds(stream, scale.repeats, [&] {
      neighbours.find(stream, x.data(), dim, 0, state.rows(), best.data(), not_finite.data());
    });
    std::printf("{\"what\": \"pairing\", \"by\": \"%s\", \"batch\": %d, \"tokens\": %d, \"dim\": %d, \"ms\": %.4f}\n",
                warpgroups ? "warpgroups" : "warps", batch, patches, dim, ms);
  }
  if (stream.device().major < 8) return;
  Gemm gemm(stream);
  const auto weight = random(area(patches, dim), 1, 11);
  const Linear linear(stream, {weight.data(), patches, dim}, nullptr, Precision::kBf16);
  Buffer<Bfloat> narrow(stream, area(batch * patches, dim));
  Buffer<Bfloat> product(stream, area(batch * patches, patches));
  convert(stream, x.data(), narrow.capacity(), Number::kBfloat, narrow.data());
  const double ms = milliseconds(stream, scale.repeats, [&] {
    linear.run(stream, gemm, narrow.data(), batch * patches, Into::kOperand, product.data());
  });
  std::printf("{\"what\": \"gemm_of_the_same_size\", \"precision\": \"bf16\", \"ms\": %.4f, \"tflops\": %.1f}\n", ms,
              2.0 * batch * patches * patches * dim / ms * 1e-9);
  std::fflush(stdout);
}

// One layer of a whole ViT: packed rows of {q, k, v}, behind one class token.
void benchmarkAttention(const Stream& stream, const Scale& scale, Number number, int batch, int heads) {
  const int rows = scale.patches() + 1;
  const std::size_t width = area(heads, 64);
  TokenState state;
  state.reset(stream, batch, scale.patches(), 1);
  const Buffer<float> values = uploaded(stream, random(area(batch, rows) * 3 * width, 1, 12));
  Buffer<Half> qkv(stream, area(batch, rows) * 3 * width), out(stream, area(batch, rows) * width);
  convert(stream, values.data(), qkv.capacity(), number, qkv.data());
  AttentionCall call{heads, 64, 0.125f, nullptr, state.rows()};
  for (const bool warpgroups : {false, true}) {
    if (warpgroups && !hasWarpgroupProducts(stream.device())) continue;
    call.warpgroups = warpgroups;
    const double ms =
        milliseconds(stream, scale.repeats, [&] { attention(stream, call, number, qkv.data(), out.data()); });
    std::printf(
        "{\"what\": \"attention\", \"by\": \"%s\", \"batch\": %d, \"tokens\": %d, \"heads\": %d, \"ms\": %.4f, "
        "\"tflops\": "
        "%.1f}\n",
        warpgroups ? "warpgroups" : "warps", batch, rows, heads, ms,
        4.0 * batch * rows * rows * heads * 64 / ms * 1e-9);
  }
  std::fflush(stdout);
}

void benchmarkVit(const Stream& stream, const Scale& scale, const Size& size, Precision precision, const char* name,
                  int batch) {
  Vit vit(stream, scale, size, precision, batch);
  const auto time = [&](const auto& work) { return milliseconds(stream, scale.repeats, work); };
  const double full = time([&] { vit.forward(false); });
  const double merged = time([&] { vit.forward(true); });
  vit.fillTokens();
  const double merging = time([&] { vit.mergingAlone(); });
  double from_host[2] = {}, launches = 0;
  if (batch == 1) {
    launches = time([&] { vit.forward(false, true); });
    const std::size_t pixels = area(scale.side, scale.side);
    PinnedBuffer<unsigned char> image(stream, 3 * pixels), labels(stream, pixels);
    std::fill_n(image.data(), 3 * pixels, static_cast<unsigned char>(140));
    for (const bool merges : {false, true})
      from_host[merges] = time([&] { vit.forwardFromHost(image, labels, merges); });
  }
  std::printf(
      "{\"what\": \"vit\", \"size\": \"%s\", \"precision\": \"%s\", \"batch\": %d, \"full_ms\": %.4f, \"mpm_ms\": "
      "%.4f, \"merging_ms\": %.4f, \"bias_kernels\": %lld, \"refused_shapes\": %lld",
      size.name, name, batch, full, merged, merging, vit.biasKernels(), vit.refusedShapes());
  if (batch == 1) {
    std::printf(", \"full_launches_ms\": %.4f, \"host_full_ms\": %.4f, \"host_mpm_ms\": %.4f", launches, from_host[0],
                from_host[1]);
  }
  std::printf("}\n");
  std::fflush(stdout);
}

int run(const Scale& scale) {
  const std::vector<DeviceInfo> all = devices();
  if (all.empty()) throw std::runtime_error("no usable CUDA device here");
  const Stream stream(all.front().index);
  std::printf("{\"what\": \"device\", \"name\": \"%s\", \"capability\": \"%d.%d\", \"warpgroups\": %s}\n",
              all.front().name.c_str(), all.front().major, all.front().minor,
              hasWarpgroupProducts(all.front()) ? "true" : "false");
  int failed = 0;
  const auto attempt = [&](const char* what, const auto& work) {  // what fails does not stop what comes next
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cuda_bench: %s: %s\n", what, error.what());
      ++failed;
    }
  };
  const auto vit = [&](const Size& size, Precision precision, const char* name, int batch) {
    attempt((std::string("ViT-") + size.name + " " + name + " of " + std::to_string(batch)).c_str(),
            [&] { benchmarkVit(stream, scale, size, precision, name, batch); });
  };
  const bool bf16 = all.front().major >= 8;
  attempt("one call", [&] { benchmarkPairing(stream, scale); });
  const Number number = bf16 ? Number::kBfloat : Number::kHalf;
  attempt("attention of 32", [&] { benchmarkAttention(stream, scale, number, 32, scale.pairing_dim / 64); });
  attempt("attention of 1", [&] { benchmarkAttention(stream, scale, number, 1, scale.sizes[0].heads); });
  for (const Size& size : scale.sizes) {
    for (const int batch : {1, 32})
      vit(size, bf16 ? Precision::kBf16 : Precision::kFp16, bf16 ? "bf16" : "fp16", batch);
  }
  vit(scale.sizes[2], Precision::kFp32, "fp32", 32);
  if (bf16) vit(scale.sizes[2], Precision::kTf32, "tf32", 32);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mpm::cuda

int main(int count, char** words) {
  const bool rehearse = count == 2 && std::string_view(words[1]) == "--rehearse";
  if (count > 1 && !rehearse) {
    std::fprintf(stderr, "usage: cuda_bench [--rehearse]\n");
    return 2;
  }
  try {
    return mpm::cuda::run(rehearse ? mpm::cuda::kRehearsal : mpm::cuda::kReal);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_bench: %s\n", error.what());
    return 1;
  }
}
