"""How much memory the process holds, without a library for it."""

from pathlib import Path
import resource
import sys
from typing import Final

_STATM: Final = Path("/proc/self/statm")
_KIBIBYTE: Final = 1024


def resident_bytes() -> int:
    """Return what is resident now; where the system does not tell, what was at most."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return peak_resident_bytes()
    return pages * resource.getpagesize()


def peak_resident_bytes() -> int:
    """Return the most that was resident since the process started."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIBIBYTE
