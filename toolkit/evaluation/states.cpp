// SPDX-License-Identifier: Apache-2.0
#include "evaluation/states.h"

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/blank_text.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "evaluation/contradictions.h"
#include "evaluation/numbers.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "vision/csv.h"
#include "vision/model_files.h"
#include "vision/pictures/lettering.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"
#include "vision/sources/sources.h"

namespace mpm::evaluation {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDays = 20, kMostParts = 5;
constexpr int kTileWidth = 320;      // px, of a picture of a page
constexpr double kAround = 2;        // sides of a cut-out by those of its region
constexpr double kLeastCutOut = 32;  // px, its height
constexpr double kSure = 0.85;       // chosen on five streets of the built-in scene: docs/states.md, "Measured"

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
    // A state of several days that all fell into one round could not be tested: its last day gets a round of its own.
    for (int state = 0; state < states; ++state) {
      std::set<std::int64_t> of_state;
      std::set<int> in_rounds;
      for (const StateExample& one : examples) {
        if (one.state != state) continue;
        of_state.insert(one.day);
        in_rounds.insert(days.at(one.day));
      }
      if (of_state.size() > 1 && in_rounds.size() == 1) days.at(*of_state.rbegin()) = rounds.count++;
    }
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
  for (const auto& indices : of_state) {
    for (std::size_t i = 0; i < indices.size(); ++i)
      rounds.of[indices[i]] = static_cast<int>(i * static_cast<std::size_t>(rounds.count) / indices.size());
  }
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

// The cut-out of a picture around a region, in the shape of the network input. It has the surroundings, too, because
// an encoder recognises things by them.
cv::Rect cutOut(const cv::Rect& region, cv::Size picture, Size2 grid) {
  const double shape = static_cast<double>(grid.width) / grid.height;
  const double width = std::max({kAround * region.width, kAround * region.height * shape, kLeastCutOut * shape});
  const cv::Size size(std::min(picture.width, cvRound(width)), std::min(picture.height, cvRound(width / shape)));
  const auto from = [](int begin, int length, int part, int all) {
    return std::clamp(begin + (length - part) / 2, 0, all - part);
  };
  return {from(region.x, region.width, size.width, picture.width),
          from(region.y, region.height, size.height, picture.height), size.width, size.height};
}

// Pictures and names of their states.
using NamedExamples = std::vector<std::pair<std::string, std::string>>;

NamedExamples examplesInFolders(const std::string& path) {
  std::set<fs::path> folders;  // the training is of the same numbers wherever the folder is copied to
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.is_directory() && !entry.path().filename().string().starts_with('.')) folders.insert(entry.path());
  NamedExamples examples;
  for (const fs::path& folder : folders) {
    for (const std::string& file : vision::sourceFiles(vision::parseSourceSpec(folder.string())))
      examples.emplace_back(file, folder.filename().string());
  }
  if (examples.empty()) {
    throw Error("'" + path + "' has no folders of pictures: make one for each state, such as '" +
                (fs::path(path) / "open").string() + "'");
  }
  return examples;
}

NamedExamples examplesInList(const std::string& path) {
  NamedExamples examples;
  const auto add = [&](const std::string& picture, const std::string& state) {
    examples.emplace_back((fs::path(path).parent_path() / picture).string(), state);
  };
  if (path.ends_with(".json")) {
    for (const JsonValue& one : readJsonFile(path).list()) add(one.at("picture").text(), one.at("state").text());
    return examples;
  }
  const auto isPicture = [&](const std::string& name) {
    std::error_code unseen;
    return fs::is_regular_file(fs::path(path).parent_path() / name, unseen);
  };
  for (const vision::CsvLine& line : vision::readCsv(path)) {
    const auto& cells = line.cells;
    const bool comment = line.isComment() && !(cells.size() == 2 && isPicture(cells[0]));  // "#12.jpg,open" is none
    if (comment || (cells[0] == "picture" && cells.back() == "state")) continue;
    if (cells.size() < 2 || cells[0].empty() || cells.back().empty())
      refuse(path, line, "'" + visibleText(line.text) + "' is not PICTURE,STATE");
    // A name of a picture may have the separator in it.
    const std::string all_but_last = line.text.substr(0, line.text.rfind(line.separator));
    add(cells.size() == 2 ? cells[0] : boost::algorithm::trim_copy(all_but_last), cells.back());
  }
  return examples;
}

