// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"

namespace mpm::test {
namespace {

// Two streets, three frames each.
const std::string kFewStreets = "demo:street?seed=5..6&size=64x96&step=43200&frames=3";

Words tableLines(const std::string& path) { return CommandResult{.out = readFile(path)}.lines(); }
std::vector<nlohmann::json> jsonIn(const std::string& path) { return CommandResult{.out = readFile(path)}.jsonLines(); }

class Study : public WithStreetModel {
 protected:
  CommandResult study(const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"study", source_, "--model", model_, "-o", out_} + more, options);
  }
  /// Its numbers alone: where there is no matplotlib there is no report, which takes longer than to measure.
  CommandResult studyWithoutReport(const Words& more) const {
    fs::create_directory(folder_ / "bare");
    std::ofstream(folder_ / "bare/matplotlib.py") << "raise ImportError('no matplotlib here')\n";
    return study(more, {.environment = {{"PYTHONPATH", folder_ / "bare"}}});
  }
  /// Its figures are empty files: to draw them takes most of the time.
  CommandResult studyWithoutFigures(const Words& more) const { return studyWithSavefig("to.write(b'<svg/>')", more); }
  /// Its figures are drawn as SVG only: PNG and PDF stay empty.
  CommandResult studyWithSvg(const Words& more) const { return studyWithSavefig(kSvgOnly, more); }

  CommandResult studyWithSavefig(const std::string& expression, const Words& more) const {
    return study(more, {.environment = {{"PYTHONPATH", siteWith(expression)}}});
  }

  /// The folder of the report of these rows. Its figures are drawn as SVG only.
  std::string reportOf(const std::string& name, const std::vector<nlohmann::json>& rows) const {
    fs::create_directory(folder_ / name);
    std::ofstream file(folder_ / (name + "/summary.jsonl"));
    for (const nlohmann::json& row : rows) file << row << '\n';
    file.close();
    const CommandResult drawn = mpmCommand({kData + "/../../cli/study/report.py", folder_ / name},
                                           {.program = fs::relative("/usr/bin/python3", MPM_BINARY_DIR),
                                            .environment = {{"PYTHONPATH", siteWith(kSvgOnly)}}});
    EXPECT_EQ(drawn.out, "{\"ok\": true}\n") << drawn.err;
    return folder_ / name;
  }

  static constexpr const char* kSvgOnly = "savefig(self, to, **options) if options.get('format') == 'svg' else None";
  std::string source_ = kFewStreets;
  const std::string out_ = folder_ / "out", results_ = out_ + "/results.jsonl", report_ = out_ + "/report.html";
  const Words small_ = {"--reduce", "mpm:blocks=1", "--reduce", "gradual:blocks=0-2:count=2", "--sweep-images", "0"};

 private:
  /// A folder for PYTHONPATH where matplotlib saves a figure in this way.
  std::string siteWith(const std::string& savefig) const {
    fs::create_directory(folder_ / "site");
    std::ofstream(folder_ / "site/sitecustomize.py") << "from matplotlib.figure import Figure\nsavefig = "
                                                        "Figure.savefig\nFigure.savefig = lambda self, to, **options: "
                                                     << savefig << '\n';
    return folder_ / "site";
  }
};

