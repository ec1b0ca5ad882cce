// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "kernels/transformer_block.h"
#include "layers/block_constants.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

BlockPart partOf(const cv::dnn::LayerParams& params) {
  const std::string part = params.get<cv::String>("part", "whole");
  if (part == "whole") return BlockPart::kWhole;
  if (part == "attention") return BlockPart::kAttention;
  if (part == "mlp") return BlockPart::kMlp;
  throw Error("part '" + part + "' is unknown; it can be whole, attention or mlp");
}

int constantsOf(const cv::dnn::LayerParams& params) {
  const BlockPart part = partOf(params);
  const int attention = attentionConstants(params), mlp = 6 + 2 * params.get<int>("mlp_norm", 0);
  return (part == BlockPart::kMlp ? 0 : attention) + (part == BlockPart::kAttention ? 0 : mlp);
}

/// The block that another net has under this key, or a new one.
std::shared_ptr<const TransformerBlock> sharedBlock(const std::string& key, const TransformerBlockSpec& spec) {
  if (key.empty()) return std::make_shared<const TransformerBlock>(spec);
  static auto& mutex = *new std::mutex;
  static auto& blocks = *new std::map<std::string, std::weak_ptr<const TransformerBlock>>;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = blocks.find(key); found != blocks.end())
      if (auto block = found->second.lock()) return block;
  }
  // Made without the lock: the layers of a net pack in parallel.
  const auto block = std::make_shared<const TransformerBlock>(spec);
  const std::lock_guard lock(mutex);
  std::erase_if(blocks, [](const auto& entry) { return entry.second.expired(); });
  blocks[key] = block;
  return block;
}

class TransformerBlockLayer final : public TokenLayer {
 public:
  explicit TransformerBlockLayer(const cv::dnn::LayerParams& params) : TokenLayer(params, constantsOf(params)) {
    spec_.part = partOf(params);
    spec_.special = special_;
    spec_.parallel = params.get<int>("parallel", 0) != 0;
    expect(!spec_.parallel || spec_.part == BlockPart::kWhole, "has two parts, which it cannot run side by side");
    spec_.precision = parsePrecision(params.get<cv::String>("precision", "fp32"));
    if (spec_.part != BlockPart::kMlp) {
      readAttention(params, spec_);
      key_bias_ = attribute<int>(params, "key_bias") != 0;
      keys_ = params.get<int>("keys", 0) != 0;
      spec_.rotary_tables = params.get<int>("rotary_tables", 0);
      expect(spec_.rotary_tables == 0 || spec_.rotary_tables == 1 || spec_.rotary_tables == spec_.heads,
             "has neither one table of rotary positions nor one per head");
    }
    if (spec_.part == BlockPart::kAttention) return;
    attribute<float>(params, "norm2_eps");
    readNorm(params, "norm2", spec_.norm2);
    readNorm(params, "mlp_norm", spec_.mlp_norm_weights);
    spec_.activation = parseActivation(params.get<cv::String>("activation"));
    spec_.gated = params.get<int>("gated", 0) != 0;
    spec_.mlp_norm = params.get<int>("mlp_norm", 0) != 0;
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const bool rotates = spec_.rotary_tables > 0;
    expect(inputs.size() == (rotates ? 3 : 2), "expects tokens, their state" +
                                                   std::string(rotates ? " and rotary positions" : "") + ", got " +
                                                   std::to_string(inputs.size()) + " inputs");
    const Shapes first_two(inputs.begin(), inputs.begin() + 2);
    const Shape& tokens = tokensWithState(first_two);
    if (rotates) {
      const Shape& table = inputs[2];
      const int columns = table.size() == 3 ? table[2] / spec_.rotary_tables : 0;
      expect(table.size() == 3 && table[0] == tokens[0] && table[1] == tokens[1] - special_ && columns > 0 &&
                 columns % 2 == 0 && table[2] % spec_.rotary_tables == 0 && columns <= spec_.head_dim,
             "got rotary positions " + shapeText(table) + " for tokens " + shapeText(tokens));
    }
    if (!keys_) return {tokens};
    return {tokens, {tokens[0], tokens[1], spec_.head_dim}};
  }

