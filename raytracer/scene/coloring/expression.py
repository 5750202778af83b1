"""Expressions over columns: `sqrt(vx**2 + vy**2)`, `type == 'O' and z > 3`.

An expression is parsed by Python's own parser, and only the nodes that are listed here are
evaluated, by NumPy, block by block on all threads. Nothing is compiled or called that is not in
the tables of this module, so that text from a file or a command line cannot run code. (numexpr
evaluates expressions by `eval` after a search for suspicious text, and compares no texts of
different length.)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from raytracer.errors import SceneError, shown, suggestion
from raytracer.scene.arrays import each_block
from raytracer.scene.coloring.connected import connected, neighbours, with_calls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LETTERS = 2000
"""Longest expression."""

MOST_DEPTH = 40
"""Most operations within each other."""

MOST_ITEMS = 10_000
"""Most items of a list."""

MOST_STEPS = 1000
"""Most bonds between particles that a number of bonds connects."""

SEED = 0
"""Seed of `random` where none is given."""

Values = Any
"""A number, or an array (rows,) or (rows, K) of numbers or truth values."""


class Texts(NamedTuple):
    """A column of texts with few different ones.

    Args:
        names: the different ones.
        ids: int32 (N,), which of them a particle has.
    """

    names: list[str]
    ids: NDArray[np.int32]


class Source(Protocol):
    """Where an expression finds its columns."""

    @property
    def count(self) -> int:
        """Number of particles."""

    def value(self, name: str) -> NDArray[Any] | Texts:
        """Return a column, (N,) or (N, K).

        Raises:
            SceneError: there is none of this name; the sentence names the nearest.
        """

    def has(self, name: str) -> bool:
        """Whether there is a column of this name."""

    def pairs(self) -> NDArray[Any]:
        """Return the bonds between particles, integers (M, 2).

        Raises:
            SceneError: there are too many.
        """


class Part(NamedTuple):
    """A part of an expression that is ready to be evaluated.

    Args:
        kind: "number", "truth", "text" (a constant), "texts" (a column), "list" or "vector".
        of: gives the values of a block of rows.
        constant: the value of a text or a list.
        column: of kind "texts".
        whole: the array of a column that stands alone.
    """

    kind: str
    of: Callable[[slice], Values]
    constant: Any = None
    column: Texts | None = None
    whole: NDArray[Any] | None = None


def evaluate(text: str, source: Source, place: str) -> NDArray[Any]:
    """Return the values of an expression.

    Args:
        text: the expression; the name of a column stands for itself, whatever it is made of.
        source: the columns.
        place: what messages call the expression: "select".

    Returns:
        (N,): numbers, or truth values of a condition. A column that stands alone has its own type
        and is not copied.

    Raises:
        SceneError: it is no expression, or a column is not there; the sentence says which part.
    """
    import numpy as np

    part = _compiled(text, source, place)
    if part.whole is not None and part.kind in ("number", "truth"):
        return part.whole
    if part.kind == "vector":
        raise SceneError(
            f"{place}: '{shown(text)}' has several numbers for each particle: take one of them, "
            f"'{shown(text)}[0]', or their length, 'norm({shown(text)})'"
        )
    if part.kind not in ("number", "truth"):
        raise SceneError(f"{place}: '{shown(text)}' is no number")
    result = np.empty(source.count, bool if part.kind == "truth" else np.float64)

    def work(rows: slice) -> None:
        with np.errstate(all="ignore"):
            result[rows] = part.of(rows)

    each_block(source.count, work)
    return result


def texts_of(text: str, source: Source) -> Texts | None:
    """Return the column of texts that an expression is, or None."""
    name = _quoted(text)
    if not source.has(name):
        return None
    found = source.value(name)
    return found if isinstance(found, Texts) else None


def names_in(text: str) -> list[str]:
    """Return the names of the columns that an expression may use; of one with mistakes none."""
    names = [_quoted(text)]
    try:
        marked, quoted = _without_backticks(text)
        tree = ast.parse(_with_words(marked).strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                names.append(quoted.get(node.id, node.id))
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                names.append(ast.unparse(node))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return names
    return list(dict.fromkeys(names))


def _compiled(text: str, source: Source, place: str) -> Part:
    """Return an expression that is ready to be evaluated."""
    if len(text) > MOST_LETTERS:
        raise SceneError(f"{place}: is longer than {MOST_LETTERS:,} letters")
    compiler = _Compiler(source, place)
    if source.has(_quoted(text)):
        return compiler.column(_quoted(text))
    marked, compiler.quoted = _without_backticks(text)
    try:
        tree = ast.parse(_with_words(marked).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = ": to compare, write ==" if re.search(_ASSIGNS, text) else _where(error)
        raise SceneError(f"{place}: '{shown(text)}' is no expression{why}") from None
    return compiler.part(tree.body, 0)


def _quoted(text: str) -> str:
    """Return an expression without the backticks around it."""
    text = text.strip()
    bare = text[1:-1]
    return bare if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in bare else text


def _without_backticks(text: str) -> tuple[str, dict[str, str]]:
    """Return an expression with a plain name for each one in backticks, and those by it."""
    quoted: dict[str, str] = {}

    def plain(found: re.Match[str]) -> str:
        name = f"_column_{len(quoted)}_"
        quoted[name] = found[1]
        return name

    return re.sub(r"`([^`]+)`", plain, text), quoted


def _with_words(text: str) -> str:
    """Return an expression in which "every 10", "random 0.1", "connected to ..." are calls."""
    text = re.sub(r"(?<![\w.'\"])(every|random)\s+(\d[\d.e-]*)", r"\1(\2)", text)
    return with_calls(text) if " to" in text else text


def _where(error: BaseException) -> str:
    """Return where an expression is wrong, or what to do."""
    if isinstance(error, SyntaxError) and error.msg:
        return f": {error.msg.split('(')[0].strip()}"
    return ": it is too deep" if isinstance(error, (RecursionError, MemoryError)) else ""


_ASSIGNS = r"(?<![=<>!:])=(?!=)"

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "true_divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
}

_LOGIC: dict[type[ast.operator], str] = {
    ast.BitAnd: "logical_and",
    ast.BitOr: "logical_or",
    ast.BitXor: "logical_xor",
}

FUNCTIONS: dict[str, tuple[str, int]] = {
    # name: that of NumPy, number of arguments
    "abs": ("abs", 1),
    "sqrt": ("sqrt", 1),
    "cbrt": ("cbrt", 1),
    "exp": ("exp", 1),
    "log": ("log", 1),
    "log2": ("log2", 1),
    "log10": ("log10", 1),
    "sin": ("sin", 1),
    "cos": ("cos", 1),
    "tan": ("tan", 1),
    "asin": ("arcsin", 1),
    "acos": ("arccos", 1),
    "atan": ("arctan", 1),
    "atan2": ("arctan2", 2),
    "sinh": ("sinh", 1),
    "cosh": ("cosh", 1),
    "tanh": ("tanh", 1),
    "hypot": ("hypot", 2),
    "pow": ("power", 2),
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    "round": ("rint", 1),
    "sign": ("sign", 1),
    "degrees": ("degrees", 1),
    "radians": ("radians", 1),
    "min": ("minimum", 2),
    "max": ("maximum", 2),
    "isnan": ("isnan", 1),
    "isfinite": ("isfinite", 1),
}
"""Functions of each particle's values."""

