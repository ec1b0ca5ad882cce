// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "base/size_text.h"
#include "cli/frames.h"
#include "cli/random_segmenter.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "evaluation/flop_counter.h"
#include "evaluation/machine.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"
#include "mpm/build_info.hpp"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "program/paths.h"
#include "vision/model_files.h"

namespace mpm::cli {
namespace {

constexpr int kPeakMeasurements = 8;                   // at least
constexpr int kStreetRounds = 10, kNetworkRounds = 3;  // of a board, at most: its table takes ten minutes at most

struct BenchArguments {
  std::string model, image;
  VariantOptions variants;
  EstimatorOptions options;  ///< of every variant
  Night night;
  int batch = 1, rounds = 20, warm_up = 3;
  bool json = false, board = false, head = false;

  /// Successive frames instead of one image.
  bool reuses() const { return !variants.reuses.empty(); }
};

/// What all variants compute in a round.
struct Round {
  cv::Mat images;   ///< {batch, 3, H, W}, normalised
  cv::Mat picture;  ///< of a sequence: the frame as it is
  std::optional<double> seconds{};
};

/// A row of the table, and the net that is measured.
class Variant {
 public:
  Variant(const BenchArguments& arguments, const VariantOptions::Variant& variant)
      : reuse(variant.reuse),
        reduction(*variant.convert.reduce),
        precision(toString(variant.convert.precision)),
        with_head_(arguments.head),
        convert_(variant.convert) {
    const std::string& device = arguments.options.device;
    name = "mpm " + toString(reduction) + " " + precision + (device == "cpu" ? "" : " " + device) +
           (reuse.on ? " reuse " + toString(reuse) : "");
    tried([&] { load(arguments); });
  }

  void run(const Round& round, bool measured) {
    labels = cv::Mat();
    if (alive) tried([&] { estimator_ ? runFrame(round, measured) : runNet(round.images, measured); });
  }

  // The system may leave all threads of a process on one core for seconds, so one measurement says little: the best of
  // as many as there are rounds, and of all variants.
  void measurePeak() {
    if (alive && !interrupted())
      peak_gflops = std::max(peak_gflops, evaluation::gemmPeak(convert_.precision, 0.1) / 1e9);
  }

  double median() const { return quantile(ms, 0.5); }

  /// Frees the net, whose memory is needed for what comes.
  void unload() {
    loaded_ = {};
    estimator_.reset();
  }

  std::string name;
  Reuse reuse;
  Reduction reduction;
  std::string precision, note;  ///< `note`: why it failed, or shares
  bool alive = true;
  std::vector<double> ms;
  std::map<std::string, std::vector<double>> stages;
  std::vector<OperatorTime> head;  ///< with --head: the sums of all rounds
  double peak_gflops = 0;          ///< 0: not known
  Json tokens;                     ///< of the last run: per image, rows at the start and after each insertion
  cv::Mat labels;                  ///< of the last run
  evaluation::PerImage rows;       ///< share that was computed, with reuse
  evaluation::PerImage agreement;  ///< percent of the labels of the full model
  evaluation::PerImage gflop;

 private:
  template <class Work>
  void tried(Work work) {
    try {
      work();
    } catch (const std::exception& error) {
      alive = false;
      labels = cv::Mat();
      note = messageOf(error);
    }
  }

  void load(const BenchArguments& arguments) {
    EstimatorOptions options = arguments.options;
    options.reduce = convert_.reduce;
    options.precision = convert_.precision;
    options.reuse = reuse;
    flops_.emplace(convertModel(arguments.model, convert_).bytes);
    if (arguments.reuses()) {
      estimator_ = std::make_unique<Estimator>(arguments.model, options);
      return;
    }
    ReadOptions read = options.read();
    read.outputs = {"token_counts"};
    const ModelInfo info = readModelInfo(arguments.model, convert_);
    read.outputs.insert(read.outputs.end(), info.outputs.begin(), info.outputs.end());
    read.measure_layers = with_head_;
    outputs_.assign(read.outputs.begin(), read.outputs.end());
    loaded_ = readNet(arguments.model, read);
  }