// The numbers themselves: tests/evaluation/study_numbers_test.py computes each of them again.
TEST_F(Study, PrintsATableAndWritesAndDrawsItsRows) {
  const CommandResult result = succeeded(studyWithoutFigures(small_ + Words{"--reduce", "mpm:blocks=0,1"}));
  EXPECT_THAT(result.out, ::testing::MatchesRegex("reduction +tokens +mIoU % +loss +agreement % +mean ms +speed-up\n"
                                                  "none .* 0\\.00 +100\\.00 .* 1\\.00\n"
                                                  "mpm:blocks=1 .*\n"
                                                  "gradual:blocks=0-2:count=2 .*\n"
                                                  "mpm:blocks=0,1 .*\n"
                                                  "over 6 images.*\n"
                                                  ".*/report.html\n"));
  const auto csv = tableLines(out_ + "/results.csv");
  ASSERT_EQ(csv.size(), 5u) << "a header, the full model and three reductions";
  EXPECT_THAT(csv[0], StartsWith("group,model,net,data,dataset,precision,reduce,"));
  EXPECT_THAT(csv[1], StartsWith("tiny_scene_fp32,tiny,linear 24/4 12x20,demo:"));
  EXPECT_THAT(csv[4], HasSubstr(",\"mpm:blocks=0,1\",")) << "a comma within a cell";
  const std::vector<nlohmann::json> rows = jsonIn(out_ + "/summary.jsonl");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_LT(rows[1]["gflop"], rows[0]["gflop"]);
  for (const auto& row : rows)
    EXPECT_EQ(row["blocks_ms"].size(), row["head_ms"] > 0 ? 3u : 0u) << "OpenCV may measure no layer times";

  // The paper's numbers stand beside the same work: as many images as ADE20K has.
  EXPECT_THAT(readFile(report_), Not(HasSubstr("of the paper")));
  std::vector<nlohmann::json> of_ade = rows;
  for (nlohmann::json& row : of_ade) {
    row.update({{"net", "mask_transformer 384/16 512x512"}, {"dataset", "ade20k"}, {"images", 2000}});
    if (row["reduce"] == "mpm:blocks=1") row["reduce"] = row["name"] = "mpm:blocks=2,5";
  }
  const std::string html = readFile(reportOf("ade", of_ade) + "/report.html");
  EXPECT_THAT(html, HasSubstr("<td>Seg-S/16</td><td>45.3</td>"));
  EXPECT_THAT(html, HasSubstr("<td>Seg-S/16, MPM (2,5)</td><td>45.1</td>"));

  // Each figure fills the points of its own front: the fastest by the median time may not be the fastest by the ratio
  // to the full model on the same image.
  std::vector<nlohmann::json> turned = rows;
  for (nlohmann::json& row : turned) row.update({{"front_of_time", false}, {"front_of_rate", row["method"] == "mpm"}});
  const std::string fronts = reportOf("turned", turned);
  const auto filled = [&](const std::string& figure, const std::string& color) {
    const std::string svg = readFile(fronts + "/figures/tiny_scene_fp32_" + figure + ".svg");
    return svg.find("fill: " + color + "; stroke: " + color + "; stroke-linejoin") != std::string::npos;
  };
  EXPECT_TRUE(filled("rate", "#1f5fc4")) << "the colour of mpm";
  EXPECT_FALSE(filled("rate", "#d1560f")) << "the colour of gradual";
  EXPECT_FALSE(filled("time", "#1f5fc4"));

  // Two variants never share a number.
  std::vector<nlohmann::json> many = {rows[0]};
  for (int number = 2; number <= 18; ++number) {
    many.push_back(rows[2]);
    many.back()["name"] = many.back()["reduce"] = "gradual:blocks=0:similarity=0." + std::to_string(number + 9);
  }
  const std::string svg = readFile(reportOf("many", many) + "/figures/tiny_scene_fp32_time.svg");
  for (int number = 2; number <= 18; ++number)
    EXPECT_THAT(svg, HasSubstr(">" + std::to_string(number) + " gradual:blocks=0:similarity=0."));
  EXPECT_THAT(svg, HasSubstr(">1 none<"));
}

TEST_F(Study, WritesAReportThatNeedsNoNetwork) {
  const CommandOptions options{.environment = {{"MPM_MODEL", "another one.onnx"}}};
  ASSERT_EQ(study({"--reduce", "mpm:blocks=1", "--sweep-images", "2"}, options).exit_code, 0);
  const std::string html = readFile(report_);
  EXPECT_THAT(html, AllOf(HasSubstr("<td>mpm:blocks=1</td>"), HasSubstr("on the Pareto front")));
  EXPECT_THAT(html, HasSubstr("<td>MPM_MODEL=&#x27;another one.onnx&#x27; ")) << "the command that makes the report";
  EXPECT_THAT(html,
              HasSubstr("mpm study &#x27;demo:street?seed=5..6&amp;size=64x96&amp;step=43200&amp;frames=3&#x27; "));
  for (const char* outside : {"src=", " href=\"http", "@import", "<script"}) EXPECT_THAT(html, Not(HasSubstr(outside)));
  for (const char* figure : {"time", "gflop", "gflop_restored", "accuracy_tokens", "tokens", "classes", "boundaries",
                             "locality", "batches", "stages", "blocks", "depth_loss", "depth_speed"}) {
    const std::string name = out_ + "/figures/tiny_scene_fp32_" + figure;
    const std::string svg = readFile(name + ".svg");
    const auto start = svg.find("<svg");
    ASSERT_NE(start, std::string::npos) << name;
    EXPECT_THAT(html, HasSubstr(svg.substr(start))) << name;
    EXPECT_GT(cv::imread(name + ".png").cols, 300 * 5) << name << ": 300 dpi at about the width of a page";
    EXPECT_THAT(readFile(name + ".pdf"), StartsWith("%PDF")) << name;
  }
  EXPECT_THAT(readFile(out_ + "/figures/tiny_scene_fp32_classes.svg"), HasSubstr(" *<")) << "a class of few pixels";
  for (const char* said :
       {"<td>GFLOP, restored</td>", "of one pass; windows are a pass each", "algm and cts are untrained here"})
    EXPECT_THAT(html, HasSubstr(said));
  const std::string column = readFile(out_ + "/figures/tiny_scene_fp32_rate_column.pdf"), box = "/MediaBox [ 0 0 ";
  ASSERT_NE(column.find(box), std::string::npos);
  EXPECT_LT(std::stod(column.substr(column.find(box) + box.size())), 3.6 * 72) << "points of a column";
}

