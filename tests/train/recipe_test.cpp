// SPDX-License-Identifier: Apache-2.0
#include "train/recipe.h"

#include <gmock/gmock.h>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::train {
namespace {

using test::TemporaryFolder;

// Gives every field another value than it had.
struct Change {
  int next = 3;
  void operator()(const char*, const char*, std::string& value, const char*) { value += "x" + std::to_string(next++); }
  void operator()(const char*, const char*, Size2& value, const char*) {
    value = {value.width + 16, value.height + 32};
  }
  template <class Number>
  void operator()(const char*, const char*, Number& value, const char*) {
    value += static_cast<Number>(next++) / 2;
  }
};

TEST(Recipe, EveryFieldSurvivesJson) {
  Recipe recipe;
  visit(recipe, Change{});
  recipe.classes = {{"a", {{1, 2, 255}}}, {"b", {{0, 0, 0}}}};
  const auto json = toJson(recipe), untouched = toJson(Recipe{});
  for (const auto& [name, value] : untouched.items()) EXPECT_NE(json.at(name), value) << name;
  EXPECT_EQ(toJson(recipeFromJson({json.dump(), "recipe"})), json);
}

TEST(Recipe, AFieldThatACheckpointLacksKeepsItsDefault) {
  Recipe recipe;
  recipe.steps = 7;
  nlohmann::json json = toJson(recipe);
  for (const char* name : {"positions", "size"}) json.erase(name);
  EXPECT_EQ(toJson(recipeFromJson({json.dump(), "recipe"})), toJson(recipe));
}

TEST(Recipe, RefusesAFieldOfAnotherType) {
  nlohmann::json json = toJson(Recipe{});
  json["lr"] = "fast";
  EXPECT_MPM_ERROR((recipeFromJson({json.dump(), "recipe"})), "recipe");
}

TEST(Recipe, DefaultsAreSound) { EXPECT_NO_THROW(Recipe{}.validate()); }

TEST(Recipe, NamesTheOptionThatIsWrong) {
  const auto with = [](auto change) {
    Recipe recipe;
    change(recipe);
    recipe.validate();
  };
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.steps = 0; })), "--steps");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.lr = -1; })), "--lr");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.scene.varied = 1.5; })), "--varied");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.blocks = -1; })), "--blocks");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.dim = -64; })), "--dim");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.positions = "none"; })), "--positions");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.precision = "fp8"; })), "--precision");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.precision = "fp8"; })), "fp8");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.average = 1; })), "--average");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.optimizer = "sgd"; })), "--optimizer");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.validation = "x"; })), "--data");
  EXPECT_MPM_ERROR((with([](Recipe& r) { r.size = {100, 100}; })), "100x100");
}

TEST(Classes, ComeFromAListOrAModel) {
  const TemporaryFolder folder;
  writeFileAtomically(folder / "list", R"([{"name":"a","color":"#010203"},{"name":"b","color":"#ffffff"}])");
  writeFileAtomically(folder / "model",
                      R"({"name":"m","classes":[{"name":"a","color":"#010203"},{"name":"b","color":"#FFFFFF"}]})");
  for (const char* name : {"list", "model"}) {
    const auto classes = readClasses(folder / name);
    ASSERT_EQ(classes.size(), 2u);
    EXPECT_EQ(classes[0].name, "a");
    EXPECT_EQ(classes[0].rgb, (std::array<std::uint8_t, 3>{1, 2, 3}));
    EXPECT_EQ(classes[1].rgb.value()[0], 255);
  }
  writeFileAtomically(folder / "one", R"([{"name":"a","color":"#010203"}])");
  EXPECT_THROW(readClasses(folder / "one"), Error);
  writeFileAtomically(folder / "color", R"([{"name":"a","color":"red"},{"name":"b","color":"#ffffff"}])");
  EXPECT_MPM_ERROR((readClasses(folder / "color")), "red");
  writeFileAtomically(folder / "text", "road, sky");
  EXPECT_THROW(readClasses(folder / "text"), Error);
}

}  // namespace
}  // namespace mpm::train
