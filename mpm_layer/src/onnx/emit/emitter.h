// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/reduction_defaults.h"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"
#include "onnx/emit/net_writer.h"
#include "onnx/emit/node_emitter.h"
#include "onnx/model/model_file.h"
#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {

/// A converted model and its description.
struct Converted {
  onnx::ModelProto model;
  ModelInfo info;
  LateWeights late;        ///< of a file that was converted before
  bool one_image = false;  ///< what the graph does behind its encoder mixes the images of a batch
};

/// Writes the converted net: encoder, head, merge report.
class Emitter {
 public:
  /// `info`: what is known before the head is recognised; its reduction, sizes, attention and precision are what
  /// to write. Of `options` only `output` and `scores` count.
  Emitter(const Graph& graph, const Interpretation& found, Trunk trunk, ModelInfo info, const ConvertOptions& options);

  /// Call it once: weights of the trunk are freed as they are written.
  Converted emit() &&;

 private:
  struct Tokens {
    std::string name, state;
    std::int64_t special = 0;
  };

  // emitter.cpp: the encoder and Segmenter's heads
  void encoder();
  void otherHead();
  std::int64_t maskQueryClasses() const;
  std::int64_t boxQueryClasses() const;
  void findTask();
  std::string segmentationOutput() const;
  Size2 classMapSize() const;
  /// Positions {patches, dim} of the graph's grid, for that of the net.
  std::vector<float> onGrid(const std::vector<float>& position) const;
  /// PatchEmbed of an image of this size.
  Tokens embed(const std::string& name, const std::string& image, Size2 size, const std::vector<float>& position,
               std::int64_t special);
  Tokens prepend(const LateTokens& late, const Tokens& in);
  Tokens addPositions(const LaterPositions& positions, const Tokens& in);
  Tokens interact(const Interaction& interaction, const Tokens& in);
  /// Tokens, their state, and the earlier states that say how rows were averaged.
  Names withStates(const Tokens& in) const;
  /// `compared`: inputs of the step besides tokens and state.
  Tokens merge(const MergeStep& step, const Tokens& in, const Names& compared = {});
  void segmentation(SegmentationHead head);
  Tokens maskScores(SegmentationHead& head, const Tokens& in);

  // block_ops.cpp: the blocks. They free the weights that they write.
  struct BlockNode;
  /// `part`: the attribute of TransformerBlock, "whole", "attention" or "mlp".
  std::string block(Block& block, const Tokens& in, const std::string& name, bool key_bias,
                    const std::string& part = "whole", bool keys = false);
  /// The attention of a block that fixes the places of its rows.
  std::string windowAttention(Block& block, const Tokens& in, const std::string& name);
  /// The constants of RotaryPositions.
  Names rotaryTables(const Rotation& rotation, const std::string& name);
  /// The rotary positions of the live rows of `in`.
  std::string rotations(const Rotation& rotation, const Tokens& in);

  // policy.cpp
  /// The scores of the windows by the policy network, and the rows of those that share a token.
  Names scoredWindows(const std::string& name);

  // term_tensors.cpp: terms as tensors
  std::optional<Tokens> tokens(int term, int depth = 0);
  std::optional<std::string> pooled(int term, std::int64_t row, double scale, const std::string& name, int depth = 0);
  std::optional<std::string> makePooled(int term, std::int64_t row, double scale, const std::string& name, int depth);
  std::optional<std::string> attentionPool(const Term& term, const std::string& name, int depth);
  /// The value as a tensor of tokens, under name(); nullopt when it is more than single tokens give.
  std::optional<std::string> ofTokens(int value, const std::function<std::string()>& name);
  /// Terms that depend on others than those of tokens_ and rows of the graph.
  void findOutside();
  /// The tensor that `cells` describe, when it is all tokens, all patches, or one row; nullopt otherwise.
  std::optional<std::string> plain(const Cells& cells, const std::string& name);
  std::optional<std::string> specialRows(const Cells& cells, const std::string& name);
  std::optional<std::string> rowsInOrder(const Cells& cells, const std::string& name);

  const Term& at(int term) const { return found_.terms[term]; }
  /// Number of special rows of a term with a row per token; negative when it has other rows.
  std::int64_t specialOf(const Term& term) const { return term.rows - patches(); }
  std::int64_t patches() const { return trunk_.embedding.patches(); }
  Attribute precision() const { return {"precision", mpm::toString(info_.precision)}; }
  std::string nameOf(int term, const std::string& prefix);

  const Graph& graph_;
  const Interpretation& found_;
  Trunk trunk_;  ///< its blocks are empty once they are written
  ModelInfo info_;
  Reduction reduction_;  ///< of info_, with its defaults
  Output output_;
  bool scores_;
  bool retargeted_;  ///< the network input has another size than the graph was read at
  NetWriter net_;
  NodeEmitter head_nodes_;
  bool one_image_ = false;        ///< the policy mixes the images of a batch
  std::string image_;             ///< name of the input
  Names states_;                  ///< of PatchEmbed and after each insertion
  std::map<int, Tokens> tokens_;  ///< per term
  std::vector<bool> outside_;     ///< per term: more than single tokens give
  std::map<std::pair<const Rotation*, std::string>, std::string> rotations_;  ///< per table and state
  std::map<const Rotation*, Names> tables_;                                   ///< names of the constants
  std::map<const void*, std::string> indices_;                                ///< of position biases
  std::map<Integers, std::string> windows_;                                   ///< per rows of the windows
  std::map<std::pair<int, std::int64_t>, std::string> pooled_;                ///< per term and row
};

/// The attributes of the op MergeTokens that differ from the defaults, and its groups. None: the op is MutualPairMerge.
std::vector<Attribute> attributesOf(const MergeRule& rule);

/// The last two sides of a shape.
Size2 sizeOf(const Shape& shape);

/// Positions {grid, dim} resized bilinearly (half-pixel centres) to another grid.
std::vector<float> resizedPositions(const std::vector<float>& position, Size2 from, Size2 to, std::int64_t dim);

/// The index of the row, when `cells` are exactly one row of their term; else -1.
std::int64_t singleRow(const Interpretation& found, const Cells& cells);

/// True when `cells` are all rows from `first` on, in order, one token per row.
bool rowsFrom(const Interpretation& found, const Cells& cells, std::int64_t first);

}  // namespace mpm::onnx_graph