std::string stateName(const StateHead& head, int state) {
  return visibleText(head.states[static_cast<std::size_t>(state)]);
}

// A picture with the outlines of the region, its name and a line of text.
cv::Mat tileOf(const StateHead& head, const std::string& file, const std::string& line) {
  constexpr int kText = 36;
  cv::Mat picture = vision::openSource(file)->next()->image;
  const double scale = static_cast<double>(kTileWidth) / picture.cols;
  for (const vision::Region& region : head.regions) {
    for (const auto& polygon : region.polygons) {
      std::vector<cv::Point> corners;
      for (const cv::Point2d& at : polygon) {
        corners.emplace_back(cvRound(at.x * picture.cols / region.size.width),
                             cvRound(at.y * picture.rows / region.size.height));
      }
      cv::polylines(picture, corners, true, {0, 220, 255}, std::max(1, cvRound(2 / scale)), cv::LINE_AA);
    }
  }
  cv::resize(picture, picture, {kTileWidth, std::max(1, cvRound(picture.rows * scale))}, 0, 0, cv::INTER_AREA);
  cv::Mat tile((picture.rows + kText) * vision::kSupersampling, kTileWidth * vision::kSupersampling, CV_8UC3,
               cv::Scalar::all(255));
  vision::write(tile, visibleText(fs::path(file).filename().string()), 2, picture.rows + 13);
  vision::write(tile, line, 2, picture.rows + 28);
  tile = vision::reduced(tile);
  picture.copyTo(tile(cv::Rect(0, 0, picture.cols, picture.rows)));
  return tile;
}

// Empty: there are no tiles.
cv::Mat pageOf(const std::vector<cv::Mat>& tiles, int columns) {
  if (tiles.empty()) return {};
  const int count = static_cast<int>(tiles.size());
  columns = std::min(columns, count);
  int height = 0;
  for (const cv::Mat& tile : tiles) height = std::max(height, tile.rows);
  const int rows = (count + columns - 1) / columns;
  cv::Mat page(rows * height, columns * (kTileWidth + 8) - 8, CV_8UC3, cv::Scalar::all(255));
  for (int i = 0; i < count; ++i) {
    const cv::Mat& tile = tiles[static_cast<std::size_t>(i)];
    tile.copyTo(page(cv::Rect(i % columns * (kTileWidth + 8), i / columns * height, tile.cols, tile.rows)));
  }
  return page;
}

// All that decides the answers of a head.
Json answeringOf(const StateHead& head) {
  Json regions = Json::array(), weights = Json::array();
  for (const vision::Region& region : head.regions) regions.push_back(toJson(region));
  for (int s = 0; s < head.weights.rows; ++s) {
    weights.push_back(
        std::vector<double>(head.weights.ptr<double>(s), head.weights.ptr<double>(s) + head.weights.cols));
  }
  return {{"states", head.states},
          {"regions", regions},
          {"model", {{"name", head.model_name}, {"digest", head.model_digest}, {"reduce", head.reduce}}},
          {"sure", head.sure},
          {"weights", weights}};
}

}  // namespace

double StateVerdict::right() const { return shareOf(answers, isRight, any); }
double StateVerdict::sureShare() const { return shareOf(answers, isSure, any); }
double StateVerdict::sureRight() const { return shareOf(answers, isRight, isSure); }

int StateHead::indexOf(const std::string& state) const {
  const auto found = std::ranges::find(states, state);
  return found == states.end() ? -1 : static_cast<int>(found - states.begin());
}

std::string StateHead::digest() const { return digestText(hashBytes(toLine(answeringOf(*this)))); }

std::optional<double> cutOutSeconds(const std::vector<vision::Region>& regions) {
  std::optional<double> least;
  for (const vision::Region& one : regions)
    if (one.cut_out_s && !one.ignore) least = std::min(least.value_or(*one.cut_out_s), *one.cut_out_s);
  return least;
}

