# SPDX-License-Identifier: Apache-2.0
"""What must be on show after each action: the model that the window is held against. It is written from docs/ and knows no C++."""
from .stage import SOURCES

PAGES = {"welcome": "WelcomePage", "cameras": "CamerasPage", "watch": "QWidget", "teach": "TeachPane"}
CAMERAS = ("olive", "sorbus")  # of the watch file


class Model:
    """`live`: the source that is watched. `foreign`: the database of another program that is on show. `camera`: of the watch
    file, "all" while all are on show. `stored`: source and index of the stored picture on show. `index`: of the picture that a
    person chose in the folder that is watched; None: any. `wanted`: the stored picture that was asked for and is not on show yet.
    `asking`: the folder whose times are asked for. `dialog`: the source that a dialog is about. `picked`: the source of our own
    database that was picked in the chart in place of the one that is watched."""

    def __init__(self):
        self.regions = {"olive": ["olive-gate"], "rowan": ["rowan-gate"]}  # current ones; of databases until others are chosen
        self.chosen = set()    # sources whose regions a person chose
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
        self.live = self.foreign = self.camera = self.stored = self.wanted = self.index = self.asking = self.dialog = None
        self.picked = None
        self.paused = self.has_watch_file = self.teaching = False
        self.dead = set()

    @property
    def wanted(self):
        """The stored sample that must come on show: (source, index), without an index any of the source; or None."""
        return self._wanted

    @wanted.setter
    def wanted(self, sample):
        self._wanted, self.hinted = sample, None

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
        self.live, self.foreign, self.index, self.paused, self.asking = tag, None, None, False, None
        self.stored = self.wanted = self.picked = None
        self.known.add(tag)

    def open_database(self, tag):
        self.foreign, self.asking, self.stored, self.picked = tag, None, None, None
        self.wanted = tag, SOURCES[tag].count - 1

    def choose_camera(self, tag):
        self.camera, self.asking = tag, None
        if tag == "sorbus":  # nothing is stored of it: the camera itself
            return self.begin(tag)
        self.live = None
        self.open_database(tag)

    def back_to_cameras(self):
        if self.camera in CAMERAS:
            self.camera = "all"

    def drop(self, what):
        if what == "two":
            self.has_watch_file, self.camera = True, "all"
        elif what.endswith(".db"):
            self.camera = None
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

    def own_database(self):
        self.foreign = self.stored = self.wanted = self.picked = None
        self.back_to_cameras()

    def unpin(self):
        self.stored = self.wanted = self.picked = None
        if self.live:
            self.foreign = None
        else:
            self.back_to_cameras()

    def step_picture(self, index):
        self.stored = self.wanted = self.picked = self.foreign = None
        self.index = index

    def pick(self, tag):
        """Another source of our own database in the chart: its last picture, until one goes back."""
        self.picked = tag if tag != self.live else None
        self.stored = None
        self.wanted = (tag, None) if self.picked else None  # the last one that has reached the disk

    # What follows from that.
    def shown(self):
        """The source of the picture, legend and merge map."""
        return self.stored[0] if self.stored else None if self.foreign else self.picked or self.live

    def title(self):
        if self.camera in CAMERAS:
            return self.camera
        return self.stored[0] if self.stored else self.foreign or self.picked or self.live

    def charted(self):
        return self.foreign or self.picked or self.live

    def page(self):
        if self.teaching:
            return "teach"
        if self.camera == "all":
            return "cameras"
        return "watch" if self.shown() or self.live or self.camera else "welcome"

    def outlines(self):
        tag = self.shown()
        own = tag in self.chosen or tag not in ("olive", "rowan")
        return self.regions.get(tag, []) if tag and (own or self.stored) else []
