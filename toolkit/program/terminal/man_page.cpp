// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/program.h"

#include <utility>

#include "mpm/version.hpp"

namespace mpm::program {
namespace {

/// As text of a line, whatever its first letter is.
std::string roff(const std::string& text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text)
    result += c == '\\' ? std::string("\\e") : c == '-' ? "\\-" : std::string(1, c == '\n' ? ' ' : c);
  return result;
}

/// Paragraphs; lines that begin with two spaces stay as they are.
std::string paragraphs(const std::string& text) {
  std::string result;
  bool kept = false;
  for (const std::string& line : CLI::detail::split(text, '\n')) {
    if (line.starts_with("  ") != kept) result += std::exchange(kept, !kept) ? ".fi\n" : ".nf\n";
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return result + (kept ? ".fi\n" : "");
}

/// Arguments and options, group by group, then the notes below them.
std::string body(const CLI::App& app) {
  const CLI::Formatter formatter;
  std::string result;
  const auto add = [&](const std::string& group, bool positional) {
    bool first = true;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() != positional || (!positional && option->get_group() != group)) continue;
      if (std::exchange(first, false)) result += ".SS " + group + "\n";
      result += ".TP\n\\fB" + roff(option->get_name(positional, !positional)) + "\\fR\\fI" +
                roff(formatter.make_option_opts(option)) + "\\fR\n" + roff(option->get_description()) + "\n";
    }
  };
  add("Arguments", true);
  for (const std::string& group : app.get_groups())
    if (!group.empty()) add(group, false);
  return result + (app.get_footer().empty() ? "" : ".SS Notes\n" + paragraphs(app.get_footer()));
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  const CLI::Formatter formatter;
  const std::string usage = formatter.make_usage(&app, name);  // "Usage: mpm run [OPTIONS] [SOURCE...]\n"
  return roff(usage.substr(usage.find(' ') + 1, usage.find('\n') - usage.find(' ') - 1)) + "\n";
}

}  // namespace

std::string manPage(const CLI::App& program) {
  const std::string name = program.get_name(), about = program.get_description();
  std::string page = ".TH " + name + " 1 \"\" \"" + name + " " MPM_VERSION "\" \"User commands\"\n.SH NAME\n" +
                     roff(name) + " \\- " + roff(about.substr(0, about.find('.'))) + "\n.SH SYNOPSIS\n.nf\n";
  for (const CLI::App* verb : verbsOf(program)) page += synopsis(*verb, name + " " + verb->get_name());
  if (verbsOf(program).empty()) page += synopsis(program, name);
  page += ".fi\n.SH DESCRIPTION\n" + paragraphs(about) + ".SH OPTIONS\n" + body(program);
  for (const CLI::App* verb : verbsOf(program))
    page += ".SH " + name + " " + verb->get_name() + "\n" + paragraphs(verb->get_description() + ".") + body(*verb);
  return page;
}

}  // namespace mpm::program
