// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <thread>

#include "cli/verbs/verbs.h"
#include "monitor/store/store_reader.h"
#include "page/page.h"

namespace mpm::cli {
namespace {

struct ServeArguments {
  page::PageOptions page;
  monitor::WebPage where{.address = "127.0.0.1:8080"};
};

int serve(const ServeArguments& arguments) {
  for (const std::string& database : arguments.page.databases) (void)monitor::StoreReader(database);  // or says why not
  page::Page shown(arguments.page);
  const page::HttpServer server(arguments.where, [&](const page::Request& request) { return shown.answer(request); });
  printLine(server.url());
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return kOk;
}

}  // namespace

Verb addServe(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("serve", "Show what 'mpm monitor' stored as a page for browsers, read only");
  const auto arguments = std::make_shared<ServeArguments>();
  addOption(*verb, "DB", arguments->page.databases, " ...",
            "The databases; 'mpm monitor' may write them at the same time")
      ->required();
  addOption(*verb, "--snapshots", arguments->page.snapshots, "DIR ...",
            "The folders of 'mpm monitor --snapshots': the last picture of each\ncamera, and those before");
  addOption(*verb, "--address", arguments->where.address, "IP:PORT",
            "Where to listen. Default: 127.0.0.1:8080, which only this machine\nreaches; others need --token-file or "
            "--proxy");
  addOption(*verb, "--token-file", arguments->where.token_file, "FILE",
            "Show cameras only to those who know the first line of this file,\n16 characters or more");
  addOption(
      *verb, "--proxy", arguments->where.proxy, "IP",
      "Show cameras without a token to this address: a proxy that lets in\nonly those who may see them, such as that "
      "of Home Assistant");
  verb->footer(
      R"(Prints the address of the page, and serves until Ctrl-C or SIGTERM. JSON is under /api, numbers for Prometheus under
/metrics: docs/page.md lists both, and has the settings of a proxy that adds TLS.

Examples:
  mpm serve yard.db --snapshots pictures
  mpm serve yard.db gate.db --address 0.0.0.0:8080 --token-file /etc/mpm/token
)");
  return {verb, [arguments] { return serve(*arguments); }};
}

}  // namespace mpm::cli