  void runNet(const cv::Mat& images, bool measured) {
    std::vector<cv::Mat> blobs;
    const auto start = std::chrono::steady_clock::now();
    loaded_.net.setInput(images);
    loaded_.net.forward(blobs, outputs_);
    const double taken = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (loaded_.info.segments() && outputs_[1] == "labels") blobs[1].reshape(1, 1).convertTo(labels, CV_8U);
    if (!measured) return;
    const Json times = evaluation::toJson(forwardTimes(loaded_.net, taken));
    if (with_head_) addHead(headTimes(loaded_.net));
    tokens = Json::array();
    double flop = 0;
    const cv::Mat& counts = blobs[0];
    for (int b = 0; b < counts.size[0]; ++b) {
      const float* row = counts.ptr<float>() + static_cast<std::ptrdiff_t>(b) * counts.size[1];
      const std::vector<double> of_image(row, row + counts.size[1]);
      flop += flops_->count(of_image);
      tokens.push_back(of_image);
    }
    gflop.add(flop / 1e9);
    keep(taken, times);
  }

  void runFrame(const Round& round, bool measured) {
    const Estimate estimate = estimator_->estimate(round.picture, round.seconds);
    labels = estimate.labels;
    if (!measured) return;
    tokens = {estimate.tokens};
    if (estimate.reuse)
      rows.add(estimate.reuse->rows);
    else
      gflop.add(flops_->count({estimate.tokens.begin(), estimate.tokens.end()}) / 1e9);
    keep(estimate.ms.total, evaluation::toJson(estimate.ms));
  }

  void keep(double taken, const Json& times) {
    ms.push_back(taken);
    for (const auto& [stage, of_stage] : times.items()) stages[stage].push_back(of_stage);
  }

  void addHead(const std::vector<OperatorTime>& times) {
    for (const OperatorTime& time : times) {
      const auto same = std::ranges::find(head, time.op, &OperatorTime::op);
      if (same != head.end())
        same->ms += time.ms;
      else
        head.push_back(time);
    }
  }

  bool with_head_;
  ConvertOptions convert_;
  std::optional<evaluation::FlopCounter> flops_;
  LoadedNet loaded_;
  std::unique_ptr<Estimator> estimator_;  // of a sequence, instead of the net
  std::vector<cv::String> outputs_;
};

/// The input of every variant. Of a sequence each round has its own.
class Input {
 public:
  Input(const BenchArguments& arguments, const ModelInfo& model) : arguments_(arguments), model_(model) {
    if (!arguments.reuses())
      round_.images = tensorOf(images());
    else
      frames_.emplace(FrameOptions{.sources = {arguments.image}, .leave_out = false, .show_progress = false});
  }

  /// Throws mpm::Error at the end of a sequence.
  const Round& next() {
    if (!frames_) return round_;
    const auto frame = frames_->next();
    if (!frame)
      throw Error("'" + arguments_.image + "' ends after " + counted(frames_->read(), "frame") + ": --rounds " +
                  std::to_string(arguments_.rounds) + " and --warm-up " + std::to_string(arguments_.warm_up) +
                  " need one for each");
    round_.picture = arguments_.night.applied(frame->image, frame->name).clone();
    round_.seconds = frame->seconds();
    return round_;
  }

 private:
  std::vector<cv::Mat> images() const {
    std::vector<cv::Mat> result;
    if (arguments_.image.empty()) {  // smooth colours and some noise: merges about as much as a photograph does
      for (int b = 0; b < arguments_.batch; ++b) {
        cv::Mat small(6, 8, CV_8UC3), image, noise(480, 640, CV_8UC3);
        cv::RNG random(static_cast<unsigned>(b) + 1);
        random.fill(small, cv::RNG::UNIFORM, 0, 256);
        random.fill(noise, cv::RNG::UNIFORM, 0, 16);
        cv::resize(small, image, noise.size(), 0, 0, cv::INTER_CUBIC);
        result.push_back(arguments_.night.applied(image + noise, std::to_string(b)));
      }
      return result;
    }
    Frames frames(FrameOptions{
        .sources = {arguments_.image}, .max_frames = arguments_.batch, .leave_out = false, .show_progress = false});
    while (const auto frame = frames.next()) result.push_back(arguments_.night.applied(frame->image, frame->name));
    const std::size_t count = result.size();
    if (count == 0) throw Error("'" + arguments_.image + "' holds no image");
    if (static_cast<int>(count) < arguments_.batch)
      printNote("--batch " + std::to_string(arguments_.batch) + ", but '" + arguments_.image + "' has " +
                counted(count, "image") + ": repeated to fill the batch");
    for (std::size_t i = 0; static_cast<int>(result.size()) < arguments_.batch; ++i) result.push_back(result[i]);
    return result;
  }

