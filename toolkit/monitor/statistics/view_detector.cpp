// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_detector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace mpm::monitor {
namespace {

constexpr int kWidth = 320;          // px of edgeDirections()
constexpr int kCols = 8, kRows = 6;  // blocks that are found again one by one
constexpr int kReach = 2;            // px that a block is looked for around its place
constexpr double kFound = 0.25;      // correlation of a block that is found again
constexpr double kAlike = 0.04;      // two places match equally well if their correlations differ by less
constexpr int kAgree = 8;            // blocks that a motion needs
constexpr double kShare = 0.5;       // of the blocks that were found: so many must agree
constexpr double kError = 0.18;      // px of the small picture, standard error of a sure motion at the corners

cv::Point2d centreOf(cv::Size size) { return {(size.width - 1) / 2., (size.height - 1) / 2.}; }

// Result for a block: where it matches best, and how fast the match fades around it.
struct Match {
  cv::Point2d place;  // centre of the block, from that of the picture
  cv::Vec2d shift;
  cv::Matx22d fading;  // the correlation falls by half of shift' * fading * shift
};

cv::Mat warped(const cv::Mat& edges, const cv::Matx23d& motion) {
  cv::Mat result;
  cv::warpAffine(edges, result, motion, edges.size());
  return result;
}

// Scalar product of two fields of one size. cv::Mat::dot() is ten times as slow for parts of a picture, row by row.
double dot(const cv::Mat& one, const cv::Mat& other) {
  constexpr int kLanes = 8;
  std::array<float, kLanes> sums{};
  const int count = 2 * one.cols;
  for (int y = 0; y < one.rows; ++y) {
    const float *a = one.ptr<float>(y), *b = other.ptr<float>(y);
    int i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (int k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < count; ++i) sums[0] += a[i] * b[i];
  }
  return std::accumulate(sums.begin(), sums.end(), 0.);
}

// How the blocks of `edges` moved since `reference`, those that are found.
std::vector<Match> findBlocks(const cv::Mat& reference, const cv::Mat& edges) {
  constexpr int kAround = kReach + 1;
  cv::Mat padded;
  cv::copyMakeBorder(reference, padded, kAround, kAround, kAround, kAround, cv::BORDER_CONSTANT, {});
  const cv::Size size(edges.cols / kCols, edges.rows / kRows);
  const cv::Point2d centre = centreOf(edges.size());
  std::vector<Match> matches;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      const cv::Rect block(cv::Point(col * size.width, row * size.height), size);
      const cv::Mat now = edges(block);
      const double norm = std::sqrt(dot(now, now)) + 1e-3;
      cv::Matx<double, 2 * kAround + 1, 2 * kAround + 1> score;
      cv::Point best(kAround, kAround);
      for (int y = 0; y < score.rows; ++y) {
        for (int x = 0; x < score.cols; ++x) {
          const cv::Mat before = padded(cv::Rect(block.tl() + cv::Point(2 * kAround - x, 2 * kAround - y), size));
          score(y, x) = dot(before, now) / ((std::sqrt(dot(before, before)) + 1e-3) * norm);
          const bool inside = std::max(std::abs(x - kAround), std::abs(y - kAround)) <= kReach;
          if (inside && score(y, x) > score(best.y, best.x)) best = {x, y};
        }
      }
      const int x = best.x, y = best.y;
      const double top = score(y, x);
      if (top < kFound) continue;
      const double fading_x = std::max(2 * top - score(y, x - 1) - score(y, x + 1), 1e-4);
      const double fading_y = std::max(2 * top - score(y - 1, x) - score(y + 1, x), 1e-4);
      const double most = 0.9 * std::sqrt(fading_x * fading_y);  // beyond it there is no peak
      const double mixed = std::clamp(
          (score(y - 1, x + 1) + score(y + 1, x - 1) - score(y - 1, x - 1) - score(y + 1, x + 1)) / 4, -most, most);
      const cv::Matx22d fading(fading_x, mixed, mixed, fading_y);
      const cv::Vec2d slope((score(y, x + 1) - score(y, x - 1)) / 2, (score(y + 1, x) - score(y - 1, x)) / 2);
      cv::Vec2d part = fading.inv() * slope;  // of a pixel, beyond the best one
      for (int i = 0; i < 2; ++i) part[i] = std::clamp(part[i], -0.75, 0.75);
      matches.push_back({.place = cv::Point2d(block.tl()) + centreOf(size) - centre,
                         .shift = cv::Vec2d(x - kAround, y - kAround) + part,
                         .fading = fading});
    }
  }
  return matches;
}

