// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/emitter.h"

#include <algorithm>

#include "base/size_text.h"
#include "onnx/model/box_outputs.h"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {

std::vector<Attribute> attributesOf(const MergeRule& rule) {
  const MergeRule usual;
  std::vector<Attribute> attributes;
  if (rule == usual) return attributes;
  const auto set = [&](bool differs, const char* name, auto value) {
    if (differs) attributes.emplace_back(name, value);
  };
  for (const auto& [groups, name] : kMergeGroups) set(groups == rule.groups, "groups", std::string(name));
  set(rule.count != usual.count, "count", std::int64_t{rule.count});
  set(rule.similarity != usual.similarity, "similarity", rule.similarity);
  set(rule.deviations != usual.deviations, "deviations", rule.deviations);
  set(rule.weighted, "weighted", std::int64_t{1});
  set(rule.grid_width != usual.grid_width, "grid_w", std::int64_t{rule.grid_width});
  set(rule.block != usual.block, "block", std::int64_t{rule.block});
  return attributes;
}

Size2 sizeOf(const Shape& shape) { return {static_cast<int>(shape[shape.size() - 2]), static_cast<int>(shape.back())}; }

Emitter::Emitter(const Graph& graph, const Interpretation& found, Trunk trunk, ModelInfo info,
                 const ConvertOptions& options)
    : graph_(graph),
      found_(found),
      trunk_(std::move(trunk)),
      info_(std::move(info)),
      reduction_(withDefaults(info_.reduction, info_.blocks)),
      output_(options.output),
      scores_(options.scores),
      retargeted_(info_.input != sizeOf(*graph.shape(graph.image))),
      net_(std::clamp(graph.opset, 11, 17), "mpm"),
      head_nodes_(graph, net_, "head/", mpm::toString(info_.precision), !retargeted_) {}

Converted Emitter::emit() && {
  image_ = graph_.values[graph_.image].name;
  net_.input(image_, {1, trunk_.embedding.weight.shape[1], info_.input.height, info_.input.width});
  auto head = graph_.outputs.size() == 1 ? recogniseHead(found_, trunk_, graph_.outputs[0]) : std::nullopt;
  info_.outputs = head ? std::vector{segmentationOutput()} : graph_.output_names;
  for (const std::string& name : info_.outputs) net_.unique(name);
  encoder();
  if (head)
    segmentation(std::move(*head));
  else
    otherHead();
  findTask();
  // What int8 rounds changes the classes of few pixels, and every depth.
  if (info_.task == Task::kDepth && info_.precision == Precision::kInt8)
    net_.setEach("HeadConvolve", {"beside_int8", std::int64_t{1}});
  if (one_image_ || head_nodes_.oneImage()) net_.set("backbone/patch_embed", {"one_image", std::int64_t{1}});
  const auto insertions = static_cast<std::int64_t>(info_.schedule().size());
  net_.op("MergeReport", states_, {"merge_map", "token_counts"}, {});
  net_.output("merge_map", {1, std::max<std::int64_t>(insertions, 1), info_.tokens()});
  net_.output("token_counts", {1, insertions + 1});
  net_.metadata("mpm.format", "1");
  net_.metadata("mpm.info", toJson(info_));
  onnx::ModelProto net = std::move(net_).model();
  // Where the head was written from the tokens before, the net would lack blocks that it says it has.
  const int last = trunk_.chain.streams.back();
  const auto makesLast = [&](const onnx::NodeProto& node) { return node.output(0) == tokens_.at(last).name; };
  if (std::ranges::none_of(net.graph().node(), makesLast))
    refuse(*at(last).node, "tokens that the head reads in another order", "the order of the patches");
  return {std::move(net), std::move(info_), {}, head_nodes_.oneImage()};
}

