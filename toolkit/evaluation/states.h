// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "mpm/options.hpp"
#include "vision/regions/region.h"
#include "vision/times/picture_times.h"

namespace mpm::evaluation {

/// The answer for an example by a head that did not see it in its training.
struct StateAnswer {
  std::string file{};
  int truth = 0, given = 0;
  double probability = 0;  ///< of the given state, 0..1
  bool sure = false;
  bool right() const { return given == truth; }
};

/// An example that looks like examples of other states: findContradictions() of the features of the head.
struct StateContradiction {
  std::string file{}, like{};  ///< pictures
  int state = 0, like_state = 0;
};

/// How often a head was right on examples that it was not trained on.
struct StateVerdict {
  /// All pictures of one day were held out together. False: pictures without times, or of one day; a part of each state
  /// was held out, in the order of the pictures.
  bool by_days = false;
  int rounds = 0;
  std::vector<StateAnswer> answers{};                ///< round by round
  int untested = 0;                                  ///< examples whose state the other days do not show, or show alone
  std::vector<StateContradiction> contradictions{};  ///< the clearest first

  double right() const;      ///< share of the answers, 0..1
  double sureShare() const;  ///< share of the answers that are sure, 0..1
  double sureRight() const;  ///< share of the sure answers; NaN where there is none
};

/// Tells the states of a region apart, such as "open" and "closed": a linear model of pooled tokens (docs/states.md).
struct StateHead {
  std::string name{};                 ///< of the region, else of the file
  std::vector<std::string> states{};  ///< by index
  /// Where the head looks: all regions of one name that are valid at the time of the picture, minus those that are
  /// ignored. If only ignored regions are left, the head sees the whole picture minus those.
  std::vector<vision::Region> regions{};
  std::string model_name{}, model_digest{};  ///< whose tokens it reads (modelDigest())
  std::string reduce{};                      ///< the Reduction that its examples were seen with
  cv::Mat weights{};  ///< {states, features + 1} CV_64F, of poolTokens(); the last column is added
  double sure = 1;    ///< the least probability of a sure answer; 1 where nothing could be tested
  StateVerdict verdict{};

  /// The index of a state; -1: there is none of this name.
  int indexOf(const std::string& state) const;
  /// 16 hexadecimal digits of all that decides its answers: equal for heads that answer alike.
  std::string digest() const;
};

struct StateReading {
  int state = 0;
  double probability = 0;  ///< of the state, 0..1
  bool sure = false;
};

/// What a head looks at in a picture.
struct StateView {
  cv::Rect part{};   ///< of the picture, which the model gets: all of it, or a cut-out where Region::cut_out_s is set
  cv::Mat shares{};  ///< CV_32F {grid}: the share of each patch of the part that the regions cover; empty: nothing
};

/// Where a head with these regions looks in a picture of this size at this time (nullopt: now). `mask` makes the mask
/// of a region; null: maskOf(). The one answer for examples and for samples.
StateView stateView(const std::vector<vision::Region>& regions, cv::Size picture, Size2 grid,
                    std::optional<UnixMs> time, const std::function<cv::Mat(const vision::Region&)>& mask = {});

/// The least of Region::cut_out_s; nullopt: the head looks at whole pictures.
std::optional<double> cutOutSeconds(const std::vector<vision::Region>& regions);

/// The mean over the patches of each channel, {1, dim} CV_64F. `tokens`: {N, dim} CV_32F (Estimate::features), each of
/// which is first scaled to mean 0 and variance 1; `shares`: N weights (CV_32F); empty: equal ones. Throws mpm::Error
/// where the weights have no sum.
cv::Mat poolTokens(const cv::Mat& tokens, const cv::Mat& shares = {});

/// Throws mpm::Error for features of another model.
StateReading readState(const StateHead& head, const cv::Mat& pooled);

/// A picture that shows one of the states.
struct StateExample {
  std::string file{};
  int state = 0;
  std::optional<UnixMs> time{};  ///< when it was taken
  std::int64_t day = 0;          ///< of the calendar of the camera, for one with a time
};

/// StateHead::weights for examples {n, features} CV_64F that show these states.
cv::Mat trainStates(const cv::Mat& pooled, const std::vector<int>& shown, int states);

/// Cross-validates, calibrates the probabilities on its answers, and trains on all examples. `head` names the states;
/// `pooled`: a row for each example. Throws mpm::Error for fewer than two states, and for a state with fewer than two
/// examples.
StateHead teachStates(StateHead head, const std::vector<StateExample>& examples, const cv::Mat& pooled);

struct StatesJob {
  std::string model{};
  std::optional<Reduction> reduce{};  ///< nullopt: the model's own
  std::vector<std::string> states{};
  std::vector<StateExample> examples{};
  std::string name{};
  std::vector<vision::Region> regions{};
  /// Called after each picture; false ends it.
  std::function<bool(int done, int of)> progress{};
};
/// Runs the model on each picture, then teachStates(); nullopt: `progress` ended it. Throws mpm::Error also for a
/// picture or a model that cannot be read.
std::optional<StateHead> teachStates(const StatesJob& job);

/// The pictures in the subfolders of `path`, each named after its state; or a list: CSV with lines "picture,state", or
/// JSON, [{"picture": ..., "state": ...}]. Pictures of a list lie beside it. Adds to `job` the states, in alphabetical
/// order, and the examples, in the order of their files: a head does not depend on that of a list. Throws mpm::Error
/// naming the file and what is wrong.
void readStateExamples(const std::string& path, const vision::TimeOptions& times, StatesJob& job);

/// A page of the pictures, at most 40, that the head got wrong, the surest first, each with its name and states; empty:
/// none.
cv::Mat wrongPictures(const StateHead& head);

/// The same of examples that contradict each other, at most 20: each beside the one that it looks like.
cv::Mat contradictingPictures(const StateHead& head);

/// {"by", "rounds", "right", "sure", "sure_right", "untested", "answers": [{"picture", "state", "given",
/// "probability"}], "contradictions": [{"picture", "state", "like", "like_state"}]}, shares 0 to 1.
Json toJson(const StateVerdict& verdict, const std::vector<std::string>& states);
/// Whole or not at all. Throws mpm::Error naming the file, also where `path` is the JSON of a model beside it.
void writeStates(const std::string& path, const StateHead& head);
/// Throws mpm::Error naming the file and the place in it.
StateHead readStates(const std::string& path);

}  // namespace mpm::evaluation
