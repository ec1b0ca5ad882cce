// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/classes.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/blank_text.h"
#include "base/class_json.h"

namespace mpm::vision {
namespace {

// Words by what they mean; a word that ends in * stands for all that begin so.
struct UsualColor {
  const char* words;
  cv::Vec3b bgr;
};
constexpr const char* kWordEnds[] = {"", "s", "x", "es"};
const UsualColor kUsualColors[] = {
    {"sky skies ciel cieux", {235, 150, 90}},
    {"snow* ice glacier* neige* glace*", {240, 225, 150}},
    {"water* lake river* sea ocean* pond stream eau lac rivier* fleuve* mer etang*", {160, 110, 0}},
    {"grass* lawn* meadow* crop* field herbe* gazon* pelouse* prairie* champ culture*", {60, 200, 130}},
    {"tree* forest* wood* bush* hedge* leaf leaves foliage plant* veget* arbre* foret* bois haie buisson* feuill*",
     {40, 120, 20}},
    {"road* street* asphalt* pavement* path sidewalk* parking* route* rue chemin* chaussee* trottoir*", {128, 64, 128}},
    {"build* house* wall roof* facade* batiment* immeuble* maison* mur toit*", {50, 90, 180}},
    {"person* people pedestrian* human* man men woman women personne* gens pieton* homme femme", {60, 20, 220}},
    {"car vehicle* truck* bus van voiture* vehicule* camion* auto", {0, 170, 240}},
    {"soil* sand* earth* ground rock* stone* mud sol sable* terre* roche* pierre* boue*", {70, 120, 160}},
};

// In small letters without accents, split at all others.
std::vector<std::string> wordsOf(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    auto byte = static_cast<unsigned char>(name[i]);
    if (byte == 0xC3 && i + 1 < name.size()) {  // of Latin-1 in UTF-8
      constexpr const char* kLetters = "aaaaaa_ceeeeiiii__ooooo__uuuu__";
      const int letter = (static_cast<unsigned char>(name[++i]) | 0x20) - 0xA0;
      byte = letter >= 0 && letter < 31 ? static_cast<unsigned char>(kLetters[letter]) : ' ';
    }
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<unsigned char>(byte - 'A' + 'a');
    if (byte >= 'a' && byte <= 'z')
      words.back() += static_cast<char>(byte);
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

bool means(const std::string& word, const std::string& known) {
  if (known.ends_with('*')) return word.starts_with(known.substr(0, known.size() - 1));
  return std::any_of(std::begin(kWordEnds), std::end(kWordEnds), [&](const char* end) { return word == known + end; });
}

}  // namespace

std::optional<cv::Vec3b> usualColor(const std::string& name) {
  for (const std::string& word : wordsOf(name)) {
    for (const UsualColor& one : kUsualColors) {
      std::istringstream known(one.words);
      for (std::string text; known >> text;)
        if (means(word, text)) return one.bgr;
    }
  }
  return std::nullopt;
}

std::string className(const std::vector<std::string>& names, int label) {
  const auto index = static_cast<std::size_t>(label);
  return index < names.size() && !names[index].empty() ? names[index] : "class_" + std::to_string(label);
}

std::vector<std::string> classNames(const ModelInfo& model) {
  std::vector<std::string> names;
  for (const ClassInfo& one : model.facts.classes) names.push_back(one.name);
  names.resize(model.classes);
  std::set<std::string> taken;
  for (int c = 0; c < model.classes; ++c) {
    names[c] = className(names, c);
    while (!taken.insert(names[c]).second) names[c] += "_" + std::to_string(c);
  }
  return names;
}

std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels, const cv::Mat& mask) {
  std::array<std::int64_t, 256> counts{};
  std::int64_t total = 0;
  for (int y = 0; y < labels.rows; ++y) {
    const unsigned char *const row = labels.ptr<unsigned char>(y), *const inside = mask.empty() ? nullptr : mask.ptr(y);
    for (int x = 0; x < labels.cols; ++x) {
      const int counted = !inside || inside[x] != 0 ? 1 : 0;
      counts[row[x]] += counted;
      total += counted;
    }
  }
  std::vector<std::pair<int, double>> areas;
  for (int c = 0; c < 256; ++c)
    if (counts[c] > 0) areas.emplace_back(c, static_cast<double>(counts[c]) / static_cast<double>(total));
  return areas;
}

void ClassList::validate(const std::string& what) const {
  if (classes.size() > kMaxClasses) {
    throw Error(what + " names " + std::to_string(classes.size()) + " classes; " + std::to_string(kMaxClasses) +
                " are possible");
  }
  std::set<std::string> names;
  for (const ClassInfo& one : classes) {
    if (isBlank(one.name)) throw Error(what + " has a class without a name");
    if (!names.insert(one.name).second) throw Error(what + " names two classes '" + visibleText(one.name) + "'");
  }
}

ClassList readClassList(const std::string& path) {
  const JsonValue json = readJsonFile(path);
  if (!json.json().is_object() && !json.json().is_array())
    json.fail("a list of classes: [{\"name\": \"sky\", \"color\": \"#87ceeb\"}, ...]");
  ClassList list;
  const auto ignore = json.json().is_object() ? json.find("ignore") : std::nullopt;
  if (ignore) list.ignore = ignore->integer(0, 255);
  list.classes = classesFromJson(json.json().is_object() ? json.at("classes") : json);
  return list;
}

void writeClassList(const std::string& path, const ClassList& list) {
  const Json json = {{"classes", mpm::toJson(list.classes)}, {"ignore", list.ignore}};
  writeFileAtomically(path, json.dump(2) + "\n");
}

}  // namespace mpm::vision