StateView stateView(const std::vector<vision::Region>& regions, cv::Size picture, Size2 grid,
                    std::optional<UnixMs> time, const std::function<cv::Mat(const vision::Region&)>& mask) {
  const bool whole = std::ranges::all_of(regions, [](const vision::Region& one) { return one.ignore; });
  cv::Mat inside(picture, CV_8UC1, cv::Scalar(whole ? 255 : 0));
  for (const bool ignored : {false, true}) {
    for (const vision::Region& region : regions) {
      if (region.ignore != ignored || !region.validAt(time.value_or(unixNow()))) continue;
      inside.setTo(ignored ? 0 : 255, mask ? mask(region) : vision::maskOf(region, picture));
    }
  }
  StateView view{.part = {{}, picture}};
  if (cv::countNonZero(inside) == 0) return view;
  if (cutOutSeconds(regions)) view.part = cutOut(cv::boundingRect(inside), picture, grid);
  inside(view.part).convertTo(view.shares, CV_32F, 1.0 / 255);
  cv::resize(view.shares, view.shares, {grid.width, grid.height}, 0, 0, cv::INTER_AREA);
  return view;
}

cv::Mat poolTokens(const cv::Mat& tokens, const cv::Mat& shares) {
  CV_Assert(tokens.type() == CV_32F && (shares.empty() || (shares.type() == CV_32F && shares.isContinuous())));
  if (!shares.empty() && static_cast<int>(shares.total()) != tokens.rows) {
    throw Error("the region has " + std::to_string(shares.total()) + " patches, but there are " +
                std::to_string(tokens.rows) + " tokens");
  }
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
  if (pooled.cols + 1 != head.weights.cols) {
    throw Error("the states of '" + head.name + "' read " + std::to_string(head.weights.cols - 1) +
                " numbers of a picture, but the model gives " + std::to_string(pooled.cols));
  }
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
    before = w.clone();    // a second header would see the new weights, because OpenCV writes them into the same memory
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
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s] < 2) {
      throw Error("the state '" + head.states[s] + "' has " + counted(counts[s], "example") +
                  ": give at least 2, better 12 of several days");
    }
  }
  const Rounds rounds = roundsOf(examples, states);
  head.verdict = {.by_days = rounds.by_days, .rounds = rounds.count};
  cv::Mat scores;
  for (int round = 0; round < rounds.count; ++round) {
    cv::Mat rows;
    std::vector<int> kept;
    for (int i = 0; i < pooled.rows; ++i) {
      if (rounds.of[static_cast<std::size_t>(i)] != round) {
        rows.push_back(pooled.row(i));
        kept.push_back(shown[static_cast<std::size_t>(i)]);
      }
    }
    const std::set<int> known(kept.begin(), kept.end());
    const bool tells_apart = known.size() > 1;  // with one state, each answer of that state would be right
    const cv::Mat weights = tells_apart ? trainStates(rows, kept, states) : cv::Mat();
    for (int i = 0; i < pooled.rows; ++i) {
      const StateExample& one = examples[static_cast<std::size_t>(i)];
      if (rounds.of[static_cast<std::size_t>(i)] != round) continue;
      if (!tells_apart || !known.contains(one.state)) {
        ++head.verdict.untested;
        continue;
      }
      scores.push_back(scoresOf(weights, pooled.row(i)));
      head.verdict.answers.push_back({.file = one.file, .truth = one.state});
    }
  }
  for (const auto& [example, like] : findContradictions(pooled, shown)) {
    const StateExample &one = examples[static_cast<std::size_t>(example)],
                       &other = examples[static_cast<std::size_t>(like)];
    head.verdict.contradictions.push_back({one.file, other.file, one.state, other.state});
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
  options.reduce = job.reduce;
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
  cv::Size first;
  for (const StateExample& one : job.examples) {
    const cv::Mat image = vision::openSource(one.file)->next().value().image;
    if (first.empty()) first = image.size();
    // Cut-outs of pictures of different sizes show the region with different detail.
    if (cutOutSeconds(job.regions) && image.size() != first) {
      throw Error("'" + one.file + "' is " + sizeText({image.rows, image.cols}) + ", but '" +
                  job.examples.front().file + "' is " + sizeText({first.height, first.width}) +
                  ": a region with \"resolution\": \"camera\" needs examples of one size");
    }
    const StateView view = stateView(job.regions, image.size(), model.grid, one.time);
    if (view.shares.empty()) {
      const bool valid = std::ranges::any_of(job.regions, [&](const vision::Region& region) {
        return !region.ignore && region.validAt(one.time.value_or(unixNow()));
      });
      throw Error("nothing is left of the region of '" + job.name + "' in '" + one.file + "': " +
                  (valid ? "it lies outside of the picture or inside ignored regions"
                         : "its dates leave this picture out: change them, or leave the picture out of the examples"));
    }
    pooled.push_back(poolTokens(estimator.estimate(image(view.part)).features, view.shares));
    if (job.progress && !job.progress(pooled.rows, static_cast<int>(job.examples.size()))) return std::nullopt;
  }
  return teachStates(std::move(head), job.examples, pooled);
}

