"""Counts which tool follows which in a file of OpenAI chat lines."""

import collections
import json
import sys

counts = collections.Counter()
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        before = None
        for message in json.loads(line).get("messages", ()):
            for call in message.get("tool_calls") or ():
                name = call["function"]["name"]
                if before is not None:
                    counts[before, name] += 1
                before = name
for (this, after), n in counts.most_common():
    print(n, this, after, sep="\t")
