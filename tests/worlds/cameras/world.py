# SPDX-License-Identifier: Apache-2.0
"""Makes the script of a world from a seed.

A script is plain data (it survives JSON), so it can be printed, shrunk and replayed. It says which pictures each source has, which of
them lie in its folder when, and how the programs are called:

    {"size": [width, height], "machine_zone": name,
     "sources": [{"folder": name, "zone": option, "scene": seed, "place": [lat, lon] or None, "pictures": [picture, ...]}, ...],
     "regions": [[region, ...], ...],                   files of regions, named by their index
     "steps": [{"do": "take", "source": 0, "pictures": [0, 1]},   copies these pictures into the folder
               {"do": "watch", "source": 0, "db": "a.db", ...}],  runs `mpm monitor`
     "ask": {"days": [2], "rule": rule of brightness, "film": moment}, "relation": name or None,
     "scene": start of the built-in scene, or None}

A source with "camera": true is a film that the programs take for a camera: the step {"do": "film", ...} writes its frames, and a watch has
"clock", the Unix time of its start. The wall clock then runs SPEED times as fast, so frames are minutes apart; the programs say when each was.

A watch has "settings": {option: value} of how the model runs, beside its reduction. "blind": true: it reads no states. "app": true: the
desktop app measures the folder, not `mpm monitor`. "zone": by the clock of another zone than that of the source.

A folder has "alarms" as `mpm monitor` takes them, "alarm_minutes", and "bad_in_a_row", the bad pictures that make an event.
"states": after how many sure results a state counts, or None: no states.
A picture is {"name", "ms" (the time that its name says in the zone of the source), "level" (mean grey level), "kind", "seed"}, and "cut": true
where its file lacks a half. "moved": where in it something small lies; without that, pictures of one seed are the same.
"""
import datetime
import random
import zoneinfo

ZONES = ["+00:00", "+05:45", "-03:30", "+01:00", "-11:00", "+13:00", "Europe/Paris", "America/St_Johns", "Australia/Lord_Howe"]
FOLDERS = [("yard", "yard2"), ("yard", "Yard"), ("ya_d", "yard"), ("cam", "cam-again"), ("a%", "ab"), ("east", "east side"), ("n", "n.n")]
REDUCTIONS = ["mpm:blocks=1", "mpm:blocks=2", "mpm:blocks=1,2", "none", "gradual:blocks=0,1:count=4", "tome:count=3"]
SETTINGS = [{"refine": "guided"}, {"refine": "none"}, {"input-size": "64x32"}, {"input-size": "32x64"}, {"input-size": "48x64"},
            {"input-size": "64x32", "refine": "guided"}]
SIZES = [(96, 72), (96, 72), (128, 96), (80, 64), (64, 48)]
FORMS = ["%Y-%m-%d_%H-%M-%S", "%Y%m%d_%H%M%S", 'site, "a"_%Y_%m_%d_%H%M%S', "IMG_%Y%m%d_%H%M%S", "%Y-%m-%dT%H:%M:%SZ", "unix"]
NIGHT_BRIGHTNESS, DAY_BRIGHTNESS = 50, 80
RELATIONS = ["sources in another order", "hidden", "again", "killed", "full disk", "at once", "mirrored", "in shards"]


SPEED = 100000


