// SPDX-License-Identifier: Apache-2.0
// A walk of faults: the 1st, 2nd, 3rd ... call that changes a file fails, or the 1st, 2nd ... large allocation, until a
// run has no such call any more. After each run the files are those of before or the new ones, and the error is one
// line.

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "monitor/sql.h"

namespace mpm::test {
namespace {

class FaultWalk : public InFolder {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer must be the first library that is loaded";
#endif
    fs::create_directory(out_);
    fs::create_directory(folder_ / "in");
    for (int day = 1; day <= 2; ++day)
      writeImage(folder_ / ("in/a_2013070" + std::to_string(day) + "_120000.png"), 40, 60, day);
  }

  // Runs the command once for each call (or each `step`-th) that can fail, with an empty `out` folder where `before`
  // may put files. Returns how many.
  int walk(const Words& arguments, const std::string& kind, const std::function<void()>& before,
           const std::function<void(const CommandResult&)>& check, int step = 1) {
    const std::string mark = folder_ / "mark";
    for (int call = 1;; call += step) {
      SCOPED_TRACE("call " + std::to_string(call) + " fails");
      fs::remove_all(out_);
      fs::create_directory(out_);
      fs::remove(mark);
      before();
      CommandOptions options;
      options.environment = {{"LD_PRELOAD", MPM_FAILING_CALLS},
                             {"MPM_FAIL_CALL", std::to_string(call)},
                             {"MPM_FAIL_MARK", mark},
                             {kind, kind == "MPM_FAIL_FOLDER" ? out_ + "/" : "1"}};
      const CommandResult result = mpmCommand(arguments, options);
      if (!fs::exists(mark)) {
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return call - 1;
      }
      if (result.exit_code != 0) {
        EXPECT_EQ(result.exit_code, 1) << result.err;
        const auto isError = [](const std::string& line) { return line.find(": error: ") != std::string::npos; };
        const Words lines = CommandResult{.out = result.err}.lines();
        EXPECT_EQ(std::count_if(lines.begin(), lines.end(), isError), 1) << result.err;
      }
      check(result);
      if (HasFailure()) return call;
    }
  }

  const std::string out_ = folder_ / "out";
};

TEST_F(FaultWalk, ConvertLeavesTheOldModelOrTheNewOne) {
  const std::string model = out_ + "/fast.onnx";
  const Words convert = {"convert", kSegmenter, "-o", model, "--reduce", "mpm:blocks=1,2"};
  ASSERT_EQ(mpmCommand(convert).exit_code, 0);
  const std::string whole = readFile(model);
  for (const char* kind : {"MPM_FAIL_FOLDER", "MPM_FAIL_MEMORY"}) {
    const int calls = walk(
        convert, kind, [&] { std::ofstream(model) << "old"; },
        [&](const CommandResult& result) {
          EXPECT_EQ(readFile(model) == whole ? 0 : 1, result.exit_code);
          if (result.exit_code != 0) {
            EXPECT_EQ(readFile(model), "old");
          }
          EXPECT_EQ(std::distance(fs::directory_iterator(out_), {}), 1) << "no temporary file stays";
        });
    EXPECT_GE(calls, 3) << kind;
  }
}

TEST_F(FaultWalk, TeachLeavesNoHalfModel) {
  const std::string model = out_ + "/mine.onnx";
  fs::create_directory(folder_ / "labels");
  for (const auto& picture : fs::directory_iterator(folder_ / "in")) {
    cv::Mat labels(40, 60, CV_8U, cv::Scalar(0));
    labels.colRange(0, 30).setTo(1);
    cv::imwrite(folder_ / ("labels/" + picture.path().filename().string()), labels);
  }
  std::ofstream(folder_ / "classes.json") << R"({"classes": [{"name": "a"}, {"name": "b"}]})";
  const int calls = walk(
      {"teach", "--model", kSegmenter, "--images", folder_ / "in", "--labels", folder_ / "labels", "--classes",
       folder_ / "classes.json", "-o", model},
      "MPM_FAIL_FOLDER", [] {},
      [&](const CommandResult& result) {
        if (result.exit_code == 0 || !fs::exists(model)) return;
        EXPECT_EQ(mpmCommand({"info", model}).exit_code, 0) << "a model that is there is whole";
      });
  EXPECT_GE(calls, 3);
}

class StoringWalk : public FaultWalk, public ::testing::WithParamInterface<int> {};

TEST_P(StoringWalk, SamplesThatWereStoredStay) {
  const std::string database = out_ + "/a.db";
  const Words monitor = {"monitor", folder_ / "in", "--model", kSegmenter, "--db", database, "--time-zone", "+00:00"};
  const auto samples = [&] { return monitor::test::runSql(database, "SELECT count(*) FROM sample"); };
  const auto check = [&](const CommandResult& result) {
    if (result.exit_code == 0) {
      EXPECT_EQ(samples(), "2") << "what was reported as stored is stored";
    }
    succeeded(mpmCommand(monitor));
    EXPECT_EQ(samples(), "2") << "the next run stores the rest, and nothing twice";
  };
  EXPECT_GE(walk(
                monitor, "MPM_FAIL_FOLDER", [] {}, check, GetParam()),
            10);
}
INSTANTIATE_TEST_SUITE_P(SomeCalls, StoringWalk, ::testing::Values(11));
INSTANTIATE_TEST_SUITE_P(AllCalls, StoringWalk, ::testing::Values(1));

}  // namespace
}  // namespace mpm::test