void Emitter::otherHead() {
  findOutside();
  head_nodes_.write(graph_.outputs, graph_.output_names, image_,
                    [&](int value, const auto& name) { return ofTokens(value, name); });
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    Shape shape = graph_.shape(graph_.outputs[i]) ? *graph_.shape(graph_.outputs[i]) : Shape{};
    if (retargeted_ && shape.size() == 3) shape[1] += info_.tokens() - patches();
    net_.output(graph_.output_names[i], shape);
  }
  const Cells* first = found_.as<Cells>(graph_.outputs[0]);
  if (first && outside_[first->term]) first = nullptr;
  const std::int64_t row = first ? singleRow(found_, *first) : -1;
  if (first && row < 0 && (rowsFrom(found_, *first, 0) || rowsFrom(found_, *first, specialOf(at(first->term))))) {
    info_.head = HeadKind::kFeatures;
  } else if (first && row >= 0 && at(first->term).kind == TermKind::kLinear && graph_.outputs.size() == 1 &&
             first->shape.back() == at(first->term).cols) {
    info_.head = HeadKind::kClassifier;
    info_.classes = static_cast<int>(at(first->term).cols);
  } else if (const std::int64_t classes = maskQueryClasses(); classes > 0) {
    info_.head = HeadKind::kMaskQueries;
    info_.classes = static_cast<int>(classes);
  } else if (const std::int64_t columns = boxQueryClasses(); columns > 0) {
    info_.head = HeadKind::kBoxQueries;
    info_.classes = static_cast<int>(columns);
  }
}

/// Classes of a head of box queries, when the JSON names its task or the outputs have the names of RF-DETR. DETR and
/// YOLOS have outputs of the same shapes, whose scores are a softmax with "no object". 0 for any other head.
std::int64_t Emitter::boxQueryClasses() const {
  const std::vector<std::string>& names = graph_.output_names;
  const bool rf_detr = names.size() >= 2 && names[0] == "dets" && names[1] == "labels";
  const bool named = info_.facts.task == Task::kBoxes || info_.facts.task == Task::kInstance;
  if (!named && (info_.facts.task || !rf_detr)) return 0;
  std::vector<Shape> shapes;
  for (const int output : graph_.outputs) shapes.push_back(graph_.shape(output) ? *graph_.shape(output) : Shape());
  const auto found = boxOutputs(names, shapes);
  return found ? shapes[found->scores].back() : 0;
}

/// Classes of a head of mask queries: masks {1, Q, h, w} and class scores {1, Q, classes + 1}, the last of no object,
/// of Q queries that joined the tokens, or when the JSON names a task of labels or segments. 0 for any other head.
std::int64_t Emitter::maskQueryClasses() const {
  const auto& late = trunk_.chain.late;
  const bool named = info_.facts.task && *info_.facts.task != Task::kDepth;
  if (graph_.outputs.size() != 2 || (late.size() != 1 && !named)) return 0;
  const Shape *masks = graph_.shape(graph_.outputs[0]), *classes = graph_.shape(graph_.outputs[1]);
  if (masks && masks->size() == 3) std::swap(masks, classes);
  const bool both = masks && classes && masks->size() == 4 && classes->size() == 3 && (*classes)[1] == (*masks)[1];
  return both && (named || (*masks)[1] == late[0].rows) ? classes->back() - 1 : 0;
}

/// The task is that of the JSON, else that of the head. Throws mpm::Error when the head cannot do the JSON's task.
void Emitter::findTask() {
  const std::string& output = graph_.output_names[0];
  const Shape* shape = graph_.shape(graph_.outputs[0]);
  const bool map = info_.head == HeadKind::kOther && graph_.outputs.size() == 1 && shape && shape->size() >= 3;
  const std::int64_t pixels = map ? (*shape)[shape->size() - 2] * shape->back() : 0;
  const std::int64_t channels = pixels > 0 ? elements(*shape) / pixels : 0;
  info_.task = info_.facts.task;
  if (!info_.task && info_.givesLabels()) info_.task = Task::kSemantic;
  if (!info_.task && info_.head == HeadKind::kBoxQueries)
    info_.task = info_.can(Task::kInstance) ? Task::kInstance : Task::kBoxes;
  if (!info_.task && channels == 1 && output.find("depth") != std::string::npos) info_.task = Task::kDepth;
  requireTask(info_);
  if (info_.task == Task::kDepth && channels != 1)
    throw Error("its JSON says task 'depth', but output '" + output + "' is not a map of one channel");
  if (info_.task != Task::kSemantic || info_.head != HeadKind::kOther) return;
  if (channels < 2 || shape->size() != 4) {
    throw Error("its JSON says task 'semantic', but output '" + output +
                "' is not a map with a channel for each class");
  }
  info_.classes = static_cast<int>(channels);
}

