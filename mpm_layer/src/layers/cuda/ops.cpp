// SPDX-License-Identifier: Apache-2.0
// The operators of docs/ops.md on a device, and normalisation.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "kernels/cuda/added_rows.h"
#include "kernels/cuda/launch_queue.h"
#include "kernels/cuda/mask_scores.h"
#include "kernels/cuda/patch_embed.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/window_attention.h"
#include "layers/cuda/net.h"
#include "layers/cuda/work_op.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

using Call = DeviceOp::Call;

std::size_t size(int count) { return static_cast<std::size_t>(count); }

int dimOf(const cv::Mat& blob) { return blob.size[blob.dims - 1]; }

/// Rows of the first input, from its state if it has one.
int rowsOf(Net& net, const Call& call, int special) {
  if (call.inputs.size() > 1) {
    const TokenState& state = net.state(call.inputs[1], special);
    net.expectRowsOf(call.inputs[0], state);
    return state.rows().total;
  }
  return static_cast<int>(call.inputs[0].total() / size(dimOf(call.inputs[0])));
}

}  // namespace

DeviceOpPtr Net::normalise(const PixelValues& values) {
  return opOf([this, normaliser = Normaliser(stream, values), pinned = PinnedBuffer<unsigned char>(),
               pixels = Buffer<unsigned char>()](const Call& call) mutable {
    const cv::Mat& image = call.inputs[0];
    const std::size_t row = size(image.cols) * 3, bytes = size(image.rows) * row;
    unsigned char* const host = pinned.atLeast(stream, bytes);
    for (int y = 0; y < image.rows; ++y) std::copy_n(image.ptr(y), row, host + size(y) * row);
    unsigned char* const device = pixels.atLeast(stream, bytes);
    cuda::upload(stream, host, device, bytes);
    normaliser.run(stream, device, image.rows * image.cols, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::patchEmbed(const PatchEmbedSpec& spec, const ReuseSession* reuse) {
  PatchEmbedSpec rounded = spec;
  rounded.precision = floatPrecision(spec.precision);
  return opOf([this, embed = PatchEmbed(stream, rounded), reuse](const Call& call) mutable {
    const cv::Mat& images = call.inputs[0];
    const int batch = images.size[0];
    one_image_ = batch == 1;
    const float* const pixels = dense(images);
    const std::vector<int>* const computed = reuse != nullptr ? reuse->computedOf(embed.patches()) : nullptr;
    TokenState& state = newState(call.outputs[1], computed != nullptr);
    if (computed != nullptr) {
      stream.queue().repeat(stream, false);  // the next frame rarely computes as many patches
      state.reset(stream, embed.patches(), embed.special(), *computed);
    } else {
      state.reset(stream, batch, embed.patches(), embed.special());
    }
    float* const tokens = newRows(call.outputs[0], state, embed.dim());
    embed.run(stream, gemm, pixels, batch, tokens, state.computed(), state.liveRows()[0]);
  });
}

DeviceOpPtr Net::transformerBlock(const TransformerBlockSpec& spec, bool use_key_bias, const LayerMemory& memory) {
  return opOf([this, block = TransformerBlock(stream, spec), special = spec.special, tables = spec.rotary_tables,
               head_dim = spec.head_dim, use_key_bias, memory](const Call& call) {
    const TokenState& state = this->state(call.inputs[1], special);
    TransformerBlock::Extras extras;
    if (use_key_bias || state.hasGaps()) {
      float* const bias = key_bias.atLeast(stream, size(state.allRows()));
      state.keyBias(stream, use_key_bias, bias);
      extras.key_bias = bias;
    }
    if (memory.session != nullptr) {
      extras.kept = kept(memory, block.keptBytes(call.inputs[0].size[1]));
      extras.kept_rows = state.allRows();
      extras.places = {state.rows().total, special, state.computed()};
    }
    if (tables > 0) {
      extras.rotations = rows(call.inputs[2], this->state(call.inputs[1], 0));
      extras.pairs = dimOf(call.inputs[2]) / (2 * tables);
    }
    expectRowsOf(call.inputs[0], state);
    float* const x = successor(call.inputs[0], call.outputs[0], call.takes_first);
    if (call.outputs.size() > 1) extras.keys = newRows(call.outputs[1], state, head_dim);
    block.run(stream, gemm, workspace, state.rows(), extras, x);
  });
}

DeviceOpPtr Net::windowAttention(const WindowAttentionSpec& spec, int special) {
  return opOf([this, attention = WindowAttention(stream, spec), special](const Call& call) mutable {
    const TokenState& state = this->state(call.inputs[1], special);
    expectRowsOf(call.inputs[0], state);
    for (const int live : state.liveRows()) {
      if (special + live != attention.rows()) {
        throw Error("has windows for " + std::to_string(attention.rows()) + " tokens, got " +
                    std::to_string(special + live));
      }
    }
    float* const x = successor(call.inputs[0], call.outputs[0], call.takes_first);
    attention.run(stream, gemm, workspace, state.rows().batch, x);
  });
}

DeviceOpPtr Net::rotaryPositions(MergedPositions merged, MatrixView<const float> cosine, MatrixView<const float> sine) {
  return opOf([this, tables = RotaryTables(stream, merged, cosine, sine)](const Call& call) {
    const TokenState& state = this->state(call.inputs[0], 0);
    tables.run(stream, state, newRows(call.outputs[0], state, dimOf(call.outputs[0])));
  });
}

DeviceOpPtr Net::mergeTokens(const MergeRule& rule, int special) {
  // All fields of the rule are bound by name, and all kinds of groups are cases: a new one does not compile, or warns,
  // until it is decided here whether a device merges by it.
  const auto& [groups, count, similarity, deviations, weighted, grid_width, block] = rule;
  switch (groups) {
    case MergeGroups::kMutualPairs:
    case MergeGroups::kEvenOdd:
    case MergeGroups::kWindows:
    case MergeGroups::kScoredWindows:
      break;
    case MergeGroups::kRule:
      return nullptr;
  }
  return opOf([this, rule, special](const Call& call) {
    const int dim = dimOf(call.inputs[0]);
    // `before` stays unchanged: MergeReport and heads that read earlier blocks need it.
    const TokenState& before = state(call.inputs[1], special);
    const float* const tokens = rows(call.inputs[0], before);
    Compared compared;
    if (rule.groups == MergeGroups::kScoredWindows) {
      compared.scores = dense(call.inputs[2]);
      compared.shared = allRows(call.inputs[3]);
    } else {
      const cv::Mat& metric = call.inputs[call.inputs.size() > 2 ? 2 : 0];
      compared.metric = rows(metric, before);
      compared.metric_dim = dimOf(metric);
    }
    const bool by_image = rule.count < 0 || rule.similarity >= -1 || rule.deviations >= 0;
    TokenState& after = newState(call.outputs[1], by_image || varies(call.inputs[1]));
    after.assign(stream, before, special);
    float* const merged = newRows(call.outputs[0], after, dim);
    if (rule.groups == MergeGroups::kMutualPairs)
      pair_merge.run(stream, rule, compared.metric, compared.metric_dim, tokens, dim, after, merged);
    else
      group_merge.run(stream, rule, compared, tokens, dim, after, merged);
    after.countRows();
    newRows(call.outputs[0], after, dim);  // fewer rows, the same memory
  });
}

DeviceOpPtr Net::tokenNorm(const NormWeights& weights, int dim, int special) {
  return opOf([this, norm = Norm(stream, weights, dim), special](const Call& call) {
    const int rows = rowsOf(*this, call, special);
    float* const x = successor(call.inputs[0], call.outputs[0], call.takes_first);
    norm.run(stream, rows, Number::kFloat, x, Number::kFloat, x);
  });
}

DeviceOpPtr Net::tokenLinear(const LinearWeights& weights, std::optional<Activation> activation, Precision precision,
                             int special) {
  return opOf([this, linear = Linear(stream, weights.weight, weights.bias, precision), operand = operandOf(precision),
               activation, special](const Call& call) {
    const cv::Mat &from = call.inputs[0], &to = call.outputs[0];
    const int count = rowsOf(*this, call, special);
    const TokenState* const state = call.inputs.size() > 1 ? &this->state(call.inputs[1], special) : nullptr;
    const float* const x = state != nullptr ? rows(from, *state) : dense(from);
    float* const y = state != nullptr ? newRows(to, *state, linear.out()) : newDense(to);
    const void* narrow = x;
    if (operand != Number::kFloat) {
      const std::size_t values = size(count) * size(linear.in());
      void* const memory = operands.atLeast(stream, values * bytesOf(operand));
      convert(stream, x, values, operand, memory);
      narrow = memory;
    }
    linear.run(stream, gemm, narrow, count, Into::kFloat, y);
    if (activation) activate(stream, *activation, false, count, linear.out(), Number::kFloat, y, y);
  });
}

DeviceOpPtr Net::specialRows(MatrixView<const float> front_rows, int special, bool replace) {
  return opOf([this, front = uploaded(stream, std::vector(front_rows.data, front_rows.row(front_rows.rows))),
               count = front_rows.rows, special, replace](const Call& call) {
    const int dim = dimOf(call.inputs[0]);
    const TokenState& before = state(call.inputs[1], special);
    const TokenState& after = state(call.inputs[1], replace ? count : count + special);
    float* const y = newRows(call.outputs[0], after, dim);
    putInFront(stream, rows(call.inputs[0], before), dim, before, front.data(), count, after, y);
  });
}

DeviceOpPtr Net::maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                            const NormWeights& norm, int classes, Precision precision) {
  return opOf([this, scores = MaskScores(stream, proj_patch, proj_classes, norm, classes, precision),
               classes](const Call& call) mutable {
    const TokenState& with_classes = state(call.inputs[1], classes);
    const TokenState& patches = state(call.inputs[1], 0);
    float* const y = newRows(call.outputs[0], patches, classes);
    scores.run(stream, gemm, rows(call.inputs[0], with_classes), with_classes, patches, y);
  });
}

DeviceOpPtr Net::restoreTokens(int special, bool keep_special) {
  return opOf([this, special, keep_special](const Call& call) {
    const TokenState& state = this->state(call.inputs[1], special);
    float* const y = newDense(call.outputs[0]);
    restoreRows(stream, rows(call.inputs[0], state), dimOf(call.inputs[0]), state, keep_special, y);
  });
}

DeviceOpPtr Net::keepRows(const LayerMemory& memory, int special) {
  return opOf([this, memory, special](const Call& call) {
    const cv::Mat& tokens = call.inputs[0];
    const int dim = dimOf(tokens);
    const TokenState& state = this->state(call.inputs[1], special);
    const float* const computed = rows(tokens, state);
    void* const all = kept(memory, tokens.total() * sizeof(float));
    cuda::keepRows(stream, {state.rows().total, special, state.computed()}, dim, dim, Number::kFloat, computed, all);
    TokenState& whole = newState(call.outputs[1], state.allRows() < special + state.patches());
    whole.assignAll(stream, state);
    copy(stream, all, newRows(call.outputs[0], whole, dim), area(state.allRows(), dim) * sizeof(float));
  });
}

DeviceOpPtr Net::meanOfPatches(int special) {
  return opOf([this, special](const Call& call) {
    const TokenState& state = this->state(call.inputs[1], special);
    const float* const x = rows(call.inputs[0], state);
    meanOverPatches(stream, x, dimOf(call.inputs[0]), state, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::someSpecialRows(int special, int index, int count) {
  return opOf([this, special, index, count](const Call& call) {
    const TokenState& state = this->state(call.inputs[1], special);
    const float* const x = rows(call.inputs[0], state);
    gatherSpecialRows(stream, x, dimOf(call.inputs[0]), state, index, count, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::attentionPool(MatrixView<const float> keys, MatrixView<const float> values, const float* bias,
                               int special) {
  return opOf([this, pool = AttentionPool(stream, keys, values, bias), special](const Call& call) mutable {
    const TokenState& state = this->state(call.inputs[1], special);
    const float* const x = rows(call.inputs[0], state);
    pool.run(stream, gemm, x, state, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::addRows(MatrixView<const float> positions, int special) {
  const bool constant = positions.data != nullptr;
  std::vector<float> values;
  if (constant) values.assign(positions.data, positions.row(positions.rows));
  return opOf(
      [this, constant, kept = uploaded(stream, values), added = AddedRows(), special](const Call& call) mutable {
        const cv::Mat& tokens = call.inputs[0];
        std::vector<const TokenState*> states;  // in the order of the merges
        for (std::size_t i = 2; i < call.inputs.size() - (constant ? 0 : 1); ++i)
          states.push_back(&state(call.inputs[i], special));
        states.push_back(&state(call.inputs[1], special));
        expectRowsOf(tokens, *states.back());
        const bool with_special = constant || call.inputs.back().size[1] == tokens.size[1];
        const float* const from = constant ? kept.data() : allRows(call.inputs.back());
        float* const x = successor(tokens, call.outputs[0], call.takes_first);
        added.run(stream, states, from, with_special, constant, dimOf(tokens), x);
      });
}

DeviceOpPtr Net::segmentLabels(const AxisResampling& label_rows, const AxisResampling& label_columns) {
  return opOf([this, resize = ResizeArgmax(stream, label_rows, label_columns)](const Call& call) {
    constexpr int kByte = 256;
    const cv::Mat& scores = call.inputs[0];
    const int batch = scores.size[0], classes = dimOf(scores);
    const float* const from = dense(scores);
    if (classes <= kByte)
      resize.run(stream, from, batch, classes, newLabels(call.outputs[0]));
    else
      resize.floatLabels(stream, from, batch, classes, newDense(call.outputs[0]));
    // The argmax of NaNs would be class 0, which looks valid.
    if (!unmarked([&](int* found) { findNotFinite(stream, from, scores.total(), found); }))
      throw Error("the scores hold NaN or infinity: the image or the weights are damaged");
  });
}

DeviceOpPtr Net::segmentLogits(const AxisResampling& label_rows, const AxisResampling& label_columns) {
  return opOf([this, resize = ResizeArgmax(stream, label_rows, label_columns)](const Call& call) {
    const cv::Mat& scores = call.inputs[0];
    const float* const from = dense(scores);
    resize.logits(stream, from, scores.size[0], dimOf(scores), newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::mergeReport() {
  return opOf([this](const Call& call) {
    const cv::Mat& map_blob = call.outputs[0];
    float* const maps = newDense(map_blob);
    float* const counts = newDense(call.outputs[1]);
    const int states = static_cast<int>(call.inputs.size()), patches = map_blob.size[2];
    for (int k = 0; k < states; ++k) {
      StateFloats to;
      to.live = counts + k;
      to.live_stride = states;
      if (k > 0 || states == 1) {  // the state before the first insertion has no map
        to.map = maps + (k > 0 ? k - 1 : 0) * patches;
        to.map_stride = map_blob.size[1] * patches;
      }
      writeState(stream, state(call.inputs[k]), to);
    }
  });
}

}  // namespace mpm::cuda
