// SPDX-License-Identifier: Apache-2.0
#include "evaluation/teaching.h"

#include <algorithm>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <ranges>
#include <utility>

#include "base/number_text.h"
#include "evaluation/numbers.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/head_trainer.hpp"

namespace mpm::evaluation {
namespace {

constexpr std::size_t kMaxRounds = 5;

struct Picture {
  std::size_t index;  // of TeachJob::picture
  LabelledTokens labelled;
  cv::Mat truth;  // CV_8U, as large as the network input
};

class Teacher {
 public:
  explicit Teacher(const TeachJob& job)
      : job_(job), trainer_(job.model, job.reduce), classes_(job.classes), pictures_of_(classes_.classes.size()) {
    ofTheJob([&] {
      trainer_.requireOutput(job.output);
      if (job.steps < 1) throw Error("a training has at least one step");
      classes_.validate("the list of classes");
      trainer_.setClasses(classes_.classes, classes_.ignore);
    });
  }

  std::optional<Taught> run() {
    of_ = static_cast<int>(2 * job_.pictures + (roundsOf(job_.pictures) + 1) * job_.steps);
    ofTheJob([&] { choosePictures(); });
    const std::size_t rounds = roundsOf(pictures_.size());
    of_ = done_ + static_cast<int>(pictures_.size() + (rounds + 1) * job_.steps);
    encode();
    Taught taught{classes_, pictures_.size(), trainer_.model().reduction, {}};
    if (rounds > 0 && !stopped_) taught.validation = crossValidate(rounds);
    const TokenHead head = stopped_ ? TokenHead() : train(pictures_.size(), 1);
    if (stopped_) return std::nullopt;
    trainer_.write(job_.output, head, toJson(taught).dump());
    return taught;
  }

 private:
  template <class Work>
  static void ofTheJob(Work work) {
    try {
      work();
    } catch (const Error& error) {
      throw TeachJobError(error.what());
    }
  }

  // One picture alone cannot be tested on another.
  std::size_t roundsOf(std::size_t pictures) const {
    return job_.cross_validation && pictures > 1 ? std::min(pictures, kMaxRounds) : 0;
  }

  void step() {
    ++done_;
    if (job_.progress && !job_.progress(done_, of_)) stopped_ = true;
  }

  // Before the encoder works for a minute: every label map is right, and every class occurs. A map without a label
  // would be a round of the cross-validation that tests nothing.
  void choosePictures() {
    for (std::size_t i = 0; i < job_.pictures; ++i) {
      LabelledTokens labelled = trainer_.label({}, job_.picture(i).labels);
      bool any = false;
      for (std::size_t c = 0; c < pictures_of_.size(); ++c) {
        any = any || labelled.pixels[c] > 0;
        pictures_of_[c] += labelled.pixels[c] > 0;
      }
      if (any) pictures_.push_back({i, std::move(labelled), {}});
      step();
      if (stopped_) return;
    }
    std::string missing;
    for (std::size_t c = 0; c < pictures_of_.size(); ++c)
      if (pictures_of_[c] == 0) missing += (missing.empty() ? "'" : ", '") + classes_.classes[c].name + "'";
    if (!missing.empty()) {
      throw Error("no pixel is labelled " + missing + " in " +
                  counted(static_cast<std::int64_t>(job_.pictures), "label map") +
                  ": label some, or leave the class out of the list");
    }
    // Pictures of the rarest class lie in a row, so that no round of the cross-validation holds out all of them.
    std::ranges::stable_sort(pictures_, {}, [&](const Picture& picture) {
      std::pair<int, std::size_t> rarest(std::numeric_limits<int>::max(), 0);
      for (std::size_t c = 0; c < pictures_of_.size(); ++c)
        if (picture.labelled.pixels[c] > 0) rarest = std::min(rarest, {pictures_of_[c], c});
      return rarest;
    });
  }

  void encode() {
    const Size2 input = trainer_.model().input;
    for (Picture& picture : pictures_) {
      if (stopped_) return;
      const vision::LabelledPicture read = job_.picture(picture.index);
      cv::resize(read.labels, picture.truth, {input.width, input.height}, 0, 0, cv::INTER_NEAREST_EXACT);
      picture.labelled.tokens = trainer_.tokens(read.image);
      step();
    }
  }

  // On all pictures but each `rounds`-th from `round` on.
  TokenHead train(std::size_t round, std::size_t rounds) {
    std::vector<const LabelledTokens*> chosen;
    for (std::size_t i = 0; i < pictures_.size(); ++i)
      if (i % rounds != round) chosen.push_back(&pictures_[i].labelled);
    return trainer_.train(chosen, {.steps = job_.steps, .seed = job_.seed, .step = [this] {
                                     step();
                                     return !stopped_;
                                   }});
  }

  CrossValidation crossValidate(std::size_t rounds) {
    CrossValidation result{static_cast<int>(rounds), {classes_.count(), -1}, pictures_of_};
    for (std::size_t round = 0; round < rounds && !stopped_; ++round) {
      const TokenHead head = train(round, rounds);
      ConfusionMatrix tested(classes_.count(), classes_.ignore);
      std::vector<int> held_out(pictures_of_.size());
      for (std::size_t i = round; i < pictures_.size(); i += rounds) {
        tested.add(pictures_[i].truth, trainer_.predict(head, pictures_[i].labelled.tokens));
        for (std::size_t c = 0; c < held_out.size(); ++c) held_out[c] += pictures_[i].labelled.pixels[c] > 0;
      }
      // A head says nothing about a class that it was not trained on, and of one class alone it is always right.
      const auto trained = [&](int c) {
        return held_out[static_cast<std::size_t>(c)] < pictures_of_[static_cast<std::size_t>(c)];
      };
      const auto classes = std::views::iota(0, classes_.count());
      if (std::ranges::count_if(classes, trained) < 2) continue;
      for (const auto& [truth, given, pixels] : tested.pairs()) {
        if (trained(static_cast<int>(truth)))
          result.matrix.add(static_cast<int>(truth), static_cast<int>(given), pixels);
      }
    }
    return result;
  }

  const TeachJob& job_;
  HeadTrainer trainer_;
  const vision::ClassList& classes_;
  std::vector<Picture> pictures_;
  std::vector<int> pictures_of_;  // of each class: in how many it is labelled
  int done_ = 0, of_ = 1;
  bool stopped_ = false;
};

Json toJson(const CrossValidation& validation, const vision::ClassList& classes) {
  Json iou = Json::object();
  for (const ClassVerdict& one : classVerdicts(validation.matrix, validation.pictures))
    iou[classes.classes[static_cast<std::size_t>(one.index)].name] = percentJson(one.iou);
  return {{"rounds", validation.rounds},
          {"miou", percentJson(validation.matrix.meanIou())},
          {"pixel_accuracy", percentJson(validation.matrix.pixelAccuracy())},
          {"iou", iou},
          {"pictures", validation.pictures},
          {"confusion", toJson(validation.matrix)}};
}

}  // namespace

std::optional<Taught> teach(const TeachJob& job) { return Teacher(job).run(); }

Json toJson(const Taught& taught) {
  return {{"pictures", taught.pictures},
          {"reduce", toString(taught.reduce)},
          {"cross_validation", taught.validation ? toJson(*taught.validation, taught.classes) : Json(nullptr)}};
}

}  // namespace mpm::evaluation
