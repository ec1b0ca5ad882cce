// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnx/fold/fold.h"
#include "onnx/recognise/algebra.h"
#include "onnx/recognise/meaning.h"
#include "onnx/recognise/positions.h"

namespace mpm::onnx_graph {

/// One pass over a graph, node by node; each method gives the meaning of one kind of node.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph);
  Interpretation run();

 private:
  Meaning interpretNode(const Node& node);
  Meaning asShaped(const Node& node, Meaning meaning) const;
  Meaning foreign(const Node& node, std::string found, std::string expected = "a plain pre-norm ViT") const;

  // interpreter.cpp: rows of tokens
  void move(const Node& node);
  Meaning movedImage(const Node& node, std::size_t output) const;
  std::optional<Cells> unchangedIn(int sum, const Cells& cells) const;
  Meaning moveLogits(const Node& node, int value) const;
  Meaning pad(const Node& node);
  Meaning convolution(const Node& node);
  Meaning patches(const Node& node, const ImageCells& image);
  Meaning patchRows(const Node& node, const ImageCells& image);
  Term patchTerm(const Node& node, const ImageCells& image, const Shape& kernel, std::vector<float> weight,
                 std::vector<float> bias, const PatchGrid& grid) const;
  std::shared_ptr<const std::vector<float>> borderOffset(const ImageCells& image, const Shape& kernel,
                                                         const std::vector<float>& weight, const Term& term) const;
  Meaning rowWise(const Node& node);
  Meaning linear(const Node& node, Cells tokens, Tensor weight, Tensor bias);
  Meaning headNorm(Term term, const Cells& cells);
  Meaning mean(const Node& node);
  Meaning resize(const Node& node);
  Meaning argMax(const Node& node);

  // interpreter_arithmetic.cpp: Add, Sub, Mul, Div
  Meaning arithmetic(const Node& node);
  Meaning imageArithmetic(const Node& node, const ImageCells& image, const Tensor& constant);
  Meaning withConstant(const Node& node, int value, const Tensor& constant);
  std::optional<Cells> withBias(const Cells& sum, const Node& node);
  Meaning columnScale(const Node& node, int value, const Tensor& constant);
  Meaning negative(const Node& node);
  Meaning ofTwo(const Node& node);
  Meaning withForeign(const Node& node, const Foreign& cause);
  Meaning sumOfPositions(const Node& node, const PositionLogits& left, const PositionLogits& right) const;

  // interpreter_attention.cpp: from two projections to the context
  Meaning matMul(const Node& node);
  Meaning einsum(const Node& node);
  std::optional<Meaning> einsumWithWeights(const Node& node, const Equation& equation, std::size_t weights);
  Meaning attentionOp(const Node& node);
  Meaning scoresOf(const Node& node, Cells q, Cells k, Shape shape) const;
  Meaning scoresArithmetic(const Node& node, const Scores& scores, const Tensor& constant);
  Meaning biased(const Node& node, Scores scores, const Tensor& constant, double factor);
  Meaning positioned(const Node& node, Scores scores, const PositionLogits& logits) const;
  Meaning softmax(const Node& node);
  Meaning where(const Node& node);
  Meaning context(const Node& node, const Scores& scores, const Cells& given);
  Meaning pooledContext(const Node& node, const Scores& scores, const Cells& v);
  Meaning product(const Node& node, const Scores& scores);

  template <typename T>
  T* as(int value) {
    return value < 0 ? nullptr : std::get_if<T>(&meaning_[value]);
  }
  /// The value's cells, scores without softmax turned into a product of terms first; else null.
  Cells* cellsOf(int value, const Node& node);
  /// Shape of the result of a node whose op is known.
  const Shape& shapeOf(const Node& node) const { return *graph_.shape(node.outputs[0]); }
  /// The first foreign input of `node`, or null.
  const Foreign* foreignInput(const Node& node);
  /// Every block arranges and rotates its tokens in the same way. Keeps that in memory once, not once per block.
  void shareIds(Meaning& meaning);

  const Graph& graph_;
  Algebra algebra_;
  std::vector<Meaning> meaning_;
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> ids_;
  std::vector<std::shared_ptr<const Blend>> blends_;
  PairBiases pair_biases_;
};

}  // namespace mpm::onnx_graph
