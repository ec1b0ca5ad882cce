// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "evaluation/numbers.h"
#include "evaluation/states.h"
#include "vision/csv.h"
#include "vision/pictures/lettering.h"
#include "vision/pictures/read_picture.h"
#include "vision/sources/source.h"

namespace mpm::evaluation {
namespace {

namespace fs = std::filesystem;
// Pictures and names of their states.
using NamedExamples = std::vector<std::pair<std::string, std::string>>;

NamedExamples examplesInFolders(const std::string& path) {
  NamedExamples examples;
  for (const fs::directory_entry& folder : fs::directory_iterator(path)) {
    const std::string state = folder.path().filename().string();
    if (!folder.is_directory() || state.starts_with('.')) continue;
    for (const std::string& file : vision::sourceFiles(vision::parseSourceSpec(folder.path().string())))
      examples.emplace_back(file, state);
  }
  if (examples.empty())
    throw Error("'" + path + "' has no folders of pictures: make one for each state, such as '" +
                (fs::path(path) / "open").string() + "'");
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
  for (const vision::CsvLine& line : vision::readCsv(path)) {
    const auto& cells = line.cells;
    if (line.isComment() || (cells[0] == "picture" && cells.back() == "state")) continue;
    if (cells.size() < 2 || cells[0].empty() || cells.back().empty())
      refuse(path, line, "'" + visibleText(line.text) + "' is not PICTURE,STATE");
    // A name of a picture may have commas.
    add(cells.size() == 2 ? cells[0] : line.text.substr(0, line.text.rfind(',')), cells.back());
  }
  return examples;
}

}  // namespace

void readStateExamples(const std::string& path, const vision::TimeOptions& times, StatesJob& job) {
  std::error_code unseen;
  if (!fs::exists(path, unseen)) throw Error("there is no '" + path + "'");
  const NamedExamples examples = fs::is_directory(path, unseen) ? examplesInFolders(path) : examplesInList(path);
  const vision::PictureTimes clock(times);
  std::set<std::string> names(job.states.begin(), job.states.end());
  std::set<std::string> files;
  std::map<std::int64_t, std::string> states;  // by content: a copy may lie under another name
  for (const auto& [file, state] : examples) {
    names.insert(state);
    const std::string shown = "'" + path + "' has the picture '" + visibleText(file, 200) + "' ";
    const std::int64_t digest = vision::pictureDigest(file);
    if (const auto& other = states.try_emplace(digest, state).first->second; digest != 0 && other != state)
      throw Error(shown + "as " + visibleText(other) + " and as " + visibleText(state) + ": keep one of them");
    if (!files.insert(fs::weakly_canonical(file, unseen).string()).second)
      throw Error(shown + "twice: leave it out once");
  }
  job.states.assign(names.begin(), names.end());
  for (const auto& [file, state] : examples) {
    if (!fs::is_regular_file(file, unseen))
      throw Error("'" + path + "': there is no picture '" + visibleText(file, 200) + "'");
    StateExample example{.file = file, .state = static_cast<int>(std::distance(names.begin(), names.find(state)))};
    if (const auto time = clock.of(file)) {
      example.time = time->time;
      example.day = (time->time + clock.timeZone() * kMinuteMs) / kDayMs;
    }
    job.examples.push_back(std::move(example));
  }
}

cv::Mat wrongPictures(const StateHead& head) {
  constexpr int kWidth = 320, kText = 36, kColumns = 4, kMost = 40;
  std::vector<StateAnswer> wrong;
  std::ranges::copy_if(head.verdict.answers, std::back_inserter(wrong),
                       [](const StateAnswer& one) { return !one.right(); });
  std::ranges::stable_sort(wrong, [](const auto& a, const auto& b) { return a.probability > b.probability; });
  if (wrong.size() > kMost) wrong.resize(kMost);
  std::vector<cv::Mat> tiles;
  int height = 0;
  for (const StateAnswer& one : wrong) {
    cv::Mat picture = vision::openSource(one.file)->next()->image;
    const double scale = static_cast<double>(kWidth) / picture.cols;
    for (const vision::Region& region : head.regions)
      for (const auto& polygon : region.polygons) {
        std::vector<cv::Point> corners;
        for (const cv::Point2d& at : polygon)
          corners.emplace_back(cvRound(at.x * picture.cols / region.size.width),
                               cvRound(at.y * picture.rows / region.size.height));
        cv::polylines(picture, corners, true, {0, 220, 255}, std::max(1, cvRound(2 / scale)), cv::LINE_AA);
      }
    cv::resize(picture, picture, {}, scale, scale, cv::INTER_AREA);
    cv::Mat tile((picture.rows + kText) * vision::kSupersampling, kWidth * vision::kSupersampling, CV_8UC3,
                 cv::Scalar::all(255));
    vision::write(tile, visibleText(fs::path(one.file).filename().string()), 2, picture.rows + 13);
    vision::write(tile,
                  visibleText(head.states[static_cast<std::size_t>(one.truth)]) + ", taken for " +
                      visibleText(head.states[static_cast<std::size_t>(one.given)]) + ", " +
                      fixed(100 * one.probability, 0) + " %" + (one.sure ? ", sure" : ""),
                  2, picture.rows + 28);
    tile = vision::reduced(tile);
    picture.copyTo(tile(cv::Rect(0, 0, picture.cols, picture.rows)));
    height = std::max(height, tile.rows);
    tiles.push_back(tile);
  }
  if (tiles.empty()) return {};
  const int columns = std::min(kColumns, static_cast<int>(tiles.size()));
  const int rows = (static_cast<int>(tiles.size()) + columns - 1) / columns;
  cv::Mat page(rows * height, columns * (kWidth + 8) - 8, CV_8UC3, cv::Scalar::all(255));
  for (int i = 0; i < static_cast<int>(tiles.size()); ++i) {
    const cv::Mat& tile = tiles[static_cast<std::size_t>(i)];
    tile.copyTo(page(cv::Rect(i % columns * (kWidth + 8), i / columns * height, tile.cols, tile.rows)));
  }
  return page;
}

Json toJson(const StateVerdict& verdict, const std::vector<std::string>& states) {
  Json answers = Json::array();
  for (const StateAnswer& one : verdict.answers)
    answers.push_back({{"picture", one.file},
                       {"state", states[static_cast<std::size_t>(one.truth)]},
                       {"given", states[static_cast<std::size_t>(one.given)]},
                       {"probability", one.probability}});
  return {{"by", verdict.by_days ? "days" : "parts"},
          {"rounds", verdict.rounds},
          {"right", orNull(verdict.right())},
          {"sure", orNull(verdict.sureShare())},
          {"sure_right", orNull(verdict.sureRight())},
          {"untested", verdict.untested},
          {"answers", answers}};
}

void writeStates(const std::string& path, const StateHead& head) {
  Json regions = Json::array(), weights = Json::array();
  for (const vision::Region& region : head.regions) regions.push_back(toJson(region));
  for (int s = 0; s < head.weights.rows; ++s)
    weights.push_back(
        std::vector<double>(head.weights.ptr<double>(s), head.weights.ptr<double>(s) + head.weights.cols));
  const Json json = {{"name", head.name},
                     {"states", head.states},
                     {"regions", regions},
                     {"model", {{"name", head.model_name}, {"digest", head.model_digest}, {"reduce", head.reduce}}},
                     {"sure", head.sure},
                     {"cross_validation", toJson(head.verdict, head.states)},
                     {"weights", weights}};
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
  return head;
}

}  // namespace mpm::evaluation