def standard_offset_minutes(zone, year):
    """Minutes that the standard time of `zone` is ahead of UTC: +05:45 or a name."""
    if zone[0] in "+-":
        hours, minutes = zone[1:].split(":")
        return (1 if zone[0] == "+" else -1) * (int(hours) * 60 + int(minutes))
    for month in 1, 7, 4, 10:
        moment = datetime.datetime(year, month, 1, 12, tzinfo=zoneinfo.ZoneInfo(zone))
        if not moment.dst():
            return int(moment.utcoffset().total_seconds() // 60)
    raise ValueError(zone)


def name_of(ms, zone, form):
    """The name without its ending of a picture taken at `ms` by a camera whose clock shows the time of `zone`, with its summer time."""
    if form == "unix":
        return str(ms // 1000)
    moment = local_time(ms, zone)
    if form.endswith("Z"):
        moment = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    elif moment.fold:
        return moment.astimezone(datetime.timezone.utc).strftime(FORMS[4])  # the second of two equal hours in autumn: only an offset tells it
    return moment.strftime(form)


def local_time(ms, zone):
    """What a clock of `zone` shows, with its summer time."""
    moment = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    if zone[0] in "+-":
        return moment.astimezone(datetime.timezone(datetime.timedelta(minutes=standard_offset_minutes(zone, moment.year))))
    return moment.astimezone(zoneinfo.ZoneInfo(zone))


def times(random_, count, year):
    """Moments of `count` pictures: steady, with gaps, in bursts, or one a day; some around the end of a year."""
    start = int(datetime.datetime(2021, 1, 1, tzinfo=datetime.timezone.utc).timestamp()) + random_.randrange(4 * 365 * 24) * 3600
    step = random_.choice([1, 20, 60, 600, 1800, 3600, 7200, 14400, 86400])
    result = [start]
    for _ in range(count - 1):
        pause = step
        if random_.random() < 0.08:
            pause *= random_.choice([4, 7, 30])
        result.append(result[-1] + pause)
    if year.random() < 0.5:
        new_year = datetime.datetime(2021 + year.randrange(4), 1, 1, tzinfo=datetime.timezone.utc).timestamp()
        days = (int(new_year) - result[year.randrange(count)]) // 86400
        result = [second + 86400 * days for second in result]
    return [second * 1000 for second in result]


def pictures(random_, zone, count, year):
    form = random_.choice(FORMS)
    flaws = random_.choice([0, 0, 0.1, 0.3, 1 if random_.random() < 0.4 else 0.1])
    result = []
    for ms in times(random_, count, year):
        kind = "dark" if random_.random() < flaws / 3 else "white" if random_.random() < flaws / 3 else "flat" if random_.random() < flaws / 3 else "scene"
        if flaws == 1 and kind == "scene":
            kind = "dark"
        level = random_.choice([30, 38, 62, 68, 115, 130]) if result else random_.choice([35, 120])
        ending = random_.choice([".png", ".png", ".jpg"])
        result.append({"name": name_of(ms, zone, form) + ending, "ms": ms, "kind": kind, "level": level, "seed": random_.randrange(1 << 30)})
    return result


def regions(random_, size, pictures_, other):
    """A file of regions: rectangles, as polygons, masks or run lengths; two of one name with dates, and an ignored one. `other`: more random
    numbers, for names that need quotes, or that others might get, and for the order."""
    width, height = size
    result = []

    def rectangle():
        x, y = random_.randrange(width - 12), random_.randrange(height - 12)
        return [x, y, random_.randrange(x + 6, width), random_.randrange(y + 6, height)]

    for name in random_.sample(["tree", "tree 2", "lake", "Tree", "DB_1000"], random_.randint(1, 3)):
        form = random_.choice(["polygon", "mask", "runs"])
        if random_.random() < 0.4:
            # A date in whole seconds, on, before or after a picture.
            date = random_.choice(pictures_)["ms"] + random_.choice([0, 1000, -1000])
            result.append({"name": name, "rectangle": rectangle(), "form": form, "to": date})
            if random_.random() < 0.7:
                result.append({"name": name, "rectangle": rectangle(), "form": form, "from": date})
        else:
            result.append({"name": name, "rectangle": rectangle(), "form": form})
    if random_.random() < 0.5:
        top = random_.randrange(height // 2)
        result.append({"name": "stamp", "rectangle": [0, top, width - 1, top + random_.randrange(2, 9)], "form": "polygon", "ignore": True})
    lake = other.choice(["lake", 'lake, "left"', "XX_0001"])
    for region in result:
        region["name"] = lake if region["name"] == "lake" else region["name"]
    return result[::other.choice([1, -1])]


def night_rule(random_, place):
    choice = random_.choice(["none", "hours", "brightness", "brightness", "sun"])
    if choice == "sun" and place:
        return {"rule": "sun"}
    if choice == "hours":
        return {"rule": "hours", "from": random_.choice([18 * 60, 21 * 60 + 30, 0]), "to": random_.choice([6 * 60, 7 * 60 + 15])}
    if choice == "brightness":
        return {"rule": "brightness", "night": NIGHT_BRIGHTNESS, "day": DAY_BRIGHTNESS}
    return {"rule": "none"}


def make(seed):
    """The script of world number `seed`."""
    random_ = random.Random(seed)
    size = random_.choice(SIZES)
    script = {"seed": seed, "size": list(size), "machine_zone": random_.choice(["UTC", "Asia/Kathmandu", "America/New_York"]),
              "sources": [], "regions": [], "steps": [], "ask": {}, "relation": None}
    folders, year = random_.choice(FOLDERS), random.Random(f"{seed} year")
    for index in range(random_.choice([1, 1, 2])):
        zone = random_.choice(ZONES)
        place = random_.choice([None, [48, 11], [-33.9, 18.4], [69.6, 18.9], [0, -78.5]])
        script["sources"].append({"folder": folders[index], "zone": zone, "scene": random_.randrange(1 << 30), "place": place,
                                  "pictures": pictures(random_, zone, random_.randint(4, 26), year)})
    for index, source in enumerate(script["sources"]):
        script["steps"] += steps_of(random_, script, index, source)
    camera = random.Random(f"{seed} camera")
    if camera.random() < 0.3:
        add_camera(camera, script)
    implicit = random.Random(f"{seed} implicit")
    for before, step in zip(script["steps"], script["steps"][2:]):
        # The second of two runs that are alike may say neither model nor reduction, zone, place nor regions: a source goes on with those that it has.
        same = before["do"] == step["do"] == "watch" and all(before[key] == step[key] for key in ("source", "db", "model", "reduce"))
        if same and before["kill"] is None and implicit.random() < 0.3:
            step["implicit"] = True
    if len(folders_of(script)) == 2 and random_.random() < 0.5:
        # The sources take turns; the order within each stays.
        queues = [[step for step in script["steps"] if step["source"] == index] for index in range(len(script["sources"]))]
        script["steps"] = []
        while any(queues):
            script["steps"].append(random_.choice([queue for queue in queues if queue]).pop(0))
    spoil(random.Random(f"{seed} spoil"), script)
    measure_in_app(random.Random(f"{seed} person"), script)
    add_alarms(random.Random(f"{seed} alarms"), script)
    thin(random.Random(f"{seed} every"), script)
    change_night(random.Random(f"{seed} nights"), script)
    add_states(random.Random(f"{seed} states"), script)
    come_back(random.Random(f"{seed} come back"), script)
    add_settings(random.Random(f"{seed} settings"), script)
    span = max(source["pictures"][-1]["ms"] - source["pictures"][0]["ms"] for source in folders_of(script)) / 86400000
    # Parts of 1024 of a day are whole milliseconds.
    script["ask"] = {"days": [max(2, int(span * 1024 * random_.uniform(0.2, 0.9))) / 1024]}
    if random_.random() < 0.5:
        script["ask"]["rule"] = {"rule": "brightness", "night": NIGHT_BRIGHTNESS, "day": DAY_BRIGHTNESS}
    film = random.Random(f"{seed} film")
    if film.random() < 0.4:
        script["ask"]["film"] = film.choice(["noon", "noon", "13:30", "0:00", "sun:20", "sun:5:evening"])
    scene = random.Random(f"{seed} scene")
    script["scene"] = f"{scene.randint(2019, 2024)}-{scene.randint(1, 12):02d}-10T{scene.randrange(24):02d}:30" if scene.random() < 0.06 and min(size) >= 64 else None
    if random_.random() < 0.5:
        script["relation"] = random_.choice(RELATIONS)
    elif random.Random(f"{seed} corrected").random() < 0.3:
        script["relation"] = "corrected"
    if script["relation"] == "sources in another order" and len(script["sources"]) < 2:
        script["relation"] = "killed"
    if script["relation"] == "mirrored":
        for picture in (picture for source in script["sources"] for picture in source["pictures"]):
            picture["name"] = picture["name"].replace(".jpg", ".png")  # a mirrored JPEG has other artefacts
    return script


def add_alarms(random_, script):
    for index, source in enumerate(script["sources"]):
        source.update({"alarms": [], "alarm_minutes": random_.choice([0, 1, 60, 240]), "bad_in_a_row": random_.choice([1, 1, 2, 3, 5])})
        if source.get("camera") or random_.random() < 0.4:
            continue
        regions = next((step["regions"] for step in script["steps"] if step["source"] == index and step["do"] == "watch"), None)
        names = [""] * 3 + sorted({region["name"] + ":" for region in script["regions"][regions] if not region.get("ignore")} if regions is not None else [])
        for quantity in random_.sample(["brightness<50", "brightness>90", "gcc>0.34", "tokens>10", "class_0>30", "class_1<40"], random_.randint(1, 3)):
            source["alarms"].append(random_.choice(names) + quantity)


def spoil(random_, script):
    """Some pictures show what the one before shows, to the last pixel, and some files of folders are cut off."""
    for index, source in enumerate(script["sources"]):
        pictures_ = source["pictures"]
        if random_.random() < 0.35:
            first = random_.randrange(len(pictures_) - 1)
            for picture in pictures_[first + 1:random_.randrange(first + 2, len(pictures_) + 1)]:
                picture.update({key: pictures_[first][key] for key in ("kind", "level", "seed")})
                picture["name"] = picture["name"].rpartition(".")[0] + pictures_[first]["name"][-4:]
        if source.get("camera") or random_.random() < 0.75:
            continue
        taken = next(step["pictures"] for step in script["steps"] if step["do"] == "take" and step["source"] == index)
        for p in random_.sample(range(len(pictures_)), random_.randint(1, max(1, len(pictures_) // 4))):
            if len([other for other in taken if not pictures_[other].get("cut")]) > 1 or p not in taken:
                pictures_[p]["cut"] = True


def measure_in_app(random_, script):
    """Some folders are measured by the app. Of some of these all pictures are nearly the same: computing only what changed since the picture
    before would be possible, but must not be done in an archive."""
    for index, source in enumerate(script["sources"]):
        watches = [step for step in script["steps"] if step["do"] == "watch" and step["source"] == index]
        if source.get("camera") or random_.random() < 0.75:
            continue
        nearly_same = random_.random() < 0.5
        for step in watches:
            step["app"] = nearly_same or random_.random() < 0.75
            step["reduce"] = "none" if nearly_same else step["reduce"]
        for picture in source["pictures"] if nearly_same else []:
            picture.update(kind="scene", level=120, seed=source["pictures"][0]["seed"], moved=random_.randrange(1 << 30))


def thin(random_, script):
    """Some sources whose pictures come in parts are thinned out, and each run may have another `every`."""
    for index, source in enumerate(script["sources"]):
        watches = [step for step in script["steps"] if step["do"] == "watch" and step["source"] == index]
        if source.get("camera") or len(watches) < 2 or any(step.get("recompute") for step in watches) or random_.random() < 0.85:
            continue
        step_s = (source["pictures"][1]["ms"] - source["pictures"][0]["ms"]) // 1000
        usual = random_.choice([1, 2, 3]) * step_s
        for before, step in zip([None, *watches], watches):
            step["every"] = before["every"] if before and before["kill"] is not None else min(86400, random_.choice([usual, usual, 0, 2 * step_s]))


def change_night(random_, script):
    """Some sources have another rule of night from one of their runs on."""
    for index, source in enumerate(script["sources"]):
        watches = [step for step in script["steps"] if step["do"] == "watch" and step["source"] == index]
        changes = [k for k in range(1, len(watches)) if watches[k - 1]["kill"] is None]
        if not changes or random_.random() < 0.7:
            continue
        rule = night_rule(random_, source["place"])
        taken = [source["pictures"][p]["ms"] for step in script["steps"] if step["do"] == "take" and step["source"] == index for p in step["pictures"]]
        if rule["rule"] == "brightness" and taken != sorted(taken):
            continue  # hysteresis goes on from the sample that was stored before
        for step in watches[random_.choice(changes):]:
            step["night"] = rule


def is_bright(picture):
    return picture["level"] > 90


def add_states(random_, script):
    """Some sources have the states dim and bright, which are taught with their own pictures."""
    of_cameras = random.Random(f"{script['seed']} states of cameras")
    for index, source in enumerate(script["sources"]):
        chance = of_cameras if source.get("camera") else random_
        source["states"] = None
        models = {step["model"] for step in script["steps"] if step["do"] == "watch" and step["source"] == index}
        bright = [is_bright(picture) for picture in source["pictures"] if picture["kind"] == "scene" and not picture.get("cut")]
        if len(models) > 1 or min(bright.count(True), bright.count(False)) < 3 or chance.random() < 0.4:
            continue
        source["states"] = chance.choice([1, 2, 3])
        if chance.random() < 0.5:
            source["alarms"].append(f"light{index}={chance.choice(['dim', 'bright'])}")


def come_back(random_, script):
    """Some cameras have another reduction for a while, and some read no states for a while."""
    for index, source in enumerate(script["sources"]):
        watches = [step for step in script["steps"] if step["do"] == "watch" and step["source"] == index]
        if not source.get("camera") or len(watches) < 2:
            continue
        if random_.random() < 0.7:
            watches[1]["reduce"] = random_.choice(REDUCTIONS)
            for step in watches:
                step["implicit"] = False
        if source["states"] and random_.random() < 0.8:
            random_.choice(watches[1:])["blind"] = True


def add_settings(random_, script):
    """Some sources run their model with settings, which may change from one of their runs on."""
    for index, source in enumerate(script["sources"]):
        watches = [step for step in script["steps"] if step["do"] == "watch" and step["source"] == index]
        for step in watches:
            step["settings"] = {}
        if random_.random() < 0.6:
            continue
        # What was killed goes on as it was, and a run that says no model as the one before it.
        changes = [k for k in range(1, len(watches)) if watches[k - 1]["kill"] is None and not watches[k].get("implicit")]
        # States read the tokens of the input that they were taught with.
        known = [settings for settings in SETTINGS if not (source["states"] and "input-size" in settings)]
        for begin in [0] * (random_.random() < 0.5) + ([random_.choice(changes)] if changes else []):
            settings = random_.choice([{}, *known])
            for step in watches[begin:]:
                step["settings"] = settings


def settings_text(settings):
    """What docs/monitor.md, "Series", says of the settings of the models of worlds: they give labels, of an input of 32x64 px."""
    usual = {"input-size": "32x64", "refine": "none"}
    return ":".join(f"{key}={settings[key]}" for key in usual if settings.get(key, usual[key]) != usual[key])


def folders_of(script):
    return [source for source in script["sources"] if not source.get("camera")]


def add_camera(random_, script):
    """A camera that is watched several times, and whose clock may be wrong: of 1970 or 2000, of years to come, or an hour back."""
    index = len(script["sources"])
    frames = [{"name": "", "ms": 0, "kind": random_.choice(["scene"] * 8 + ["dark", "white"]), "level": random_.choice([35, 120, 130]),
               "seed": random_.randrange(1 << 30)} for _ in range(random_.randint(4, 16))]
    script["sources"].append({"folder": "gate.avi", "camera": True, "zone": "+00:00", "scene": random_.randrange(1 << 30), "place": None, "pictures": frames})
    options = {"db": random_.choice(["a.db", "c.db"]), "model": "mask", "reduce": random_.choice(REDUCTIONS),
               "night": random_.choice([{"rule": "none"}, {"rule": "hours", "from": 20 * 60, "to": 7 * 60},
                                        {"rule": "brightness", "night": NIGHT_BRIGHTNESS, "day": DAY_BRIGHTNESS}]),
               "regions": None, "every": 0, "kill": None}
    # Near a change of the summer time of America/New_York, or anywhere.
    clock = random_.choice([1710054000 - 7200, 1730610000 - 7200, 1640000000 + random_.randrange(100000000)])
    parts = sorted(random_.sample(range(1, len(frames)), random_.choice([0, 1, 2])))
    wrong = random_.choice([None, None, 0, 946684800, 1893456000, 4102444800])
    for number, (begin, end) in enumerate(zip([0, *parts], [*parts, len(frames)])):
        now = wrong if wrong is not None and number == len(parts) // 2 else clock
        script["steps"] += [{"do": "film", "source": index, "pictures": list(range(begin, end))}, {"do": "watch", "source": index, **options, "clock": now}]
        clock += random_.choice([86400, 43200, 7 * 86400, -3600])


def steps_of(random_, script, index, source):
    """The steps of one source: pictures come in one to three parts, and each part is watched."""
    count = len(source["pictures"])
    parts = sorted(random_.sample(range(1, count), min(count - 1, random_.choice([0, 0, 1, 2]))))
    parts = [list(range(begin, end)) for begin, end in zip([0, *parts], [*parts, count])]
    night = night_rule(random_, source["place"])
    if len(parts) > 1 and random_.random() < 0.4:
        random_.shuffle(parts)
    options = {"db": random_.choice(["a.db", "a.db", "a.db", "b.db"]), "model": random_.choice(["mask", "linear"]),
               "reduce": random_.choice(REDUCTIONS), "night": night, "regions": None, "every": 0, "kill": None}
    if random_.random() < 0.6:
        options["regions"] = len(script["regions"])
        script["regions"].append(regions(random_, script["size"], source["pictures"], random.Random(f"{script['seed']} {index} regions")))
    if len(parts) == 1 and random_.random() < 0.2:
        options["every"] = random_.choice([60, 600, 3600, 86400])
    changes = random_.random() < 0.35
    steps = []
    for part in parts:
        steps.append({"do": "take", "source": index, "pictures": part})
        if steps[1:] and changes:
            options = {**options, random_.choice(["model", "reduce"]): None}
            options["model"] = options["model"] or random_.choice(["mask", "linear"])
            options["reduce"] = options["reduce"] or random_.choice(REDUCTIONS)
        if random_.random() < 0.15:
            steps.append({"do": "watch", "source": index, **options, "kill": random_.randrange(1, 9)})
        steps.append({"do": "watch", "source": index, **options})
    if random_.random() < 0.15:
        again = {**options, "recompute": True, "every": 0}
        if not options["every"]:
            if random_.random() < 0.5:
                again["model"], again["reduce"] = random_.choice(["mask", "linear"]), random_.choice(REDUCTIONS)
            steps.append({"do": "watch", "source": index, **again})
    return steps