  void takeConstants(const Blobs& constants) override {
    describe(constants);
    block_ = sharedBlock(weightsKey(), spec_);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& inputs) override {
    describe(constants);
    expectDim(inputs[0].size[2], spec_.dim);
    return device.transformerBlock(spec_, key_bias_, keepsKeys() ? memory() : LayerMemory());
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    expectDim(inputs[0].size[2], spec_.dim);
    const int* rows = liveRows(inputs[1], special_);
    const KeptKeys kept = keepsKeys() ? keptKeys(inputs) : KeptKeys();
    block_->run(tokensOf(inputs[0], rows),
                key_bias_ || kept.memory != nullptr ? keyBias(inputs[0], inputs[1]) : nullptr,
                tokensOf(outputs[0], rows), parallel_, keys_ ? tokensOf(outputs[1], rows) : TokensView<float>(),
                inputs.size() == 3 ? rotationsOf(inputs[2]) : MatrixView<const float>(), kept);
  }

 private:
  bool keepsKeys() const { return reuse() != nullptr && spec_.part != BlockPart::kMlp; }

  /// The weights as a spec, borrowed from the constants.
  void describe(const Blobs& constants) {
    BlockConstants read(constants);
    spec_.dim = static_cast<int>(constants[0].total());
    if (spec_.part != BlockPart::kMlp) read.attention(spec_);
    if (spec_.part == BlockPart::kAttention) return;
    read.norm(spec_.norm2, spec_.dim);
    const int fc1_out = static_cast<int>(read.peek().total()) / spec_.dim;
    const int hidden = spec_.gated ? fc1_out / 2 : fc1_out;
    read.linear(spec_.fc1, fc1_out, spec_.dim);
    if (spec_.mlp_norm) read.norm(spec_.mlp_norm_weights, hidden);
    read.linear(spec_.fc2, spec_.dim, hidden);
  }

  static MatrixView<const float> rotationsOf(const cv::Mat& blob) {
    return {blob.ptr<float>(), blob.size[0] * blob.size[1], blob.size[2]};
  }

  /// Biases of all live rows, {batch, capacity}: log(cluster size) where the block wants it, 0 for special rows. A row
  /// without patches is no key.
  const float* keyBias(const cv::Mat& tokens, const cv::Mat& state) {
    const int batch = tokens.size[0], capacity = tokens.size[1];
    float* const bias = bias_.atLeast(static_cast<std::size_t>(batch) * capacity);
    for (int b = 0; b < batch; ++b) {
      const auto image = stateOf(state, b);
      float* const row = bias + static_cast<std::ptrdiff_t>(b) * capacity;
      std::fill_n(row, special_, 0.f);
      for (int i = 0; i < image.live(); ++i) {
        const float size = image.clusterSize()[i];
        row[special_ + i] = key_bias_ || size == 0 ? std::log(size) : 0.f;
      }
    }
    return bias;
  }

  /// Keys and values of all rows, of which this frame computes some.
  KeptKeys keptKeys(const Blobs& inputs) {
    const auto state = stateOf(inputs[1], 0);
    const int capacity = inputs[0].size[1], computed = state.computedRows();
    KeptKeys kept{.memory = reuse()->keep(name, block_->keptSize(capacity)),
                  .capacity = capacity,
                  .rows = special_ + state.live()};
    if (computed == state.live()) return kept;
    places_.resize(special_ + computed);
    std::iota(places_.begin(), places_.begin() + special_, 0);
    for (int i = 0; i < computed; ++i) places_[special_ + i] = special_ + state.computedRow(i);
    kept.places = places_.data();
    return kept;
  }

  bool key_bias_ = false, keys_ = false;
  TransformerBlockSpec spec_;
  std::shared_ptr<const TransformerBlock> block_;
  Scratch<float> bias_;
  std::vector<int> places_;  // of keptKeys()
};

}  // namespace

LayerPtr makeTransformerBlock(cv::dnn::LayerParams& params) { return cv::makePtr<TransformerBlockLayer>(params); }

}  // namespace mpm
