// SPDX-License-Identifier: Apache-2.0
#include "onnx/converter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/atomic_file.h"
#include "base/freed_memory.h"
#include "base/number_text.h"
#include "base/reduction_defaults.h"
#include "base/size_text.h"
#include "onnx/emit/emitter.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"
#include "onnx/model/graph.h"
#include "onnx/model/graph_proto.h"
#include "onnx/recognise/canonical.h"
#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {
namespace {

constexpr std::int64_t kLargestBatch = 256;  ///< fixed in a graph

/// The image's sides as the graph declares them; 0 where one is symbolic.
struct DeclaredInput {
  std::int64_t channels = 0;
  Size2 size;
  std::int64_t batch = 1;      ///< more than 1 where the graph fixes it
  bool channels_last = false;  ///< {batch, H, W, C}
};

DeclaredInput declaredInput(const onnx::ModelProto& model, const std::string& name) {
  const onnx::ValueInfoProto* const input = findNamed(model.graph().input(), name);
  if (!input) return {};
  const onnx::TypeProto::Tensor& type = input->type().tensor_type();
  if (!input->type().has_tensor_type() || !type.has_shape() || type.shape().dim_size() == 0) return {};
  if (type.shape().dim_size() != 4) {
    throw Error("graph input '" + name + "': found rank " + std::to_string(type.shape().dim_size()) +
                ", expected an image of shape batch x channels x height x width");
  }
  const auto given = [&](int axis) { return std::max<std::int64_t>(type.shape().dim(axis).dim_value(), 0); };
  // Few channels behind a height: no image is that narrow.
  const bool channels_last = (given(1) == 0 || given(1) > 4) && given(3) > 0 && given(3) <= 4;
  const auto side = [&](int axis) { return given(!channels_last || axis == 0 ? axis : axis == 1 ? 3 : axis - 1); };
  if (side(0) > kLargestBatch) {
    throw Error("graph input '" + name + "': found a batch of " + std::to_string(side(0)) +
                " images, expected at most " + std::to_string(kLargestBatch));
  }
  if (side(2) > kLongestSide || side(3) > kLongestSide || side(1) > 64) {
    throw Error("graph input '" + name + "': found an image of " + std::to_string(side(1)) + " channels and " +
                sizeText({static_cast<int>(side(2)), static_cast<int>(side(3))}) + ", expected at most " +
                std::to_string(kLongestSide) + " px");
  }
  return {side(1),
          {static_cast<int>(side(2)), static_cast<int>(side(3))},
          std::max<std::int64_t>(side(0), 1),
          channels_last};
}

/// True when the image is one of whole numbers. The net has floats only: throws mpm::Error naming a node that computes
/// with such numbers before they are cast.
bool readsWholeNumbers(const Graph& graph) {
  if (!graph.mayBeIntegers(graph.image)) return false;
  std::vector<bool> whole(graph.values.size(), false);
  whole[graph.image] = true;
  for (const Node& node : graph.nodes) {
    if (std::ranges::none_of(node.inputs, [&](int value) { return value >= 0 && whole[value]; })) continue;
    if (node.domain.empty() && (node.op == "Shape" || node.op == "Size" || (node.op == "Cast" && castsToFloat(node))))
      continue;
    if (!movesData(node) && node.op != "Identity")
      refuse(node, "arithmetic on an image of whole numbers", "a Cast to floats before it");
    for (const int value : node.outputs) whole[value] = true;
  }
  return true;
}

const Tensor* firstKernel(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty() || node.op != "Conv") continue;
    const Tensor* weight = graph.constant(node.input(1));
    if (weight && weight->shape.size() == 4) return weight;
  }
  return nullptr;
}

/// Square input sizes that match the length of a position embedding, for graphs without a declared size.
std::vector<Size2> guessedSizes(const Graph& graph) {
  const Tensor* kernel = firstKernel(graph);
  std::vector<Size2> sizes;
  if (!kernel || kernel->shape[2] < 1) return sizes;
  std::set<std::int64_t> sides;
  for (const Value& value : graph.values) {
    if (!value.constant || value.constant->shape.size() != 3 || value.constant->shape[2] != kernel->shape[0]) continue;
    for (std::int64_t special = 0; special <= 8; ++special) {
      const std::int64_t count = value.constant->shape[1] - special;
      const auto side =
          static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(std::max<std::int64_t>(count, 0)))));
      if (side > 1 && side * side == count && side * kernel->shape[2] <= kLongestSide)
        sides.insert(side * kernel->shape[2]);
    }
  }
  for (const std::int64_t side : sides) sizes.push_back({static_cast<int>(side), static_cast<int>(side)});
  return sizes;
}

