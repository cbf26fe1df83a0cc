"""An owner is one process of one boot, and is not mistaken for another."""

from harness.deploy.owner import alive, owner


def test_this_process_lives() -> None:
    assert alive(owner())


def test_another_start_another_boot_or_nonsense_is_dead() -> None:
    pid, ticks, boot = owner().split()
    assert not alive(f"{pid} {int(ticks) + 1} {boot}")
    assert not alive(f"{pid} {ticks} another-boot")
    assert not alive(f"4194305 {ticks} {boot}")
    assert not alive("")
