"""A disk in memory, for tests that write and sync many small files."""

import os

#: Its folder, where there is one.
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
