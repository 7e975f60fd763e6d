"""One file a vendor: how its machines are recognised, what is known of its cards, and the platform that they make."""

from __future__ import annotations

from platforms.accelerator import Accelerator
from platforms.vendors.amd import Amd
from platforms.vendors.apple import Apple
from platforms.vendors.ascend import Ascend
from platforms.vendors.cambricon import Cambricon
from platforms.vendors.enflame import Enflame
from platforms.vendors.hygon import Hygon
from platforms.vendors.iluvatar import Iluvatar
from platforms.vendors.intel import Intel
from platforms.vendors.kunlunxin import Kunlunxin
from platforms.vendors.metax import Metax
from platforms.vendors.mthreads import MooreThreads
from platforms.vendors.nvidia import Nvidia
from platforms.vendors.thead import Thead

VENDORS: tuple[type[Accelerator], ...] = (
    Nvidia,
    Amd,
    Metax,
    Iluvatar,
    Hygon,
    Kunlunxin,
    Thead,
    Intel,
    Apple,
    Cambricon,
    Ascend,
    MooreThreads,
    Enflame,
)
"""In the order in which claims are told. A new vendor's platform is added here."""