// Shift in px, and turn and zoom as px at 100 px from the centre.
using Four = cv::Vec4d;
cv::Matx<double, 2, 4> shiftAt(cv::Point2d place) {
  const double x = place.x / 100, y = place.y / 100;
  return {1, 0, x, -y, 0, 1, y, x};
}

struct Fit {
  Four motion;
  cv::Matx44d inverse;  // of the normal equations
  double variance = 0;
};

// The motion that most matches agree with: least squares that forget matches which lie apart.
std::optional<Fit> fit(const std::vector<Match>& matches) {
  Fit result;
  for (int round = 0; round < 8; ++round) {
    cv::Matx44d normal = cv::Matx44d::eye() * 1e-6;
    Four right;
    double loss = 0, weights = 0;
    for (const Match& match : matches) {
      const auto at = shiftAt(match.place);
      const cv::Vec2d apart = match.shift - at * result.motion;
      const double lost = apart.dot(match.fading * apart) / 2;
      const double weight = round == 0 ? 1 : std::pow(1 + lost / kAlike, -2);
      normal += weight * (at.t() * match.fading * at);
      right += weight * (at.t() * match.fading * match.shift);
      loss += weight * 2 * lost;
      weights += weight;
    }
    bool solvable = false;
    result.inverse = normal.inv(cv::DECOMP_CHOLESKY, &solvable);
    if (!solvable || weights < 4) return std::nullopt;
    result.variance = loss / std::max(2 * weights - 4, 1.);
    result.motion = result.inverse * right;
  }
  return result;
}

cv::Matx33d whole(const cv::Matx23d& m) { return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), 0, 0, 1}; }

ViewMotion fromFour(const Four& four) {
  const double cosine = 1 + four[2] / 100, sine = four[3] / 100;
  return {four[0], four[1], std::atan2(sine, cosine) * 180 / CV_PI, std::hypot(cosine, sine)};
}

struct Refined {
  ViewMotion motion;
  double error = 0;  // limit of the motion of the corners, px
  int agree = 0, found = 0;
  bool settled = false;  // the last round changed nothing
  bool placed() const { return settled && agree >= kAgree && agree >= kShare * found; }
};

// `motion` in px of the fields.
std::optional<Refined> refine(const cv::Mat& reference, const cv::Mat& edges, const ViewMotion& guess) {
  const cv::Size size = edges.size();
  Refined result{.motion = guess};
  for (int round = 0; round < 6; ++round) {
    const cv::Matx23d before = matrixOf(result.motion, size);
    const auto matches = findBlocks(warped(reference, before), edges);
    const auto found = fit(matches);
    if (!found) return std::nullopt;
    const ViewMotion step = fromFour(found->motion);
    const auto corner = shiftAt(centreOf(size));
    result.error = std::sqrt(cv::trace(corner * (found->variance * found->inverse) * corner.t()));
    result.found = static_cast<int>(matches.size());
    result.agree = static_cast<int>(std::ranges::count_if(matches, [&](const Match& match) {
      const cv::Vec2d apart = match.shift - shiftAt(match.place) * found->motion;
      return apart.dot(match.fading * apart) / 2 < kAlike && cv::norm(apart) < 1;
    }));
    result.motion = motionOf((whole(matrixOf(step, size)) * whole(before)).get_minor<2, 3>(0, 0), size);
    result.settled = distance(step, {}, size) < 0.1;
    if (result.settled) break;
  }
  return result;
}

