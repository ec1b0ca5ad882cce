# SPDX-License-Identifier: Apache-2.0
"""What must be on show after each action: the model that the window is held against. It is written from docs/ and knows no C++."""
from .stage import SOURCES, STORED, part_of

PAGES = {"welcome": "WelcomePage", "cameras": "CamerasPage", "watch": "QWidget", "teach": "TeachPane"}
CAMERAS = ("olive", "sorbus")  # of the watch file


class Regions(dict):
    """The regions of a source from a time on: {name: whether it is ignored}. Each is a half of the picture. `since`: ms since 1970."""

    def __init__(self, regions=(), since=0):
        super().__init__(regions)
        self.since = since

    def whole(self):
        """The part that the whole picture is measured in."""
        return "right" if any(ignored for ignored in self.values()) else "whole"

    def chosen(self):
        return [name for name, ignored in self.items() if not ignored]

    def measured(self):
        """Those that have a pixel which is not ignored."""
        return {name for name in self.chosen() if self.whole() in ("whole", part_of(name))}


class Looking:
    """What is on show in a window of what is stored. `stored`: source and index of the stored picture on show. `wanted`: the
    stored picture that was asked for and is not on show yet: (source, index), without an index any of the source. `hinted`:
    the source of which a stored picture may come, as there may be one near an event."""
    stored = _wanted = hinted = None

    @property
    def wanted(self):
        return self._wanted

    @wanted.setter
    def wanted(self, sample):
        self._wanted, self.hinted = sample, None

    def take(self, found):
        """This stored picture is on show."""
        if self.wanted and self.wanted in (found, (found[0], None)):
            self.stored, self.wanted = found, None
        elif not self.wanted and self.hinted == found[0]:
            self.stored = found


class Other(Looking):
    """The window of another program's database, or of the cameras of the watch file: `of` is the one on show."""

    def __init__(self, of):
        self.cameras = CAMERAS if of in CAMERAS else (of,)
        self.show(of)

    def show(self, of):
        self.of, self.stored = of, None
        self.wanted = (of, SOURCES[of].count - 1) if of in STORED else None

    def step(self, by):
        self.show(self.cameras[(self.cameras.index(self.of) + by) % len(self.cameras)])

    def outlines(self):
        return [f"{self.of}-gate"] if self.stored else []


class Model(Looking):
    """The window that watches. `live`: the source that is watched. `camera`: of the watch file, "all" while all are on show.
    `index`: of the picture that a person chose in the folder that is watched; None: any. `asking`: the folder whose times are
    asked for. `dialog`: the source that a dialog is about. `picked`: the source of our own database that was picked in the chart
    in place of the one that is watched. `others`: the windows of other databases."""

    def __init__(self):
        self.regions = {}      # source -> its Regions one after the other
        self.stored_then = {}  # source -> each time that the window was closed: how many samples it had, and how many Regions
        self.known = set()     # sources that open without a question
        self.alarms = {}       # source -> limit
        self.nights = {}       # source -> brightnesses below which night was, the last one counts
        self.unjudged = set()  # sources whose last rule may not have come to what is stored
        self.taken = {}        # name of a picture in the folder of labels -> source, index
        self.classes = []      # of that folder
        self.labels = {}       # name of a picture -> numbers of the classes that were drawn in it
        self.states = {}       # set of states -> {name of a picture: state}
        self.forget()

    def forget(self):
        """A new window."""
        self.live = self.camera = self.stored = self.wanted = self.index = self.asking = self.dialog = None
        self.picked = None
        self.paused = self.has_watch_file = self.teaching = False
        self.dead = set()
        self.others = []

    def look_at_event(self, charted):
        """A sample of the time of an event comes on show, if there is one: of the source in the chart, which stays there when a
        source is closed."""
        self.wanted = None
        self.hinted = self.charted() or charted

    def judge(self, tag, limit):
        """What is stored of a source is judged by a new rule of night."""
        self.nights.setdefault(tag, []).append(limit)
        self.unjudged.discard(tag)

    def give_up_judging(self):
        """A person closed the window before that was done, and said so."""
        self.unjudged = set(self.nights)

    def begin(self, tag):
        self.live, self.index, self.paused, self.asking = tag, None, False, None
        self.stored = self.wanted = self.picked = None
        self.known.add(tag)

    def open_database(self, tag):
        if not any(other.of == tag for other in self.others):
            self.others.append(Other(tag))

    def choose_camera(self, tag):
        if tag in STORED:
            return self.open_database(tag)
        self.camera = tag  # nothing is stored of it: the camera itself
        self.begin(tag)

    def back_to_cameras(self):
        if self.camera in CAMERAS:
            self.camera = "all"

    def drop(self, what):
        if what == "two":
            self.has_watch_file, self.camera = True, "all"
        elif what.endswith(".db"):
            self.open_database(what[:-3])
        else:
            self.camera = None
            if what in self.known or SOURCES[what].kind == "live":
                return self.begin(what)
            self.asking = what

    def close(self):
        self.live = self.stored = self.wanted = self.index = self.asking = self.picked = None
        self.paused = False
        self.back_to_cameras()

    def unpin(self):
        self.stored = self.wanted = self.picked = None
        if not self.live:
            self.back_to_cameras()

    def step_picture(self, index):
        self.stored = self.wanted = self.picked = None
        self.index = index

    def pick(self, tag):
        """Another source of our own database in the chart: its last picture, until one goes back."""
        self.picked = tag if tag != self.live else None
        self.stored = None
        self.wanted = (tag, None) if self.picked else None  # the last one that has reached the disk

    # What follows from that.
    def shown(self):
        """The source of the picture, legend and merge map."""
        return self.stored[0] if self.stored else self.picked or self.live

    def title(self):
        return self.camera if self.camera in CAMERAS else self.shown()

    def charted(self):
        return self.picked or self.live

    def page(self):
        if self.teaching:
            return "teach"
        if self.camera == "all":
            return "cameras"
        return "watch" if self.shown() or self.live or self.camera else "welcome"

    def regions_of(self, tag):
        return self.regions.get(tag, [Regions()])[-1]

    def ever(self, tag):
        """All Regions of a source, one after the other."""
        return [Regions(), *self.regions.get(tag, [])]

    def outlines(self):
        return list(self.regions_of(self.shown()))
