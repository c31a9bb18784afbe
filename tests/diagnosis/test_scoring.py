"""Signals are weighed in log-odds; roots come before what follows from them."""

from hypothesis import given
from hypothesis import strategies as st

from traindx.contract import Signal
from traindx.diagnosis.catalog import FailureMode, Weight
from traindx.diagnosis.scoring import believe, roots_and_followers


def mode(name: str, leads_to: tuple[str, ...] = (), prior: float = -3.0, **weights: float) -> FailureMode:
    return FailureMode(
        id=name,
        title=name,
        specialist="ml-debugger",
        severity="high",
        prior=prior,
        signals={key: Weight(weight=value) for key, value in weights.items()},
        leads_to=leads_to,
        issue=(name,),
        fix={"summary": ["x"], "expected": ["x"], "verify": ["x"], "fallback": ["x"]},
        asks=("x",),
    )


def signal(name: str, strength: float = 1.0, **facts: float) -> Signal:
    return Signal(id=name, claim=name, strength=strength, facts=facts)


def test_without_signals_the_prior_stands() -> None:
    assert believe(mode("a", smoke=4.0), []).log_odds == -3.0


def test_signals_for_and_against_add_up() -> None:
    heard = [signal("smoke"), signal("rain", strength=0.5)]
    belief = believe(mode("fire", smoke=4.0, rain=-2.0), heard)
    assert belief.log_odds == -3.0 + 4.0 - 1.0
    assert [row.id for row, _ in belief.support] == ["smoke"]
    assert [row.id for row, _ in belief.against] == ["rain"]


def test_a_signal_heard_twice_counts_once_at_its_strongest() -> None:
    heard = [signal("smoke", 0.25), signal("smoke", 0.75), signal("smoke", 0.5)]
    assert believe(mode("fire", smoke=4.0), heard).log_odds == 0.0


def test_the_weightier_signal_names_the_facts() -> None:
    heard = [signal("smoke", at=7.0), signal("heat", at=9.0)]
    assert believe(mode("fire", smoke=1.0, heat=3.0), heard).facts["at"] == 9.0


def test_a_follower_is_set_aside_with_its_root() -> None:
    catalog = {"fire": mode("fire", ("smoke-damage",), fire=9.0), "smoke-damage": mode("smoke-damage", (), smoke=9.0)}
    beliefs = [believe(row, [signal("fire"), signal("smoke")]) for row in catalog.values()]
    roots, followers = roots_and_followers(beliefs, catalog)
    assert [belief.hypothesis.id for belief in roots] == ["fire"]
    assert [(belief.hypothesis.id, cause) for belief, cause in followers] == [("smoke-damage", "fire")]


def test_a_follower_whose_root_is_unlikely_stands_for_itself() -> None:
    catalog = {"fire": mode("fire", ("smoke-damage",), fire=9.0), "smoke-damage": mode("smoke-damage", (), smoke=9.0)}
    beliefs = [believe(row, [signal("smoke")]) for row in catalog.values()]
    roots, followers = roots_and_followers(beliefs, catalog)
    assert [belief.hypothesis.id for belief in roots] == ["smoke-damage"]
    assert followers == []


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=30))
def test_the_order_of_signals_does_not_matter(heard: list[tuple[str, float]]) -> None:
    hypothesis = mode("m", a=2.0, b=-1.5, c=0.5, d=4.0)
    signals = [signal(name, strength) for name, strength in heard]
    forward, backward = believe(hypothesis, signals), believe(hypothesis, signals[::-1])
    assert forward.log_odds == backward.log_odds
    assert 0.0 < forward.probability < 1.0
