"""Expressions over columns: `sqrt(vx**2 + vy**2)`, `type == 'O' and z > 3`.

Python's parser builds the tree; NumPy evaluates the node types listed here, block by block on all
threads. Nothing else is compiled or called, so that text from a file or a command line cannot run
code. (numexpr uses `eval` after a search for suspicious text, and cannot compare texts of different
length.)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError, shown, suggestion
from raytracer.scene.arrays import each_block
from raytracer.scene.coloring.atoms import is_selection, rows_of_atoms

if TYPE_CHECKING:
    from raytracer.scene.columns import Columns

MAX_LETTERS = 2000
MAX_DEPTH = 40

SEED = 0


class Texts(NamedTuple):
    """A column of texts with few distinct values: `names`, and int32 (N,) indices into them."""

    names: list[str]
    ids: NDArray[np.int32]


def evaluate(text: str, source: Columns, place: str) -> NDArray[Any]:
    """Evaluate an expression over columns: numbers, or truth values of a condition, (N,).

    A column name is valid as it stands, whatever characters it has; a single column keeps its type
    and is not copied. place: prefix of messages: "select".
    """
    evaluator = _Evaluator(text, source, place)
    with np.errstate(all="ignore"):
        column = evaluator.lone_column()
        value = evaluator.value(evaluator.tree, slice(0, 0)) if column is None else column
    kind = _kind(value)
    if kind == "vector":
        raise SceneError(
            f"{place}: '{shown(text)}' has several numbers for each particle: take one of them, "
            f"'{shown(text)}[0]', or their length, 'norm({shown(text)})'"
        )
    if kind not in ("number", "truth"):
        raise SceneError(f"{place}: '{shown(text)}' is not a number")
    if column is not None:
        return column
    result = np.empty(source.count, bool if kind == "truth" else np.float64)

    def work(rows: slice) -> None:
        result[rows] = evaluator.value(evaluator.tree, rows)

    each_block(source.count, work)
    return result


def rows_of(condition: str, columns: Columns, place: str) -> NDArray[np.intp]:
    """Return the indices of rows that fulfil a condition, or that a selection of atoms takes."""
    if is_selection(condition, columns):
        return rows_of_atoms(condition, columns, place)
    chosen = evaluate(condition, columns, place)
    if chosen.dtype != bool:
        text = shown(condition)
        raise SceneError(f"{place}: '{text}' is not a condition; compare it, as in '{text} > 0'")
    return np.flatnonzero(chosen)


def texts_of(text: str, source: Columns) -> Texts | None:
    """Return the text column that an expression names, or None."""
    name = _without_quotes(text)
    column = source.value(name) if source.has(name) else None
    return column if isinstance(column, Texts) else None


def names_in(text: str) -> list[str]:
    """Return the column names in an expression; none if it is invalid."""
    names = [_without_quotes(text)]
    try:
        tree, quoted = _parsed(text)
    except _MISTAKES:
        return names
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.append(quoted.get(node.id, node.id))
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            names.append(ast.unparse(node))
    return list(dict.fromkeys(names))


_MISTAKES = (SyntaxError, ValueError, RecursionError, MemoryError)


def _parsed(text: str) -> tuple[ast.expr, dict[str, str]]:
    """Return the tree of an expression, where "every 10" and "random 0.1" become calls, and the
    quoted column names by their names in the tree."""
    quoted: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        name = f"_column_{len(quoted)}_"
        quoted[name] = match[1]
        return name

    text = re.sub(r"`([^`]+)`", plain, text)
    text = re.sub(r"(?<![\w.'\"])(every|random)\s+(\d[\d.e-]*)", r"\1(\2)", text)
    return ast.parse(text.strip(), mode="eval").body, quoted


def _without_quotes(text: str) -> str:
    text = text.strip()
    bare = text[1:-1]
    return bare if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in bare else text


def _problem(text: str, error: BaseException) -> str:
    if re.search(r"(?<![=<>!:])=(?!=)", text):
        return ": to compare, write =="
    if isinstance(error, SyntaxError) and error.msg:
        return f": {error.msg.split('(')[0].strip()}; write for example z > 2 and type == 1"
    return ": it is nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else ""


def _kind(value: Any) -> str:
    """Return "number", "truth", "vector", "text" (a constant), "texts" (a column) or "list"."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, (Texts, list)):
        return "texts" if isinstance(value, Texts) else "list"
    array = np.asarray(value)
    if array.ndim > 1:
        return "vector"
    return "truth" if array.dtype.kind == "b" else "number"