// The shift under which two fields of one size match best, px; what leaves on one side comes back on the other.
cv::Point bestShift(const cv::Mat& reference, const cv::Mat& spectrum, double& match) {
  cv::Mat product, parts;
  cv::dft(reference, product);
  cv::mulSpectrums(spectrum, product, product, 0, true);
  cv::idft(product, parts);
  cv::extractChannel(parts, parts, 0);
  cv::Point at;
  cv::minMaxLoc(parts, nullptr, &match, nullptr, &at);
  if (at.x > parts.cols / 2) at.x -= parts.cols;
  if (at.y > parts.rows / 2) at.y -= parts.rows;
  return at;
}

// Over shifts, turns and zooms, on small pictures.
ViewMotion search(const cv::Mat& reference, const cv::Mat& edges) {
  cv::Mat before, now, spectrum;
  cv::resize(reference, before, {}, 0.5, 0.5, cv::INTER_AREA);
  cv::resize(edges, now, before.size(), 0, 0, cv::INTER_AREA);
  cv::dft(now, spectrum);
  ViewMotion best;
  double best_match = 0;
  for (const double turn : {-4., -2., 0., 2., 4.}) {
    for (const double zoom : {0.92, 0.96, 1., 1.04, 1.08}) {
      ViewMotion motion{.turn = turn, .zoom = zoom};
      double match = 0;
      const cv::Point shift = bestShift(warped(before, matrixOf(motion, before.size())), spectrum, match);
      if (match <= best_match) continue;
      best_match = match;
      best = {2. * shift.x, 2. * shift.y, turn, zoom};
    }
  }
  return best;
}

constexpr std::int64_t kStepMs = 30'000;
constexpr UnixMs kLearnMs = kHourMs;
constexpr int kFirst = 10;           // pictures that begin a reference
constexpr int kMaxAveraged = 48;     // two days of one an hour
constexpr int kChecks = 5;           // in a row that must find the same
constexpr double kMoved = 0.01;      // of the width
constexpr double kUnit = 1. / 4096;  // of ViewReference::edges

// The pixels of a small picture that hidden pixels count in: through the resizing, the Gaussian filter and Sobel's, and
// where the view sways by less than what moves the regions.
cv::Mat reachOf(const cv::Mat& hidden, cv::Size small) {
  constexpr int kCounts = 5 + static_cast<int>(kMoved * kWidth);
  cv::Mat near, result;
  cv::dilate(hidden, near, cv::Mat::ones(3, 3, CV_8U));
  near.convertTo(near, CV_32F);
  cv::resize(near, result, small, 0, 0, cv::INTER_AREA);
  cv::dilate(result > 0, result, cv::Mat::ones(2 * kCounts + 1, 2 * kCounts + 1, CV_8U));
  return result;
}

bool isAll(const cv::Mat& hidden) {
  return !hidden.empty() && cv::countNonZero(hidden) == static_cast<int>(hidden.total());
}

}  // namespace

cv::Matx23d matrixOf(const ViewMotion& motion, cv::Size size) {
  const cv::Point2d centre = centreOf(size);
  const double angle = motion.turn * CV_PI / 180;
  const double cosine = motion.zoom * std::cos(angle), sine = motion.zoom * std::sin(angle);
  return {cosine, -sine,  centre.x + motion.right - cosine * centre.x + sine * centre.y,
          sine,   cosine, centre.y + motion.down - sine * centre.x - cosine * centre.y};
}

ViewMotion motionOf(const cv::Matx23d& m, cv::Size size) {
  const cv::Point2d centre = centreOf(size);
  return {.right = m(0, 0) * centre.x + m(0, 1) * centre.y + m(0, 2) - centre.x,
          .down = m(1, 0) * centre.x + m(1, 1) * centre.y + m(1, 2) - centre.y,
          .turn = std::atan2(m(1, 0), m(0, 0)) * 180 / CV_PI,
          .zoom = std::hypot(m(0, 0), m(1, 0))};
}

ViewMotion scaled(ViewMotion motion, double factor) {
  motion.right *= factor;
  motion.down *= factor;
  return motion;
}

double distance(const ViewMotion& one, const ViewMotion& other, cv::Size size) {
  const cv::Matx23d apart = matrixOf(one, size) - matrixOf(other, size);
  double most = 0;
  for (const double x : {0., size.width - 1.})
    for (const double y : {0., size.height - 1.}) most = std::max(most, cv::norm(apart * cv::Vec3d(x, y, 1)));
  return most;
}