/// Labels are called "labels" and logits as in the graph. Where the graph itself gives labels, its name would be wrong
/// for logits.
std::string Emitter::segmentationOutput() const {
  if (output_ == Output::kLabels) return "labels";
  const ClassMap* map = found_.as<ClassMap>(graph_.outputs[0]);
  if (map && map->argmax) return "logits";
  if (graph_.output_names[0] == "labels") {
    throw Error(
        "the graph calls its logits 'labels', which is the name of label maps in a converted net: rename the "
        "output in the original model, or ask for labels");
  }
  return graph_.output_names[0];
}

/// Size of the graph's class map in the converted net: that of the network input or of the patch grid. A graph that
/// resizes its scores to another size is refused.
Size2 Emitter::classMapSize() const {
  const ClassMap* map = found_.as<ClassMap>(graph_.outputs[0]);
  if (!map) return info_.grid;
  const Size2 own = sizeOf(map->shape), input = sizeOf(*graph_.shape(graph_.image)), grid = sizeOf(map->cells.shape);
  if (own == input) return info_.input;
  if (own == grid) return info_.grid;
  refuse(*graph_.producer(graph_.outputs[0]), "class scores resized to " + mpm::toString(own),
         "the size of the input, " + mpm::toString(input) + ", or of the patch grid, " + mpm::toString(grid) +
             kHeightFirst);
}

std::vector<float> Emitter::onGrid(const std::vector<float>& position) const {
  const Embedding& embedding = trunk_.embedding;
  const Size2 native{static_cast<int>(embedding.grid_h), static_cast<int>(embedding.grid_w)};
  return resizedPositions(position, native, info_.grid, trunk_.dim);
}

void Emitter::encoder() {
  const auto special = trunk_.embedding.special;
  const std::vector<MergeStep> steps = mergeSteps(info_);
  auto step = steps.begin();
  Tokens now = embed("backbone/patch_embed", image_, info_.input, onGrid(trunk_.embedding.position), special);
  states_.push_back(now.state);
  if (step != steps.end() && step->scored()) {
    now = merge(*step, now, scoredWindows(step->name()));
    ++step;
  }
  if (trunk_.pre_norm)
    now.name = head_nodes_.norm({now.name, now.state}, *trunk_.pre_norm, "backbone/pre_norm", special);
  auto& blocks = trunk_.chain.blocks;
  auto interaction = trunk_.chain.interactions.begin();
  auto late = trunk_.chain.late.begin();
  auto later = trunk_.chain.positions.begin();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    tokens_[trunk_.chain.streams[i]] = now;
    for (; interaction != trunk_.chain.interactions.end() && interaction->block == i; ++interaction)
      now = interact(*interaction, now);
    const bool merges = step != steps.end() && step->block == static_cast<int>(i);
    if (later != trunk_.chain.positions.end() && later->block == i) now = addPositions(*later++, now);
    if (merges && !step->inside) now = merge(*step, now);
    if (late != trunk_.chain.late.end() && late->block == i) now = prepend(*late++, now);
    const std::string name = "backbone/block" + std::to_string(i);
    const bool key_bias = reduction_.attention == Attention::kProportional && states_.size() > 1;
    if (merges && step->inside && blocks[i].parallel) {
      throw Error(
          "its blocks compute attention and MLP side by side, and the reduction merges tokens between the two: "
          "choose one that merges before a block");
    }
    if (merges && step->inside) {
      now.name = block(blocks[i], now, name + "/attention", key_bias, "attention", step->keys);
      now = merge(*step, now, step->keys ? std::vector{now.name + "/keys"} : Names());
      now.name = block(blocks[i], now, name, false, "mlp");
    } else if (blocks[i].fixesPlaces()) {
      now.name = windowAttention(blocks[i], now, name + "/attention");
      now.name = block(blocks[i], now, name, false, "mlp");
    } else {
      now.name = block(blocks[i], now, name, key_bias);
    }
    blocks[i] = {};
    if (merges) ++step;
  }
  if (info_.reduction.head_restored && states_.size() > 1) {
    const std::string restored = "restore/grid";
    net_.op("RestoreTokens", {now.name, now.state}, {restored},
            {{"special_tokens", now.special}, {"keep_special", std::int64_t{now.special > 0}}});
    now = {restored, states_.front(), now.special};  // the rows of the input, each of one member
  }
  tokens_[trunk_.chain.streams.back()] = now;
}