WHOLE: dict[str, str] = {
    "mean": "nanmean",
    "median": "nanmedian",
    "std": "nanstd",
    "sum": "nansum",
    "min": "nanmin",
    "max": "nanmax",
}
"""Functions of all particles' values: of one argument."""

OTHERS = ("where", "clip", "norm", "every", "random", "connected", "bonded")
"""Functions that are written below."""

CONSTANTS = {"pi": 3.141592653589793, "nan": float("nan"), "inf": float("inf")}


class _Compiler:
    """Makes the parts of one expression.

    Args:
        source: the columns.
        place: what messages call the expression.
    """

    def __init__(self, source: Source, place: str) -> None:
        self.source, self.place = source, place
        self.quoted: Mapping[str, str] = {}

    def wrong(self, problem: str) -> SceneError:
        """Return an error about the expression."""
        return SceneError(f"{self.place}: {problem}")

    def part(self, node: ast.expr, depth: int) -> Part:
        """Return a node of the expression, ready to be evaluated."""
        if depth > MOST_DEPTH:
            raise self.wrong(f"has more than {MOST_DEPTH} operations within each other")
        make = _NODES.get(type(node))
        if make is None:
            raise self.wrong(
                f"'{shown(self.text(node))}' cannot stand in an expression; there are numbers, "
                "texts, columns, + - * / // % **, == != < <= > >=, in, and, or, not, and functions"
            )
        return make(self, node, depth + 1)

    def text(self, node: ast.expr) -> str:
        """Return a node as it was written."""
        text = ast.unparse(node)
        for name, column in self.quoted.items():
            text = text.replace(name, f"`{column}`")
        return text

    def column(self, name: str) -> Part:
        """Return a column."""
        try:
            values = self.source.value(name)
        except SceneError as error:
            raise self.wrong(str(error)) from None
        if isinstance(values, Texts):
            return Part("texts", lambda rows: values.ids[rows], name, values)
        array = values
        if array.ndim > 1:
            return Part("vector", lambda rows: array[rows], name, whole=array)
        kind = "truth" if array.dtype.kind == "b" else "number"
        return Part(kind, lambda rows: array[rows], name, whole=array)

    def name(self, node: ast.Name, depth: int) -> Part:
        name = self.quoted.get(node.id, node.id)
        if name in CONSTANTS and not self.source.has(name):
            return _constant(CONSTANTS[name])
        return self.column(name)

    def attribute(self, node: ast.Attribute, depth: int) -> Part:
        return self.column(ast.unparse(node))

    def subscript(self, node: ast.Subscript, depth: int) -> Part:
        """Return a column whose name has brackets, or one component of a vector."""
        text = ast.unparse(node)
        if self.source.has(text):
            return self.column(text)
        base, index = self.part(node.value, depth), node.slice
        if base.kind != "vector" or base.whole is None:
            raise self.wrong(f"'{shown(self.text(node.value))}' is no vector")
        width = base.whole.shape[1]
        if not isinstance(index, ast.Constant) or type(index.value) is not int:
            raise self.wrong(f"'{shown(text)}': number the components 0 to {width - 1}")
        if not 0 <= index.value < width:
            raise self.wrong(f"'{shown(text)}': the components are 0 to {width - 1}")
        array = base.whole[:, index.value]
        return Part("number", lambda rows: array[rows], whole=array)

    def constant(self, node: ast.Constant, depth: int) -> Part:
        value = node.value
        if isinstance(value, str):
            return Part("text", lambda rows: value, value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(f"'{shown(self.text(node))}' cannot stand in an expression")
        if isinstance(value, int) and abs(value) >= 2**63:
            value = self._float(value)
        return _constant(value)

    def _float(self, value: int) -> float:
        try:
            return float(value)
        except OverflowError:
            raise self.wrong("a number is out of range") from None

    def items(self, node: ast.List | ast.Tuple | ast.Set, depth: int) -> Part:
        """Return a list of numbers or of texts."""
        if len(node.elts) > MOST_ITEMS:
            raise self.wrong(f"a list has more than {MOST_ITEMS:,} items")
        parts = [self.part(each, depth) for each in node.elts]
        if any(part.constant is None or part.kind not in ("number", "text") for part in parts):
            raise self.wrong(f"'{shown(self.text(node))}': a list holds numbers or texts alone")
        if len({part.kind for part in parts}) > 1:
            raise self.wrong(f"'{shown(self.text(node))}' mixes numbers and texts")
        values = [part.constant for part in parts]
        return Part("list", lambda rows: values, values)

    def numbers(self, node: ast.expr, depth: int) -> Callable[[slice], Values]:
        """Return a part of numbers, in float64."""
        import numpy as np

        part = self.part(node, depth)
        if part.kind not in ("number", "truth"):
            kinds = {"vector": "has several numbers for each particle: use norm() or [0]"}
            problem = kinds.get(part.kind, "is text; only == != and in compare texts")
            raise self.wrong(f"'{shown(self.text(node))}' {problem}")
        of = part.of
        return lambda rows: np.asarray(of(rows), np.float64)

    def truth(self, node: ast.expr, depth: int) -> Callable[[slice], Values]:
        """Return a condition."""
        part = self.part(node, depth)
        if part.kind != "truth":
            raise self.wrong(
                f"'{shown(self.text(node))}' is no condition; compare it, for example "
                f"'{shown(self.text(node))} > 0'"
            )
        return part.of

    def binary(self, node: ast.BinOp, depth: int) -> Part:
        import numpy as np

        if logic := _LOGIC.get(type(node.op)):
            both = self.truth(node.left, depth), self.truth(node.right, depth)
            combine = getattr(np, logic)
            return Part("truth", lambda rows: combine(both[0](rows), both[1](rows)))
        name = _OPERATORS.get(type(node.op))
        if name is None:
            raise self.wrong(f"'{shown(self.text(node))}' cannot stand in an expression")
        operate = getattr(np, name)
        if name in ("remainder", "floor_divide"):
            own = self.part(node.left, depth), self.part(node.right, depth)
            if all(part.kind == "number" for part in own):  # whole numbers stay whole
                left, right = own[0].of, own[1].of
                return Part("number", lambda rows: operate(left(rows), right(rows)))
        left, right = self.numbers(node.left, depth), self.numbers(node.right, depth)
        if name == "power" and _is_two(node.right):
            return Part("number", lambda rows: np.square(left(rows)))
        return Part("number", lambda rows: operate(left(rows), right(rows)))

    def unary(self, node: ast.UnaryOp, depth: int) -> Part:
        import numpy as np

        if isinstance(node.op, (ast.Not, ast.Invert)):
            condition = self.truth(node.operand, depth)
            return Part("truth", lambda rows: np.logical_not(condition(rows)))
        inner = node.operand
        if isinstance(inner, ast.Constant) and type(inner.value) in (int, float):
            sign = -1 if isinstance(node.op, ast.USub) else 1
            value = self.part(inner, depth).constant
            return _constant(sign * value)
        values = self.numbers(inner, depth)
        if isinstance(node.op, ast.UAdd):
            return Part("number", values)
        return Part("number", lambda rows: np.negative(values(rows)))

    def boolean(self, node: ast.BoolOp, depth: int) -> Part:
        import numpy as np

        conditions = [self.truth(each, depth) for each in node.values]
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or

        def of(rows: slice) -> Values:
            result = conditions[0](rows)
            for condition in conditions[1:]:
                result = combine(result, condition(rows))
            return result

        return Part("truth", of)

    def comparison(self, node: ast.Compare, depth: int) -> Part:
        """Return one comparison, or several in a row: 1 < z < 3."""
        import numpy as np

        sides = [node.left, *node.comparators]
        found = [
            self.compared(left, type(op), right, depth)
            for left, op, right in zip(sides, node.ops, node.comparators, strict=False)
        ]

        def of(rows: slice) -> Values:
            result = found[0](rows)
            for each in found[1:]:
                result = np.logical_and(result, each(rows))
            return result

        return Part("truth", of)

    def compared(
        self, left: ast.expr, operator: type[ast.cmpop], right: ast.expr, depth: int
    ) -> Callable[[slice], Values]:
        """Return the comparison of two parts."""
        import numpy as np

        self.check_quotes(left, right)
        self.check_quotes(right, left)
        one, other = self.part(left, depth), self.part(right, depth)
        if operator in (ast.In, ast.NotIn):
            if other.kind != "list":
                raise self.wrong(f"'{shown(self.text(right))}' is no list; write in [1, 2, 3]")
            return self.among(left, one, other.constant, operator is ast.In)
        name = _COMPARISONS.get(operator)
        if name is None:
            raise self.wrong("'is' cannot stand in an expression; write ==")
        if other.kind == "texts" and one.kind != "texts":
            one, other, left = other, one, right
        if one.kind == "texts" and other.kind in ("text", "number", "list"):
            if name not in ("equal", "not_equal") or other.kind == "list":
                raise self.wrong(
                    f"'{shown(self.text(left))}' is text, which == != and in compare with texts"
                )
            return self.among(left, one, [other.constant], name == "equal")
        if {one.kind, other.kind} == {"number", "text"} and name in ("equal", "not_equal"):
            if other.kind == "number":
                one, other, left = other, one, right
            return self.among(left, one, [other.constant], name == "equal")
        if {one.kind, other.kind} & {"text", "texts", "list"}:
            side = left if one.kind not in ("text", "texts", "list") else right
            raise self.wrong(f"'{shown(self.text(side))}' holds no texts; compare it with a number")
        if "vector" in (one.kind, other.kind):
            side = left if one.kind == "vector" else right
            raise self.wrong(f"'{shown(self.text(side))}' is a vector: use norm() or [0]")
        compare, first, second = getattr(np, name), one.of, other.of
        return lambda rows: compare(first(rows), second(rows))

    def check_quotes(self, column: ast.expr, word: ast.expr) -> None:
        """Refuse a text without quotes that is compared with a column of texts."""
        if not (isinstance(column, ast.Name) and isinstance(word, ast.Name)):
            return
        if self.source.has(column.id) and not self.source.has(word.id):
            values = self.source.value(column.id)
            if isinstance(values, Texts):
                raise self.wrong(f"texts stand in quotes: {column.id} == '{shown(word.id)}'")

    def among(
        self, node: ast.expr, part: Part, wanted: list[Any], inside: bool
    ) -> Callable[[slice], Values]:
        """Return whether values are among those of a list, or are not."""
        import numpy as np

        of = part.of
        if part.column is not None:
            texts = {f"{each:.15g}" if isinstance(each, float) else str(each) for each in wanted}
            chosen = np.array([(name in texts) == inside for name in part.column.names] + [False])
            return lambda rows: chosen[of(rows)]
        try:  # types of some files are numbers, of others texts
            numbers = np.array([float(each) if isinstance(each, str) else each for each in wanted])
        except ValueError:
            numbers = None
        if part.kind != "number" or numbers is None:
            raise self.wrong(
                f"'{shown(self.text(node))}' holds no texts; compare it with numbers"
            ) from None
        return lambda rows: np.isin(of(rows), numbers, invert=not inside)

    def choice(self, node: ast.IfExp, depth: int) -> Part:
        import numpy as np

        condition = self.truth(node.test, depth)
        one, other = self.numbers(node.body, depth), self.numbers(node.orelse, depth)
        return Part("number", lambda rows: np.where(condition(rows), one(rows), other(rows)))

    def call(self, node: ast.Call, depth: int) -> Part:
        """Return a function of parts."""
        import numpy as np

        name = node.func.id if isinstance(node.func, ast.Name) else ""
        name = f"a{name[3:]}" if name.startswith("arc") else name
        name = _OTHER_NAMES.get(name, name)
        count, arguments = len(node.args), node.args
        if node.keywords or any(isinstance(each, ast.Starred) for each in arguments):
            raise self.wrong(f"'{shown(self.text(node))}': arguments have no names here")
        if name in OTHERS:
            make: Callable[[list[ast.expr], int], Part] = getattr(self, f"call_{name}")
            return make(arguments, depth)
        if name in WHOLE and count == 1:
            values = self.numbers(arguments[0], depth)
            with np.errstate(all="ignore"):
                every = np.broadcast_to(values(slice(0, self.source.count)), self.source.count)
                every = every[np.isfinite(every)]
                return _constant(float(getattr(np, WHOLE[name])(every)) if every.size else 0.0)
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, *WHOLE, *OTHERS]
            called = self.text(node.func)
            raise self.wrong(f"there is no function '{shown(called)}'; {suggestion(name, known)}")
        numpy_name, wanted = FUNCTIONS[name]
        function = getattr(np, numpy_name)
        if count < wanted or (count > wanted and name not in ("min", "max")):
            raise self.wrong(f"{name}() takes {wanted} argument{'s'[: wanted - 1]}, not {count}")
        parts = [self.numbers(each, depth) for each in arguments]
        kind = "truth" if name.startswith("is") else "number"
        if count == 1:
            return Part(kind, lambda rows: function(parts[0](rows)))

        def of(rows: slice) -> Values:
            result = parts[0](rows)
            for each in parts[1:]:
                result = function(result, each(rows))
            return result

        return Part(kind, of)

    def call_where(self, arguments: list[ast.expr], depth: int) -> Part:
        self.require(arguments, "where", 3)
        test, body, other = arguments
        return self.choice(ast.IfExp(test=test, body=body, orelse=other), depth)

    def call_clip(self, arguments: list[ast.expr], depth: int) -> Part:
        import numpy as np

        self.require(arguments, "clip", 3)
        values, low, high = (self.numbers(each, depth) for each in arguments)
        return Part("number", lambda rows: np.clip(values(rows), low(rows), high(rows)))

    def call_norm(self, arguments: list[ast.expr], depth: int) -> Part:
        """Return the length of a vector, or of several numbers."""
        import numpy as np

        if len(arguments) == 1:
            part = self.part(arguments[0], depth)
            if part.kind != "vector":
                raise self.wrong(f"norm(): '{shown(self.text(arguments[0]))}' is no vector")
            of = part.of

            def length(rows: slice) -> Values:
                block = np.asarray(of(rows), np.float64)
                return np.sqrt(np.einsum("ij,ij->i", block, block))

            return Part("number", length)
        parts = [self.numbers(each, depth) for each in arguments]
        if not parts:
            raise self.wrong("norm() takes a vector, or several numbers")
        return Part("number", lambda rows: np.sqrt(sum(np.square(each(rows)) for each in parts)))

    def call_every(self, arguments: list[ast.expr], depth: int) -> Part:
        """Return whether a particle is one in n, by its number."""
        self.require(arguments, "every", 1)
        step = self.part(arguments[0], depth).constant
        if type(step) is not int or step < 1:
            raise self.wrong("every() takes a whole number from 1: every 10")
        index = self.column("index").of
        return Part("truth", lambda rows: index(rows) % step == 0)

    def call_random(self, arguments: list[ast.expr], depth: int) -> Part:
        """Return whether a particle is in a share that a hash of its number and a seed picks."""
        if len(arguments) not in (1, 2):
            raise self.wrong("random() takes the share to keep and a seed: random(0.1, 7)")
        given = [self.part(each, depth).constant for each in arguments]
        share, seed = given[0], given[1] if len(given) > 1 else SEED
        if not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
            raise self.wrong("random() takes the share to keep, 0 to 1: random 0.1")
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise self.wrong("random(): the seed is a whole number of 0 to 4294967295")
        index = self.column("index").of
        return Part("truth", lambda rows: _uniform(index(rows), seed) < share)

    def call_connected(self, arguments: list[ast.expr], depth: int) -> Part:
        """Return whether bonds connect a particle to one that fulfils a condition, or it does."""
        if len(arguments) not in (1, 2):
            raise self.wrong("connected() takes a condition, and how many bonds may lie between")
        most = None if len(arguments) == 1 else self.part(arguments[1], depth).constant
        if len(arguments) == 2 and (type(most) is not int or not 1 <= most <= MOST_STEPS):
            raise self.wrong(f"connected(): the number of bonds is 1 to {MOST_STEPS:,}")
        found = connected(self.whole_truth(arguments[0], depth), self.pairs(), most)
        return Part("truth", lambda rows: found[rows])

    def call_bonded(self, arguments: list[ast.expr], depth: int) -> Part:
        """Return whether a particle has a bond to one that fulfils a condition."""
        self.require(arguments, "bonded", 1)
        found = neighbours(self.whole_truth(arguments[0], depth), self.pairs())
        return Part("truth", lambda rows: found[rows])

    def whole_truth(self, node: ast.expr, depth: int) -> NDArray[np.bool_]:
        """Return a condition of all particles, bool (N,)."""
        import numpy as np

        count, of = self.source.count, self.truth(node, depth)
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(of(slice(0, count)), (count,)), np.bool_)

    def pairs(self) -> NDArray[Any]:
        """Return the bonds of all particles."""
        try:
            return self.source.pairs()
        except SceneError as error:
            raise self.wrong(str(error)) from None

    def require(self, arguments: list[ast.expr], name: str, count: int) -> None:
        """Refuse another number of arguments."""
        if len(arguments) != count:
            raise self.wrong(
                f"{name}() takes {count} argument{'s'[: count - 1]}, not {len(arguments)}"
            )


_OTHER_NAMES = {
    "absolute": "abs",
    "fabs": "abs",
    "ln": "log",
    "minimum": "min",
    "maximum": "max",
    "length": "norm",
    "mag": "norm",
    "average": "mean",
}

_NODES: dict[type[ast.expr], Callable[[_Compiler, Any, int], Part]] = {
    ast.Name: _Compiler.name,
    ast.Attribute: _Compiler.attribute,
    ast.Subscript: _Compiler.subscript,
    ast.Constant: _Compiler.constant,
    ast.List: _Compiler.items,
    ast.Tuple: _Compiler.items,
    ast.Set: _Compiler.items,
    ast.BinOp: _Compiler.binary,
    ast.UnaryOp: _Compiler.unary,
    ast.BoolOp: _Compiler.boolean,
    ast.Compare: _Compiler.comparison,
    ast.IfExp: _Compiler.choice,
    ast.Call: _Compiler.call,
}


def _constant(value: float) -> Part:
    return Part("number", lambda rows: value, value)


def _is_two(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 2


def _uniform(index: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each index: a hash (splitmix64), the same everywhere."""
    import numpy as np

    word = (index.astype(np.uint64) + np.uint64(1 + (seed << 31))) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = (word ^ (word >> np.uint64(31))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53