bool isSmall(const ViewMotion& motion, cv::Size size) {
  constexpr double kShift = 0.05, kTurn = 3, kZoom = 0.05;
  return std::hypot(motion.right, motion.down) <= kShift * size.width && std::abs(motion.turn) <= kTurn &&
         std::abs(motion.zoom - 1) <= kZoom;
}

std::string toText(const ViewMotion& motion) {
  std::string text;
  const auto add = [&](const std::string& verb, const std::string& part) {
    text += (text.empty() ? "" : ", ") + verb + part;
  };
  const long right = std::lround(motion.right), down = std::lround(motion.down);
  const auto pixels = [](long count, const char* forward, const char* back) {
    return std::to_string(std::abs(count)) + " px " + (count < 0 ? back : forward);
  };
  const std::string across = right ? pixels(right, "right", "left") : "",
                    along = down ? pixels(down, "down", "up") : "";
  if (right || down) add("moved ", across + (right && down ? " and " : "") + along);
  if (const long tenths = std::lround(std::abs(motion.turn) * 10)) {
    add("turned ", std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " degrees " +
                       (motion.turn < 0 ? "counter-clockwise" : "clockwise"));
  }
  if (const long percent = std::lround(std::abs(motion.zoom - 1) * 100))
    add("became ", std::to_string(percent) + " % " + (motion.zoom < 1 ? "smaller" : "larger"));
  return text.empty() ? "moved by less than a pixel" : text;
}

cv::Mat edgeDirections(const cv::Mat& image, const cv::Mat& hidden) {
  cv::Mat grey, small, dx, dy;
  constexpr int kMaxHeight = 16 * kWidth;  // OpenCV moves no picture of 32767 px and more
  const int height = std::clamp(cvRound(static_cast<double>(kWidth) * image.rows / image.cols), kRows * 8, kMaxHeight);
  cv::cvtColor(image, grey, cv::COLOR_BGR2GRAY);
  cv::resize(grey, small, {kWidth, height}, 0, 0, cv::INTER_AREA);
  small.convertTo(small, CV_32F);
  cv::GaussianBlur(small, small, {}, 1);
  cv::Sobel(small, dx, CV_32F, 1, 0);
  cv::Sobel(small, dy, CV_32F, 0, 1);
  // The angle is doubled, so that a dark edge on light and a light one on dark are the same. Divided by the mean
  // strength around, so that shade and night count as much as light.
  if (!hidden.empty()) {
    const cv::Mat near = reachOf(hidden, small.size());
    dx.setTo(0, near);
    dy.setTo(0, near);
  }
  cv::Mat strength, around;
  cv::magnitude(dx, dy, strength);
  cv::boxFilter(strength.mul(strength), around, CV_32F, {31, 31});
  cv::sqrt(around, around);
  constexpr float kNoise = 8;  // of Sobel's sums of 8-bit values
  cv::Mat result(small.size(), CV_32FC2);
  for (int y = 0; y < result.rows; ++y) {
    for (int x = 0; x < result.cols; ++x) {
      const float gx = dx.at<float>(y, x), gy = dy.at<float>(y, x);
      const float scale = 1 / ((strength.at<float>(y, x) + 1e-3f) * (around.at<float>(y, x) + kNoise));
      result.at<cv::Vec2f>(y, x) = {(gx * gx - gy * gy) * scale, 2 * gx * gy * scale};
    }
  }
  return result;
}

std::optional<ViewMotion> estimateMotion(const cv::Mat& reference, const cv::Mat& edges, const ViewMotion& guess,
                                         cv::Size size) {
  const double scale = static_cast<double>(size.width) / edges.cols;
  auto found = refine(reference, edges, scaled(guess, 1 / scale));
  if (!found || !found->placed()) found = refine(reference, edges, search(reference, edges));
  if (!found || !found->placed() || found->error > kError) return std::nullopt;
  return scaled(found->motion, scale);
}

ViewReference withoutEdges(ViewReference reference) { return {.size = reference.size, .motion = reference.motion}; }