Emitter::Tokens Emitter::prepend(const LateTokens& late, const Tokens& in) {
  const std::string name = "backbone/late_tokens" + std::to_string(late.block);
  net_.op(late.replaced > 0 ? "ClassTokens" : "PrependTokens",
          {in.name, in.state, net_.weights(name + ".rows", {late.rows, trunk_.dim}, late.values)}, {name},
          {{"special_tokens", in.special}});
  return {name, in.state, late.rows + in.special - late.replaced};
}

Emitter::Tokens Emitter::addPositions(const LaterPositions& positions, const Tokens& in) {
  const std::string name = "backbone/positions" + std::to_string(positions.block);
  const auto grid = positions.values.end() - patches() * trunk_.dim;
  std::vector<float> values(positions.values.begin(), grid);
  const std::vector<float> of_patches = onGrid({grid, positions.values.end()});
  values.insert(values.end(), of_patches.begin(), of_patches.end());
  Names inputs = withStates(in);
  inputs.push_back(net_.weights(name + ".rows", {in.special + info_.tokens(), trunk_.dim}, values));
  net_.op("AddPositions", inputs, {name}, {{"special_tokens", in.special}});
  return {name, in.state, in.special};
}

Names Emitter::withStates(const Tokens& in) const {
  Names inputs{in.name, in.state};
  const bool weighted = info_.reduction.method != ReductionMethod::kMpm && !info_.reduction.plain_mean;
  if (!weighted && states_.size() > 2) inputs.insert(inputs.end(), states_.begin() + 1, states_.end() - 1);
  return inputs;
}

/// The rows that the graph adds are made on the full grid, of restored tokens. Each merged row gets the mean of its
/// own.
Emitter::Tokens Emitter::interact(const Interaction& interaction, const Tokens& in) {
  const std::int64_t rows = elements(*graph_.shape(interaction.value)) / trunk_.dim;
  if (rows != patches() && rows != in.special + patches()) {
    refuse(*at(interaction.sum).node,
           "an addition to " + std::to_string(rows) + " tokens of a grid of " + std::to_string(patches()),
           "one to all patches");
  }
  findOutside();
  Names inputs = withStates(in);
  inputs.push_back(
      head_nodes_.write(interaction.value, image_, [&](int value, const auto& name) { return ofTokens(value, name); }));
  const std::string name = net_.unique("backbone/interaction" + std::to_string(interaction.block));
  const Tokens result{net_.op("AddRows", inputs, {name}, {{"special_tokens", in.special}}), in.state, in.special};
  return tokens_[interaction.sum] = result;
}

Emitter::Tokens Emitter::merge(const MergeStep& step, const Tokens& in, const Names& compared) {
  const std::string name = step.name();
  Names inputs{in.name, in.state};
  inputs.insert(inputs.end(), compared.begin(), compared.end());
  if (info_.reduction.method == ReductionMethod::kRule) inputs.push_back(image_);
  NetWriter::Attributes attributes = attributesOf(step.rule);
  const std::string op = attributes.empty() ? "MutualPairMerge" : "MergeTokens";
  attributes.emplace_back("special_tokens", in.special);
  net_.op(op, inputs, {name, name + "/state"}, attributes);
  states_.push_back(name + "/state");
  return {name, name + "/state", in.special};
}