constexpr const char* kNoSize =
    "the graph does not say how large its image is: give an input size, or \"input\" in the JSON beside it";

/// A graph, recognised for one input size.
struct Understood {
  Graph graph;
  Interpretation found;
  Trunk trunk;
  Size2 size;
  std::int64_t batch = 1;  ///< that the graph fixed
  bool bytes = false;      ///< the image of the file has whole numbers
};

Understood understand(Graph graph, std::int64_t batch, std::int64_t channels, Size2 size) {
  Understood result;
  result.size = size;
  result.graph = std::move(graph);
  foldConstants(result.graph, {batch, channels, size.height, size.width});
  if (batch > 1) {
    keepOneImage(result.graph, batch);
    foldConstants(result.graph, {1, channels, size.height, size.width});
  }
  canonicalise(result.graph);
  result.found = interpret(result.graph);
  result.trunk = recogniseTrunk(result.graph, result.found);
  return result;
}

/// True when the patches differ in what is added to them: their number is that of a position embedding.
bool hasPositions(const Embedding& embedding) {
  const auto dim = static_cast<std::size_t>(embedding.weight.shape[0]);
  for (std::size_t i = dim; i < embedding.position.size(); ++i)
    if (embedding.position[i] != embedding.position[i % dim]) return true;
  return false;
}

/// Tries the sizes in order, those from `known` on are guesses. When none fits, the error is that of the first size. A
/// guess fits when the patches have positions, because another constant may have a number of rows like theirs.
Understood understandAt(Graph graph, std::int64_t batch, std::int64_t channels, const std::vector<Size2>& sizes,
                        std::size_t known) {
  std::string first;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    try {
      Understood result = understand(i + 1 == sizes.size() ? std::move(graph) : graph, batch, channels, sizes[i]);
      if (i < known || hasPositions(result.trunk.embedding)) return result;
    } catch (const Error& error) {
      if (first.empty()) first = error.what();
    }
  }
  if (first.empty()) throw Error(kNoSize);
  if (known == 0) {
    first += " (read at " + toString(sizes.front()) + kHeightFirst +
             ", a guess: give an input size, or \"input\" in the JSON beside it)";
  }
  throw Error(first);
}

void requireNotTooLarge(Size2 size) {
  if (size.height > kLongestSide || size.width > kLongestSide) {
    throw Error("input size " + toString(size) + kHeightFirst + " is larger than " + std::to_string(kLongestSide) +
                " px");
  }
}

void requireFits(const Embedding& embedding, Size2 size) {
  const std::int64_t rest_h = (size.height - embedding.weight.shape[2]) % embedding.stride_h;
  const std::int64_t rest_w = (size.width - embedding.weight.shape[3]) % embedding.stride_w;
  if (size.height < embedding.weight.shape[2] || size.width < embedding.weight.shape[3] || rest_h != 0 || rest_w != 0) {
    throw Error("input size " + toString(size) + kHeightFirst + " is not a multiple of the patch, " +
                std::to_string(embedding.stride_h) + "x" + std::to_string(embedding.stride_w) + " px");
  }
  requireNotTooLarge(size);
}

bool holdsOurOps(const onnx::ModelProto& model) { return std::ranges::any_of(model.graph().node(), isOurs); }

