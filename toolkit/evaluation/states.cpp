// SPDX-License-Identifier: Apache-2.0
#include "evaluation/states.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "vision/model_files.h"
#include "vision/sources/source.h"

namespace mpm::evaluation {
namespace {

constexpr int kMostDays = 20, kMostParts = 5;
constexpr double kSure = 0.85;  // chosen on five streets of the built-in scene: docs/states.md, "Measured"

// Which round holds out each example, and whether by days. A day is held out as a whole: pictures of one hour are
// almost the same, and would say nothing about another day.
struct Rounds {
  std::vector<int> of;
  int count = 0;
  bool by_days = false;
};

Rounds roundsOf(const std::vector<StateExample>& examples, int states) {
  Rounds rounds{std::vector<int>(examples.size()), 0, true};
  std::map<std::int64_t, int> days;
  for (const StateExample& one : examples) {
    rounds.by_days = rounds.by_days && one.time;
    days.emplace(one.day, 0);
  }
  rounds.by_days = rounds.by_days && days.size() > 1;
  if (rounds.by_days) {
    int next = 0;
    for (auto& [day, round] : days) round = next++ % kMostDays;
    rounds.count = std::min(next, kMostDays);
    for (std::size_t i = 0; i < examples.size(); ++i) rounds.of[i] = days.at(examples[i].day);
    return rounds;
  }
  std::vector<std::vector<std::size_t>> of_state(static_cast<std::size_t>(states));
  for (std::size_t i = 0; i < examples.size(); ++i) of_state[static_cast<std::size_t>(examples[i].state)].push_back(i);
  rounds.count = kMostParts;
  for (auto& indices : of_state) {
    rounds.count = std::min(rounds.count, static_cast<int>(indices.size()));
    std::ranges::stable_sort(indices,
                             [&](std::size_t a, std::size_t b) { return examples[a].time < examples[b].time; });
  }
  for (const auto& indices : of_state)
    for (std::size_t i = 0; i < indices.size(); ++i)
      rounds.of[indices[i]] = static_cast<int>(i * static_cast<std::size_t>(rounds.count) / indices.size());
  return rounds;
}

// The reading of one row of scores, a score for each state, multiplied by `sharpness`.
StateReading readingOf(const cv::Mat& scores, double sharpness) {
  const auto best = std::max_element(scores.begin<double>(), scores.end<double>());
  double sum = 0;
  for (int s = 0; s < scores.cols; ++s) sum += std::exp(sharpness * (scores.at<double>(s) - *best));
  return {static_cast<int>(best - scores.begin<double>()), 1 / sum, false};
}

cv::Mat scoresOf(const cv::Mat& weights, const cv::Mat& pooled) {
  const int features = weights.cols - 1;
  return pooled * weights.colRange(0, features).t() + weights.col(features).t();
}

// The factor for all scores that gives the true states of the answers the highest probability. Without it a head of few
// examples is too sure, or not sure enough. `scores`: a row for each answer. A log-normal prior keeps the factor near 1
// when there are few answers.
double calibrate(const cv::Mat& scores, const std::vector<StateAnswer>& answers) {
  double chosen = 1, most = -std::numeric_limits<double>::infinity();
  for (double power = -1.6; power <= 3; power += 0.02) {
    double likelihood = -power * power / 2;
    for (int i = 0; i < scores.rows; ++i) {
      const cv::Mat row = scores.row(i);
      const StateReading reading = readingOf(row, std::exp(power));
      const double behind = row.at<double>(answers[static_cast<std::size_t>(i)].truth) - row.at<double>(reading.state);
      likelihood += std::log(reading.probability) + std::exp(power) * behind;
    }
    if (likelihood > most) {
      most = likelihood;
      chosen = std::exp(power);
    }
  }
  return chosen;
}

double shareOf(const std::vector<StateAnswer>& answers, bool (*counts)(const StateAnswer&),
               bool (*among)(const StateAnswer&)) {
  const auto all = std::ranges::count_if(answers, among);
  const auto found = std::ranges::count_if(answers, [&](const auto& one) { return among(one) && counts(one); });
  return all == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(found) / static_cast<double>(all);
}

bool any(const StateAnswer&) { return true; }
bool isRight(const StateAnswer& one) { return one.right(); }
bool isSure(const StateAnswer& one) { return one.sure; }

}  // namespace

double StateVerdict::right() const { return shareOf(answers, isRight, any); }
double StateVerdict::sureShare() const { return shareOf(answers, isSure, any); }
double StateVerdict::sureRight() const { return shareOf(answers, isRight, isSure); }

int StateHead::indexOf(const std::string& state) const {
  const auto found = std::ranges::find(states, state);
  return found == states.end() ? -1 : static_cast<int>(found - states.begin());
}

cv::Mat patchShares(const std::vector<vision::Region>& regions, cv::Size picture, Size2 grid,
                    std::optional<UnixMs> time, const std::function<cv::Mat(const vision::Region&)>& mask) {
  const bool whole = std::ranges::all_of(regions, [](const vision::Region& one) { return one.ignore; });
  cv::Mat inside(picture, CV_8UC1, cv::Scalar(whole ? 255 : 0));
  for (const bool ignored : {false, true})
    for (const vision::Region& region : regions)
      if (region.ignore == ignored && region.validAt(time.value_or(unixNow())))
        inside.setTo(ignored ? 0 : 255, mask && !ignored ? mask(region) : vision::maskOf(region, picture));
  if (cv::countNonZero(inside) == 0) return {};
  cv::Mat shares;
  inside.convertTo(shares, CV_32F, 1.0 / 255);
  cv::resize(shares, shares, {grid.width, grid.height}, 0, 0, cv::INTER_AREA);
  return shares;
}

cv::Mat poolTokens(const cv::Mat& tokens, const cv::Mat& shares) {
  CV_Assert(tokens.type() == CV_32F && (shares.empty() || (shares.type() == CV_32F && shares.isContinuous())));
  if (!shares.empty() && static_cast<int>(shares.total()) != tokens.rows)
    throw Error("the region has " + std::to_string(shares.total()) + " patches, but there are " +
                std::to_string(tokens.rows) + " tokens");
  cv::Mat x, weights, middle, deviation;
  tokens.convertTo(x, CV_64F);
  (shares.empty() ? cv::Mat::ones(1, tokens.rows, CV_32F) : shares.reshape(1, 1)).convertTo(weights, CV_64F);
  const double sum = cv::sum(weights)[0];
  if (sum <= 0) throw Error("the region covers no patch of the picture");
  cv::reduce(x, middle, 1, cv::REDUCE_AVG);
  x -= cv::repeat(middle, 1, x.cols);
  cv::reduce(x.mul(x), deviation, 1, cv::REDUCE_AVG);
  cv::sqrt(deviation + 1e-5, deviation);
  x /= cv::repeat(deviation, 1, x.cols);
  return weights * x / sum;
}

StateReading readState(const StateHead& head, const cv::Mat& pooled) {
  if (pooled.cols + 1 != head.weights.cols)
    throw Error("the states of '" + head.name + "' read " + std::to_string(head.weights.cols - 1) +
                " numbers of a picture, but the model gives " + std::to_string(pooled.cols));
  StateReading reading = readingOf(scoresOf(head.weights, pooled), 1);
  reading.sure = reading.probability >= head.sure;
  return reading;
}

// Softmax regression with a penalty on the weights, by Nesterov's gradient descent: the problem is convex, so there is
// nothing to choose by chance. Each state counts the same, however many examples it has.
cv::Mat trainStates(const cv::Mat& pooled, const std::vector<int>& shown, int states) {
  constexpr int kSteps = 300;
  constexpr double kPenalty = 1e-3;
  const int examples = pooled.rows, features = pooled.cols;
  cv::Mat mean, scale, x;
  cv::reduce(pooled, mean, 0, cv::REDUCE_AVG);
  x = pooled - cv::repeat(mean, examples, 1);
  cv::reduce(x.mul(x), scale, 0, cv::REDUCE_AVG);
  cv::sqrt(scale, scale);
  scale = 1 / ((scale + 1e-6) * std::sqrt(features));
  x = x.mul(cv::repeat(scale, examples, 1));
  cv::hconcat(x, cv::Mat::ones(examples, 1, CV_64F), x);
  std::vector<double> weight(static_cast<std::size_t>(states));
  for (const int state : shown) ++weight[static_cast<std::size_t>(state)];
  for (double& one : weight) one = one > 0 ? 1 / one : 0;
  cv::Mat w(states, features + 1, CV_64F, cv::Scalar(0)), before = w.clone(), scores, gradient;
  for (int step = 0; step < kSteps; ++step) {
    const cv::Mat ahead = w + (w - before) * (step / (step + 3.0));
    scores = x * ahead.t();
    for (int i = 0; i < examples; ++i) {
      double* const row = scores.ptr<double>(i);
      const double best = *std::max_element(row, row + states);
      double sum = 0;
      for (int s = 0; s < states; ++s) sum += row[s] = std::exp(row[s] - best);
      const auto truth = static_cast<std::size_t>(shown[static_cast<std::size_t>(i)]);
      for (int s = 0; s < states; ++s)
        row[s] = (row[s] / sum - (s == static_cast<int>(truth) ? 1 : 0)) * weight[truth] / states;
    }
    gradient = scores.t() * x + kPenalty * ahead;
    before = w;
    w = ahead - gradient;  // the curvature is at most 1: rows of x have a length of about 1.4
  }
  cv::Mat of_features = w.colRange(0, features);
  cv::multiply(of_features, cv::repeat(scale, states, 1), of_features);
  w.col(features) -= of_features * mean.t();
  return w;
}

StateHead teachStates(StateHead head, const std::vector<StateExample>& examples, const cv::Mat& pooled) {
  const auto states = static_cast<int>(head.states.size());
  if (states < 2) throw Error("fewer than two states: there is nothing to tell apart");
  std::vector<int> shown, counts(head.states.size());
  for (const StateExample& one : examples) {
    shown.push_back(one.state);
    ++counts[static_cast<std::size_t>(one.state)];
  }
  for (std::size_t s = 0; s < counts.size(); ++s)
    if (counts[s] < 2)
      throw Error("the state '" + head.states[s] + "' has " + counted(counts[s], "example") +
                  ": give at least 2, better 12 of several days");
  const Rounds rounds = roundsOf(examples, states);
  head.verdict = {.by_days = rounds.by_days, .rounds = rounds.count};
  cv::Mat scores;
  for (int round = 0; round < rounds.count; ++round) {
    cv::Mat rows;
    std::vector<int> kept;
    for (int i = 0; i < pooled.rows; ++i)
      if (rounds.of[static_cast<std::size_t>(i)] != round) {
        rows.push_back(pooled.row(i));
        kept.push_back(shown[static_cast<std::size_t>(i)]);
      }
    const std::set<int> known(kept.begin(), kept.end());
    const cv::Mat weights = rows.empty() ? cv::Mat() : trainStates(rows, kept, states);
    for (int i = 0; i < pooled.rows; ++i) {
      const StateExample& one = examples[static_cast<std::size_t>(i)];
      if (rounds.of[static_cast<std::size_t>(i)] != round) continue;
      if (!known.contains(one.state)) {
        ++head.verdict.untested;
        continue;
      }
      scores.push_back(scoresOf(weights, pooled.row(i)));
      head.verdict.answers.push_back({.file = one.file, .truth = one.state});
    }
  }
  const double sharpness = calibrate(scores, head.verdict.answers);
  head.sure = scores.empty() ? 1 : kSure;
  for (int i = 0; i < scores.rows; ++i) {
    StateAnswer& one = head.verdict.answers[static_cast<std::size_t>(i)];
    const StateReading reading = readingOf(scores.row(i), sharpness);
    one.given = reading.state;
    one.probability = reading.probability;
    one.sure = one.probability >= head.sure;
  }
  head.weights = sharpness * trainStates(pooled, shown, states);
  return head;
}

std::optional<StateHead> teachStates(const StatesJob& job) {
  EstimatorOptions options;
  options.read.convert.reduce = job.reduce;
  options.features = true;
  Estimator estimator(job.model, options);
  const ModelInfo& model = estimator.model();
  StateHead head{.name = job.name,
                 .states = job.states,
                 .regions = job.regions,
                 .model_name = model.facts.name,
                 .model_digest = vision::modelDigest(job.model),
                 .reduce = toString(model.reduction)};
  cv::Mat pooled;
  for (const StateExample& one : job.examples) {
    const cv::Mat image = vision::openSource(one.file)->next().value().image;
    const cv::Mat shares = patchShares(job.regions, image.size(), model.grid, one.time);
    if (shares.empty()) throw Error("'" + job.name + "' is no region at the time of '" + one.file + "'");
    pooled.push_back(poolTokens(estimator.estimate(image).features, shares));
    if (job.progress && !job.progress(pooled.rows, static_cast<int>(job.examples.size()))) return std::nullopt;
  }
  return teachStates(std::move(head), job.examples, pooled);
}

}  // namespace mpm::evaluation
