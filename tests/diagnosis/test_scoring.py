"""Hypotheses compete for the signals; roots come before what follows from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.contract import Signal, SignalKind
from traindx.diagnosis.catalog import Catalog, FailureMode, Hypothesis, load_catalog
from traindx.diagnosis.scoring import LONE, UNTRIED, Standing, compete, weigh
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.weights import Weights, load_weights

TIERS = {"weak": 1.0, "strong": 3.0, "decisive": 8.0}
ALL = Weights(TIERS, TIERS, prior=-3.0, root_bonus=2.5, cases={"fire": 3, "flood": 3, "damage": 3, "healthy": 9})


def mode(
    name: str, leads_to: tuple[str, ...] = (), against: dict[str, str] | None = None, **signals: str
) -> FailureMode:
    return FailureMode.model_validate(
        {
            "id": name,
            "title": name,
            "specialist": "ml-debugger",
            "severity": "high",
            "for": {key.replace("_", "-"): value for key, value in signals.items()},
            "against": against or {},
            "leads_to": leads_to,
            "issue": (name,),
            "fix": {"summary": ["x"], "expected": ["x"], "verify": ["x"], "fallback": ["x"]},
            "asks": ("x",),
        }
    )


def catalog(*modes: FailureMode) -> Catalog:
    healthy = Hypothesis.model_validate(
        {"id": "healthy", "for": {"calm": "decisive"}, "against": {"smoke": "decisive"}}
    )
    return Catalog({row.id: row for row in modes}, healthy)


def signal(name: str, strength: float = 1.0, **facts: float) -> Signal:
    return Signal(id=name, claim=name, strength=strength, facts=facts)


def standing(modes: list[FailureMode], *found: Signal, weights: Weights = ALL, **groups: str) -> Standing:
    kinds = {name: SignalKind(name, group) for name, group in groups.items()}
    return weigh(catalog(*modes), found, SignalRegistry(kinds), weights)


FIRE = mode("fire", ("damage",), {"rain": "strong"}, smoke="decisive", heat="strong")
FLOOD = mode("flood", ("damage",), water="decisive", heat="weak")
DAMAGE = mode("damage", cracks="decisive")


def test_without_signals_nothing_is_believed() -> None:
    seen = standing([FIRE, FLOOD])
    assert [belief.probability for belief in seen.modes] == [0.0, 0.0]
    assert seen.healthy.probability == 0.0


def test_signals_for_and_against_add_up() -> None:
    belief = standing([FIRE], signal("smoke"), signal("rain", 0.5)).modes[0]
    assert belief.score == -3.0 + 8.0 - 1.5
    assert [voice.signal.id for voice in belief.support] == ["smoke"]
    assert [voice.signal.id for voice in belief.against] == ["rain"]


def test_health_competes_like_a_failure() -> None:
    well = standing([FIRE], signal("calm"))
    assert well.healthy.likely
    assert not well.modes[0].likely
    torn = standing([FIRE], signal("calm"), signal("smoke"))
    assert not torn.healthy.likely


def test_a_mode_that_nothing_speaks_for_takes_nothing_from_the_others() -> None:
    found = [signal("smoke"), signal("heat")]
    alone = standing([FIRE], *found).modes[0].probability
    crowd = [mode(f"mode-{number}", other="strong") for number in range(100)]
    assert standing([FIRE, *crowd], *found).modes[0].probability == alone


def test_a_signal_found_twice_counts_once_at_its_strongest() -> None:
    found = [signal("smoke", 0.25), signal("smoke", 0.75), signal("smoke", 0.5)]
    assert standing([FIRE], *found).modes[0].score == -3.0 + 0.75 * 8.0


def test_readings_of_the_same_fact_count_once() -> None:
    both = [signal("smoke"), signal("heat")]
    apart = standing([FIRE], *both).modes[0]
    joined = standing([FIRE], *both, smoke="burning", heat="burning").modes[0]
    assert [voice.signal.id for voice in joined.support] == ["smoke"]
    assert joined.score < apart.score


def test_the_weightier_signal_names_the_facts() -> None:
    belief = standing([FIRE], signal("heat", at=7.0), signal("smoke", at=9.0)).modes[0]
    assert belief.facts["at"] == 9.0


def test_a_follower_hands_over_to_its_root() -> None:
    seen = standing([FIRE, DAMAGE], signal("smoke"), signal("cracks"))
    assert [belief.hypothesis.id for belief in seen.modes] == ["fire", "damage"]
    assert seen.modes[0].likely
    assert not seen.modes[1].likely
    assert seen.modes[1].follows == "fire"


def test_a_follower_that_is_far_surer_than_its_root_stands_for_itself() -> None:
    seen = standing([FLOOD, DAMAGE], signal("heat"), signal("cracks"))
    assert seen.modes[0].hypothesis.id == "damage"
    assert seen.modes[0].follows == ""


def test_what_is_proven_does_not_compete_with_what_else_is_proven() -> None:
    pair = [mode("fire", smoke="decisive, direct"), mode("flood", water="decisive, direct")]
    seen = standing(pair, signal("smoke"), signal("water"))
    assert all(belief.probability > 0.9 for belief in seen.modes)


def test_a_single_circumstantial_signal_is_a_lead_and_no_cause() -> None:
    assert standing([mode("fire", heat="strong")], signal("heat")).modes[0].probability <= LONE


def test_what_no_labelled_run_shows_stays_below_its_bar_unless_it_is_proven() -> None:
    untried = Weights(TIERS, TIERS, prior=-3.0, root_bonus=2.5)
    assert standing([FIRE], signal("smoke"), signal("heat"), weights=untried).modes[0].probability == UNTRIED
    proof = mode("fire", smoke="decisive, direct")
    assert standing([proof], signal("smoke"), weights=untried).modes[0].probability > 0.9


@given(st.lists(st.tuples(st.sampled_from(["smoke", "heat", "rain", "water", "cracks", "calm"]), st.floats(0, 1))))
def test_the_order_of_signals_does_not_matter(found: list[tuple[str, float]]) -> None:
    signals = [signal(name, strength) for name, strength in found]
    forward = standing([FIRE, FLOOD, DAMAGE], *signals)
    backward = standing([FIRE, FLOOD, DAMAGE], *signals[::-1])
    before = {row.hypothesis.id: row.probability for row in forward.modes}
    assert {row.hypothesis.id: row.probability for row in backward.modes} == pytest.approx(before)


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(-30, 30)), st.floats(0, 5))
def test_shares_add_up_to_what_not_knowing_leaves(scores: dict[str, float], bonus: float) -> None:
    shares = compete(scores, {"a": ("b", "c"), "b": ("c",), "d": ("c",)}, bonus).share
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9


def test_the_weights_that_ship_keep_the_catalog_s_signs() -> None:
    weights = load_weights()
    for one in load_catalog().hypotheses:
        for name, speaks, sign in one.weighed():
            assert weights.of(one, name, speaks, sign) * sign > 0, f"{one.id}: {name}"


def test_the_weights_that_ship_speak_of_the_catalog_as_it_is() -> None:
    catalog = load_catalog()
    known = {one.id: {name for name, _, _ in one.weighed()} for one in catalog.hypotheses}
    for name, fitted in load_weights().fitted.items():
        assert set(fitted) == known[name], f"run benchmarks/fit_weights.py: the signals of `{name}` have changed"


def test_what_is_proven_and_never_tried_is_not_outweighed_by_a_guess() -> None:
    catalog = load_catalog()
    signals = [
        Signal(id="error-device-memory", claim="an allocation failed"),
        Signal(id="loss-fell-slowly", claim="the loss fell by 5 %"),
    ]
    standing = weigh(catalog, signals, SignalRegistry(), load_weights())
    assert standing.modes[0].hypothesis.id == "cuda-out-of-memory"
    assert standing.modes[0].probability > 0.9


def test_a_fault_that_does_no_harm_is_a_lead() -> None:
    catalog, registry, weights = load_catalog(), SignalRegistry(), load_weights()
    fault = Signal(id="math-unguarded", claim="a division has no guard")
    alone = weigh(catalog, [fault], registry, weights).of("unguarded-math")
    assert alone is not None
    assert alone.probability < 0.5
    harmful = weigh(catalog, [fault, Signal(id="loss-non-finite", claim="NaN")], registry, weights).of("unguarded-math")
    assert harmful is not None
    assert harmful.probability > 0.5


def test_what_is_benign_is_a_remark_on_health_until_its_harm_is_seen() -> None:
    benign = mode("flood", water="decisive", cracks="weak").model_copy(update={"benign": True, "shows_as": ("cracks",)})
    quiet = standing([benign], signal("water"), signal("calm"))
    assert quiet.healthy.likely
    assert 0 < quiet.modes[0].probability < 0.5
    told = standing([benign], signal("water"), signal("calm"), signal("cracks"))
    assert told.modes[0].probability > told.healthy.probability
