"""Data: data sets, loaders, splits, scaling; parsers of command lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.library import permutations, tables
from traindx.program.library.graphs import mixed
from traindx.program.values import (
    NOTHING,
    UNKNOWN,
    Function,
    Guess,
    Items,
    Made,
    Mapping,
    Plain,
    Stream,
    Tensor,
    Value,
    text,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_SCALERS = frozenset(["StandardScaler", "MinMaxScaler", "RobustScaler", "PCA", "SimpleImputer", "TfidfVectorizer",
                      "CountVectorizer", "SelectKBest", "Normalizer", "QuantileTransformer", "PowerTransformer",
                      "MaxAbsScaler", "KNNImputer", "TargetEncoder"])  # fmt: skip
_IMAGES = frozenset(["MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "SVHN", "ImageFolder", "DatasetFolder", "STL10",
                     "KMNIST", "EMNIST", "ImageNet", "FakeData", "CelebA"])  # fmt: skip


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A class or function that provides data."""
    root = full.partition(".")[0]
    place = m.place(call.node)
    args, keywords = tuple(call.args), call.keywords
    if last == "DataLoader":
        return loader(m, call)
    if last == "TensorDataset":
        m.event("paired", call.node, UNKNOWN, parts=args)
        return Made(kind="TensorDataset", args=args, place=place)
    if last in _IMAGES and root in {"torchvision", "datasets"}:
        made = Made(kind="images", args=args, keywords=keywords, place=place)
        made.fields["@class"] = Plain(last)
        return made
    if last == "Subset":
        return Made(kind="Subset", args=args, keywords=keywords, place=place)
    if last == "random_split" and args:
        sizes = call.argument(1, "lengths")
        count = len(sizes.items) if isinstance(sizes, Items) else 2
        m.event("split", call.node, args[0], parts=count)
        return Items([Made(kind="split", args=(args[0], Plain(at)), place=place) for at in range(count)])
    if last == "train_test_split":
        return _split(m, call)
    if full in {"sklearn.utils.shuffle", "sklearn.utils.resample"}:
        return permutations.together(m, call)
    if root == "sklearn" and (last.endswith("Fold") or last in {"ShuffleSplit", "StratifiedShuffleSplit"}):
        return Made(kind="folds", args=args, keywords=keywords, place=place)
    if full in {"sklearn.model_selection.cross_val_score", "sklearn.model_selection.cross_validate"}:
        m.event("split", call.node, args[1] if len(args) > 1 else UNKNOWN, parts=2, arrays=args[1:3])
        return Tensor(shape=(None,))
    if last in _SCALERS and root == "sklearn":
        made = Made(kind="fitted", args=args, keywords=keywords, place=place)
        made.fields["@class"] = Plain(last)
        return made
    if root == "sklearn" and last in {"make_pipeline", "Pipeline", "make_column_transformer", "ColumnTransformer",
                                      "make_union", "FeatureUnion"}:  # fmt: skip
        return _chained(m, call)
    if root in {"pandas", "polars"} and (last.startswith("read_") or last == "DataFrame"):
        return tables.made(m, call)
    if full == "pandas.get_dummies" and args and isinstance(args[0], Made) and args[0].kind == "frame":
        return args[0]
    if full == "pandas.concat":
        return tables.stacked(m, call)
    if full == "pandas.Categorical" and args and isinstance(args[0], Tensor):
        return args[0]
    if full in {"numpy.load", "numpy.loadtxt", "numpy.genfromtxt"}:
        # Of a text table with a delimiter, the rows have columns.
        table = full != "numpy.load" and "delimiter" in keywords and "unpack" not in keywords
        return Tensor(shape=(None, None) if table else None, origin=frozenset({id(call.node)}))
    if full == "torch.manual_seed":
        return permutations.numpy_random(m, "seed", call, UNKNOWN)
    if root == "random" and last in {"choice", "choices", "sample"} and call.tensors:
        # A replay buffer: whatever an entry was before, it does not come in turn.
        return mixed(m, call.tensors, None).but(states=NOTHING, sure=False)
    if root == "random" and last in {"shuffle", "seed"}:
        return permutations.numpy_random(m, last, call, UNKNOWN)
    if last in {"RandomState", "default_rng", "Random", "Generator"} and root in {"numpy", "random", "torch"}:
        return Made(kind="generator", args=args, place=place)
    if last in {"SMOTE", "RandomOverSampler", "ADASYN"}:
        return Made(kind="resampler", place=place)
    if last == "load_data" and "keras" in full:
        return None
    if last.endswith("Sampler") and last[:1].isupper():
        return Made(kind="sampler", args=args, keywords=keywords, place=place, fields={"@class": Plain(last)})
    if root in {"sklearn"} and last.startswith(("load_", "make_", "fetch_")):
        return _bundled(last, call)
    return None