/// Describes an already converted model. Throws mpm::Error when `options` ask for something that it is not.
ModelInfo infoOfConverted(const onnx::ModelProto& model, const ConvertOptions& options) {
  const std::string* format = metadata(model, "mpm.format");
  const std::string* json = metadata(model, "mpm.info");
  if (!format || *format != "1" || !json)
    throw Error("holds ai.mpm ops, but not the metadata mpm.format = 1 and mpm.info: convert the original model again");
  ModelInfo info = fromJson(*json);
  for (const onnx::NodeProto& node : model.graph().node()) requireWindow(node);
  addInfoOfGraph(model.graph(), info);
  const auto no = [](const std::string& made, const std::string& asked) {
    throw Error("was converted with " + made + " and cannot be given " + asked + ": convert the original model again");
  };
  if (options.reduce && withDefaults(*options.reduce, info.blocks) != withDefaults(info.reduction, info.blocks))
    no("reduction " + mpm::toString(info.reduction), "reduction " + mpm::toString(*options.reduce));
  if (options.input_size && *options.input_size != info.input)
    no("input size " + toString(info.input), "input size " + toString(*options.input_size) + kHeightFirst);
  if (options.precision && *options.precision != info.precision)
    no("precision " + mpm::toString(info.precision), "precision " + mpm::toString(*options.precision));
  if (options.mean && (*options.mean != info.facts.mean || *options.deviation != info.facts.deviation))
    no("a mean and std of its own", "others");
  if (info.hasPixelClasses() && options.output == Output::kLogits && info.outputs.front() == "labels")
    no("output labels", "output logits");
  if (info.hasPixelClasses() && options.scores && !info.scores) no("no output 'scores'", "one");
  return info;
}

/// `reduction` as ModelInfo has it: that of Mutual Pair Merging names its blocks. Throws mpm::Error for a block that
/// the model lacks.
Reduction reductionFor(const Reduction& reduction, int blocks) {
  const Reduction full = withDefaults(reduction, blocks);
  if (!full.blocks->empty() && full.blocks->back() >= blocks) {
    throw Error("reduction '" + mpm::toString(reduction) + "': block " + std::to_string(full.blocks->back()) +
                " does not exist, the model has " + std::to_string(blocks) + " blocks (0 to " +
                std::to_string(blocks - 1) + "); choose other blocks, or none");
  }
  if (reduction.method == ReductionMethod::kRule && full.blocks->empty()) {
    throw Error("the model has " + counted(blocks, "block") + ": name those where the rule merges");
  }
  if (full.method == ReductionMethod::kNone) return kFullModel;
  Reduction result = reduction;
  if (full.method == ReductionMethod::kMpm) result.blocks = full.blocks;
  if (full.method == ReductionMethod::kMpm && full.attention == Attention::kPlain) result.attention.reset();
  return result;
}

/// Reads and recognises the graph of a plain ViT. `understood.graph` keeps pointing into `model`.
Understood understand(onnx::ModelProto& model, const FactsFile& facts, const std::optional<Size2>& input_size,
                      const std::filesystem::path& folder) {
  Graph graph = readGraph(model, folder);
  const DeclaredInput declared = declaredInput(model, graph.values[graph.image].name);
  const bool bytes = readsWholeNumbers(graph);
  if (declared.channels_last) graph.feedChannelsFirst();
  std::vector<Size2> sizes;
  const bool fixed = declared.size.height > 0 && declared.size.width > 0;
  std::size_t known = 1;
  if (fixed) {
    sizes.push_back(declared.size);
  } else {
    if (input_size) sizes.push_back(*input_size);
    if (facts.input.height > 0 && facts.input.width > 0) sizes.push_back(facts.input);
    known = sizes.size();
    const auto guesses = guessedSizes(graph);
    sizes.insert(sizes.end(), guesses.begin(), guesses.end());
    if (sizes.empty()) throw Error(kNoSize);
    for (const Size2 size : sizes) requireNotTooLarge(size);
  }
  const Tensor* kernel = firstKernel(graph);
  const std::int64_t channels = declared.channels > 0 ? declared.channels
                                : kernel              ? std::clamp<std::int64_t>(kernel->shape[1], 1, 64)
                                                      : 3;
  Understood result = understandAt(std::move(graph), declared.batch, channels, sizes, known);
  result.batch = declared.batch;
  result.bytes = bytes;
  return result;
}

/// Applies `read` to the model in this file and its late weights.
template <class Read>
auto fromPath(const std::filesystem::path& path, Read read) {
  return naming(path, [&] {
    LateWeights late;
    onnx::ModelProto model = readModelFile(path, late);
    return read(std::move(model), std::move(late));
  });
}

void requireApart(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  std::vector<std::string> files = modelFiles(onnx_path);
  if (options.reduce && !options.reduce->policy.empty()) files.push_back(options.reduce->policy);
  for (const std::string& file : files) {
    if (sameFile(file, output_path))
      throw Error(output_path + ": is the model that is converted, or a part of it: name another file");
  }
}

}  // namespace

