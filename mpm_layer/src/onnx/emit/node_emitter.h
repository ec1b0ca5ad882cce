// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "onnx/emit/net_writer.h"
#include "onnx/fold/fold.h"
#include "onnx/model/graph.h"
#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {

/// Padding of a convolution or a pooling over two axes as numbers, `auto_pad` included: before each axis, then behind.
Integers slidingPads(const Graph& graph, const Node& node, const Shape& kernel);

/// True for a node that only gives its input another shape. Every reshape is static by now, and all versions of OpenCV
/// read Reshape with a constant alike. Also a Gather of all elements in their order, as exporters write as_strided.
bool reshapes(const Graph& graph, const Node& node);

/// The first and the last axis that a Softmax or LogSoftmax is over: before opset 13 all from one on.
std::pair<std::size_t, std::size_t> softmaxAxes(const Graph& graph, const Node& node, std::size_t rank);

/// Writes nodes of a graph node by node: those that every OpenCV computes right as they are, others as our own
/// operators (docs/ops.md, "Heads"). Throws mpm::Error naming a node that is neither.
class NodeEmitter {
 public:
  /// `prefix`: of the names of its nodes, such as "head/". `precision`: of its linear layers. `one_size`: the network
  /// input has the size that the graph was read at; else every node is refused.
  NodeEmitter(const Graph& graph, NetWriter& net, std::string prefix, std::string precision, bool one_size)
      : graph_(graph),
        net_(net),
        prefix_(std::move(prefix)),
        precision_("precision", std::move(precision)),
        one_size_(one_size) {}

  /// The tensor that has a value of the graph without its node, written under name(); nullopt: there is none.
  using Known = std::function<std::optional<std::string>(int value, const std::function<std::string()>& name)>;

  /// Writes what `outputs` need, under these names. `image`: the network input.
  void write(const std::vector<int>& outputs, const Names& names, const std::string& image, const Known& known);

  /// Writes what one value needs; returns its tensor.
  std::string write(int value, const std::string& image, const Known& known);

  /// TokenNorm and TokenLinear of `inputs`, tokens and perhaps their state; weights are NAME.weight and NAME.bias.
  /// `rows`: how many rows of each image the linear layer reads; 0: those of its tokens, which may merge. `out`: the
  /// name of the result; empty: `name`.
  std::string norm(Names inputs, const NormPart& norm, const std::string& name, std::int64_t special,
                   const std::string& out = {});
  std::string linear(Names inputs, const LinearPart& linear, const std::string& name, std::int64_t special,
                     std::int64_t rows = 0, const std::string& out = {});

  /// `from` {in} as `out`; the batch stays where it is.
  std::string reshape(const std::string& from, const Shape& in, Shape out, const std::string& to);

  /// True when a written node mixes the images of a batch.
  bool oneImage() const { return one_image_; }

  /// The slices of `from` with these indices along `axis`, as `name`. Index -1 is a slice of `fill`.
  std::string take(const std::string& from, std::vector<float> indices, std::size_t axis, const std::string& name,
                   std::optional<float> fill = {});

 private:
  // node_emitter.cpp: nodes that stock layers compute right
  std::string stockNode(const Node& node, const Names& inputs, const std::string& name);
  int reshapedFrom(const Node& node, int value) const;
  bool keepsGroupsApart(const Node& node, const Names& inputs) const;
  /// Why OpenCV cannot be trusted with `node`; empty when every version from 4.6 on computes it right.
  std::string stockFault(const Node& node) const;

