// SPDX-License-Identifier: Apache-2.0
// The man page and the completion scripts, which a program writes from the tables of its command line.
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
  std::string result;
  const auto add = [&](const std::string& group, bool positional) {
    bool first = true;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() != positional || (!positional && option->get_group() != group)) continue;
      if (std::exchange(first, false)) result += ".SS " + group + "\n";
      result += ".TP\n\\fB" + roff(option->get_name(positional, !positional)) + "\\fR\\fI" + roff(valueText(*option)) +
                "\\fR\n" + roff(option->get_description()) + "\n";
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

using Texts = std::vector<std::string>;

/// An option that the help shows.
struct Entry {
  Texts names;    // "-o", "--out"
  Texts choices;  // of its value
  std::string value, description;
  bool takes_value;
};

std::string joined(const Texts& texts, const std::string& between = " ") { return CLI::detail::join(texts, between); }

std::string firstSentence(const std::string& text) {
  const std::string first = text.substr(0, text.find(". "));
  return first.ends_with('.') ? first.substr(0, first.size() - 1) : first;
}

/// In single quotes, with a backslash before each of `special`; `quote` stands for a quote inside.
std::string quoted(const std::string& text, const std::string& special, const std::string& quote) {
  std::string result = "'";
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += '\\';
    result += c == '\'' ? quote : c == '\n' ? std::string(" ") : std::string(1, c);
  }
  return result + "'";
}

Texts namesOf(const std::vector<const CLI::App*>& verbs) {
  Texts names;
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  return names;
}

std::vector<Entry> entriesOf(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional() || option->get_group().empty()) continue;
    Entry entry{.names = {},
                .choices = {},
                .value = option->get_option_text().empty() ? "value" : option->get_option_text(),
                .description = firstSentence(option->get_description()),
                .takes_value = option->get_items_expected_max() > 0};
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    if (entry.value.find('|') != std::string::npos) entry.choices = CLI::detail::split(entry.value, '|');
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The verbs, and the program itself for what comes before them.
std::vector<const CLI::App*> partsOf(const CLI::App& program) {
  std::vector<const CLI::App*> parts = verbsOf(program);
  parts.push_back(&program);
  return parts;
}

/// Files where nothing else is known: complete -o default.
std::string bashScript(const CLI::App& program, const std::string& function) {
  const Texts verbs = namesOf(verbsOf(program));
  std::string values, options;
  for (const CLI::App* part : partsOf(program)) {
    const std::string verb = part == &program ? "" : part->get_name();
    Texts names;
    for (const Entry& entry : entriesOf(*part)) {
      names.insert(names.end(), entry.names.begin(), entry.names.end());
      Texts patterns;
      for (const std::string& name : entry.names) patterns.push_back("'" + verb + " " + name + "'");
      if (entry.takes_value)
        values += "    " + joined(patterns, " | ") + ") words='" + joined(entry.choices) + "' ;;\n";
    }
    options += "        '" + verb + "') words='" + joined(names) + "' ;;\n";
  }
  return "# Completion of " + program.get_name() + " for bash\n" + function + R"(() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      )" +
         (verbs.empty() ? "''" : joined(verbs, " | ")) +
         R"() verb=${COMP_WORDS[i]}; break ;;
    esac
  done
  case "$verb $before" in
)" + values +
         R"(    *)
      if [[ -z $verb || $verb == help ]]; then words=')" +
         joined(verbs) + R"('; fi
      if [[ $word == -* ]]; then case $verb in
)" + options +
         R"(      esac; fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F )" +
         function + " " + program.get_name() + "\n";
}

/// The arguments of _arguments for the options, and for files after them.
std::string zshArguments(const CLI::App& app) {
  std::string arguments;
  for (const Entry& entry : entriesOf(app)) {
    for (const std::string& name : entry.names) {
      const std::string text = "[" + quoted(entry.description, "[]\\", "'\\''").substr(1);
      std::string spec = "'*" + name + (entry.takes_value ? name.starts_with("--") ? "=" : "+" : "");
      spec += text.substr(0, text.size() - 1) + "]";
      if (entry.takes_value) {
        const std::string value = quoted(entry.value, ":\\", "'\\''");
        spec += ":" + value.substr(1, value.size() - 2) + ":" +
                (entry.choices.empty() ? "_files" : "(" + joined(entry.choices) + ")");
      }
      arguments += " \\\n        " + spec + "'";
    }
  }
  return arguments;
}

