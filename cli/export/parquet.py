# SPDX-License-Identifier: Apache-2.0
"""Turns a table of `mpm report` into Parquet: parquet.py TABLE.csv FILE.parquet. Columns keep their names; empty cells
are null. Prints one line of JSON: {"ok": true} or {"ok": false, "why": text}."""

import json
import sys

try:
    from pyarrow import csv, parquet

    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    parquet.write_table(csv.read_csv(sys.argv[1], convert_options=options), sys.argv[2])
    print(json.dumps({"ok": True}))
except ImportError as error:
    print(json.dumps({"ok": False, "why": f"{error} (pip install pyarrow)"}))
except Exception as error:  # whatever it is, the caller reports it in one line
    print(json.dumps({"ok": False, "why": " ".join(str(error).split())}))