Emitter::Tokens Emitter::maskScores(SegmentationHead& head, const Tokens& in) {
  const std::int64_t dim = at(head.tokens).cols, special = head.classes;
  Tokens now = in;
  now.name = net_.op(
      "ClassTokens",
      {in.name, in.state, net_.weights("head/class_tokens.embeddings", {head.classes, dim}, head.class_embeddings)},
      {"head/class_tokens"}, {{"special_tokens", in.special}});
  now.special = special;
  for (std::size_t i = 0; i < head.blocks.size(); ++i)
    now.name = block(head.blocks[i], now, "head/block" + std::to_string(i), true);
  now.name = head_nodes_.norm({now.name, now.state}, head.norm, "head/norm", special);
  const auto matrix = [&](const char* name, const LinearPart& part) {
    return net_.weights(name, {part.out, part.in}, part.weight);
  };
  now.name = net_.op("MaskScores",
                     {now.name, now.state, matrix("head/mask_scores.proj_patch", head.proj_patch),
                      matrix("head/mask_scores.proj_classes", head.proj_classes),
                      net_.weights("head/mask_scores.norm.weight", {head.classes}, head.mask_norm.weight),
                      net_.weights("head/mask_scores.norm.bias", {head.classes}, head.mask_norm.bias)},
                     {"head/mask_scores"}, {{"special_tokens", special}, {"eps", head.mask_norm.eps}, precision()});
  now.special = 0;
  return now;
}

void Emitter::segmentation(SegmentationHead head) {
  const Size2 own = classMapSize();
  const bool labels = output_ == Output::kLabels;
  const auto in = tokens(head.mask ? head.tokens : head.scores);
  if (!in)
    throw Error("the segmentation head reads something else than the encoder's tokens, expected its last features");
  const Tokens merged = head.mask ? maskScores(head, *in) : *in;
  const std::string scores = scores_ ? "scores" : net_.unique("restore/scores");
  const Size2 size = labels ? info_.input : own;
  net_.op("RestoreTokens", {merged.name, merged.state}, {scores},
          {{"special_tokens", merged.special}, {"keep_special", std::int64_t{0}}});
  net_.op(labels ? "SegmentLabels" : "SegmentLogits", {scores}, info_.outputs,
          {{"grid_h", std::int64_t{info_.grid.height}},
           {"grid_w", std::int64_t{info_.grid.width}},
           {"height", std::int64_t{size.height}},
           {"width", std::int64_t{size.width}}});
  net_.output(info_.outputs[0], {1, labels ? 1 : head.classes, size.height, size.width});
  if (scores_) net_.output(scores, {1, info_.tokens(), head.classes});
  info_.scores = scores_;
  info_.head = head.mask ? HeadKind::kMaskTransformer : HeadKind::kLinear;
  info_.classes = static_cast<int>(head.classes);
}

std::vector<float> resizedPositions(const std::vector<float>& position, Size2 from, Size2 to, std::int64_t dim) {
  if (from == to) return position;
  std::vector<float> result;
  const auto tap = [](int index, int inputs, int outputs) {
    const double source = (index + 0.5) * inputs / outputs - 0.5;
    const double clamped = std::clamp(source, 0.0, static_cast<double>(inputs - 1));
    const int first = std::min(static_cast<int>(clamped), std::max(inputs - 2, 0));
    return std::pair(first, clamped - first);
  };
  for (int y = 0; y < to.height; ++y) {
    const auto [row, down] = tap(y, from.height, to.height);
    for (int x = 0; x < to.width; ++x) {
      const auto [column, right] = tap(x, from.width, to.width);
      const auto value = [&, r = row, c = column](int dy, int dx, std::int64_t j) {
        const int other_row = std::min(r + dy, from.height - 1), other_column = std::min(c + dx, from.width - 1);
        return static_cast<double>(position[(other_row * from.width + other_column) * dim + j]);
      };
      for (std::int64_t j = 0; j < dim; ++j) {
        const double top = value(0, 0, j) * (1 - right) + value(0, 1, j) * right;
        const double bottom = value(1, 0, j) * (1 - right) + value(1, 1, j) * right;
        result.push_back(static_cast<float>(top * (1 - down) + bottom * down));
      }
    }
  }
  return result;
}

}  // namespace mpm::onnx_graph
