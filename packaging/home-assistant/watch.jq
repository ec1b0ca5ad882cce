# SPDX-License-Identifier: Apache-2.0
# Writes the tables of a watch file (docs/watch.md) from the options of the add-on. What JSON has for texts, numbers and lists is TOML, too.
#   jq --raw-output --argjson broker BROKER --from-file watch.jq options.json
# BROKER: what the Supervisor says about the service mqtt, or null. What somebody leaves empty in the form counts as not set.
def lines: to_entries[] | select(.value | . != null and . != "" and . != []) | "\(.key) = \(.value | tojson)";

(.cameras // [] | .[] | "", "[[camera]]", ({db: "\(.name).db"} + . | lines)),
(.mqtt // {} | if $broker then "", "[mqtt]", ({address: "\($broker.host):\($broker.port)", user: $broker.username, tls: $broker.ssl,
  "password-file": (if ($broker.password // "") == "" then null else "broker.password" end)} + . | lines) else empty end),
# 172.30.32.2 is Home Assistant, which lets in those who may see the page. Nobody else is answered.
"", "[page]", "address = \"0.0.0.0:8099\"", "proxy = \"172.30.32.2\""
