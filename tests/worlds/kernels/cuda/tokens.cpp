// SPDX-License-Identifier: Apache-2.0
// What happens to packed rows outside blocks and merges: patches in, states, other rows in front, means, the full grid.
#include "tokens.h"

#include "kernels/cuda/added_rows.h"
#include "kernels/cuda/mask_scores.h"
#include "kernels/cuda/patch_embed.h"
#include "product_case.h"

namespace mpm::cuda::worlds {
namespace {

/// What `state` must be: those `images`, of which of the only one no more rows are there than `computed` says.
void checkState(Trial& trial, const TokenState& state, const std::vector<RandomState>& images, int special,
                const std::optional<std::vector<int>>& computed) {
  const int batch = static_cast<int>(images.size()), patches = images[0].patches;
  std::vector<int> offsets = {0}, live, map, all_rows;
  std::vector<float> blobs;
  int longest = 0;
  bool gaps = false;
  for (const RandomState& image : images) {
    live.push_back(computed ? static_cast<int>(computed->size()) : image.live);
    offsets.push_back(offsets.back() + special + live.back());
    longest = std::max(longest, special + live.back());
    map.insert(map.end(), image.map.begin(), image.map.end());
    std::vector<float> blob = image.blob();
    std::fill(blob.begin() + 1 + patches + image.live, blob.end(), 0.0f);
    blobs.insert(blobs.end(), blob.begin(), blob.end());
    gaps = gaps || std::count(image.sizes.begin(), image.sizes.end(), 0) > 0;
  }
  const int all = computed ? special + images[0].live : offsets.back();
  const bool part = computed && live[0] < images[0].live;
  trial.require(state.patches() == patches && state.special() == special && state.liveRows() == live &&
                    state.rows().batch == batch && state.rows().total == offsets.back() &&
                    state.rows().longest == longest && state.allRows() == all && state.isPart() == part &&
                    state.hasGaps() == gaps,
                "has other sides");
  trial.require(fetched(stream(), state.rows().offsets, offsets.size()) == offsets, "puts images in other places");
  trial.require(fetched(stream(), state.clusterOfPatch(), map.size()) == map, "puts patches in other rows");
  for (int b = 0; b < batch; ++b) {
    trial.require(
        fetched(stream(), state.sizes() + area(b, patches), images[size(b)].sizes.size()) == images[size(b)].sizes,
        "has other sizes");
  }
  trial.require((state.computed() != nullptr) == part, "has other rows");
  if (part) trial.require(fetched(stream(), state.computed(), computed->size()) == *computed, "has other rows");
  if (batch == 1) {
    std::vector<float> list(size(1 + live[0]) + 1, -3.0f), expected = {static_cast<float>(live[0])};
    for (int i = 0; i < live[0]; ++i) expected.push_back(static_cast<float>(part ? (*computed)[size(i)] : i));
    expected.push_back(-3.0f);
    state.writeComputed(list.data());
    trial.require(list == expected, "lists other rows");
  }
  const bool proportional = trial.random.chance(2);
  const Buffer<float> bias(stream(), size(all));
  state.keyBias(stream(), proportional, bias.data());
  const std::vector<float> found = now(bias);
  std::size_t next = 0;
  for (const RandomState& image : images) {
    for (int i = 0; i < special + image.live; ++i) {
      const float value = found[next++];
      const int patches_of_row = i < special ? 1 : image.sizes[size(i - special)];
      if (patches_of_row == 0)
        trial.require(value < -1e20f && std::isfinite(2 * value), "takes a row without patches for a key");
      else
        trial.near(static_cast<double>(value), proportional ? std::log(static_cast<double>(patches_of_row)) : 0, 1e-6);
    }
  }
  // As the host has it, and each part alone.
  const int width = 1 + 2 * patches, wanted = trial.random.oneOf({7, 1, 2, 4});
  const Buffer<float> floats = uploaded(stream(), std::vector<float>(area(batch, width), -3.0f));
  writeState(stream(), state,
             {wanted & 1 ? floats.data() : nullptr, wanted & 2 ? floats.data() + 1 : nullptr,
              wanted & 4 ? floats.data() + 1 + patches : nullptr, width, width, width});
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    const auto column = static_cast<int>(i) % width;
    if ((wanted & (column == 0 ? 1 : column <= patches ? 2 : 4)) == 0) blobs[i] = -3;
  }
  trial.require(now(floats) == blobs, "is written in another way");
}

void fillStates(Trial& trial, TokenState& state, TokenState& copied, TokenState& whole) {
  Random& random = trial.random;
  const int patches = random.size(1, random.chance(6) ? 600 : 80), special = random.size(0, 3),
            other = random.size(0, 5);
  std::vector<RandomState> images = Tokens::randomImages(random, patches);
  const bool fresh = random.chance(3), part = random.chance(2);
  std::optional<std::vector<int>> computed;
  if (fresh || part) {
    if (part) images.resize(1, images[0]);
    for (RandomState& image : images) {
      if (fresh) image = RandomState(random, patches, patches);
      if (fresh) std::iota(image.map.begin(), image.map.end(), 0);
      if (fresh || image.live == patches || random.chance(2)) continue;
      const int row = random.size(0, image.live++);  // without patches
      for (int& of_patch : image.map) of_patch += of_patch >= row ? 1 : 0;
      image.sizes.insert(image.sizes.begin() + row, 0);
    }
  }
  const unsigned share = random.bits() % 5;
  if (part) computed.emplace();
  for (int i = 0; part && i < images[0].live; ++i)
    if (random.bits() % 4 < share) computed->push_back(i);
  std::vector<float> list(1 + size(patches), 9.0f);
  if (computed) {
    list[0] = static_cast<float>(computed->size());
    std::copy(computed->begin(), computed->end(), list.begin() + 1);
  }
  if (!fresh) readStates(state, images, special, part ? list.data() : nullptr);
  if (fresh && part) state.reset(stream(), patches, special, *computed);
  if (fresh && !part) state.reset(stream(), static_cast<int>(images.size()), patches, special);
  checkState(trial, state, images, special, computed);
  copied.assign(stream(), state, other);
  whole.assignAll(stream(), copied);
  checkState(trial, copied, images, other, computed);
  checkState(trial, whole, images, other, {});
  checkState(trial, state, images, special, computed);
  for (const float cluster : {-1.0f, static_cast<float>(images[0].live), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> foreign = images[0].blob();
    foreign[size(patches)] = cluster;
    trial.refuses(
        [&] {
          state.read(stream(), {foreign.data(), 1, 1 + 2 * patches}, 0);
        },
        "patch " + std::to_string(patches - 1) + " of image 0");
  }
}

/// The memory of a batch serves the next.
void tryTokenState(Trial& trial) {
  TokenState states[3];
  for (int batch = 0; batch < 3; ++batch) fillStates(trial, states[0], states[1], states[2]);
}

void tryRestoreRows(Trial& trial) {
  const Tokens tokens(trial, trial.random.size(0, 3), trial.random.size(1, 40));
  const bool keep = trial.random.chance(2);
  const int kept = keep ? tokens.special : 0, rows = kept + tokens.patches;
  const Buffer<float> restored(stream(), area(tokens.batch() * rows, tokens.dim));
  restoreRows(stream(), tokens.x.data(), tokens.dim, tokens.state, keep, restored.data());
  const std::vector<float> found = now(restored);
  for (int b = 0; b < tokens.batch(); ++b) {
    for (int i = 0; i < rows; ++i) {
      const int row = i < kept ? i : tokens.special + tokens.images[size(b)].map[size(i - kept)];
      trial.same<float>({found.data() + area(b * rows + i, tokens.dim), 1, tokens.dim},
                        tokens.image(b).rowRange(row, row + 1), "restores another row");
    }
  }
}

/// In place of special rows that are there, or in front of them.
void tryPutInFront(Trial& trial) {
  Tokens tokens(trial, trial.random.size(0, 3), trial.random.size(1, 40));
  const int count = trial.random.size(0, 9), special = count + trial.random.size(0, tokens.special), dim = tokens.dim;
  const std::vector<float> front = trial.memory.normal(area(count, dim));
  const Buffer<float> device_front = uploaded(stream(), front);
  TokenState after;
  after.assign(stream(), tokens.state, special);
  const Buffer<float> y(stream(), area(after.rows().total, dim));
  putInFront(stream(), tokens.x.data(), dim, tokens.state, device_front.data(), count, after, y.data());
  const std::vector<float> found = now(y);
  const float* next = found.data();
  for (int b = 0; b < tokens.batch(); ++b) {
    for (int i = 0; i < special + tokens.images[size(b)].live; ++i, next += dim) {
      const float* const expected =
          i < count ? front.data() + area(i, dim) : tokens.image(b).row(tokens.special + i - special);
      trial.require(std::equal(next, next + dim, expected), "puts other rows there");
    }
  }
}

void tryPooling(Trial& trial) {
  const Tokens tokens(trial, trial.random.size(1, 3), trial.random.size(1, 40));
  const int first = trial.random.size(0, tokens.special - 1), count = trial.random.size(1, tokens.special - first),
            dim = tokens.dim;
  const Buffer<float> front(stream(), area(tokens.batch() * count, dim)), pooled(stream(), area(tokens.batch(), dim));
  gatherSpecialRows(stream(), tokens.x.data(), dim, tokens.state, first, count, front.data());
  meanOverPatches(stream(), tokens.x.data(), dim, tokens.state, pooled.data());
  const std::vector<float> rows = now(front), mean = now(pooled);
  for (int b = 0; b < tokens.batch(); ++b) {
    trial.same<float>({rows.data() + area(b * count, dim), count, dim}, tokens.image(b).rowRange(first, first + count),
                      "gathers other rows");
    for (int c = 0; c < dim; ++c) {
      double sum = 0;  // of the restored grid
      for (const int row : tokens.images[size(b)].map)
        sum += static_cast<double>(tokens.image(b).row(tokens.special + row)[c]);
      trial.near(static_cast<double>(mean[area(b, dim) + size(c)]), sum / tokens.patches, 2e-6);
    }
  }
}

/// Of the last state alone, equal shares; of a state per merge, the mean of means.
void tryAddedRows(Trial& trial) {
  Random& random = trial.random;
  const int patches = random.size(1, 80), special = random.size(0, 3), dim = random.size(1, 40),
            batch = random.size(1, 3), merges = random.size(1, 3);
  std::vector<std::vector<RandomState>> images(size(merges));
  std::vector<std::vector<double>> shares;
  const bool alone = random.chance(3), with_special = random.chance(2), one = random.chance(2);
  for (int b = 0; b < batch; ++b) {
    RandomState state(random, patches, patches);
    std::iota(state.map.begin(), state.map.end(), 0);
    std::vector<std::vector<int>> joins;
    for (std::vector<RandomState>& of_merge : images) {
      joins.push_back(RandomState::joined(random, state.live, random.size(1, state.live)));
      state = state.merged(joins.back());
      of_merge.push_back(state);
    }
    shares.push_back(RandomState::shares(alone ? std::vector<std::vector<int>>{state.map} : joins));
  }
  std::vector<TokenState> states(size(merges));
  std::vector<const TokenState*> pointers;
  for (int i = 0; i < merges; ++i) {
    readStates(states[size(i)], images[size(i)], special);
    if (!alone || i == merges - 1) pointers.push_back(&states[size(i)]);
  }
  const Ragged rows = states.back().rows();
  const Packed x(Tokens::rowsOf(images.back(), special), dim, Number::kFloat,
                 trial.memory.normal(area(rows.total, dim)));
  const int front = with_special ? special : 0;
  const std::vector<float> added = trial.memory.normal(area((one ? 1 : batch) * (front + patches), dim));
  const Buffer<float> device_added = uploaded(stream(), added);
  AddedRows().run(stream(), pointers, device_added.data(), with_special, one, dim, x.data());
  const std::vector<float> found = x.values.now();
  for (int b = 0; b < batch; ++b) {
    Reference expected(x.image(x.values.rounded, b));
    const float* row = added.data() + (one ? 0 : area(b * (front + patches), dim));
    for (int i = 0; i < front + patches; ++i, row += dim) {
      for (int c = 0; c < dim; ++c) {
        const int patch = i - front, to = patch < 0 ? i : special + images.back()[size(b)].map[size(patch)];
        expected.at(to, c) += (patch < 0 ? 1 : shares[size(b)][size(patch)]) * static_cast<double>(row[c]);
      }
    }
    trial.near(x.image(found, b), expected, 3e-6);
  }
}

void tryAttentionPool(Trial& trial) {
  Random& random = trial.random;
  const Tokens tokens(trial, random.size(0, 3), random.size(1, 40));
  const int heads = random.size(1, 4), head_dim = random.size(1, 12), width = heads * head_dim, dim = tokens.dim;
  const MatrixView<const float> keys = trial.memory.inputRows(heads, dim, 0.5f, true),
                                values = trial.memory.inputRows(width, dim, 1, true);
  const float* const bias = trial.memory.inputOf(size(width));
  Gemm gemm(stream());
  const Buffer<float> pooled(stream(), area(tokens.batch(), width));
  AttentionPool(stream(), keys, values, bias).run(stream(), gemm, tokens.x.data(), tokens.state, pooled.data());
  const std::vector<float> found = now(pooled);
  for (int b = 0; b < tokens.batch(); ++b) {
    const Reference x(tokens.image(b));
    const Reference logits = mpm::test::linear(x, {keys}), own = mpm::test::linear(x, {values, bias});
    for (int j = 0; j < width; ++j) {
      double total = 0, sum = 0;
      for (int i = 0; i < x.rows; ++i) {
        const int counts = i < tokens.special ? 1 : tokens.images[size(b)].sizes[size(i - tokens.special)];
        const double weight = std::exp(logits.at(i, j / head_dim)) * counts;
        total += weight;
        sum += weight * own.at(i, j);
      }
      trial.near(static_cast<double>(found[area(b, width) + size(j)]), sum / total, 5e-5);
    }
  }
}

void tryMaskScores(Trial& trial) {
  Random& random = trial.random;
  const int classes = random.size(2, 60), depth = random.size(2, 40);
  Tokens tokens(trial, classes, random.size(2, 40));
  const Precision precision = random.oneOf({Precision::kFp32, Precision::kFp32, Precision::kFp16});
  TokenState patches;
  patches.assign(stream(), tokens.state, 0);
  const MatrixView<const float> patch = trial.memory.inputRows(depth, tokens.dim, 1, true),
                                of_class = trial.memory.inputRows(depth, tokens.dim, 1, true);
  const NormWeights norm{trial.memory.inputOf(size(classes)), trial.memory.inputOf(size(classes)), 0.1f};
  MaskScores scores(stream(), patch, of_class, norm, classes, precision);
  Gemm gemm(stream());
  const Buffer<float> y(stream(), area(patches.rows().total, classes));
  scores.run(stream(), gemm, tokens.x.data(), tokens.state, patches, y.data());
  const std::vector<float> found = now(y);
  int next = 0;
  for (int b = 0; b < tokens.batch(); ++b) {
    const Reference image(tokens.image(b));
    const Reference expected =
        mpm::test::maskScores(image.rowRange(0, classes), image.rowRange(classes, image.rows), of_class, patch, norm);
    trial.near({found.data() + area(next, classes), expected.rows, classes}, expected,
               precision == Precision::kFp32 ? 5e-5 : 0.05);
    next += expected.rows;
  }
  TokenState fewer;
  fewer.assign(stream(), tokens.state, classes - 1);
  trial.refuses([&] { scores.run(stream(), gemm, tokens.x.data(), fewer, patches, y.data()); }, "class");
}

void tryRotaryTables(Trial& trial) {
  Random& random = trial.random;
  const int patches = random.size(1, 60), tables = random.size(1, 3), pairs = random.size(1, 9),
            columns = 2 * tables * pairs;
  const auto policy = random.oneOf({MergedPositions::kMean, MergedPositions::kCentroid, MergedPositions::kFirst});
  const MatrixView<const float> cosine = trial.memory.inputRows(tables * patches, pairs, 1, true),
                                sine = trial.memory.inputRows(tables * patches, pairs, 1, true);
  std::vector<RandomState> images = Tokens::randomImages(random, patches);
  const bool part = random.chance(2);
  if (part) images.resize(1, images[0]);
  std::vector<int> computed;
  std::vector<float> list = {0};
  const unsigned share = random.bits() % 5;
  for (int i = 0; i < images[0].live; ++i)
    if (random.bits() % 4 < share) computed.push_back(i);
  list[0] = static_cast<float>(computed.size());
  list.insert(list.end(), computed.begin(), computed.end());
  TokenState state;
  readStates(state, images, 0, part ? list.data() : nullptr);
  const Buffer<float> rotations(stream(), area(state.rows().total, columns));
  RotaryTables(stream(), policy, cosine, sine).run(stream(), state, rotations.data());
  const std::vector<float> found = now(rotations);
  const float* next = found.data();
  for (const RandomState& image : images) {
    const Reference all = mpm::worlds::mergedRotations(policy, cosine, sine, image);
    for (int i = 0; i < image.live; ++i) {
      if (part && std::find(computed.begin(), computed.end(), i) == computed.end()) continue;
      trial.near({next, 1, columns}, all.rowRange(i, i + 1), 1e-6);
      next += columns;
    }
  }
}

void tryNormaliser(Trial& trial) {
  Random& random = trial.random;
  PixelValues values;
  for (auto& of_channel : values.of_byte)
    for (float& value : of_channel) value = random.normal(1);
  values.image_channel = random.oneOf({std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{1, 2, 0}});
  const int count = random.size(1, 5000);
  std::vector<unsigned char> pixels;
  for (int i = 0; i < 3 * count; ++i) pixels.push_back(static_cast<unsigned char>(random.bits()));
  const Buffer<unsigned char> device_pixels = uploaded(stream(), pixels);
  const Buffer<float> planes(stream(), area(3, count));
  Normaliser(stream(), values).run(stream(), device_pixels.data(), count, planes.data());
  const std::vector<float> found = now(planes);
  for (std::size_t c = 0; c < 3; ++c) {
    for (int p = 0; p < count; ++p) {
      trial.require(found[area(static_cast<int>(c), count) + size(p)] ==
                        values.of_byte[c][pixels[size(3 * p + values.image_channel[c])]],
                    "gives another number");
    }
  }
}

void tryPatchEmbed(Trial& trial) {
  const mpm::worlds::RandomPatches patch(trial, 12);
  const PatchGeometry& inner = patch.geometry;
  PatchEmbedSpec spec;
  spec.pad_h = trial.random.size(0, 2), spec.pad_w = trial.random.size(0, 2);
  spec.geometry = inner;
  spec.geometry.height += 2 * spec.pad_h, spec.geometry.width += 2 * spec.pad_w;
  const PatchGeometry& g = spec.geometry;
  const int patches = g.gridHeight() * g.gridWidth(), dim = patch.weight.rows, special = trial.random.size(0, 3);
  spec.weight = patch.weight;
  spec.bias = patch.bias;
  spec.norm = patch.normed ? &patch.norm : nullptr;
  spec.position = trial.memory.inputRows(patches, dim, 1, true);
  spec.special = trial.memory.inputRows(special, dim, 1, true);
  spec.precision = trial.random.oneOf({Precision::kFp32, Precision::kFp32, Precision::kFp16});
  std::vector<int> only;
  const unsigned share = trial.random.bits() % 5;
  for (int i = 0; i < patches; ++i)
    if (trial.random.bits() % 4 < share) only.push_back(i);
  const bool some = trial.random.chance(3);
  const int batch = some ? 1 : trial.random.size(1, 2), chosen = some ? static_cast<int>(only.size()) : patches,
            rows = special + chosen;
  const int planes = batch * g.channels;
  const std::vector<float> images = trial.memory.normal(area(planes * inner.height, inner.width));
  std::vector<float> bordered(area(planes * g.height, g.width));
  for (int plane = 0; plane < planes; ++plane) {
    for (int y = 0; y < inner.height; ++y) {
      std::copy_n(images.begin() + (plane * inner.height + y) * inner.width, inner.width,
                  bordered.begin() + (plane * g.height + y + spec.pad_h) * g.width + spec.pad_w);
    }
  }
  only.push_back(-1);  // there is memory also for none
  const Buffer<int> device_only = uploaded(stream(), only);
  const Buffer<float> device_images = uploaded(stream(), images), tokens(stream(), area(batch * rows, dim));
  PatchEmbed embed(stream(), spec);
  Gemm gemm(stream());
  trial.require(embed.patches() == patches && embed.special() == special && embed.dim() == dim, "has other sides");
  embed.run(stream(), gemm, device_images.data(), batch, tokens.data(), some ? device_only.data() : nullptr,
            some ? chosen : 0);
  const std::vector<float> found = now(tokens);
  const double tolerance = patch.tolerance() * (spec.precision == Precision::kFp32 ? 1 : 200);
  for (int b = 0; b < batch; ++b) {
    const Reference all = patch.tokens(bordered.data() + area(b * g.channels * g.height, g.width), g, spec.position);
    Reference expected(spec.special);
    for (int i = 0; i < chosen; ++i) {
      const int from = some ? only[size(i)] : i;
      expected = stacked(expected, all.rowRange(from, from + 1));
    }
    trial.near({found.data() + area(b * rows, dim), rows, dim}, expected, tolerance);
  }
}

}  // namespace

std::vector<Kernel> tokenKernels() {
  return {{"cuda::TokenState", tryTokenState},
          {"cuda::writeState", tryTokenState},
          {"cuda::restoreRows", tryRestoreRows},
          {"cuda::putInFront", tryPutInFront},
          {"cuda::gatherSpecialRows, cuda::meanOverPatches", tryPooling},
          {"cuda::AddedRows", tryAddedRows},
          {"cuda::AttentionPool", tryAttentionPool},
          {"cuda::MaskScores", tryMaskScores},
          {"cuda::RotaryTables", tryRotaryTables},
          {"cuda::Normaliser", tryNormaliser},
          {"cuda::PatchEmbed", tryPatchEmbed}};
}

}  // namespace mpm::cuda::worlds
