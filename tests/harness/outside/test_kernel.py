"""What files say of a kernel: whether it has a module, lacks it, or whether that is unknown."""

import os

import pytest

from harness.outside.kernel import KernelFiles, here, lacking

MODULE = "sch_netem"
SET, AS_MODULE = "CONFIG_NET_SCH_NETEM=y\n", "CONFIG_X=y\nCONFIG_NET_SCH_NETEM=m\n"
NOT_SET = "CONFIG_X=y\n# CONFIG_NET_SCH_NETEM is not set\n"
LISTED, OTHERS = "kernel/net/sched/sch_netem.ko.zst: \n", "kernel/net/sched/sch_tbf.ko:\n"


@pytest.mark.parametrize(
    "kernel",
    [
        KernelFiles("6.1", frozenset({MODULE})),
        KernelFiles("6.1", frozenset({MODULE}), NOT_SET, OTHERS),
        KernelFiles("6.1", configuration=SET),
        KernelFiles("6.1", configuration=SET, modules=OTHERS),
        KernelFiles("6.1", modules=LISTED),
        KernelFiles("6.1", configuration=AS_MODULE, modules=LISTED),
        KernelFiles("6.1", configuration=AS_MODULE),
        KernelFiles("6.1"),
    ],
)
def test_a_kernel_lacks_nothing_that_a_file_shows_or_none_denies(kernel: KernelFiles) -> None:
    assert lacking(kernel, MODULE) == ""


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (KernelFiles("6.1", configuration=NOT_SET), "was built without sch_netem"),
        (KernelFiles("6.1", configuration=NOT_SET, modules=OTHERS), "was built without"),
        (KernelFiles("6.1", modules=OTHERS), "has no module sch_netem"),
        (KernelFiles("6.1", configuration=AS_MODULE, modules=OTHERS), "has no module sch_netem"),
    ],
)
def test_a_kernel_lacks_what_its_files_deny(kernel: KernelFiles, why: str) -> None:
    assert why in lacking(kernel, MODULE)


def test_of_another_module_only_the_lists_are_known() -> None:
    assert lacking(KernelFiles("6.1", configuration=NOT_SET), "sch_tbf") == ""
    assert lacking(KernelFiles("6.1", modules=OTHERS), "sch_tbf") == ""
    assert lacking(KernelFiles("6.1", modules=LISTED), "sch_tbf") == "has no module sch_tbf"


def test_this_machines_kernel_is_read() -> None:
    assert here().release == os.uname().release