  cv::Mat tensorOf(const std::vector<cv::Mat>& pictures) const {
    const cv::Size size(model_.input.width, model_.input.height);
    cv::Mat tensor(std::vector<int>{static_cast<int>(pictures.size()), 3, size.height, size.width}, CV_32F);
    for (std::size_t b = 0; b < pictures.size(); ++b) {
      cv::Mat pixels;
      cv::resize(pictures[b], pixels, size, 0, 0, cv::INTER_LINEAR);
      if (model_.facts.channels == ChannelOrder::kRgb) cv::cvtColor(pixels, pixels, cv::COLOR_BGR2RGB);
      pixels.convertTo(pixels, CV_32F, 1.0 / 255);
      for (int c = 0; c < 3; ++c) {
        cv::Mat plane(size, CV_32F, tensor.ptr<float>(static_cast<int>(b), c));
        cv::extractChannel(pixels, plane, c);
        plane -= model_.facts.mean[c];
        plane /= model_.facts.deviation[c];
      }
    }
    return tensor;
  }

  const BenchArguments& arguments_;
  const ModelInfo& model_;
  Round round_;
  std::optional<Frames> frames_;
};

// Compares the labels of each variant with those of the full model, of the round that just ended.
void compareLabels(std::vector<Variant>& variants) {
  const auto reference = std::ranges::find_if(variants, [](const Variant& v) {
    return v.reduction == kFullModel && !v.reuse.on && v.precision == "fp32" && !v.labels.empty();
  });
  if (reference == variants.end()) return;
  const auto estimateOf = [](const Variant& variant) {
    Estimate estimate;
    estimate.labels = variant.labels;
    return estimate;
  };
  for (Variant& variant : variants)
    if (&variant != &*reference && !variant.labels.empty())
      if (const auto agreement = agreementPercent(estimateOf(variant), estimateOf(*reference)))
        variant.agreement.add(*agreement);
}

void noteShares(std::vector<Variant>& variants) {
  for (Variant& variant : variants) {
    const auto add = [&](const evaluation::PerImage& sample, double unit, int digits, const char* of) {
      if (!sample.values.empty())
        variant.note += (variant.note.empty() ? "" : ", ") + fixed(unit * sample.mean(), digits) + " % of the " + of;
    };
    add(variant.rows, 100, 0, "rows");
    add(variant.agreement, 1, 2, "labels of mpm none fp32");
  }
}

void measure(std::vector<Variant>& variants, Input& input, const BenchArguments& arguments) {
  const bool peaks = arguments.options.device == "cpu" && !arguments.board;  // of the CPU; a board's table has none
  Progress progress(stderrIsTerminal(), static_cast<int>(variants.size()) * (arguments.rounds + arguments.warm_up));
  // A B C A B C ...: what else the machine does meets everyone alike.
  for (int round = -arguments.warm_up; round < arguments.rounds && !interrupted(); ++round) {
    const Round& work = input.next();
    for (Variant& variant : variants) {
      if (interrupted()) continue;
      variant.run(work, round >= 0);
      progress.step();
      if (round >= 0 && peaks) variant.measurePeak();
    }
    if (round >= 0 && (round + arguments.warm_up > 0 || !arguments.reuses()))  // the first frame is computed in full
      compareLabels(variants);
  }
  for (int round = arguments.rounds; peaks && round < kPeakMeasurements && !interrupted(); ++round)
    for (Variant& variant : variants) variant.measurePeak();
}

// The peak of a precision: the best that any variant saw in this run, on the same cores.
double peakOf(const std::vector<Variant>& variants, const std::string& precision) {
  double peak = 0;
  for (const Variant& variant : variants)
    if (variant.precision == precision) peak = std::max(peak, variant.peak_gflops);
  return peak;
}

std::optional<double> known(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

// To the first variant, round by round: what slows the machine down for a while slows both, and is no spread of this.
Json ratioPerRound(const Variant& variant, const Variant& first) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(variant.ms.size(), first.ms.size()); ++i)
    ratios.push_back(variant.ms[i] / first.ms[i]);
  return {{"median", evaluation::orNull(quantile(ratios, 0.5))},
          {"p25", evaluation::orNull(quantile(ratios, 0.25))},
          {"p75", evaluation::orNull(quantile(ratios, 0.75))}};
}

/// The numbers of a variant in the table and the JSON, which need the other variants too.
struct Row {
  Row(const Variant& v, const std::vector<Variant>& all)
      : variant(v), ms(v.median()), ratio(ms / all.front().median()), peak(peakOf(all, v.precision)) {
    if (peak > 0 && !v.gflop.values.empty()) peak_share = v.gflop.mean() / ms * 1e3 / peak;
    for (const auto& [stage, values] : v.stages)
      if (stage == "backbone" || stage == "merge" || stage == "restore" || stage == "head")
        stages[stage] = quantile(values, 0.5);
  }
  const Variant& variant;
  double ms, ratio, peak;
  std::optional<double> peak_share;
  Json stages = Json::object();  // ms
};

/// Mean ms of the operators of the head in a round, the slowest first.
std::vector<OperatorTime> headOf(const Variant& variant) {
  std::vector<OperatorTime> mean = variant.head;
  for (OperatorTime& time : mean) time.ms /= static_cast<double>(variant.ms.size());
  std::ranges::stable_sort(mean, std::greater(), &OperatorTime::ms);
  return mean;
}

Json headJson(const Variant& variant) {
  Json rows = Json::array();
  for (const OperatorTime& time : headOf(variant))
    rows.push_back({{"operator", time.op}, {"layers", time.layers}, {"ms", time.ms}});
  return rows;
}

void printHead(const Variant& variant) {
  printLine("head of " + variant.name + ":");
  const std::vector<OperatorTime> times = headOf(variant);
  double total = 0;
  for (const OperatorTime& time : times) total += time.ms;
  const auto line = [](const std::vector<std::string>& cells) { printLine(tableRow(cells, {-26, 8, 11, 8})); };
  line({"operator", "layers", "ms", "share"});
  for (const OperatorTime& time : times)
    line({time.op, std::to_string(time.layers), fixed(time.ms, 2),
          total > 0 ? fixed(100 * time.ms / total, 0) + " %" : "-"});
}

Json rowJson(const Row& row, const Variant& first, int batch) {
  const Variant& variant = row.variant;
  return {{"name", variant.name},
          {"reduce", toString(variant.reduction)},
          {"reuse", toString(variant.reuse)},
          {"precision", variant.precision},
          {"batch", batch},
          {"ms",
           {{"median", evaluation::orNull(row.ms)},
            {"p10", evaluation::orNull(quantile(variant.ms, 0.1))},
            {"p90", evaluation::orNull(quantile(variant.ms, 0.9))},
            {"rounds", variant.ms}}},
          {"ratio", evaluation::orNull(row.ratio)},
          {"ratio_per_round", ratioPerRound(variant, first)},
          {"stages", row.stages},
          {"head", headJson(variant)},
          {"gflop", evaluation::orNull(variant.gflop.mean())},
          {"tokens", variant.tokens},
          {"rows", variant.rows.values},
          {"agreement", evaluation::orNull(variant.agreement.mean())},
          {"peak_fraction", evaluation::orNull(row.peak_share)},
          {"note", variant.note}};
}

// Everything needed to repeat the measurement.
Json resultJson(const std::vector<Variant>& variants, const BenchArguments& arguments, const ModelInfo& model,
                int threads) {
  Json rows = Json::array();
  for (const Variant& variant : variants)
    rows.push_back(rowJson(Row(variant, variants), variants.front(), arguments.batch));
  Json peaks = Json::object();
  for (const Variant& variant : variants)
    peaks[variant.precision] = evaluation::orNull(known(peakOf(variants, variant.precision)));
  return {{"model", {{"path", arguments.model}, {"digest", vision::modelDigest(arguments.model)}}},
          {"image", arguments.image.empty() ? Json(nullptr) : Json(vision::redactCredentials(arguments.image))},
          {"simulated_night", toJson(arguments.night)},
          {"input", sizeJson(model.input)},
          {"device", arguments.options.device},
          {"threads", threads},
          {"batch", arguments.batch},
          {"warm_up", arguments.warm_up},
          {"rounds", arguments.rounds},
          {"cpu", evaluation::cpuName()},
          {"mpm", {{"version", buildInfo().version}, {"opencv", buildInfo().opencv}}},
          {"gemm_peak_gflops", peaks},
          {"variants", rows}};
}

void printTable(const std::vector<Variant>& variants, const BenchArguments& arguments, int threads) {
  int name_width = 26;
  for (const Variant& variant : variants) name_width = std::max(name_width, static_cast<int>(variant.name.size()));
  const auto line = [name_width](std::vector<std::string> cells) {
    for (std::size_t i = 1; i < cells.size(); ++i) cells[i] = "  " + cells[i];
    printLine(tableRow(cells, {-name_width, 11, 17, 9, 10, 8, -1}));
  };
  line({"variant", "ms", "p10 - p90", "ratio", "GFLOP", "peak", "note"});
  std::vector<std::string> stages;
  for (const Variant& variant : variants) {
    const Row row(variant, variants);
    const auto& ms = variant.ms;
    line({variant.name, fixed(row.ms, 2),
          ms.empty() ? "-" : fixed(quantile(ms, 0.1), 2) + " - " + fixed(quantile(ms, 0.9), 2), fixed(row.ratio, 3),
          fixed(variant.gflop.mean(), 2), row.peak_share ? fixed(100 * *row.peak_share, 0) + " %" : "-", variant.note});
    if (row.stages.empty()) continue;
    std::string text = variant.name + ":";
    for (const auto& [stage, time] : row.stages.items()) text += " " + stage + " " + fixed(time.get<double>(), 2);
    stages.push_back(text + " ms");
  }
  for (const std::string& text : stages) printLine(text);
  for (const Variant& variant : variants)
    if (arguments.head && !variant.head.empty()) printHead(variant);
  std::string peaks;
  for (const Variant& variant : variants)
    if (const std::string peak =
            ", GEMM peak " + variant.precision + " " + fixed(peakOf(variants, variant.precision), 0);
        variant.peak_gflops > 0 && peaks.find(peak) == std::string::npos)
      peaks += peak + " GFLOP/s";
  printLine("batch " + std::to_string(arguments.batch) + ", " + counted(threads, "thread") + ", " +
            (arguments.reuses() ? counted(arguments.rounds, "frame") + ", picture to labels"
                                : counted(arguments.rounds, "round") + ", tensor to label map") +
            peaks);
}

/// One model, and its variants, which took turns.
struct Comparison {
  ModelInfo model;
  std::vector<Variant> variants;
};

Comparison compared(const BenchArguments& arguments) {
  const VariantOptions& wanted = arguments.variants;
  Comparison result{readModelInfo(arguments.model, arguments.options.convert()), {}};
  std::vector<VariantOptions::Variant> ours = wanted.of(arguments.model, arguments.options.convert());
  if (wanted.reductions.empty() && !result.model.converted) {  // a converted one runs as it was made, beside nothing
    VariantOptions full = wanted;
    full.reductions = {kFullModel};
    if (result.model.reduction != kFullModel) {
      const auto before = full.of(arguments.model, arguments.options.convert());
      ours.insert(ours.begin(), before.begin(), before.end());
    }
  }
  if (arguments.reuses() && (arguments.image.empty() || arguments.batch > 1))
    throw UsageError("--reuse needs --image with a sequence of frames, one by one: a video, a folder or demo:");
  if (arguments.reuses() && arguments.head) throw UsageError("--head measures passes of one image: leave out --reuse");
  for (const VariantOptions::Variant& one : ours) result.variants.emplace_back(arguments, one);
  Input input(arguments, result.model);
  measure(result.variants, input, arguments);
  for (Variant& variant : result.variants) variant.unload();
  noteShares(result.variants);
  return result;
}

void expectAlive(const std::vector<Variant>& variants) {
  for (const Variant& variant : variants)
    if (!variant.alive) throw Error(variant.name + ": " + variant.note);
}

// Each precision that is fast here with each way to compute less: the default model on the built-in street, and the
// networks of the paper's table of a Raspberry Pi. Prints Markdown, to be sent.
int board(BenchArguments arguments, int threads) {
  VariantOptions& wanted = arguments.variants;
  if (!arguments.image.empty() || !wanted.reductions.empty() || !wanted.reuses.empty() || arguments.json ||
      arguments.head || arguments.options.device != "cpu" || arguments.batch != 1)
    throw UsageError(
        "--board chooses picture, reductions, reuse and batch itself: leave out --image, --reduce, "
        "--reuse, --batch, --json, --head and --device");
  const BuildInfo build = buildInfo();
  if (wanted.precisions.empty()) {
    wanted.precisions = {Precision::kFp32};
    if (build.bf16) wanted.precisions.push_back(Precision::kBf16);
    if (build.fp16) wanted.precisions.push_back(Precision::kFp16);
    if (build.int8) wanted.precisions.push_back(Precision::kInt8);
  }
  wanted.reductions = {kFullModel, parseReduction("mpm:blocks=2,5"), parseReduction("gradual")};

  struct Part {
    std::string name;
    BenchArguments arguments;
    std::vector<Variant> variants{};
  };
  std::vector<Part> parts;
  parts.push_back({std::filesystem::path(arguments.model).stem(), arguments});
  parts[0].arguments.image = "demo:street?step=1";
  parts[0].arguments.rounds = std::min(arguments.rounds, kStreetRounds);
  parts[0].arguments.variants.reuses = {Reuse(), parseReuse("auto")};
  const ScratchFolder folder;
  for (const auto& [name, dim] : {std::pair("Seg-T", 192), std::pair("Seg-S", 384)})
    for (const int batch : {1, 2}) {
      parts.push_back({name, arguments});
      Part& part = parts.back();
      part.arguments.model = folder / (std::string(name) + ".onnx");
      part.arguments.batch = batch;
      part.arguments.rounds = std::min(arguments.rounds, kNetworkRounds);
      if (batch == 1) writeRandomSegmenter(part.arguments.model, dim);
    }
  const evaluation::BoardState before = evaluation::boardState();
  const auto start = std::chrono::steady_clock::now();
  for (Part& part : parts) {
    part.variants = compared(part.arguments).variants;
    if (interrupted()) return endInterrupted(": no result");
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::string state = evaluation::boardText(before, evaluation::boardState(), taken.count());

  const Json cpu = evaluation::cpuName();
  printLine((cpu.is_null() ? "" : cpu.get<std::string>() + ", ") + state + (state.empty() ? "" : ", ") +
            counted(threads, "thread") + ", " + build.instruction_set + ", mpm " + build.version + ", OpenCV " +
            build.opencv + ". " + parts[0].name + ": " + counted(parts[0].arguments.rounds, "frame") + " of " +
            parts[0].arguments.image + ". Seg-T, Seg-S: random weights, " +
            counted(parts.back().arguments.rounds, "round") + ".");
  printLine("");
  printLine(
      "| model | batch | precision | reduction | reuse | ms | p10 - p90 | ratio | rows, % | labels as fp32 full, % |");
  printLine("|---|---|---|---|---|---|---|---|---|---|");
  const auto mean = [](const evaluation::PerImage& sample, double unit, int digits) {
    return sample.values.empty() ? std::string("-") : fixed(unit * sample.mean(), digits);
  };
  for (const Part& part : parts)
    for (const Variant& variant : part.variants)
      printLine("| " + part.name + " | " + std::to_string(part.arguments.batch) + " | " + variant.precision + " | " +
                toString(variant.reduction) + " | " + toString(variant.reuse) + " | " + fixed(variant.median(), 1) +
                " | " + fixed(quantile(variant.ms, 0.1), 1) + " - " + fixed(quantile(variant.ms, 0.9), 1) + " | " +
                fixed(Row(variant, part.variants).ratio, 3) + " | " + mean(variant.rows, 100, 0) + " | " +
                mean(variant.agreement, 1, 2) + " |");
  for (const Part& part : parts) expectAlive(part.variants);
  return kOk;
}

// OpenCV starts at most one thread per CPU, whatever the option says.
int useThreads(int wanted) {
  const int cpus = cv::getNumberOfCPUs();
  if (wanted > cpus)
    printNote("--threads " + std::to_string(wanted) +
              " is more than the CPUs of this machine: " + std::to_string(cpus) + " are used");
  if (wanted > 0) cv::setNumThreads(std::min(wanted, cpus));
  return std::min(cv::getNumThreads(), cpus);
}

int bench(BenchArguments arguments) {
  arguments.model = chosenModel(arguments.model);
  const int threads = useThreads(arguments.options.threads);
  if (arguments.board) return board(arguments, threads);
  const auto [model, variants] = compared(arguments);
  if (interrupted()) return endInterrupted(": no result");
  arguments.json ? printLine(resultJson(variants, arguments, model, threads))
                 : printTable(variants, arguments, threads);
  expectAlive(variants);
  return kOk;
}

}  // namespace

Verb addBench(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("bench", "Compare the time of reductions and precisions");
  const auto arguments = std::make_shared<BenchArguments>();
  addVariants(*verb, arguments->model, arguments->options, arguments->variants);
  addOption(*verb, "--image", arguments->image, "SOURCE",
            "Image, folder, video or the built-in scene (\"demo:street?seed=7\"); a batch takes its first B "
            "images and repeats them if there are fewer. Default: smooth colours with noise");
  addNight(*verb, arguments->night);
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->add_flag(
      "--board", arguments->board,
      "A Markdown table of this computer to send, in every fast precision, full and merged: the default model on ten "
      "frames of the built-in street, also with reuse; Seg-T and Seg-S with random weights at 512x512, one image "
      "and two at a time, three rounds. With clock, temperature and power where Linux tells them. Needs no file");
  verb->option_defaults()->group("Measurement");
  verb->add_flag("--head", arguments->head,
                 "Also the time of each operator of the head. On a GPU the layers then wait for their work, so that "
                 "the whole takes longer");
  addNumber(*verb, "--batch", arguments->batch, "B", 1, 1024, "Images per pass. Default: 1");
  addNumber(*verb, "--rounds", arguments->rounds, "N", 1, 1e5,
            "Measured passes of each variant. Default: 20, and fewer with --board");
  addNumber(*verb, "--warm-up", arguments->warm_up, "N", 0, 1e5, "Passes before them. Default: 3");
  verb->footer(
      R"(The variants take turns: A B C A B C ... ms is wall time from the normalised tensor to the label map. ratio is
relative to the first row. GFLOP counts the live rows, 2 per multiply-add. peak is the share of the GEMM speed of the
CPU, measured in the same run. bench/compare.py of the sources runs other runtimes beside this one.
With --json there is every round, the ratio also round by round (median and quartiles), and what was compared: model,
digest, image, sizes, versions, CPU. With --reuse every round takes the next frame of --image, which all variants
compute from the picture to its labels. Without --reduce: none, and that of the model.

Examples:
  mpm bench --model vit.onnx --image street.png
  mpm bench --model vit.onnx --reduce none --reduce mpm:blocks=2,5 --precision fp32 --precision bf16 --json
  mpm bench --model vit.onnx --reduce none --reduce mpm:blocks=2,5 --reduce gradual:blocks=0-7:count=48
  mpm bench --image "demo:street?step=1" --reduce none --reuse off --reuse auto
  mpm bench --board > board.md
)");
  return {verb, [arguments] { return bench(*arguments); }};
}

}  // namespace mpm::cli