_COMPARISONS: dict[type[ast.cmpop], np.ufunc] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}

_OPERATORS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
    ast.Pow: np.power,
}

_LOGIC: dict[type[ast.operator | ast.boolop], np.ufunc] = {
    ast.BitAnd: np.logical_and,
    ast.BitOr: np.logical_or,
    ast.BitXor: np.logical_xor,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "abs", "sqrt", "cbrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "hypot", "floor", "ceil", "sign", "degrees", "radians", "isnan", "isfinite", "clip",
    )},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "pow": np.power,
    "round": np.rint, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
"""Functions per particle."""

_COUNTS = {"atan2": 2, "hypot": 2, "pow": 2, "min": 2, "max": 2, "clip": 3, "where": 3}
"""Number of arguments of functions that do not take exactly one."""

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "mean": np.mean, "median": np.median, "std": np.std, "sum": np.sum, "min": np.min,
    "max": np.max,
}  # fmt: skip
"""Functions over all particles."""

_OTHERS = ("where", "norm", "every", "random")

_SYNONYMS = {
    "absolute": "abs", "fabs": "abs", "ln": "log", "minimum": "min", "maximum": "max",
    "length": "norm", "mag": "norm", "average": "mean",
}  # fmt: skip

_CONSTANTS = {"pi": np.pi, "nan": float("nan"), "inf": float("inf")}