FactsFile readFactsOf(const onnx::ModelProto& model, const std::filesystem::path& path) {
  FactsFile facts = readFacts(path);
  const std::string* const id = metadata(model, kIdKey);
  if (!facts.onnx_id.empty() && (!id || *id != facts.onnx_id)) {
    throw Error("'" + factsFile(path.string()) + "' was written with another '" + path.filename().string() +
                "': 'mpm teach' was stopped between the two files. Train again, or remove \"onnx_id\" from the JSON if "
                "it is right for this model");
  }
  return facts;
}

Converted convert(onnx::ModelProto model, const FactsFile& facts, const ConvertOptions& options,
                  const std::filesystem::path& folder, LateWeights late) {
  options.validate();
  if (holdsOurOps(model)) {
    makeWeightsPlain(*model.mutable_graph(), folder, late);
    ModelInfo info = infoOfConverted(model, options);
    return {std::move(model), std::move(info), std::move(late)};
  }
  late.load(*model.mutable_graph());
  Understood understood = understand(model, facts, options.input_size, folder);
  const Trunk& trunk = understood.trunk;

  ModelInfo info;
  info.facts = facts.facts;
  if (options.mean) {
    info.facts.mean = *options.mean;
    info.facts.deviation = *options.deviation;
    info.facts.assumed = false;
  } else if (info.facts.assumed && understood.bytes) {
    info.facts.mean.fill(0);  // the graph takes pixels as they are, 0 to 255
    info.facts.deviation.fill(1.0f / 255);
    info.facts.assumed = false;
  }
  info.input = options.input_size.value_or(understood.size);
  requireFits(trunk.embedding, info.input);
  if (trunk.embedding.corrects_border && info.input != understood.size) {
    throw Error("input size " + toString(info.input) + kHeightFirst +
                ": the graph normalises the image in front of a border of "
                "zeros, expected its own size, " +
                toString(understood.size));
  }
  info.image_channels = static_cast<int>(trunk.embedding.weight.shape[1]);
  info.blocks = static_cast<int>(trunk.chain.blocks.size());
  info.dim = static_cast<int>(trunk.dim);
  info.heads = static_cast<int>(trunk.chain.blocks.front().heads);
  info.patch = {static_cast<int>(trunk.embedding.weight.shape[2]), static_cast<int>(trunk.embedding.weight.shape[3])};
  info.special_tokens = static_cast<int>(trunk.embedding.special);
  const auto along = [](int side, int patch, std::int64_t stride, std::int64_t pad) {
    return static_cast<int>((side + 2 * pad - patch) / stride + 1);
  };
  info.grid = {along(info.input.height, info.patch.height, trunk.embedding.stride_h, trunk.embedding.pad_h),
               along(info.input.width, info.patch.width, trunk.embedding.stride_w, trunk.embedding.pad_w)};
  std::optional<Reduction> wanted = options.reduce;
  if (!wanted) {
    wanted = facts.reduce;  // a path in it is relative to the model's folder
    if (wanted && !wanted->policy.empty()) wanted->policy = (folder / wanted->policy).string();
  }
  const auto& blocks = trunk.chain.blocks;
  const auto any = [&](auto&& has) { return std::ranges::any_of(blocks, has); };
  const bool fixed = any([](const Block& b) { return b.fixesPlaces(); });
  info.reduction = reductionFor(wanted.value_or(fixed ? kFullModel : Reduction()), info.blocks);
  if (fixed && info.reduction.method != ReductionMethod::kNone) {
    const bool windows = any([](const Block& b) { return b.windows > 1; });
    throw Error("its tokens cannot merge, because its attention " +
                std::string(windows ? "is inside windows of the patch grid"
                                    : "has a bias for each pair of patches (relative positions)") +
                ", and a merged token has no single place: choose the reduction none");
  }
  const auto positions = info.reduction.positions.value_or(MergedPositions::kMean);
  if (positions != MergedPositions::kMean && !any([](const Block& b) { return b.rotation != nullptr; }))
    throw Error("positions=" + mpm::toString(positions) + " is for rotary positions, which this model does not have");
  info.precision = options.precision.value_or(Precision::kFp32);
  info.opset = understood.graph.opset;
  info.parameters = understood.graph.weights;
  const std::int64_t batch = understood.batch;
  Converted result =
      Emitter(understood.graph, understood.found, std::move(understood.trunk), std::move(info), options).emit();
  if (batch > 1 && result.one_image) {
    throw Error("found a batch of " + std::to_string(batch) +
                " images that is fixed in the graph and not kept apart behind the encoder, expected a model exported "
                "with one image, or with a dynamic batch axis");
  }
  understood = {};
  returnFreedMemory();  // before the weights are written or packed
  if (result.info.classes > 0) requireClasses(result.info.facts, result.info.classes);
  return result;
}

