// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <cctype>
#include <string_view>

#include "vision/sources/source_spec.h"

namespace mpm::vision {
namespace {

constexpr auto kNone = std::string::npos;
constexpr std::string_view kHidden = kHiddenCredential;

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

// Without a space or a quote since the last "://".
bool inUrl(const std::string& text, std::size_t position) {
  const auto scheme = text.rfind("://", position);
  return scheme != kNone && text.find_first_of(" \t\n\"'", scheme) > position;
}

bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::size_t skipSpaces(std::string_view text, std::size_t at) {
  while (at < text.size() && isSpace(text[at])) ++at;
  return at;
}

// Properties of GStreamer elements that hold a user or a secret: "user-id", "proxy-pw", "my-token".
bool isSecretProperty(std::string_view name) {
  const std::string lower = boost::algorithm::to_lower_copy(std::string(name));
  for (const char* whole : {"user-id", "user-pw", "proxy-id", "proxy-pw"})
    if (lower == whole) return true;
  const std::string_view last = std::string_view(lower).substr(lower.find_last_of("-_") + 1);
  return last == "token" || last == "secret" || last == "passwd" || last == "password" || last == "passphrase";
}

// Where the value ends that begins at `at`: behind its closing quote, else at a space.
std::size_t endOfProperty(std::string_view text, std::size_t at) {
  const char quote = at < text.size() && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
  for (at += quote ? 1 : 0; at < text.size(); ++at) {
    if (quote && text[at] == quote) return at + 1;
    if (!quote && isSpace(text[at])) return at;
    if (text[at] == '\\' && quote != '\'') ++at;
  }
  return text.size();
}

// user-id=a user-pw="b c" token=(string)d.
std::string hideProperties(const std::string& text) {
  constexpr std::string_view kBefore = "\"'!;,({";
  std::string result;
  std::size_t copied = 0;
  for (auto equals = text.find('='); equals != kNone; equals = text.find('=', std::max(copied, equals + 1))) {
    std::size_t end = equals;
    while (end > copied && isSpace(text[end - 1])) --end;
    std::size_t name = end;
    while (name > copied && isWord(text[name - 1])) --name;
    if (name > 0 && !isSpace(text[name - 1]) && kBefore.find(text[name - 1]) == kNone) continue;
    if (!isSecretProperty(std::string_view(text).substr(name, end - name)) || inUrl(text, name)) continue;
    std::size_t value = skipSpaces(text, equals + 1);
    if (value < text.size() && text[value] == '(') {  // a type
      std::size_t type = value + 1;
      while (type < text.size() && isWord(text[type])) ++type;
      const std::size_t typed = type < text.size() && text[type] == ')' ? skipSpaces(text, type + 1) : value;
      if (typed < text.size()) value = typed;
    }
    if (value == text.size()) break;
    result.append(text, copied, value - copied).append(kHidden);
    copied = endOfProperty(text, value);
  }
  return result.append(text, copied, kNone);
}

bool isNumericHost(std::string_view host) {
  if (host.starts_with('[')) return host.find(']') != kNone;
  host = host.substr(0, host.find_first_of(":/?#"));
  return std::ranges::count(host, '.') == 3 && host.find_first_not_of("0123456789.") == kNone;
}

// "camera", "camera.lan:554", "[fe80::1]:554".
bool isHost(std::string_view text) {
  std::size_t end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  const std::string_view name = text.substr(0, end);
  const std::string_view port = text.substr(name.size());
  const bool named = !name.empty() && (name.starts_with('[') || std::ranges::all_of(name, [](char c) {
                                         return isWord(c) || c == '.' || static_cast<unsigned char>(c) >= 0x80;
                                       }));
  return named && (port.empty() ||
                   (port.starts_with(':') && port.size() <= 6 && port.find_first_not_of("0123456789", 1) == kNone));
}

// Position of the '@' after user and password; kNone: there are none. A password and a path may both hold a raw '@',
// and a password a raw '/'. In doubt this is the last '@' of all, which hides too much rather than too little.
std::size_t endOfUser(const std::string& text, std::size_t authority) {
  const auto last = text.rfind('@');
  if (last == kNone || last < authority) return kNone;
  const std::string_view all = text;
  const std::string_view front = all.substr(authority, std::min(text.find('/', authority), text.size()) - authority);
  const auto at = front.rfind('@');
  const std::string_view host = front.substr(at == kNone ? 0 : at + 1);
  const bool trusted = isHost(host) && (isNumericHost(host) || !isNumericHost(all.substr(last + 1)));
  if (at != kNone) return trusted ? authority + at : last;
  const bool user_and_password = host.find(':') != kNone && !isNumericHost(host);
  return trusted && !user_and_password ? kNone : last;
}

bool namesSecret(std::string_view name) {
  std::string lower = boost::algorithm::to_lower_copy(std::string(name));
  static constexpr std::array kEndings = {
      "user",       "usr",       "username",  "usrname",    "userid",        "user_id",   "user-id",
      "user_name",  "user-name", "login",     "loginuse",   "loginpas",      "account",   "pass",
      "passw",      "passwd",    "password",  "passwort",   "passcode",      "loginpass", "passphrase",
      "pwd",        "psw",       "psd",       "user-pw",    "proxy-id",      "token",     "secret",
      "key",        "auth",      "basic",     "authcode",   "authorization", "sig",       "signature",
      "credential", "session",   "sessionid", "session_id", "sessid",        "proxy-pw",  "credentials"};
  if (std::ranges::any_of(kEndings, [&](const char* ending) { return lower.ends_with(ending); })) return true;
  lower.erase(0, lower.find_last_of("_-") + 1);
  return lower == "u" || lower == "p" || lower == "pw" || lower == "sid" || lower == "uid";
}

// "?p=1", of a page, a port or a picture: hidden, two cameras would share a name. A password has a user or is longer.
bool isNumberOfPage(std::string_view text, std::string_view name, std::size_t value) {
  if (name != "p" && name != "P") return false;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", value), text.size());
  const bool ends = end == text.size() || std::string_view("&# \t\n\"'").find(text[end]) != kNone ||
                    text.compare(end, 2, ": ") == 0 || text.compare(end, 2, ", ") == 0;
  if (end == value || end - value > 3 || !ends) return false;
  const std::size_t begin = text.rfind("://", value);
  const std::string_view url = text.substr(begin, text.find_first_of(" \t\n\"'", begin) - begin);
  for (auto equals = url.find('='); equals != kNone; equals = url.find('=', equals + 1)) {
    std::size_t key = equals;
    while (key > 0 && isWord(url[key - 1])) --key;
    if (const auto other = url.substr(key, equals - key); other != "p" && other != "P" && namesSecret(other))
      return false;
  }
  return true;
}

// "_channel=1" begins at `i`; not so the end of a text in base64, "_YQ==".
bool keyBegins(std::string_view text, std::size_t i, bool in_query) {
  if (std::string_view("&_;,/ ").find(text[i]) == kNone) return false;
  std::size_t end = ++i;
  while (end < text.size() && text[end] != '_' && isWord(text[end])) ++end;
  if (end == i || !std::isalpha(static_cast<unsigned char>(text[i])) || end + 1 >= text.size() || text[end] != '=')
    return false;
  if (std::string_view("=&#/? ").find(text[end + 1]) != kNone) return false;
  const std::string_view name = text.substr(i, end - i);
  return !in_query || name == "channel" || name == "stream" || namesSecret(name);
}

// A value ends before the next key, for it may hold any separator; without one, with its path segment or the query.
std::size_t endOfValue(std::string_view text, std::size_t begin, bool in_query) {
  std::size_t segment = kNone;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '&' || keyBegins(text, i, in_query)) return i;
    if (text[i] == '#' || (text[i] == '?' && !in_query)) return std::min(segment, i);
    if (text[i] == '/' && !in_query) segment = std::min(segment, i);
  }
  return std::min(segment, text.size());
}