std::string zshScript(const CLI::App& program, const std::string& function) {
  std::string script = "#compdef " + program.get_name() + "\n" + function + "() {\n";
  const std::vector<const CLI::App*> verbs = verbsOf(program);
  if (verbs.empty()) {
    script += "  _arguments" + zshArguments(program) + " \\\n        '*:file:_files'\n";
  } else {
    script += "  local line state\n  local -a verbs=(";
    for (const CLI::App* verb : verbs)
      script += "\n    " + quoted(verb->get_name() + ":" + verb->get_description(), "\\", "'\\''");
    script += ")\n  _arguments -C" + zshArguments(program) +
              " \\\n        '1:verb:->verb' '*::file:->rest' && return\n  if [[ $state == verb ]]; then\n"
              "    _describe verb verbs\n    return\n  fi\n  case $line[1] in\n";
    for (const CLI::App* verb : verbs) {
      script += "    " + verb->get_name() + ") " +
                (verb->get_name() == "help" ? std::string("_describe verb verbs")
                                            : "_arguments" + zshArguments(*verb) + " \\\n        '*:file:_files'") +
                " ;;\n";
    }
    script += "  esac\n";
  }
  return script + "}\n" + function + " \"$@\"\n";
}

std::string fishScript(const CLI::App& program) {
  const auto text = [](const std::string& one) { return quoted(one, "\\'", "'"); };
  const std::string complete = "complete -c " + program.get_name();
  const Texts verbs = namesOf(verbsOf(program));
  std::string script = "# Completion of " + program.get_name() + " for fish\n";
  if (!verbs.empty()) script += complete + " -n __fish_use_subcommand -f\n";
  for (const CLI::App* verb : verbsOf(program)) {
    script +=
        complete + " -n __fish_use_subcommand -a " + verb->get_name() + " -d " + text(verb->get_description()) + "\n";
  }
  if (!verbs.empty()) script += complete + " -n '__fish_seen_subcommand_from help' -f -a '" + joined(verbs) + "'\n";
  for (const CLI::App* part : partsOf(program)) {
    const std::string when = part != &program ? " -n '__fish_seen_subcommand_from " + part->get_name() + "'"
                             : verbs.empty()  ? ""
                                              : " -n __fish_use_subcommand";
    for (const Entry& entry : entriesOf(*part)) {
      script += complete + when;
      for (const std::string& name : entry.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (entry.takes_value) script += entry.choices.empty() ? " -r -F" : " -x -a '" + joined(entry.choices) + "'";
      script += " -d " + text(entry.description) + "\n";
    }
  }
  return script;
}

}  // namespace

std::string manPage(const CLI::App& program) {
  const std::string &name = program.get_name(), about = program.get_description();
  std::string page = ".TH " + name + " 1 \"\" \"" + name + " " MPM_VERSION "\" \"User commands\"\n.SH NAME\n" +
                     roff(name) + " \\- " + roff(about.substr(0, about.find('.'))) + "\n.SH SYNOPSIS\n.nf\n";
  for (const CLI::App* verb : verbsOf(program)) page += synopsis(*verb, name + " " + verb->get_name());
  if (verbsOf(program).empty()) page += synopsis(program, name);
  page += ".fi\n.SH DESCRIPTION\n" + paragraphs(about) + ".SH OPTIONS\n" + body(program);
  for (const CLI::App* verb : verbsOf(program))
    page += ".SH " + name + " " + verb->get_name() + "\n" + paragraphs(verb->get_description() + ".") + body(*verb);
  return page;
}

std::string completionScript(const CLI::App& program, const std::string& shell) {
  std::string function = "_" + program.get_name();
  for (char& c : function)
    if (c == '-') c = '_';
  if (shell == "bash") return bashScript(program, function);
  if (shell == "zsh") return zshScript(program, function);
  if (shell == "fish") return fishScript(program);
  throw CLI::ValidationError("--completion", "'" + shell + "' is not bash or zsh or fish");
}

}  // namespace mpm::program
