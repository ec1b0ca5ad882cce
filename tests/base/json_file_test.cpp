// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "mpm/model_info.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

// Reads the file of this text with `read` and expects an error of one line that names the file and holds `part`.
void expectRefusal(const std::string& text, const std::function<void(const JsonValue&)>& read,
                   const std::string& part) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "a.json";
  std::ofstream(path) << text;
  EXPECT_MPM_ERROR(read(readJsonFile(path)), part);
  EXPECT_THAT([&] { read(readJsonFile(path)); },
              testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("'" + path + "'"), Not(HasSubstr("\x1b")), Not(HasSubstr("json.exception")))));
}

TEST(JsonFile, RefusesInOneLineThatNamesThePlace) {
  const auto nothing = [](const JsonValue&) {};
  const auto count = [](const JsonValue& json) { json.at("n").count(); };
  const auto byte = [](const JsonValue& json) { json.at("n").integer(0, 255); };
  const struct {
    std::string text;
    std::function<void(const JsonValue&)> read;
    std::string part;
  } cases[] = {
      {"", nothing, "not valid JSON: see line 1"},
      {"{\n\n\"n\": nan}", nothing, "not valid JSON: see line 3"},
      {"{} {}", nothing, "not valid JSON"},
      {"[1e999]", nothing, "a number that is too large"},
      {"[\"\xff\"]", nothing, "not valid JSON"},
      {std::string(500'000, '['), nothing, "nested too deep"},
      {std::string(17, '[') + std::string(17, ']'), nothing, "nested too deep"},
      {"{\"n\":255.7}", byte, "n: found 255.7, expected a whole number from 0 to 255"},
      {"{\"n\":7.0}", byte, "found 7.0"},
      {"{\"n\":true}", byte, "found true"},
      {"{\"n\":256}", byte, "found 256"},
      {"{\"n\":4294967297}", byte, "found 4294967297"},
      {"{\"n\":-1}", count, "found -1"},
      {"{\"n\":18446744073709551615}", count, "found 18446744073709551615"},
      {"{\"m\":1}", count, "expected an object with \"n\""},
      {"[1]", count, "expected an object with \"n\""},
      {"{\"a\":[{\"b\":[1,2]}]}", [](const JsonValue& j) { j.at("a").list()[0].at("b").list()[1].text(); },
       "a[0].b[1]: found 2, expected a text"},
      {"{\"a\":[1,2]}", [](const JsonValue& j) { j.at("a").list(3, 3); }, "found [1,2], expected a list of 3"},
      {"{\"a\":7}", [](const JsonValue& j) { j.at("a").list(); }, "expected a list"},
      {"{\"a\":1}", [](const JsonValue& j) { j.at("a").flag(); }, "expected true or false"},
      {"{\"a\":\"1\"}", [](const JsonValue& j) { j.at("a").number(); }, "expected a number"},
      {"{\"a\":-1}", [](const JsonValue& j) { j.at("a").number(0); }, "a number that is not negative"},
      {"{\"a\":\"m\\u001b[2J\"}", [](const JsonValue& j) { j.at("a").parsed(parseDepthUnit); }, "'m\\x1b[2J'"},
  };
  for (const auto& one : cases) expectRefusal(one.text, one.read, one.part);
  std::string keys = "{\"k\":0";
  for (int i = 0; i < 20'000; ++i) keys += ",\"k" + std::to_string(i) + "\":0";
  expectRefusal(keys + "}", nothing, "over 10000 keys");
  EXPECT_EQ(JsonValue("9007199254740992", "it").count(), kMaxCount);
}

TEST(JsonFile, WritesTextThatIsNoUtf8) {
  const Json json = {{"name", "caf\xe9"}, {"list", {{{"a\xff", "é"}}, 1.5, nullptr}}};
  const std::string line = R"({"name":"caf\\xe9","list":[{"a\\xff":"é"},1.5,null]})";
  EXPECT_EQ(toLine(json), line);
  EXPECT_EQ(Json::parse(toLines(json)), Json::parse(line));
}

// LabelMe's files may hold their picture.
TEST(JsonFile, LeavesOutLongTexts) {
  const std::string picture(1 << 20, 'A');
  const JsonValue json("{\"a\": \"\\\\\", \"imageData\": \"" + picture + "\\\"" + picture + "\", \"b\": \"\\\"c\"}",
                       "it");
  EXPECT_MPM_ERROR(json.at("imageData").text(), "imageData is a text of over 64 KiB, or with NUL");
  EXPECT_EQ(json.at("a").text(), "\\");
  EXPECT_EQ(json.at("b").text(), "\"c");
  EXPECT_MPM_ERROR(JsonValue("{\"a\": \"" + picture, "it"), "not valid JSON");
}

TEST(JsonFile, ReadsRegularFilesUpToALimit) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.json") << std::string(3 << 20, ' ');
  EXPECT_MPM_ERROR(readJsonFile(folder / "a.json", 2 << 20), "it is larger than 2 MiB");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_MPM_ERROR(readJsonFile(folder / "fifo"), "it is not a regular file");
  EXPECT_MPM_ERROR(readJsonFile("/dev/zero"), "it is not a regular file");
  EXPECT_MPM_ERROR(readJsonFile(folder.path()), "it is a folder");
  EXPECT_MPM_ERROR(readJsonFile(folder / "none"), "no such file");
}

}  // namespace
}  // namespace mpm