void ViewDetector::start(ViewReference reference) {
  if (!last_) reference_ = std::move(reference);
}

void ViewDetector::forget() {
  reference_ = withoutEdges(reference_);
  in_a_row_ = 0;
  learned_ = false;
}

ViewChange ViewDetector::add(const cv::Mat& image, UnixMs time, bool every, const HiddenAt& hidden) {
  if (image.empty() || (!every && last_ && std::abs(time - *last_) < kStepMs)) return ViewChange::kNone;
  last_ = time;
  const cv::Size size = image.size();
  if (reference_.size != size) reference_ = {.size = size};
  const ViewMotion guess = offset();
  const cv::Mat hidden_there = hidden ? hidden(guess) : cv::Mat();
  cv::Mat edges = edgeDirections(image, hidden_there);
  if (reference_.edges.size() != edges.size()) reference_ = withoutEdges(reference_);
  motion_.reset();
  if (isAll(hidden_there)) return ViewChange::kNone;
  if (reference_.pictures >= kFirst) {
    motion_ = motionOf(edges, guess);
    const double moved = kMoved * size.width;
    if (motion_ && distance(*motion_, reference_.motion, size) <= moved) in_a_row_ = 0;
    if (motion_ && distance(*motion_, reference_.motion, size) > moved) {
      in_a_row_ = distance(*motion_, moved_, size) <= moved ? in_a_row_ + 1 : 1;
      moved_ = *motion_;
      if (in_a_row_ == kChecks) {
        in_a_row_ = 0;
        learned_ = true;
        reference_.motion = moved_;
        if (isSmall(moved_, size)) return ViewChange::kSmall;
        reference_ = {.size = size};
        motion_.reset();
        return ViewChange::kLarge;
      }
    }
    if (in_a_row_ > 0 || (time >= reference_.learned && time - reference_.learned < kLearnMs)) return ViewChange::kNone;
  }
  if (hidden && distance(offset(), guess, size) > 0) edges = edgeDirections(image, hidden(offset()));
  learn(edges, time);
  return ViewChange::kNone;
}

std::optional<ViewMotion> ViewDetector::motionOf(const cv::Mat& edges, const ViewMotion& guess) const {
  cv::Mat before;
  reference_.edges.convertTo(before, CV_32F, kUnit);
  return estimateMotion(before, edges, guess, reference_.size);
}

std::optional<ViewMotion> ViewDetector::find(const cv::Mat& image, const HiddenAt& hidden) const {
  if (reference_.pictures < kFirst || image.size() != reference_.size) return std::nullopt;
  const cv::Mat edges = edgeDirections(image, hidden ? hidden(offset()) : cv::Mat());
  return motionOf(edges, offset());
}

ViewMotion ViewDetector::offsetOf(const cv::Mat& image, const HiddenAt& hidden) const {
  const bool known = reference_.pictures >= kFirst && image.size() == reference_.size;
  return find(image, hidden).value_or(known ? reference_.motion : offset());
}

// Moved back by the motion that holds, not by that of this picture: small errors would add up over a year.
void ViewDetector::learn(const cv::Mat& edges, UnixMs time) {
  cv::Mat before = cv::Mat::zeros(edges.size(), CV_32FC2);
  if (reference_.pictures > 0) reference_.edges.convertTo(before, CV_32F, kUnit);
  cv::Mat home = before.clone();
  const ViewMotion here = scaled(reference_.motion, static_cast<double>(edges.cols) / reference_.size.width);
  cv::warpAffine(edges, home, matrixOf(here, edges.size()), edges.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP,
                 cv::BORDER_TRANSPARENT);
  reference_.pictures = std::min(reference_.pictures + 1, kMaxAveraged);
  const double share = 1. / reference_.pictures;
  cv::addWeighted(before, 1 - share, home, share, 0, home);
  reference_.edges.release();  // a reader may share it
  home.convertTo(reference_.edges, CV_16S, 1 / kUnit);
  reference_.learned = time;
  learned_ = true;
}

std::optional<ViewReference> ViewDetector::takeLearned() {
  return std::exchange(learned_, false) ? std::optional(reference_) : std::nullopt;
}

}  // namespace mpm::monitor