EncoderOutput encoderOutput(onnx::ModelProto& model, const FactsFile& facts, const std::filesystem::path& folder) {
  if (holdsOurOps(model)) throw Error("is a converted model: name the one that it was made from");
  const Understood understood = understand(model, facts, std::nullopt, folder);
  const Embedding& embedding = understood.trunk.embedding;
  const Graph& graph = understood.graph;
  EncoderOutput output;
  output.image = graph.values[graph.image].name;
  output.special = embedding.special;
  output.grid = {static_cast<int>(embedding.grid_h), static_cast<int>(embedding.grid_w)};
  output.input = understood.size;
  const Shape tokens{1, output.special + embedding.patches(), understood.trunk.dim};
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Cells* cells = understood.found.as<Cells>(static_cast<int>(i));
    if (!cells || cells->term != understood.trunk.chain.streams.back() || !rowsFrom(understood.found, *cells, 0))
      continue;
    if (cells->shape != tokens && cells->shape != Shape{tokens[1], 1, tokens[2]}) continue;
    output.name = graph.values[i].name;
    output.rows_first = cells->shape != tokens;
    const bool in_file = std::ranges::any_of(
        model.graph().node(), [&](const auto& node) { return std::ranges::count(node.output(), output.name) > 0; });
    if (in_file) return output;
  }
  throw Error("no value of the graph holds the tokens behind the last block as rows, " + toString(tokens));
}

void requireReadable(const std::string& onnx, const Json& json, const std::filesystem::path& path) {
  onnx::ModelProto model;
  if (!model.ParseFromString(onnx)) throw Error("is too large for an ONNX file");
  const std::filesystem::path json_path = factsFile(path.string());
  convert(std::move(model), factsFrom(JsonValue(json.dump(), "'" + json_path.string() + "'"), json_path), {},
          folderOf(path));
}

Converted convertPath(const std::filesystem::path& path, const ConvertOptions& options) {
  bool chosen = options.reduce.has_value();
  Converted converted = fromPath(path, [&](onnx::ModelProto model, LateWeights late) {
    const FactsFile facts = readFactsOf(model, path);
    chosen = chosen || facts.reduce;
    return convert(std::move(model), facts, options, folderOf(path), std::move(late));
  });
  const ModelInfo& info = converted.info;
  if (chosen || info.converted || info.head != HeadKind::kOther || info.task || info.schedule().empty())
    return converted;
  converted = {};
  return convertPath(path, options.with(kFullModel));  // the head is known only now
}

}  // namespace mpm::onnx_graph

namespace mpm {

ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options) {
  return onnx_graph::convertPath(onnx_path, options).info;
}

ConvertedModel convertModel(const std::string& onnx_path, const ConvertOptions& options) {
  onnx_graph::Converted result = onnx_graph::convertPath(onnx_path, options);
  return onnx_graph::naming(onnx_path, [&] {
    result.late.load(*result.model.mutable_graph());
    return ConvertedModel{onnx_graph::serialised(std::move(result.model)), std::move(result.info)};
  });
}

std::vector<std::string> modelFiles(const std::string& onnx_path) {
  const std::filesystem::path path(onnx_path);
  std::vector<std::string> files = {onnx_path, factsFile(onnx_path)};
  const auto external = [](const onnx::ModelProto& model, const auto&) { return onnx_graph::externalFiles(model); };
  for (const std::string& file : onnx_graph::fromPath(path, external))
    files.push_back((onnx_graph::folderOf(path) / file).string());
  return files;
}

ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  onnx_graph::requireApart(onnx_path, output_path, options);
  ConvertedModel converted = convertModel(onnx_path, options);
  if (converted.info.reduction.method == ReductionMethod::kRule) {
    throw Error("reduction '" + toString(converted.info.reduction) +
                "' is a function of a program, which no file holds");
  }
  writeFileAtomically(output_path, converted.bytes, true);
  converted.info.converted = true;
  return std::move(converted.info);
}

}  // namespace mpm