  // head_ops.cpp: nodes as our own operators
  /// A value whose elements are those of another one, moved by several nodes.
  struct Gathered {
    int origin = -1;
    Integers from;  ///< for each element of the value, one of the origin
  };
  /// The output of `node`, where it and nodes before it move elements, the first of them a GatherND and its Transpose.
  std::optional<Gathered> gatheredFrom(const Node& node) const;
  /// `x` {.., in} as `out`: indices along each axis. False, and nothing is written, when that is not all.
  bool takeAlongAxes(const Gathered& gathered, std::string x, const Shape& out, const std::string& name);
  /// Gathers element by element; false when there are too many.
  bool takeElements(const Gathered& gathered, const std::string& x, const Shape& out, const std::string& name);
  /// False, and nothing is written, when there is none.
  bool headNode(const Node& node, const Names& inputs, const Names& names);
  bool headTakes(const Node& node, const Names& inputs, const Names& names);
  bool headElementwise(const Node& node, const Names& inputs, const std::string& name);
  bool headGather(const Node& node, const Names& inputs, const std::string& name);
  /// Function of HeadElementwise of `x` and numbers.
  std::string function(const std::string& function, const std::string& x, const std::vector<float>& numbers,
                       const std::string& name);
  /// An operator whose operands are these values; the constants among them become constants of the operator.
  std::string headOp(const std::string& type, const std::vector<int>& values, const Names& inputs,
                     const std::string& name, NetWriter::Attributes attributes);
  bool holdsIntegers(int value) const {
    const Tensor* constant = graph_.constant(value);
    return constant && !constant->isFloat();
  }
  /// A quotient, mean, root, logarithm or interpolation of what may be whole numbers, which ONNX truncates. The net has
  /// floats only.
  bool mayBeWhole(const Node& node) const;

  // convolution_ops.cpp: convolutions, and what stands around them, on maps {B, H, W, C}
  /// A HeadConvolve. It is written again, and its first writing dropped, when the next node joins it.
  struct Convolved {
    std::string x, weight, bias;
    Names addends;
    NetWriter::Attributes attributes;
    std::string activation;
    Shape shape;  ///< of the weights
    Tensor weights, biases;
  };
  /// False, and nothing is written, when `node` is none of them.
  bool mapsNode(const Node& node, const Names& inputs, const std::string& name);
  std::string convolution(const Node& node, const Names& inputs, const std::string& name);
  std::string convolve(Convolved convolution, const std::string& name);
  void setWeights(Convolved& convolution, std::vector<float> weight, std::vector<float> bias, const std::string& name);
  /// The convolution that made `tensor`, if the next node can join it; else null.
  Convolved* openConvolution(int value, const std::string& tensor);
  /// The maps `tensor` {B, C, H, W} with channels last: as they were made, or moved.
  std::string channelsLast(int value, const std::string& tensor);
  const std::string* madeLast(const std::string& tensor) const;
  /// `last` with channels first, as `name` of this shape.
  std::string channelsFirst(const std::string& last, const Shape& shape, const std::string& name);

  // map_ops.cpp: nodes on maps as our own operators
  /// Our own operators. False, and nothing is written, when there is none.
  bool mapNode(const Node& node, const Names& inputs, const Names& names);
  /// `last`: channels are the last axis of `x`.
  bool resize(const Node& node, const std::string& x, const std::string& name, bool last = false);
  bool pad(const Node& node, const std::string& x, const std::string& name);
  /// Of `x` with channels last.
  bool pool(const Node& node, const std::string& x, const std::string& name);
  bool normalize(const Node& node, const std::string& x, const std::string& name);
  /// DepthToSpace and SpaceToDepth.
  std::string shuffle(const Node& node, const std::string& x, const std::string& name);
  /// Along `axis`: each slice of the result is the weighted sum of slices of `x`, or the largest of them.
  std::string windows(const std::string& x, const std::vector<std::vector<Tap>>& taps, std::size_t axis, bool largest,
                      const std::string& name);

  /// Writes what `outputs` need and is not made yet. `wanted`: names of values.
  void make(const std::vector<int>& outputs, const std::map<int, std::string>& wanted, const std::string& image,
            const Known& given);

  const Graph& graph_;
  NetWriter& net_;
  std::map<int, std::string> made_;                   ///< value -> tensor of the new net
  std::map<int, int> reads_;                          ///< how often nodes and outputs read each value
  std::map<std::string, std::string> channels_last_;  ///< maps {B, C, H, W} -> the same {B, H, W, C}
  std::map<std::string, Convolved> convolved_;        ///< by their result
  std::string prefix_;
  Attribute precision_;
  bool one_size_;
  bool one_image_ = false;
  /// Tensors with several slices of each image along the first axis, image by image: {B * heads, ..}.
  std::set<std::string> groups_;
};

}  // namespace mpm::onnx_graph
