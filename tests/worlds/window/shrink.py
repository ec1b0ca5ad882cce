# SPDX-License-Identifier: Apache-2.0
"""Makes a failing walk shorter while it still fails in the same way."""

TRIES = 3  # a late answer is not late each time


def shrink(player, folder, steps, wrong):
    """The shortest walk that was found, and what is wrong with it."""
    def fails(candidate):
        for _ in range(TRIES):
            done, found = player.play(folder, lambda _: candidate)
            if found and found.kind == wrong.kind:
                return done, found
        return None

    size = len(steps) // 2
    while size:
        begin = 0
        while begin < len(steps):
            if found := fails(steps[:begin] + steps[begin + size:]):
                steps, wrong = found
            else:
                begin += size
        size //= 2
    return steps, wrong
