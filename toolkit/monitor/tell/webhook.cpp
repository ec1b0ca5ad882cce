// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>

#include "base/atomic_file.h"
#include "monitor/tell/channel.h"
#include "mpm/error.hpp"
#include "vision/time.h"

namespace mpm::monitor {
namespace {

constexpr long kConnectS = 10, kSendS = 30;

std::string base64(const std::string& bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = i; k < i + 3; ++k) three = three << 8 | (k < bytes.size() ? bytes[k] & 0xffU : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) text += kLetters[three >> shift & 63];
  }
  for (std::size_t k = 0; k < (3 - bytes.size() % 3) % 3; ++k) text[text.size() - 1 - k] = '=';
  return text;
}

int isCancelled(void* channel, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Channel*>(channel)->cancelled ? 1 : 0;
}

std::size_t ignore(char*, std::size_t, std::size_t bytes, void*) { return bytes; }

class WebhookChannel : public Channel {
 public:
  WebhookChannel(const Webhook& options, PictureBefore picture) : options_(options), picture_(std::move(picture)) {
    if (options.url.empty() == options.url_file.empty()) throw Error("[webhook] needs either 'url' or 'url-file'");
    url_ = options.url.empty() ? readSecret(options.url_file) : options.url;
    fieldsOf(options).front().validate(url_);
    headers_.reset(curl_slist_append(nullptr, "Content-Type: application/json"));
    if (!options.token_file.empty())
      curl_slist_append(headers_.get(), ("Authorization: Bearer " + readSecret(options.token_file)).c_str());
    if (!options.ca_file.empty()) (void)readFile(options.ca_file);  // says what is wrong with it
  }

  void send(const Message& message) override {
    std::string body = withId(message);
    const auto time = vision::timeOfIso(Json::parse(message.payload).value("time", ""));
    if (const std::string jpeg = options_.picture && time ? picture_(*time) : ""; !jpeg.empty())
      body.replace(body.size() - 1, 1, ",\"picture\":\"" + base64(jpeg) + "\"}");
    CURL* const curl = curl_.get();
    const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
    set(CURLOPT_URL, url_.c_str());
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_POSTFIELDS, body.c_str());
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
    set(CURLOPT_CONNECTTIMEOUT, kConnectS);
    set(CURLOPT_TIMEOUT, kSendS);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, isCancelled);
    set(CURLOPT_XFERINFODATA, static_cast<Channel*>(this));
    set(CURLOPT_WRITEFUNCTION, ignore);  // the time limit bounds an answer without end
    long answer = 0;
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
    if (code != CURLE_OK) throw Error(curl_easy_strerror(code));  // which does not name the URL
    throwUnlessTaken(answer);
  }

 private:
  Webhook options_;
  PictureBefore picture_;
  std::string url_;
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers_{nullptr, curl_slist_free_all};
  std::unique_ptr<CURL, void (*)(CURL*)> curl_{curl_easy_init(), curl_easy_cleanup};
};

}  // namespace

std::unique_ptr<Channel> openWebhook(const Webhook& options, const PictureBefore& picture) {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (once != CURLE_OK) throw Error("libcurl does not start");
  return std::make_unique<WebhookChannel>(options, picture);
}

}  // namespace mpm::monitor