// By CIE lightness, which is what a print in grey leaves of a colour.
TEST(StudyColors, DifferInGrey) {
  const std::string program = readFile(kData + "/../../cli/study/report.py");
  const std::size_t colors = program.find("COLORS = {"), end = program.find('}', colors);
  std::vector<float> lightness;
  for (std::size_t at = colors; (at = program.find('#', at + 1)) < end;) {
    cv::Mat3f pixel(1, 1);
    for (int c = 0; c < 3; ++c)
      pixel(0, 0)[c] = static_cast<float>(std::stoi(program.substr(at + 1 + 2 * c, 2), nullptr, 16)) / 255;
    cv::cvtColor(pixel, pixel, cv::COLOR_RGB2Lab);
    lightness.push_back(pixel(0, 0)[0]);
  }
  ASSERT_EQ(lightness.size(), 6u);
  std::set<char> markers;
  const std::size_t map = program.find("MARKERS = {");
  for (std::size_t at = map; (at = program.find("\": \"", at + 1)) < program.find('}', map);)
    markers.insert(program[at + 4]);
  EXPECT_EQ(markers.size(), lightness.size()) << "one marker for each method";
  std::sort(lightness.begin(), lightness.end());
  for (std::size_t i = 1; i < lightness.size(); ++i) EXPECT_GT(lightness[i] - lightness[i - 1], 8) << lightness[i];
}

TEST_F(Study, SaysWhatItsReportIsMissing) {
  const CommandResult result = succeeded(studyWithoutReport(small_));
  EXPECT_TRUE(result.out.ends_with("\n" + out_ + "/summary.jsonl\n")) << result.out;
  EXPECT_THAT(result.err, HasSubstr("no matplotlib here (Debian has python3-matplotlib)"));
  EXPECT_FALSE(fs::exists(report_));
  EXPECT_EQ(jsonIn(out_ + "/summary.jsonl").size(), 3u) << "the numbers need no Python";
  // Before the measurement, which may take hours.
  const CommandResult refused =
      studyWithoutReport({"--reduce", "mpm:blocks=1", "--max-frames", "1", "--labels", "none"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("there will be no report"));
  ASSERT_EQ(studyWithoutFigures(small_).exit_code, 0) << "it is drawn later";
  EXPECT_TRUE(fs::exists(report_));
}

// Whatever a line says: the figures stay in the folder.
TEST_F(Study, NamesInResultsStayInTheFolder) {
  ASSERT_EQ(studyWithoutReport(small_).exit_code, 0);
  auto lines = jsonIn(results_);
  std::ofstream file(results_);
  for (nlohmann::json& json : lines) {
    json["model"] = "../..";
    file << json << '\n';
  }
  file.close();
  ASSERT_EQ(studyWithoutFigures(small_).exit_code, 0);
  for (const auto& row : jsonIn(out_ + "/summary.jsonl")) {
    const std::string group = row["group"];
    EXPECT_EQ(group.find('/'), std::string::npos) << group;
    EXPECT_NE(group.front(), '.') << group;
  }
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("bare", "out", "site", "tiny.onnx", "tiny.json"));
}

