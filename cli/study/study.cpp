// SPDX-License-Identifier: Apache-2.0
#include "cli/study/study.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <set>

#include "base/size_text.h"
#include "cli/manifest.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/flop_counter.h"
#include "evaluation/numbers.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/labels/classes.h"
#include "vision/model_digest.h"

namespace mpm::cli {

using namespace program;

namespace {

constexpr std::size_t kChunk = 64;       // images between two lines of a variant
constexpr std::size_t kMaxMembers = 48;  // of a cluster whose pairs are counted

/// Images of a data set, with their truth.
struct Chunk {
  int first = 0;
  std::vector<cv::Mat> images, truths, near, elsewhere;  // near: the truth where it is near a boundary, else void
};

/// Adds an image and its truth, also apart near boundaries and elsewhere.
void addTo(Chunk& chunk, const LabelledFrame& frame, int void_label) {
  const cv::Mat around = cv::getStructuringElement(cv::MORPH_RECT, {2 * kNearPixels + 1, 2 * kNearPixels + 1});
  cv::Mat highest, lowest;
  cv::dilate(frame.truth, highest, around);
  cv::erode(frame.truth, lowest, around);
  chunk.images.push_back(frame.frame.image.clone());
  for (auto truths : {&Chunk::truths, &Chunk::near, &Chunk::elsewhere}) (chunk.*truths).push_back(frame.truth.clone());
  chunk.near.back().setTo(void_label, highest == lowest);
  chunk.elsewhere.back().setTo(void_label, highest != lowest);
}

PairCounts countsOf(const cv::Mat& truth, const cv::Mat& labels, int classes, int void_label) {
  evaluation::ConfusionMatrix matrix(classes, void_label);
  matrix.add(truth, labels);
  return matrix.pairs();
}

template <class T>
void addTo(std::vector<T>& sums, const std::vector<T>& values) {
  sums.resize(std::max(sums.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

/// Distances and classes of the tokens that share a cluster.
void countPairs(const Estimate& result, const cv::Mat& truth, int void_label, StudyRow& row) {
  row.distances.resize(kMaxDistance + 1);
  if (result.cluster_of_token.empty()) return;
  const int width = result.grid.width;
  std::map<int, std::vector<int>> members;
  for (int token = 0; token < static_cast<int>(result.cluster_of_token.back().size()); ++token)
    members[result.cluster_of_token.back()[static_cast<std::size_t>(token)]].push_back(token);
  const auto classOf = [&](int token) {  // of the pixel in the middle of the patch
    const int y = (2 * (token / width) + 1) * truth.rows / (2 * result.grid.height);
    const int x = (2 * (token % width) + 1) * truth.cols / (2 * width);
    return static_cast<int>(truth.at<unsigned char>(y, x));
  };
  for (const auto& [cluster, tokens] : members)
    for (std::size_t i = 0; i < std::min(kMaxMembers, tokens.size()); ++i)
      for (std::size_t j = i + 1; j < std::min(kMaxMembers, tokens.size()); ++j) {
        const double distance =
            std::hypot(tokens[i] / width - tokens[j] / width, tokens[i] % width - tokens[j] % width);
        ++row.distances[static_cast<std::size_t>(std::min(kMaxDistance, static_cast<int>(std::lround(distance))))];
        const int a = classOf(tokens[i]), b = classOf(tokens[j]);
        if (a == void_label || b == void_label) continue;
        ++row.pairs[0];
        row.pairs[1] += a == b;
      }
}

/// Of all batches of images that follow each other. `tokens`: of each image, after each step.
void countBatches(const std::vector<std::vector<double>>& tokens, const evaluation::FlopCounter& counter,
                  StudyRow& row) {
  for (const std::size_t size : kBatchSizes) {
    double ragged = 0, padded = 0, minimum = 0;
    std::int64_t batches = 0;
    for (std::size_t first = 0; first + size <= tokens.size(); ++first, ++batches) {
      std::vector<double> most = tokens[first], least_merged = tokens[first];
      for (std::size_t step = 1; step < most.size(); ++step) {
        double merged = tokens[first][step - 1];
        for (std::size_t b = first; b < first + size; ++b) {
          most[step] = std::max(most[step], tokens[b][step]);
          merged = std::min(merged, tokens[b][step - 1] - tokens[b][step]);
        }
        least_merged[step] = least_merged[step - 1] - merged;
      }
      for (std::size_t b = first; b < first + size; ++b)
        ragged += counter.count(tokens[b]) / 1e9 / static_cast<double>(size);
      padded += counter.count(most) / 1e9;
      minimum += counter.count(least_merged) / 1e9;
    }
    row.batches.push_back(batches);
    row.ragged.push_back(ragged);
    row.padded.push_back(padded);
    row.minimum.push_back(minimum);
  }
}

/// The fields of a row with their keys in a line: `label` says what was measured, `each` has a value of each image,
/// `sum` so many sums (0: any number).
template <class Label, class Each, class Sum>
void eachField(Label&& label, Each&& each, Sum&& sum) {
  label("model", &StudyRow::model);
  label("digest", &StudyRow::digest);
  label("net", &StudyRow::net);
  label("data", &StudyRow::data);
  label("source", &StudyRow::source);
  label("limit", &StudyRow::limit);
  label("precision", &StudyRow::precision);
  label("sweep", &StudyRow::sweep);
  label("variant", &StudyRow::variant);
  label("classes", &StudyRow::classes);
  each("ms", &StudyRow::ms);
  each("full_ms", &StudyRow::full_ms);
  each("tokens", &StudyRow::tokens);
  each("gflop", &StudyRow::gflop);
  each("agreement", &StudyRow::agreement);
  each("near", &StudyRow::near);
  each("elsewhere", &StudyRow::elsewhere);
  sum("stages", &StudyRow::stages, std::size(evaluation::kStages));
  sum("blocks", &StudyRow::blocks, 0);
  sum("distances", &StudyRow::distances, 0);
  sum("pairs", &StudyRow::pairs, 2);
  sum("batches", &StudyRow::batches, std::size(kBatchSizes));
  sum("ragged", &StudyRow::ragged, std::size(kBatchSizes));
  sum("padded", &StudyRow::padded, std::size(kBatchSizes));
  sum("minimum", &StudyRow::minimum, std::size(kBatchSizes));
}

Json lineOf(const StudyRow& row, int first) {
  Json line = {{"first", first}};
  const auto write = [&](const char* key, auto field, std::size_t = 0) { line[key] = row.*field; };
  eachField(write, write, write);
  return line;
}

void read(const JsonValue& json, std::string& text) { text = json.text(); }
void read(const JsonValue& json, bool& flag) { flag = json.flag(); }
void read(const JsonValue& json, int& number) { number = json.integer(0, 1 << 30); }
void read(const JsonValue& json, std::int64_t& count) { count = json.count(); }
void read(const JsonValue& json, double& number, int = 0) { number = json.number(0); }
void read(const JsonValue& json, PairCounts& counts, int classes) {
  for (const JsonValue& one : json.list()) {
    const auto numbers = one.list(3, 3);
    counts.push_back({numbers[0].whole(0, classes - 1), numbers[1].whole(0, classes - 1), numbers[2].count()});
  }
}
void read(const JsonValue& json, std::vector<std::string>& names) {
  for (const JsonValue& one : json.list(1, 256)) names.push_back(one.text());
}

StudyRow parsed(const JsonValue& line) {
  StudyRow row;
  const std::size_t images = line.at("ms").list().size();
  const auto label = [&](const char* key, auto field) { read(line.at(key), row.*field); };
  const auto each = [&](const char* key, auto field) {
    for (const JsonValue& one : line.at(key).list(images, images))
      read(one, (row.*field).emplace_back(), static_cast<int>(row.classes.size()));
  };
  const auto sum = [&](const char* key, auto field, std::size_t size) {
    const auto list = size > 0 ? line.at(key).list(size, size) : line.at(key).list();
    (row.*field).resize(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) read(list[i], (row.*field)[i]);
  };
  eachField(label, each, sum);
  return row;
}

// "ragged" is the newest key: a file without it is of an older version.
const std::vector<std::string> kStudyKeys = {"model", "digest", "variant", "first", "blocks", "ragged"};

/// What a line is of.
std::string keyOf(const StudyRow& row, int first) {
  return row.digest + "|" + row.source + "|" + std::to_string(row.limit) + "|" + row.precision + "|" +
         (row.sweep ? "sweep" : "") + "|" + row.variant + "|" + std::to_string(first);
}

std::vector<Reduction> depthSweep(int blocks) {
  std::vector<Reduction> variants;
  for (int block = 0; block < blocks; ++block) variants.push_back(mpmBefore({block}));
  return variants;
}

/// One model on one data set at one precision; the depth sweep is another one.
struct ModelWork {
  std::string model, digest;
  const StudyData* data = nullptr;
  EstimatorOptions options;
  ModelInfo info;
  std::vector<Reduction> variants;
  bool sweep = false;
  int images = 0;  // to measure
  int limit = 0;   // StudyRow::limit
};

class Measurement {
 public:
  Measurement(const StudyPlan& plan, const std::string& file, bool show_progress)
      : plan_(plan), log_(file, kStudyKeys) {
    for (const JsonValue& line : log_.lines())
      if (!done_.insert(keyOf(parsed(line), line.at("first").integer(0, 1 << 30))).second)
        throw Error(line.place() + " is of the same images as a line before it: remove that line");
    int runs = 0;
    for (const std::string& model : plan.models)
      for (const StudyData& data : plan.data)
        for (const Precision precision : plan.precisions) addTasks(model, data, precision);
    for (const ModelWork& task : tasks_) runs += task.images * static_cast<int>(task.variants.size() + 1);
    progress_ = std::make_unique<Progress>(show_progress, runs);
  }

  bool run() {
    for (const ModelWork& task : tasks_)
      if (!run(task)) return false;
    return true;
  }

 private:
  void addTasks(const std::string& model, const StudyData& data, Precision precision) {
    ModelWork task{.model = model,
                   .digest = vision::modelDigest(model),
                   .data = &data,
                   .options = plan_.options,
                   .info = ModelInfo(),  // with {} GCC 12 warns of an uninitialised optional
                   .variants = plan_.variants,
                   .sweep = false,
                   .images = 0};
    task.options.read.convert.precision = precision;
    applyProtocol(data.labelled, {}, model, task.options);
    task.info = readModelInfo(model, task.options.read.convert.with(kFullModel));
    if (task.info.converted) throw Error("'" + model + "' is converted already: name the plain ViT it was made of");
    if (!task.info.segments()) throw Error("'" + model + "' does not segment: nothing to study");
    task.images = LabelledFrames(data.labelled, task.info, false).size().value_or(0);
    task.limit = plan_.max_images;
    if (task.limit > 0) task.images = std::min(task.images, task.limit);
    tasks_.push_back(task);
    if (plan_.sweep_images == 0) return;
    task.sweep = true;
    task.variants = depthSweep(task.info.blocks);
    task.limit = plan_.sweep_images;
    task.images = std::min(task.images, task.limit);
    tasks_.push_back(task);
  }

  bool run(const ModelWork& task) {
    LabelledFrames frames(task.data->labelled, task.info, false);
    Chunk chunk;
    for (int i = 0; i < task.images; ++i) {
      const auto frame = frames.next();
      if (!frame) break;
      addTo(chunk, *frame, frames.voidLabel());
      if (chunk.images.size() < kChunk && i + 1 < task.images) continue;
      if (!run(task, chunk, frames.voidLabel())) return false;
      chunk = {.first = i + 1, .images = {}, .truths = {}, .near = {}, .elsewhere = {}};
    }
    return !interrupted();
  }

  StudyRow emptyRow(const ModelWork& task, const Reduction& variant) const {
    StudyRow row;
    row.model = std::filesystem::path(task.model).stem().string();
    row.digest = task.digest;
    row.net = toString(task.info.head) + " " + std::to_string(task.info.dim) + "/" +
              std::to_string(task.info.patch.height) + " " + toString(task.info.input);
    row.data = task.data->name;
    row.source = vision::redactCredentials(task.data->text);
    row.limit = task.limit;
    row.precision = toString(task.options.read.convert.precision);
    row.variant = toString(variant);
    row.sweep = task.sweep;
    row.classes = vision::classNames(task.info);
    return row;
  }

  // The variants of a chunk that no line holds yet.
  bool run(const ModelWork& task, const Chunk& chunk, int void_label) {
    std::vector<Reduction> todo;
    for (const Reduction& variant : task.variants)
      if (!done_.count(keyOf(emptyRow(task, variant), chunk.first))) todo.push_back(variant);
    const bool full_is_done = done_.count(keyOf(emptyRow(task, kFullModel), chunk.first)) > 0;
    const int left_out = static_cast<int>((task.variants.size() - todo.size()) * chunk.images.size());
    for (int i = 0; i < left_out; ++i) progress_->step();
    if (todo.empty() && full_is_done) {
      for (std::size_t i = 0; i < chunk.images.size(); ++i) progress_->step();
      return true;
    }
    std::vector<Reduction> all = todo;
    all.push_back(kFullModel);  // the last one
    std::vector<StudyRow> rows;
    std::vector<evaluation::FlopCounter> counters;
    for (const Reduction& variant : all) {
      rows.push_back(emptyRow(task, variant));
      counters.emplace_back(convertModel(task.model, task.options.read.convert.with(variant)).bytes);
    }
    std::vector<cv::Mat> full(chunk.images.size());
    std::vector<std::vector<std::vector<double>>> tokens(all.size(), {chunk.images.size(), std::vector<double>()});
    evaluation::InterleavedVariants nets(task.model, task.options);
    const bool windows = task.options.fit == Fit::kWindow;
    const bool finished = nets.run(todo, chunk.images, [&](int image, int number, const evaluation::VariantRun& run) {
      const auto i = static_cast<std::size_t>(image), v = number < 0 ? todo.size() : static_cast<std::size_t>(number);
      if (number < 0) full[i] = run.result.labels;
      StudyRow& row = rows[v];
      row.ms.push_back(run.ms);
      row.full_ms.push_back(run.full_ms);
      row.tokens.push_back(run.result.tokens.back());
      tokens[v][i] = run.result.tokens;
      row.gflop.push_back(counters[v].count(run.result.tokens) / 1e9);
      row.agreement.push_back(100.0 * cv::countNonZero(run.result.labels == full[i]) /
                              static_cast<double>(full[i].total()));
      std::vector<double> stages;
      for (const auto& [name, stage] : evaluation::kStages) stages.push_back(run.result.ms.*stage);
      addTo(row.stages, stages);
      addTo(row.blocks, run.result.ms.blocks);
      row.near.push_back(countsOf(chunk.near[i], run.result.labels, task.info.classes, void_label));
      row.elsewhere.push_back(countsOf(chunk.elsewhere[i], run.result.labels, task.info.classes, void_label));
      if (!windows) countPairs(run.result, chunk.truths[i], void_label, row);
      progress_->step();
      return !interrupted();
    });
    if (!finished) return false;
    for (std::size_t v = 0; v < all.size(); ++v) {
      countBatches(tokens[v], counters[v], rows[v]);
      if (v < todo.size() || !full_is_done) log_.append(lineOf(rows[v], chunk.first));
    }
    return true;
  }

  const StudyPlan& plan_;
  JsonLog log_;
  std::set<std::string> done_;
  std::vector<ModelWork> tasks_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace

StudyData parseStudyData(const std::string& text) {
  StudyData data{.text = text, .name = "scene", .labelled = {}};
  const auto colon = text.find(':');
  if (colon == std::string::npos) throw UsageError("'" + text + "' is no data: name NAME:DIR or the scene");
  if (text.starts_with("demo:")) {
    data.labelled.source = text;
  } else {
    data.name = text.substr(0, colon);
    data.labelled.dataset = parseDataset(data.name);
    data.labelled.source = text.substr(colon + 1);
  }
  data.labelled.validate();
  return data;
}

bool measureStudy(const StudyPlan& plan, const std::string& file, bool show_progress) {
  return Measurement(plan, file, show_progress).run();
}

std::vector<StudyRow> readStudy(const std::string& file) {
  std::vector<StudyRow> rows;
  std::map<std::string, std::size_t> row_of;
  for (const JsonValue& line : readJsonLines(file, kStudyKeys)) {
    StudyRow part = parsed(line);
    const auto [place, fresh] = row_of.emplace(keyOf(part, 0), rows.size());
    if (fresh) {
      rows.push_back(std::move(part));
      continue;
    }
    StudyRow& row = rows[place->second];
    const auto append = [&](const char*, auto field) {
      (row.*field).insert((row.*field).end(), (part.*field).begin(), (part.*field).end());
    };
    const auto sum = [&](const char*, auto field, std::size_t) { addTo(row.*field, part.*field); };
    eachField([](const char*, auto) {}, append, sum);
  }
  return rows;
}

}  // namespace mpm::cli
