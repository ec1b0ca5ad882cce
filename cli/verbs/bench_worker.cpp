// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <optional>

#include "cli/verbs/verbs.h"
#include "evaluation/flop_counter.h"
#include "evaluation/machine.h"
#include "evaluation/numbers.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "program/paths.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {
namespace {

struct WorkerArguments {
  std::string model;
  EstimatorOptions options;
  bool head = false;    ///< the time of each kind of operator in the head, too
  bool frames = false;  ///< whole pictures through an Estimator, one after the other
};

// One variant of `mpm bench`: a net in its own process, like every baseline, with the same protocol
// (bench/baselines/README.md) and answers more: stages, token counts, FLOP, and the machine's GEMM peak.
class BenchWorker {
 public:
  explicit BenchWorker(const WorkerArguments& arguments)
      : options_(arguments.options),
        head_(arguments.head),
        flops_(convertModel(arguments.model, options_.read.convert).bytes) {
    if (options_.threads > 0) cv::setNumThreads(std::min(options_.threads, cv::getNumberOfCPUs()));
    const ModelInfo info = readModelInfo(arguments.model, options_.read.convert);
    options_.read.outputs = {"token_counts"};
    options_.read.outputs.insert(options_.read.outputs.end(), info.outputs.begin(), info.outputs.end());
    outputs_.assign(options_.read.outputs.begin(), options_.read.outputs.end());
    if (arguments.frames)
      estimator_ = std::make_unique<Estimator>(arguments.model, arguments.options);
    else
      loaded_ = readNet(arguments.model, options_.read);
  }

  Json answer(const nlohmann::json& question) {
    const std::string command = question.at("cmd");
    if (command == "load") return {{"ok", true}, {"version", "mpm"}};
    if (command == "run" && estimator_) return runFrame(question);
    if (command == "run") return run(question.at("input"), question.at("shape").get<std::vector<int>>());
    if (command == "peak")  // the CPU's; of a GPU nothing is known
      return {{"ok", true},
              {"gflops",
               options_.read.device == "cpu" ? evaluation::gemmPeak(options_.read.convert.precision, 0.1) / 1e9 : 0}};
    throw Error("unknown command '" + command + "'");
  }

 private:
  Json run(const std::string& input, const std::vector<int>& shape) {
    cv::Mat images(shape, CV_32F);
    std::ifstream file(input, std::ios::binary);
    const auto bytes = static_cast<std::streamsize>(images.total() * sizeof(float));
    if (!file.read(reinterpret_cast<char*>(images.data), bytes)) throw Error("cannot read " + input);

    std::vector<cv::Mat> blobs;
    const auto start = std::chrono::steady_clock::now();
    loaded_.net.setInput(images);
    loaded_.net.forward(blobs, outputs_);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const StageTimes stages = forwardTimes(loaded_.net, ms);

    Json tokens = Json::array();
    double flop = 0;
    const cv::Mat& counts = blobs[0];
    const int insertions = counts.size[1];
    for (int b = 0; b < counts.size[0]; ++b) {
      const float* row = counts.ptr<float>() + static_cast<std::ptrdiff_t>(b) * insertions;
      const std::vector<double> of_image(row, row + insertions);
      flop += flops_.count(of_image);
      tokens.push_back(of_image);
    }
    Json result = {
        {"ok", true},       {"ms", ms},           {"peak_mib", peakMib()}, {"stages", evaluation::toJson(stages)},
        {"tokens", tokens}, {"gflop", flop / 1e9}};
    if (head_) addHead(result["stages"]);
    if (loaded_.info.segments() && outputs_[1] == "labels") {
      cv::Mat labels;
      blobs[1].reshape(1, 1).convertTo(labels, CV_8U);
      result["labels"] = written(labels);
      result["shape"] = {shape[0], shape[2], shape[3]};
    }
    return result;
  }

  void addHead(Json& stages) {
    std::vector<double> ticks;
    loaded_.net.getPerfProfile(ticks);
    const std::vector<cv::String> layers = loaded_.net.getLayerNames();
    for (std::size_t i = 0; i < std::min(ticks.size(), layers.size()); ++i) {
      if (!layers[i].substr(layers[i].rfind('!') + 1).starts_with("head/")) continue;
      Json& sum = stages["head:" + loaded_.net.getLayer(loaded_.net.getLayerId(layers[i]))->type];
      sum = (sum.is_null() ? 0 : sum.get<double>()) + ticks[i] * 1e3 / cv::getTickFrequency();
    }
  }

  Json runFrame(const nlohmann::json& question) {
    const cv::Mat image = vision::readPictureFile(question.at("image"), cv::IMREAD_COLOR);
    std::optional<double> seconds;
    if (question.contains("seconds")) seconds = question.at("seconds").get<double>();
    const Estimate estimate = estimator_->estimate(image, seconds);
    Json result = {{"ok", true},
                   {"ms", estimate.ms.total},
                   {"peak_mib", peakMib()},
                   {"stages", evaluation::toJson(estimate.ms)},
                   {"tokens", {estimate.tokens}}};
    if (estimate.reuse)
      result["rows"] = estimate.reuse->rows;
    else
      result["gflop"] = flops_.count({estimate.tokens.begin(), estimate.tokens.end()}) / 1e9;
    if (!estimate.labels.empty()) result["labels"] = written(estimate.labels);
    return result;
  }

  static double peakMib() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  }

  std::string written(const cv::Mat& labels) const {
    const std::string path = folder_ / "labels.u8";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(labels.data), static_cast<std::streamsize>(labels.total()));
    return path;
  }

  EstimatorOptions options_;
  bool head_;
  evaluation::FlopCounter flops_;  // before the net, so that its copy of the model is freed when the net is read
  LoadedNet loaded_;
  std::unique_ptr<Estimator> estimator_;  // instead of the net
  std::vector<cv::String> outputs_;
  ScratchFolder folder_;
};

int serve(const WorkerArguments& arguments) {
  std::unique_ptr<BenchWorker> worker;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const auto question = nlohmann::json::parse(line);
      if (question.at("cmd") == "quit") break;
      if (!worker) worker = std::make_unique<BenchWorker>(arguments);
      printLine(worker->answer(question));
    } catch (const BrokenPipe&) {
      break;
    } catch (const std::exception& error) {
      printLine(Json{{"ok", false}, {"why", messageOf(error)}});
    }
  }
  return kOk;
}

}  // namespace

Verb addBenchWorker(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("bench-worker", "One variant of bench, driven by JSON lines on stdin");
  const auto arguments = std::make_shared<WorkerArguments>();
  addModelOptions(*verb, arguments->model, arguments->options);
  addReuse(*verb, arguments->options.reuse);
  verb->add_flag("--head", arguments->head, "Time the operators of the head");
  verb->add_flag("--frames", arguments->frames, "Run whole pictures through an Estimator");
  return {verb, [arguments] { return serve(*arguments); }};
}

}  // namespace mpm::cli