TEST_F(Study, GoesOnWhereItWasKilled) {
  ASSERT_EQ(studyWithoutReport(small_).exit_code, 0);
  auto before = tableLines(results_);
  ASSERT_EQ(before.size(), 18u) << "a line for each of six images and three variants";
  for (std::string& line : before) {
    nlohmann::json slow = nlohmann::json::parse(line);
    slow.update(
        {{"total_ms", 1e6}, {"backbone_ms", 1e6}, {"blocks_ms", std::vector<double>(slow["blocks_ms"].size(), 1e6)}});
    line = slow.dump();
  }
  std::ofstream file(results_, std::ios::trunc);
  for (std::size_t i = 0; i < 4; ++i) file << before[i] << '\n';  // the second image has one line
  file.close();
  const CommandResult result = succeeded(studyWithoutFigures(small_));
  EXPECT_THAT(result.err, HasSubstr("the ms are of 2 sessions"));
  auto after = tableLines(results_);
  ASSERT_EQ(after.size(), 18u);
  std::set<std::string> sessions;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (i < 4) {
      EXPECT_EQ(after[i], before[i]);
    }
    const auto line = nlohmann::json::parse(after[i]), old = nlohmann::json::parse(before[i]);
    for (const char* key : {"name", "reduce", "confusion", "tokens", "agreement_percent"})
      EXPECT_EQ(line[key], old[key]);
    for (const char* key : {"cpu", "instruction_set", "threads", "version", "command"})
      EXPECT_EQ(line[key], old[key]) << key;
    EXPECT_GT(line["full_ms"], 0) << "the full model takes its turn again";
    sessions.insert(line["session"]);
  }
  EXPECT_EQ(sessions.size(), 2u);
  const auto row = jsonIn(out_ + "/summary.jsonl").at(0);
  EXPECT_EQ(row["session"], *sessions.rbegin()) << "ms is of the session with most images";
  for (const char* key : {"median_ms", "backbone_ms_high"}) EXPECT_LT(row[key], 1e5) << key;
  EXPECT_THAT(row["blocks_ms"], Each(::testing::Lt(1e5)));
  EXPECT_THAT(readFile(report_), HasSubstr("<td>" + *sessions.begin() + "</td>"));

  // Nothing is left to do, and the intervals are the same; another reduction is measured alone.
  const std::string summary = readFile(out_ + "/summary.jsonl");
  ASSERT_EQ(studyWithoutReport(small_).exit_code, 0);
  EXPECT_EQ(tableLines(results_), after);
  EXPECT_EQ(readFile(out_ + "/summary.jsonl"), summary);
  ASSERT_EQ(studyWithoutReport({"--reduce", "tome:count=2", "--sweep-images", "0"}).exit_code, 0);
  after = tableLines(results_);
  ASSERT_EQ(after.size(), 24u);
  EXPECT_EQ(jsonIn(results_).at(23)["reduce"], "tome:count=2");
  EXPECT_EQ(tableLines(out_ + "/results.csv").size(), 5u);
}

TEST_F(Study, SectionsOfItsReportHaveDifferentHeadings) {
  succeeded(studyWithoutReport(small_ + Words{"--simulate-night", "0.1", "--day", "--max-frames", "2"}));
  succeeded(studyWithoutFigures(small_ + Words{"--fit", "window", "--max-frames", "2"}));
  const std::string report = readFile(report_);
  std::set<std::string> titles;
  int sections = 0;
  for (std::size_t at = 0; (at = report.find("<h2>", at)) != std::string::npos; ++at, ++sections)
    titles.insert(report.substr(at, report.find("</h2>", at) - at));
  EXPECT_EQ(sections, 4) << "sessions, day, night, windows";
  EXPECT_EQ(titles.size(), 4u) << ::testing::PrintToString(titles);
}

// A report of a folder that has more is that of a new one; --sweep-images 0 is no sweep.
TEST_F(Study, IsOfTheImagesThatWereAskedFor) {
  const auto images = [&](const Words& more) {
    succeeded(studyWithoutReport(Words{"--reduce", "mpm:blocks=1"} + more));
    std::map<std::string, std::set<int>> counts;
    for (const auto& row : jsonIn(out_ + "/summary.jsonl"))
      counts[row["sweep"] ? "sweep" : "all"].insert(row["images"].get<int>());
    return counts;
  };
  using Counts = std::map<std::string, std::set<int>>;
  EXPECT_EQ(images({"--sweep-images", "3"}), (Counts{{"all", {6}}, {"sweep", {3}}}));
  EXPECT_EQ(images({"--sweep-images", "2", "--max-frames", "4"}), (Counts{{"all", {4}}, {"sweep", {2}}}));
  EXPECT_EQ(images({"--sweep-images", "0"}), (Counts{{"all", {6}}}));
}

TEST_F(Study, PairsOfStepsAreAMap) {
  ASSERT_EQ(studyWithSvg({"--reduce", "mpm:blocks=1", "--sweep-images", "1", "--sweep-pairs"}).exit_code, 0);
  std::set<std::string> steps;
  for (const auto& line : jsonIn(out_ + "/sweep.jsonl")) steps.insert(line["reduce"].get<std::string>());
  EXPECT_THAT(steps, ElementsAre("mpm:blocks=0", "mpm:blocks=0,1", "mpm:blocks=0,2", "mpm:blocks=1", "mpm:blocks=1,2",
                                 "mpm:blocks=2", "none"));
  const std::string map = readFile(out_ + "/figures/tiny_scene_fp32_pairs_speed.svg");
  EXPECT_THAT(map, Not(HasSubstr("\u22120.5<"))) << "there is no such block";
  for (const auto& row : jsonIn(out_ + "/summary.jsonl")) {
    if (!row["sweep"] || row["reduce"] == "none") continue;
    std::ostringstream number;
    number << std::fixed << std::setprecision(2) << row["speed_up"].get<double>();
    EXPECT_THAT(map, HasSubstr(">" + number.str() + "<")) << row["reduce"];
  }
}

}  // namespace
}  // namespace mpm::test