void readStateExamples(const std::string& path, const vision::TimeOptions& times, StatesJob& job) {
  constexpr const char* kWanted =
      ": name a folder with a folder of pictures for each state, or a list, CSV with lines PICTURE,STATE or JSON";
  std::error_code unseen;
  if (!fs::exists(path, unseen)) throw Error("there is no '" + path + "'" + kWanted);
  if (fs::is_regular_file(path, unseen) && vision::isImageFile(path))
    throw Error("'" + path + "' is a picture" + kWanted);
  const NamedExamples examples = fs::is_directory(path, unseen) ? examplesInFolders(path) : examplesInList(path);
  vision::PictureTimes clock(times);
  std::set<std::string> names(job.states.begin(), job.states.end());
  std::set<std::string> files, copies;
  std::map<std::int64_t, std::string> states;  // by content: a copy may lie under another name
  for (const auto& [file, state] : examples) {
    names.insert(state);
    const std::string shown = "'" + path + "' has the picture '" + visibleText(file, 200) + "' ";
    if (isBlank(state)) throw Error(shown + "of a state without a name: give it one");
    const std::int64_t digest = vision::pictureDigest(file);
    const auto& [other, fresh] = states.try_emplace(digest, state);
    if (digest != 0 && other->second != state)
      throw Error(shown + "as " + visibleText(other->second) + " and as " + visibleText(state) + ": keep one of them");
    if (digest != 0 && !fresh) copies.insert(file);
    if (!files.insert(fs::weakly_canonical(file, unseen).string()).second)
      throw Error(shown + "twice: leave it out once");
  }
  job.states.assign(names.begin(), names.end());
  clock.learn({files.begin(), files.end()});
  for (const auto& [file, state] : examples) {
    if (!fs::is_regular_file(file, unseen))
      throw Error("'" + path + "': there is no picture '" + visibleText(file, 200) + "'");
    if (copies.contains(file)) continue;  // held out, it would be known from its twin
    StateExample example{.file = file, .state = static_cast<int>(std::distance(names.begin(), names.find(state)))};
    if (const auto time = clock.of(file)) {
      example.time = time->time;
      example.day = clock.clock().wall(time->time) / kDayMs;
    }
    job.examples.push_back(std::move(example));
  }
  // Sums of another order have other last digits.
  std::ranges::sort(job.examples, {},
                    [&](const StateExample& one) { return fs::weakly_canonical(one.file, unseen).string(); });
}

cv::Mat wrongPictures(const StateHead& head) {
  constexpr std::size_t kMost = 40;
  std::vector<StateAnswer> wrong;
  std::ranges::copy_if(head.verdict.answers, std::back_inserter(wrong),
                       [](const StateAnswer& one) { return !one.right(); });
  std::ranges::stable_sort(wrong, [](const auto& a, const auto& b) { return a.probability > b.probability; });
  if (wrong.size() > kMost) wrong.resize(kMost);
  std::vector<cv::Mat> tiles;
  for (const StateAnswer& one : wrong) {
    tiles.push_back(tileOf(head, one.file,
                           stateName(head, one.truth) + ", taken for " + stateName(head, one.given) + ", " +
                               fixed(100 * one.probability, 0) + " %" + (one.sure ? ", sure" : "")));
  }
  return pageOf(tiles, 4);
}