class _Evaluator:
    """Evaluates one expression, block by block; what does not depend on the block is computed once,
    with the first (empty) one."""

    def __init__(self, text: str, source: Columns, place: str) -> None:
        self.source, self.place = source, place
        self.kept: dict[Hashable, Any] = {}
        self.tree: ast.expr
        self.quoted: dict[str, str]
        if len(text) > MAX_LETTERS:
            raise self.wrong(f"is longer than {MAX_LETTERS:,} letters")
        if source.has(name := _without_quotes(text)):
            self.quoted, self.tree = {"_": name}, ast.Name("_")  # a name may have any characters
            return
        try:
            self.tree, self.quoted = _parsed(text)
        except _MISTAKES as error:
            problem = f"'{shown(text)}' is not a valid expression{_problem(text, error)}"
            raise self.wrong(problem) from None
        level: list[ast.AST] = [self.tree]
        for _ in range(MAX_DEPTH + 1):
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        if any(isinstance(node, ast.expr) for node in level):
            raise self.wrong(f"has more than {MAX_DEPTH} nested operations")

    def wrong(self, problem: str) -> SceneError:
        return SceneError(f"{self.place}: {problem}")

    def text(self, node: ast.expr) -> str:
        """Return a node as the user wrote it, for a message."""
        text = ast.unparse(node)
        for name, column in self.quoted.items():
            text = text.replace(name, f"`{column}`")
        return shown(text)

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return a value shared by all blocks; compute it at first use."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def lone_column(self) -> NDArray[Any] | None:
        """Return the column or component that is the whole expression, else None."""
        node = self.tree
        if isinstance(node, ast.Name) and not self.is_constant(self.quoted.get(node.id, node.id)):
            column = self.column(self.quoted.get(node.id, node.id))
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            column = self.value(node, slice(None))
        else:
            return None
        return None if isinstance(column, Texts) else column

    def value(self, node: ast.expr, rows: slice) -> Any:
        evaluate_node = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if evaluate_node is None:
            raise self.wrong(
                f"'{self.text(node)}' is not allowed in an expression; use numbers, "
                "texts, columns, + - * / // % **, == != < <= > >=, in, and, or, not, and functions"
            )
        return evaluate_node(node, rows)

    def numbers(self, node: ast.expr, rows: slice) -> NDArray[np.float64]:
        return self.as_numbers(node, self.value(node, rows))

    def as_numbers(self, node: ast.expr, value: Any) -> NDArray[np.float64]:
        if (kind := _kind(value)) not in ("number", "truth"):
            problem = "is text; only ==, != and in compare texts"
            if kind == "vector":
                problem = "has several numbers for each particle: use norm() or [0]"
            raise self.wrong(f"'{self.text(node)}' {problem}")
        return np.asarray(value, np.float64)

    def truth(self, node: ast.expr, rows: slice) -> Any:
        value = self.value(node, rows)
        if _kind(value) != "truth":
            text = self.text(node)
            raise self.wrong(f"'{text}' is no condition; compare it, for example '{text} > 0'")
        return value

    def column(self, name: str) -> Any:
        try:
            return self.once(name, lambda: self.source.value(name))
        except SceneError as error:
            raise self.wrong(str(error)) from None

    def is_constant(self, name: str) -> bool:
        return name in _CONSTANTS and not self.source.has(name)

    def on_name(self, node: ast.Name, rows: slice) -> Any:
        name = self.quoted.get(node.id, node.id)
        return _CONSTANTS[name] if self.is_constant(name) else self.rows_of(name, rows)

    def rows_of(self, name: str, rows: slice) -> Any:
        column = self.column(name)
        if isinstance(column, Texts):
            return Texts(column.names, column.ids[rows])
        return column[rows]

    def on_attribute(self, node: ast.Attribute, rows: slice) -> Any:
        return self.rows_of(ast.unparse(node), rows)

    def on_subscript(self, node: ast.Subscript, rows: slice) -> Any:
        """Return a column whose name has brackets, or one component of a vector."""
        text = ast.unparse(node)
        if self.source.has(text):
            return self.rows_of(text, rows)
        base, index = self.value(node.value, rows), node.slice
        if _kind(base) != "vector":
            raise self.wrong(f"'{self.text(node.value)}' is no vector")
        width = base.shape[1]
        if not isinstance(index, ast.Constant) or type(index.value) is not int:
            raise self.wrong(f"'{shown(text)}': number the components 0 to {width - 1}")
        if not 0 <= index.value < width:
            raise self.wrong(f"'{shown(text)}': the components are 0 to {width - 1}")
        return base[:, index.value]

    def on_constant(self, node: ast.Constant, rows: slice) -> Any:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise self.wrong(f"'{self.text(node)}' cannot stand in an expression")
        if isinstance(value, int) and abs(value) >= 2**63:
            try:
                return float(value)
            except OverflowError:
                raise self.wrong("a number is out of range") from None
        return value

    def on_list(self, node: ast.List | ast.Tuple | ast.Set, rows: slice) -> Any:
        values = [self.value(each, rows) for each in node.elts]
        if not all(isinstance(value, (int, float, str)) for value in values):
            raise self.wrong(f"'{self.text(node)}': a list holds only numbers or only texts")
        if len({isinstance(value, str) for value in values}) > 1:
            raise self.wrong(f"'{self.text(node)}' mixes numbers and texts")
        return values

    on_tuple = on_set = on_list

    def on_binop(self, node: ast.BinOp, rows: slice) -> Any:
        if logic := _LOGIC.get(type(node.op)):
            return logic(self.truth(node.left, rows), self.truth(node.right, rows))
        operate = _OPERATORS.get(type(node.op))
        if operate is None:
            raise self.wrong(f"'{self.text(node)}' cannot stand in an expression")
        left, right = self.value(node.left, rows), self.value(node.right, rows)
        keeps_integers = operate in (np.remainder, np.floor_divide)
        if not (keeps_integers and _kind(left) == _kind(right) == "number"):
            left, right = self.as_numbers(node.left, left), self.as_numbers(node.right, right)
        is_square = isinstance(node.right, ast.Constant) and node.right.value == 2
        return np.square(left) if operate is np.power and is_square else operate(left, right)

    def on_unaryop(self, node: ast.UnaryOp, rows: slice) -> Any:
        if isinstance(node.op, (ast.Not, ast.Invert)):
            return np.logical_not(self.truth(node.operand, rows))
        value = self.value(node.operand, rows)
        if type(value) not in (int, float):
            value = self.as_numbers(node.operand, value)
        return value if isinstance(node.op, ast.UAdd) else -value

    def on_boolop(self, node: ast.BoolOp, rows: slice) -> Any:
        return _chain(_LOGIC[type(node.op)], [self.truth(each, rows) for each in node.values])

    def on_compare(self, node: ast.Compare, rows: slice) -> Any:
        """Evaluate a comparison or a chain of them: 1 < z < 3."""
        sides = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        return _chain(np.logical_and, [self.compared(*each, rows) for each in sides])

    def compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, rows: slice) -> Any:
        one, other = self.value(left, rows), self.value(right, rows)
        if isinstance(operator, (ast.In, ast.NotIn)):
            if not isinstance(other, list):
                raise self.wrong(f"'{self.text(right)}' is not a list: write in [1, 2, 3]")
            return self.among(left, one, right, other, isinstance(operator, ast.In))
        compare = _COMPARISONS.get(type(operator))
        if compare is None:
            raise self.wrong("'is' is not allowed in an expression; write ==")
        equals = compare in (np.equal, np.not_equal)
        kinds = _kind(one), _kind(other)
        if (kinds[1] == "texts" != kinds[0]) or (kinds == ("text", "number") and equals):
            (one, left), (other, right), kinds = (other, right), (one, left), kinds[::-1]
        if kinds[0] == "texts" and kinds[1] in ("text", "number", "list"):
            if not equals or kinds[1] == "list":
                problem = "is text; compare it with texts by ==, != or in"
                raise self.wrong(f"'{self.text(left)}' {problem}")
            return self.among(left, one, right, [other], compare is np.equal)
        if kinds == ("number", "text") and equals:
            return self.among(left, one, right, [other], compare is np.equal)
        if {*kinds} & {"text", "texts", "list"}:
            side = left if kinds[0] not in ("text", "texts", "list") else right
            raise self.wrong(f"'{self.text(side)}' holds no texts; compare it with a number")
        if "vector" in kinds:
            side = left if kinds[0] == "vector" else right
            raise self.wrong(f"'{self.text(side)}' is a vector: use norm() or [0]")
        return compare(one, other)

    def among(
        self, left: ast.expr, value: Any, right: ast.expr, wanted: list[Any], inside: bool
    ) -> Any:
        """Return whether values are in a list, or with `inside` false, are not."""
        if isinstance(value, Texts):
            texts = {f"{each:.15g}" if isinstance(each, float) else str(each) for each in wanted}
            chosen = self.once((left, right), lambda: np.array(
                [(name in texts) == inside for name in value.names] + [False]
            ))  # fmt: skip
            return chosen[value.ids]
        try:  # types of some files are numbers, of others texts
            numbers = np.array([float(each) if isinstance(each, str) else each for each in wanted])
        except ValueError:
            numbers = None
        if _kind(value) != "number" or numbers is None:
            raise self.wrong(f"'{self.text(left)}' holds no texts; compare it with numbers")
        return np.isin(value, numbers, invert=not inside)

    def on_ifexp(self, node: ast.IfExp, rows: slice) -> Any:
        return self.call_where([node.test, node.body, node.orelse], rows)

    def on_call(self, node: ast.Call, rows: slice) -> Any:
        arguments, name = node.args, node.func.id if isinstance(node.func, ast.Name) else ""
        name = f"a{name[3:]}" if name.startswith("arc") else name
        name = _SYNONYMS.get(name, name)
        if node.keywords or any(isinstance(each, ast.Starred) for each in arguments):
            raise self.wrong(f"'{self.text(node)}': give arguments without names")
        if name in _REDUCTIONS and len(arguments) == 1:
            return self.once(node, lambda: self.reduced(_REDUCTIONS[name], arguments[0]))
        known = [*_FUNCTIONS, *_REDUCTIONS, *_OTHERS]
        if name not in known:
            called = self.text(node.func)
            raise self.wrong(f"there is no function '{called}'; {suggestion(name, known)}")
        count, wanted = len(arguments), _COUNTS.get(name, 1)
        is_free = name in ("norm", "random") or (name in ("min", "max") and count > 2)
        if count != wanted and not is_free:
            raise self.wrong(f"{name}() takes {wanted} argument{'s'[: wanted - 1]}, not {count}")
        if name in _OTHERS:
            return getattr(self, f"call_{name}")(arguments, rows)
        values = [self.numbers(each, rows) for each in arguments]
        function = _FUNCTIONS[name]
        return _chain(function, values) if name in ("min", "max") else function(*values)

    def reduced(self, function: Callable[..., Any], argument: ast.expr) -> float:
        """Reduce the finite numbers of all particles to one."""
        numbers = self.numbers(argument, slice(0, self.source.count))
        every = np.broadcast_to(numbers, self.source.count)
        every = every[np.isfinite(every)]
        return float(function(every)) if every.size else 0.0

    def call_where(self, arguments: list[ast.expr], rows: slice) -> Any:
        test, body, other = arguments
        condition = self.truth(test, rows)
        return np.where(condition, self.numbers(body, rows), self.numbers(other, rows))

    def call_norm(self, arguments: list[ast.expr], rows: slice) -> Any:
        """Return the length of a vector, or of several numbers."""
        if not arguments:
            raise self.wrong("norm() takes a vector, or several numbers")
        if len(arguments) > 1:
            return np.sqrt(sum(np.square(self.numbers(each, rows)) for each in arguments))
        value = self.value(arguments[0], rows)
        if _kind(value) != "vector":
            raise self.wrong(f"norm(): '{self.text(arguments[0])}' is no vector")
        block = np.asarray(value, np.float64)
        return np.sqrt(np.einsum("ij,ij->i", block, block))

    def call_every(self, arguments: list[ast.expr], rows: slice) -> Any:
        """Return whether the index of a particle is a multiple of n."""
        step = self.value(arguments[0], rows)
        if type(step) is not int or step < 1:
            raise self.wrong("every() takes a whole number from 1: every 10")
        return self.column("index")[rows] % step == 0

    def call_random(self, arguments: list[ast.expr], rows: slice) -> Any:
        """Return whether a particle is in a random fraction, chosen by a hash of index and seed."""
        if len(arguments) not in (1, 2):
            raise self.wrong("random() takes the fraction to keep and a seed: random(0.1, 7)")
        share, seed = [*(self.value(each, rows) for each in arguments), SEED][:2]
        if not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
            raise self.wrong("random() takes the fraction to keep, 0 to 1: random 0.1")
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise self.wrong("random(): the seed is a whole number from 0 to 4294967295")
        return _uniform(self.column("index")[rows], seed) < share


def _chain(function: Callable[..., Any], values: list[Any]) -> Any:
    """Fold values with a binary function, from left to right."""
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result


def _uniform(index: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each index: a hash (splitmix64), the same on all machines."""
    word = (index.astype(np.uint64) + np.uint64(1 + (seed << 31))) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = (word ^ (word >> np.uint64(31))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53
