// SPDX-License-Identifier: Apache-2.0
#include "cli/teach_states.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "evaluation/numbers.h"
#include "evaluation/states.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace program;

namespace {

namespace fs = std::filesystem;

// The named region with all that is ignored.
std::vector<vision::Region> regionsOf(const StatesOptions& options) {
  if (options.regions.empty()) {
    if (!options.region.empty()) throw UsageError("--region needs --regions FILE, which says where it lies");
    return {};
  }
  std::vector<vision::Region> all =
      vision::readRegions(options.regions, options.times.time_zone.value_or(vision::machineTimeZone()) * kMinuteMs);
  const std::string names = CLI::detail::join(
      vision::namesOf(all), [](const std::string& name) { return visibleText(name); }, ", ");
  std::erase_if(all, [&](const vision::Region& one) { return !one.ignore && one.name != options.region; });
  const bool found = std::any_of(all.begin(), all.end(), [](const vision::Region& one) { return !one.ignore; });
  if (!options.region.empty() && !found)
    throw UsageError("'" + options.regions + "' has no region '" + visibleText(options.region) + "', but " + names);
  return all;
}

std::string percent(double share) { return fixed(100 * share, 1); }

void printStates(const evaluation::StateHead& head, const std::vector<evaluation::StateExample>& examples) {
  const evaluation::StateVerdict& verdict = head.verdict;
  const std::vector<int> widths = {-18, 10, 9, 9, 15};
  printLine(tableRow({"state", "examples", "right, %", "sure, %", "sure: right, %"}, widths));
  for (std::size_t s = 0; s < head.states.size(); ++s) {
    evaluation::StateVerdict of_state;
    std::copy_if(verdict.answers.begin(), verdict.answers.end(), std::back_inserter(of_state.answers),
                 [&](const evaluation::StateAnswer& one) { return one.truth == static_cast<int>(s); });
    const auto count = std::count_if(examples.begin(), examples.end(), [&](const evaluation::StateExample& one) {
      return one.state == static_cast<int>(s);
    });
    printLine(tableRow({head.states[s], std::to_string(count), percent(of_state.right()), percent(of_state.sureShare()),
                        percent(of_state.sureRight())},
                       widths));
  }
  printLine(percent(verdict.right()) + " % of " + counted(static_cast<std::int64_t>(verdict.answers.size()), "answer") +
            " are right, " +
            (verdict.by_days ? "each on a day that the training did not see" : "each on a part left out of training") +
            " (" + counted(verdict.rounds, "round") + ")");
  printLine("sure on " + percent(verdict.sureShare()) + " %, from a probability of " + fixed(head.sure, 3) +
            " on; of these " + percent(verdict.sureRight()) + " % are right");
  const auto untimed =
      std::count_if(examples.begin(), examples.end(), [](const evaluation::StateExample& one) { return !one.time; });
  if (!verdict.by_days)
    printLine(
        "too good, perhaps: " +
        (untimed > 0 ? counted(untimed, "picture") + " without a time" : std::string("all pictures are of one day")) +
        ", so no day could be held out" + (untimed > 0 ? ": --times list:FILE gives times" : ": add other days"));
  if (verdict.untested > 0)
    printLine(counted(verdict.untested, "example") +
              " of a state that only one day shows could not be tested: add other days");
  for (const bool sure : {true, false})
    for (const evaluation::StateAnswer& one : verdict.answers)
      if (!one.right() && one.sure == sure)
        printLine("wrong" + std::string(sure ? " and sure: " : ": ") + one.file + " is " +
                  head.states[static_cast<std::size_t>(one.truth)] + ", taken for " +
                  head.states[static_cast<std::size_t>(one.given)] + " (" + fixed(one.probability, 3) + ")");
}

}  // namespace

int teachStates(const StatesOptions& options, const std::string& model, const std::optional<Reduction>& reduce,
                const std::string& output, bool json) {
  if (!output.ends_with(".json")) throw UsageError("-o is '" + output + "'; for states it must end in .json");
  evaluation::StatesJob job{.model = model, .reduce = reduce, .regions = regionsOf(options)};
  job.name = options.region.empty() ? fs::path(output).stem().string() : options.region;
  evaluation::readStateExamples(options.examples, options.times, job);
  const std::string page_path = fs::path(output).replace_extension().string() + "_wrong.jpg";
  Inputs inputs{.models = {model}, .files = {options.regions, options.times.list}};
  for (const evaluation::StateExample& one : job.examples) inputs.files.push_back(one.file);
  for (const std::string& path : {output, page_path}) requireOutput("-o", path, inputs);
  Progress bar(!json && stderrIsTerminal(), static_cast<int>(job.examples.size()), "picture");
  job.progress = [&](int done, int of) {
    bar.step();
    if (json) printLine(Json{{"progress", static_cast<double>(done) / of}});
    return !interrupted();
  };
  const auto head = evaluation::teachStates(job);
  bar.clear();
  if (!head) {
    printNote("interrupted: nothing is written");
    return kInterrupted;
  }
  const cv::Mat page = evaluation::wrongPictures(*head);
  evaluation::writeStates(output, *head);
  std::error_code none;
  if (page.empty())
    fs::remove(page_path, none);
  else
    vision::writePicture(page_path, page);
  if (json) {
    printLine(Json{{"states", output},
                   {"wrong_pictures", page.empty() ? Json() : Json(page_path)},
                   {"cross_validation", evaluation::toJson(head->verdict, head->states)}});
    return kOk;
  }
  printStates(*head, job.examples);
  if (!page.empty()) printLine(page_path + " shows what is wrong");
  printLine(output);
  printNote("next: mpm monitor SOURCE --states " + output + " --db FILE");
  return kOk;
}

}  // namespace mpm::cli