def loader(m: Machine, call: Call) -> Made:
    """A loader with its arguments."""
    made = Made(kind="DataLoader", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    m.event("loader", call.node, made)
    return made


def _chained(m: Machine, call: Call) -> Value | None:
    """Several transformers as one, which is fitted where one of them is."""
    parts = [part for value in call.args for part in _steps(value)] + [
        part for value in call.keywords.values() for part in _steps(value)
    ]
    fitted = next((part for part in parts if part.kind == "fitted"), None)
    if fitted is None:
        return None
    made = Made(kind="fitted", args=tuple(call.args), place=m.place(call.node))
    made.fields["@class"] = fitted.fields["@class"]
    return made


def _steps(value: Value, depth: int = 3) -> list[Made]:
    """`("scale", StandardScaler())`, alone or in a list."""
    if isinstance(value, Made):
        return [value]
    return (
        [part for inner in value.items for part in _steps(inner, depth - 1)]
        if isinstance(value, Items) and depth
        else []
    )


_CLASSES = frozenset(["load_digits", "load_iris", "load_wine", "load_breast_cancer", "make_classification",
                      "make_blobs", "make_circles", "make_moons"])  # fmt: skip
"""data sets of scikit-learn whose targets are class numbers"""


def _bundled(last: str, call: Call) -> Value:
    origin = frozenset({id(call.node)})
    pixels = frozenset({"pixels"}) if last in {"load_digits"} else frozenset[str]()
    x = Tensor(shape=(None, None), origin=origin, marks=pixels)
    classes = frozenset({"integers"}) if last in _CLASSES else frozenset[str]()
    y = Tensor(shape=(None,), origin=origin, marks=frozenset({"target"}) | classes)
    wants = call.keywords.get("return_X_y")
    if last.startswith("make_") or (isinstance(wants, Plain) and wants.value is True):
        return Items([x, y])
    return Made(kind="bunch", fields={"data": x, "target": y, "images": x})


def _split(m: Machine, call: Call) -> Value:
    m.event("split", call.node, call.args[0] if call.args else UNKNOWN, parts=2, arrays=tuple(call.args))
    m.event("paired", call.node, UNKNOWN, parts=tuple(call.args))
    found: list[Value] = []
    for at, part in enumerate(call.args):
        for side in (0, 1):
            if isinstance(part, Tensor):
                mark = f"split-{id(call.node)}-{side}"
                found.append(part.but(marks=part.marks | {mark}, origin=frozenset({hash((id(call.node), side, at))})))
            else:
                found.append(Made(kind="split", args=(part, Plain(side)), place=m.place(call.node)))
    return Items(found)


def method(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """A method of a data object."""
    if owner.kind == "fitted":
        return _fitted(m, owner, name, call)
    if owner.kind == "folds" and name == "split":
        m.event("split", call.node, call.args[0] if call.args else UNKNOWN, parts=2, arrays=tuple(call.args))
        index = Tensor(shape=(None,), dtype="long")
        return Stream(Items([index, index]), owner)
    if owner.kind == "parser":
        return _parsed(m, owner, name, call)
    if owner.kind == "config":
        return _of_config(m, owner, name, call)
    if owner.kind == "frame":
        return _of_frame(m, owner, name, call)
    if owner.kind == "groups" and name in {"sample", "apply"}:
        return tables.grouped(owner, name, call)
    if owner.kind == "generator":
        return permutations.numpy_random(m, name, call, owner)
    if owner.kind == "resampler" and name in {"fit_resample", "fit_sample"}:
        return Items(
            [
                part.marked("repeated") if isinstance(part, Tensor) else Tensor(marks=frozenset({"repeated"}))
                for part in call.args
            ]
        )
    if owner.kind == "sampler" and name == "set_epoch":
        m.event("set-epoch", call.node, owner)
        return Plain(None)
    if owner.kind in {"images", "TensorDataset", "split", "Subset"} and name == "__len__":
        return Plain(None, "varies")
    return None


def _fitted(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    given = call.args[0] if call.args else UNKNOWN
    if name in {"fit", "fit_transform"}:
        m.event("fit", call.node, owner, data=given)
        m.journal.set(owner.fields, "@on", given)
    if name in {"fit_transform", "transform"}:
        made = given if isinstance(given, Tensor) else Tensor(origin=frozenset({getattr(given, "number", 0)}))
        itself = name == "fit_transform" or owner.fields.get("@on") is given
        marks = (made.marks - {"pixels"}) | ({f"fitted-{id(owner)}"} if itself else frozenset())
        m.event("transformed", call.node, owner, data=given)
        return made.but(marks=marks)
    return owner if name == "fit" else None


def _parsed(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    if name == "add_argument":
        flags = [text(part) for part in call.args if text(part)]
        flag = next((part for part in flags if part.startswith("--")), flags[0] if flags else "")
        key = text(call.keywords.get("dest")) or flag.lstrip("-").replace("-", "_")
        default = call.keywords.get("default")
        action = text(call.keywords.get("action"))
        value: Value = Guess(key)
        if action in {"store_true", "store_false"}:
            value = Plain(action == "store_false", "default", key)
        elif isinstance(default, Plain):
            value = Plain(default.value, "default", key)
        configured = m.settings.get(key.lower())
        if configured is not None and (isinstance(value, Guess) or (action and isinstance(configured, bool))):
            value = Plain(configured, "config", key)
        m.journal.set(owner.fields, key, value)
        return Plain(None)
    if name in {"parse_args", "parse_known_args"}:
        made = Made(kind="config", fields=dict(owner.fields))
        return made if name == "parse_args" else Items([made, UNKNOWN])
    if name in {"add_argument_group", "add_mutually_exclusive_group"}:
        return owner
    return None


def _of_config(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    from traindx.program.subscripts import configured, is_elsewhere

    if name == "get" and call.args:
        key = text(call.args[0])
        found = owner.fields.get(key, configured(m, key, "", "@text" in owner.fields))
        if len(call.args) > 1 and "@loaded" in owner.fields and is_elsewhere(m, key):
            default = call.args[1]
            return Plain(default.value, "config", key) if isinstance(default, Plain) else default
        if isinstance(found, Guess) and len(call.args) > 1:
            default = call.args[1]
            return Plain(default.value, "default", key) if isinstance(default, Plain) else default
        if isinstance(found, Guess) and m.settings and "@loaded" in owner.fields:
            return Plain(None, "config", key)  # the run's configuration does not have it
        return found
    return Mapping(dict(owner.fields), True) if name in {"items", "keys", "values", "copy"} else None


def _of_frame(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    if name == "sample":
        return permutations.of_frame(m, owner, call)
    if name == "groupby":
        return Made(kind="groups", place=owner.place, fields={**owner.fields, "@rows": owner})
    if name in tables.KEEPING:
        return owner
    if name == "drop_duplicates":
        return Made(kind="frame", place=owner.place)
    if name in {"sort_values"}:
        made = Made(kind="frame", place=owner.place, fields=dict(owner.fields))
        made.fields["@sorted"] = Plain(True)
        return made
    if name in {"to_numpy", "values"}:
        kept = tables.marks(owner) - {"table"}
        rows, order = permutations.origin(owner), permutations.order(owner)
        return Tensor(origin=rows, order=order, shape=(None, None), marks=kept)
    return Guess(name)


def is_function(value: Value | None) -> bool:
    """Whether a value is a function of the program."""
    return isinstance(value, Function)