cv::Mat contradictingPictures(const StateHead& head) {
  constexpr std::size_t kMost = 20;
  std::vector<cv::Mat> tiles;
  for (const StateContradiction& one : head.verdict.contradictions) {
    if (tiles.size() == 2 * kMost) break;
    tiles.push_back(tileOf(head, one.file, stateName(head, one.state) + ", but looks like:"));
    tiles.push_back(tileOf(head, one.like, stateName(head, one.like_state)));
  }
  return pageOf(tiles, 2);
}

Json toJson(const StateVerdict& verdict, const std::vector<std::string>& states) {
  Json answers = Json::array();
  for (const StateAnswer& one : verdict.answers) {
    answers.push_back({{"picture", one.file},
                       {"state", states[static_cast<std::size_t>(one.truth)]},
                       {"given", states[static_cast<std::size_t>(one.given)]},
                       {"probability", one.probability}});
  }
  Json contradictions = Json::array();
  for (const StateContradiction& one : verdict.contradictions) {
    contradictions.push_back({{"picture", one.file},
                              {"state", states[static_cast<std::size_t>(one.state)]},
                              {"like", one.like},
                              {"like_state", states[static_cast<std::size_t>(one.like_state)]}});
  }
  return {{"by", verdict.by_days ? "days" : "parts"},
          {"rounds", verdict.rounds},
          {"right", orNull(verdict.right())},
          {"sure", orNull(verdict.sureShare())},
          {"sure_right", orNull(verdict.sureRight())},
          {"untested", verdict.untested},
          {"answers", answers},
          {"contradictions", contradictions}};
}

void writeStates(const std::string& path, const StateHead& head) {
  vision::requireNotOfModel(path);
  Json json = answeringOf(head);
  json["name"] = head.name;
  json["cross_validation"] = toJson(head.verdict, head.states);
  writeFileAtomically(path, toLine(json) + "\n", true);
}

StateHead readStates(const std::string& path) {
  const JsonValue json = readJsonFile(path);
  StateHead head{.name = json.at("name").text()};
  for (const JsonValue& state : json.at("states").list(2, 1000)) head.states.push_back(state.text());
  for (const JsonValue& region : json.at("regions").list()) head.regions.push_back(vision::regionFromJson(region, ""));
  const JsonValue model = json.at("model");
  head.model_name = model.at("name").text();
  head.model_digest = model.at("digest").text();
  head.reduce = model.at("reduce").text();
  head.sure = json.at("sure").number(0, 1);
  const auto rows = json.at("weights").list(head.states.size(), head.states.size());
  for (const JsonValue& row : rows) {
    cv::Mat values;
    const std::size_t columns = head.weights.empty() ? 0 : static_cast<std::size_t>(head.weights.cols);
    for (const JsonValue& value : row.list(std::max<std::size_t>(columns, 2), columns > 0 ? columns : 100000))
      values.push_back(value.number());
    head.weights.push_back(values.reshape(1, 1));
  }
  const JsonValue verdict = json.at("cross_validation");
  head.verdict.by_days = verdict.at("by").text() == "days";
  head.verdict.rounds = verdict.at("rounds").integer(0, 1000);
  head.verdict.untested = static_cast<int>(verdict.at("untested").whole(0, 1 << 30));
  for (const JsonValue& one : verdict.at("answers").list()) {
    StateAnswer answer{.file = one.at("picture").text(), .probability = one.at("probability").number(0, 1)};
    answer.truth = head.indexOf(one.at("state").text());
    answer.given = head.indexOf(one.at("given").text());
    if (answer.truth < 0 || answer.given < 0) one.fail("states of the list");
    answer.sure = answer.probability >= head.sure;
    head.verdict.answers.push_back(std::move(answer));
  }
  const auto contradictions = verdict.find("contradictions");  // older files have none
  for (const JsonValue& one : contradictions ? contradictions->list() : std::vector<JsonValue>()) {
    StateContradiction found{.file = one.at("picture").text(), .like = one.at("like").text()};
    found.state = head.indexOf(one.at("state").text());
    found.like_state = head.indexOf(one.at("like_state").text());
    if (found.state < 0 || found.like_state < 0) one.fail("states of the list");
    head.verdict.contradictions.push_back(std::move(found));
  }
  return head;
}

}  // namespace mpm::evaluation