// "?user=a&pwd=b", "/user=a_password=b_channel=1.sdp".
void hideValues(std::string& text) {
  for (auto equals = text.find('='); equals != kNone; equals = text.find('=', equals + 1)) {
    std::size_t name = equals;
    while (name > 0 && isWord(text[name - 1])) --name;
    if (!namesSecret(std::string_view(text).substr(name, equals - name)) || !inUrl(text, name)) continue;
    if (isNumberOfPage(text, std::string_view(text).substr(name, equals - name), equals + 1)) continue;
    const std::size_t begin = equals + 1, after = begin + kHidden.size();
    if (text.compare(begin, kHidden.size(), kHidden) == 0 &&
        (after == text.size() || std::string_view(":,)\"' ").find(text[after]) != kNone))
      continue;  // hidden before, what follows is not part of the URL: "...pwd=***: no answer"
    const bool in_query = text.find('?', text.rfind("://", name)) < name;
    text.replace(begin, endOfValue(text, begin, in_query) - begin, kHidden);
  }
}

// "/0/user:password/main", "/user:password@host/main"; a number after the colon is that of a channel.
void hideSegments(std::string& text, std::size_t authority) {
  for (auto slash = text.find('/', authority); slash != kNone && inUrl(text, slash);
       slash = text.find('/', slash + 1)) {
    const auto end = std::min(text.find_first_of("/?#&= \t\n\"'", slash + 1), text.size());
    const auto colon = text.find(':', slash);
    if (colon >= end) {
      if (end < text.size() && text[end] != '/') return;
      continue;
    }
    auto at = text.rfind('@', end);
    if (at < colon || at >= end) at = end < text.size() && text[end] == '/' ? end : kNone;
    if (at == kNone || at == colon + 1 || colon == slash + 1 || text.compare(slash - 2, 3, "://") == 0) continue;
    if (at - colon <= 3 && text.find_first_not_of("0123456789", colon + 1) == at) continue;
    text.replace(slash + 1, at - slash - 1, kHidden);
  }
}

}  // namespace

std::string redactCredentials(const std::string& text) {
  std::string result = hideProperties(text);  // first: a password may have an '@'
  for (auto scheme = result.find("://"); scheme != kNone; scheme = result.find("://", scheme + 3)) {
    const auto authority = scheme + 3;
    if (const auto at = endOfUser(result, authority); at != kNone) result.replace(authority, at - authority, kHidden);
    hideSegments(result, authority);
  }
  hideValues(result);
  return result;
}

}  // namespace mpm::vision
