# SPDX-License-Identifier: Apache-2.0
"""Makes a failing world smaller while it still fails in the same way."""
import copy


def without(items, index):
    return items[:index] + items[index + 1:]


def smaller(script):
    """Yields scripts that are a little smaller, the largest steps first."""
    for s in range(len(script["sources"]) - 1, -1, -1):
        if len(script["sources"]) > 1:
            result = copy.deepcopy(script)
            del result["sources"][s]
            result["steps"] = [{**step, "source": step["source"] - (step["source"] > s)} for step in result["steps"] if step["source"] != s]
            yield result
    if script["relation"]:
        yield {**script, "relation": None}
    if script["scene"]:
        yield {**script, "scene": None}
    for key in "film", "rule":
        if key in script["ask"]:
            yield {**script, "ask": {name: value for name, value in script["ask"].items() if name != key}}
    for s, source in enumerate(script["sources"]):
        for alarm in range(len(source["alarms"])):
            yield {**script, "sources": [*script["sources"][:s], {**source, "alarms": without(source["alarms"], alarm)}, *script["sources"][s + 1:]]}
    if script["ask"]["days"]:
        yield {**script, "ask": {**script["ask"], "days": []}}
    for index, step in enumerate(script["steps"]):
        yield {**script, "steps": without(script["steps"], index)}
        if step["do"] != "watch":
            count = len(step["pictures"])
            size = count // 2
            while size:
                for begin in range(0, count, size):
                    kept = step["pictures"][:begin] + step["pictures"][begin + size:]
                    if kept:
                        yield {**script, "steps": [*script["steps"][:index], {**step, "pictures": kept}, *script["steps"][index + 1:]]}
                size //= 2
        else:
            for key, plain in ("regions", None), ("every", 0), ("kill", None), ("recompute", False), ("app", False), ("night", {"rule": "none"}), ("model", "mask"), ("reduce", "none"), \
                    ("reduce", "mpm:blocks=1"), ("db", "a.db"), ("settings", {}):
                if step.get(key, plain) != plain:
                    yield {**script, "steps": [*script["steps"][:index], {**step, key: plain}, *script["steps"][index + 1:]]}
    for r, regions in enumerate(script["regions"]):
        for index in range(len(regions)):
            yield {**script, "regions": [*script["regions"][:r], without(regions, index), *script["regions"][r + 1:]]}
    for s, source in enumerate(script["sources"]):
        # Another zone would move the times that names say, and so would another form of them.
        if source["place"] and all(step["night"]["rule"] != "sun" for step in script["steps"] if step["do"] == "watch"):
            yield {**script, "sources": [*script["sources"][:s], {**source, "place": None}, *script["sources"][s + 1:]]}
    if script["machine_zone"] != "UTC":
        yield {**script, "machine_zone": "UTC"}


def tidy(script):
    """Leaves out pictures and files of regions that no step uses."""
    result = copy.deepcopy(script)
    for s, source in enumerate(result["sources"]):
        takes = [step for step in result["steps"] if step["do"] != "watch" and step["source"] == s]
        used = sorted({p for step in takes for p in step["pictures"]})
        source["pictures"] = [source["pictures"][p] for p in used]
        for step in takes:
            step["pictures"] = [used.index(p) for p in step["pictures"]]
    watches = [step for step in result["steps"] if step["do"] == "watch"]
    used = sorted({step["regions"] for step in watches if step["regions"] is not None and result["regions"][step["regions"]]})
    for step in watches:
        step["regions"] = used.index(step["regions"]) if step["regions"] in used else None
    result["regions"] = [result["regions"][r] for r in used]
    return result


def playable(script):
    """Whether the script makes sense: a folder has pictures before it is watched, and what was killed is started again."""
    watches = [step for step in script["steps"] if step["do"] == "watch"]
    if not watches or watches[-1]["kill"] is not None:
        return False
    taken = set()
    for index, step in enumerate(script["steps"]):
        if step["do"] != "watch":
            taken.add(step["source"])
        elif step["source"] not in taken:
            return False
        elif step["kill"] is not None:
            after = next((other for other in script["steps"][index + 1:] if other["source"] == step["source"]), None)
            if after is None or {**after, "kill": None} != {**step, "kill": None}:
                return False
    return all(any(step["do"] == "watch" and step["source"] == s for step in script["steps"]) for s in range(len(script["sources"])))


def shrink(script, fails, tries=150):
    """The smallest script that was found for which `fails(script)` holds."""
    shrunk = True
    while shrunk and tries:
        shrunk = False
        for candidate in smaller(script):
            candidate = tidy(candidate)
            if not playable(candidate) or not all(source["pictures"] for source in candidate["sources"]):
                continue
            tries -= 1
            if fails(candidate):
                script, shrunk = candidate, True
                break
            if not tries:
                break
    return script
