"""Expressions over columns: `sqrt(vx**2 + vy**2)`, `type == 'O' and z > 3`.

Python's parser builds the tree; NumPy evaluates the node types listed here, block by block on all
threads. Nothing else is compiled or called, so that text from a file or a command line cannot run
code. (numexpr uses `eval` after a search for suspicious text, and cannot compare texts of different
length.)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.atoms import is_selection, select_atoms
from raytracer.config.errors import SceneError, pluralize, quote, suggest
from raytracer.model.arrays import for_each_block

if TYPE_CHECKING:
    from raytracer.appearance.columns import Columns

ALL = slice(None)
MAX_LETTERS = 200_000  # of an expression: a list of some 25,000 numbers
MAX_DEPTH = 200  # nested operations, which are evaluated by recursion


class Texts(NamedTuple):
    """A column of texts with few distinct values: `names`, and int32 (N,) indices into them."""

    names: list[str]
    ids: NDArray[np.int32]


def evaluate(text: str, source: Columns, place: str) -> NDArray[Any]:
    """Evaluate an expression over columns: numbers, or truth values of a condition, (N,). A column
    name is valid whatever characters it has, and alone keeps its type and is not copied."""
    evaluator = _Evaluator(text, source, place)
    tree = evaluator.tree
    is_column = isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript))
    try:
        with np.errstate(all="ignore"):
            value = evaluator.value(tree, ALL if is_column else slice(0, 0))
        evaluator.check(tree, value)
    except RecursionError:
        raise evaluator.wrong(TOO_DEEP) from None
    if is_column and isinstance(value, np.ndarray):
        return value
    result = np.empty(source.count, bool if _value_kind(value) == "truth" else np.float64)

    def work(rows: slice) -> None:
        result[rows] = evaluator.value(tree, rows)

    for_each_block(source.count, work)
    return result


def select_rows(condition: str, columns: Columns, place: str) -> NDArray[np.intp]:
    """Return the indices of rows that fulfil a condition, or that a selection of atoms takes."""
    if len(condition) <= MAX_LETTERS and is_selection(condition, columns):
        return select_atoms(condition, columns, place)
    chosen = evaluate(condition, columns, place)
    if chosen.dtype != bool:
        text = quote(condition)
        raise SceneError(f"{place}: '{text}' is not a condition; compare it, as in '{text} > 0'")
    return np.flatnonzero(chosen)


def find_text_column(text: str, source: Columns) -> Texts | None:
    """Return the text column that an expression names, or None."""
    name = _unquote(text)
    column = source.value(name) if name in source else None
    return column if isinstance(column, Texts) else None


def find_column_names(text: str) -> list[str]:
    """Return the column names in an expression; none if it is invalid."""
    names = [_unquote(text)]
    try:
        nodes = ast.walk(_parse_expression(text))
        kinds = ast.Name, ast.Attribute, ast.Subscript
        names += [ast.unparse(node) for node in nodes if isinstance(node, kinds)]
    except _MISTAKES:
        pass
    return list(dict.fromkeys(names))


TOO_DEEP = (
    f"has too many nested operations: at most {MAX_DEPTH} are possible; use 'in [1, 2, 3]' for "
    "many values, or add a column to the file"
)
_MISTAKES = (SyntaxError, ValueError, RecursionError, MemoryError)


def _parse_expression(text: str) -> ast.expr:
    """Return the tree of an expression, where "every 10" and "random 0.1" become calculations, and
    names are those of columns, whatever characters they have. Raises _MISTAKES."""
    if len(text) > MAX_LETTERS:
        raise ValueError
    quoted: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        name = f"_column_{len(quoted)}_"
        quoted[name] = match[1]
        return name

    text = re.sub(r"`([^`]+)`", plain, text)
    text = re.sub(r"(?<![\w.'\"])every\s+([1-9]\d*)(?![\w.])", r"(index % \1 == 0)", text)
    text = re.sub(r"(?<![\w.'\"])random\s+(\d[\d.e-]*)", r"random(\1)", text)
    tree = ast.parse(text.strip(), mode="eval").body
    nodes: list[tuple[ast.AST, int]] = [(tree, 0)]
    while nodes:
        node, depth = nodes.pop()
        if depth > MAX_DEPTH:
            raise RecursionError
        if isinstance(node, ast.Name):
            node.id = quoted.get(node.id, node.id)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            node.value = _to_small_number(node.value)
        nodes += ((each, depth + 1) for each in ast.iter_child_nodes(node))
    return tree


def _to_small_number(number: int) -> int | float:
    """Return an integer, or its floating-point number if it has more than 64 bits: those of
    thousands of digits cannot be printed."""
    if number < 2**63:
        return number
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _unquote(text: str) -> str:
    text = text.strip()
    bare = text[1:-1]
    return bare if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in bare else text


def _value_kind(value: Any) -> str:
    """Return "number", "truth", "vector", "text" (a constant or a column) or "list"."""
    if isinstance(value, (str, Texts)):
        return "text"
    array = np.asarray(value)
    if isinstance(value, list) or array.ndim > 1:
        return "list" if isinstance(value, list) else "vector"
    return "truth" if array.dtype.kind == "b" else "number"


def _node_text(node: ast.expr) -> str:
    try:
        return quote(ast.unparse(node))
    except RecursionError:
        return "..."


_IN_PLACE_OF_NUMBERS = {
    "text": "is text; compare it with texts by ==, != or in",
    "list": "is a list; write in [1, 2, 3]",
    "vector": "has several numbers for each particle: take their length, norm(), or one of them, "
    "as in v[0]",
}
"""What is wrong with other kinds where a number belongs."""

_OPERATORS: dict[type[ast.AST], np.ufunc] = {
    ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.Lt: np.less, ast.LtE: np.less_equal,
    ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide, ast.Mod: np.remainder, ast.Pow: np.power,
}  # fmt: skip

_LOGIC: dict[type[ast.AST], np.ufunc] = {
    ast.And: np.logical_and, ast.Or: np.logical_or,
    ast.BitAnd: np.logical_and, ast.BitOr: np.logical_or, ast.BitXor: np.logical_xor,
}  # fmt: skip

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "abs", "sqrt", "cbrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "arcsin",
        "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "hypot", "floor", "ceil", "sign",
        "degrees", "radians", "isnan", "isfinite", "clip",
    )},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "ln": np.log,
    "pow": np.power, "round": np.rint, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
"""Functions per particle."""

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "mean": np.mean, "median": np.median, "std": np.std, "sum": np.sum, "min": np.min,
    "max": np.max,
}  # fmt: skip
"""Functions over all particles."""

_CONSTANTS = {"pi": np.pi, "nan": float("nan"), "inf": float("inf")}


class _Evaluator:
    """Evaluates one expression, block by block; what does not depend on the block is computed once,
    with the first (empty) one."""

    def __init__(self, text: str, source: Columns, place: str) -> None:
        self.source, self.place = source, place
        self.kept: dict[Hashable, Any] = {}
        self.calls: dict[str, tuple[Callable[..., Any], int, int]] = {
            "where": (self.where, 3, 3), "norm": (self.norm, 1, 1), "random": (self.random, 1, 2)
        }  # fmt: skip
        try:
            name = _unquote(text)
            self.tree = ast.Name(name) if name in source else _parse_expression(text)
        except (RecursionError, MemoryError):
            raise self.wrong(TOO_DEEP) from None
        except _MISTAKES:
            if len(text) > MAX_LETTERS:
                raise self.wrong(
                    f"has {len(text):,} letters, more than the {MAX_LETTERS:,} of the longest "
                    "expression: add a column to the file"
                ) from None
            raise self.wrong(
                f"'{quote(text)}' is not a valid expression; write for example z > 2 and type == 1 "
                "or every 10"
            ) from None

    def wrong(self, problem: str) -> SceneError:
        return SceneError(f"{self.place}: {problem}")

    def compute_once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return a value shared by all blocks; compute it at first use."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def value(self, node: ast.expr, rows: slice) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() as value) if type(value) is not bool:
                return value
            case ast.Name(id=name):
                is_constant = name in _CONSTANTS and name not in self.source
                return _CONSTANTS[name] if is_constant else self.column(name, rows)
            case ast.Attribute():
                return self.column(ast.unparse(node), rows)
            case ast.Subscript():
                return self.component(node, rows)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                values = [self.value(each, rows) for each in elements]
                if not all(isinstance(value, (int, float, str)) for value in values):
                    raise self.wrong(f"'{_node_text(node)}': a list holds numbers or texts")
                return values
            case ast.BinOp() if type(node.op) in _LOGIC:
                return self.logic(node.op, [node.left, node.right], rows)
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return self.arithmetic(node, rows)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return np.logical_not(self.truth(operand, rows))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                number: Any = self.value(operand, rows)
                if type(number) not in (int, float):
                    number = np.asarray(self.check(operand, number), np.float64)
                return -number if isinstance(node.op, ast.USub) else number
            case ast.BoolOp(op=op, values=values):
                return self.logic(op, values, rows)
            case ast.Compare():
                return reduce(np.logical_and, self.comparisons(node, rows))
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.where(rows, test, body, other)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call_function(node, name, arguments, rows)
        raise self.wrong(
            f"'{_node_text(node)}' is not allowed in an expression; use numbers, "
            "texts, columns, + - * / // % **, == != < <= > >=, in, and, or, not, and functions"
        )

    def check(self, node: ast.expr, value: Any) -> Any:
        """Return a number or truth value of each particle."""
        if problem := _IN_PLACE_OF_NUMBERS.get(_value_kind(value)):
            raise self.wrong(f"'{_node_text(node)}' {problem}")
        return value

    def numbers(self, node: ast.expr, rows: slice) -> NDArray[np.float64]:
        return np.asarray(self.check(node, self.value(node, rows)), np.float64)

    def truth(self, node: ast.expr, rows: slice) -> Any:
        value = self.value(node, rows)
        if _value_kind(value) != "truth":
            text = _node_text(node)
            raise self.wrong(f"'{text}' is no condition; compare it, for example '{text} > 0'")
        return value

    def column(self, name: str, rows: slice) -> Any:
        try:
            column = self.compute_once(name, lambda: self.source.value(name))
        except SceneError as error:
            raise self.wrong(str(error)) from None
        if isinstance(column, Texts):
            return Texts(column.names, column.ids[rows])
        return column if rows == ALL else column[rows]

    def component(self, node: ast.Subscript, rows: slice) -> Any:
        """Return a column whose name has brackets, or one component of a vector."""
        if ast.unparse(node) in self.source:
            return self.column(ast.unparse(node), rows)
        base, index = self.value(node.value, rows), getattr(node.slice, "value", None)
        if _value_kind(base) != "vector":
            raise self.wrong(f"'{_node_text(node.value)}' is no vector")
        if type(index) is not int or not 0 <= index < base.shape[1]:
            raise self.wrong(f"'{_node_text(node)}': the components are 0 to {base.shape[1] - 1}")
        return base[:, index]

    def logic(self, op: ast.AST, conditions: list[ast.expr], rows: slice) -> Any:
        return reduce(_LOGIC[type(op)], (self.truth(each, rows) for each in conditions))

    def arithmetic(self, node: ast.BinOp, rows: slice) -> Any:
        operate = _OPERATORS[type(node.op)]
        left, right = self.value(node.left, rows), self.value(node.right, rows)
        keeps_integers = operate in (np.remainder, np.floor_divide)
        if operate in (np.add, np.subtract) and _are_integers(left, right):
            return _add_exactly(operate, left, right)
        if not (keeps_integers and _value_kind(left) == _value_kind(right) == "number"):
            left = np.asarray(self.check(node.left, left), np.float64)
            right = np.asarray(self.check(node.right, right), np.float64)
        is_square = isinstance(node.right, ast.Constant) and node.right.value == 2
        return np.square(left) if operate is np.power and is_square else operate(left, right)

    def comparisons(self, node: ast.Compare, rows: slice) -> Iterator[Any]:
        """Yield the truth of each comparison of a chain, whose operands are evaluated once."""
        left, one = node.left, self.value(node.left, rows)
        for op, right in zip(node.ops, node.comparators, strict=True):
            other = self.value(right, rows)
            yield self.compare(left, one, op, right, other)
            left, one = right, other

    def compare(self, left: ast.expr, one: Any, op: ast.cmpop, right: ast.expr, other: Any) -> Any:
        if isinstance(one, str):
            (left, one), (right, other) = (right, other), (left, one)
        is_in = isinstance(op, (ast.In, ast.NotIn)) and isinstance(other, list)
        has_text = isinstance(other, str) or (isinstance(one, Texts) and np.isscalar(other))
        if is_in or (has_text and isinstance(op, (ast.Eq, ast.NotEq))):
            wanted = other if is_in else [other]
            return self.is_among(left, one, wanted, isinstance(op, (ast.In, ast.Eq)))
        compare = _OPERATORS.get(type(op))
        if compare is None:
            raise self.wrong("'in' needs a list, as in [1, 2, 3], and 'is' is written ==")
        return compare(self.check(left, one), self.check(right, other))

    def is_among(self, node: ast.expr, value: Any, wanted: list[Any], inside: bool) -> Any:
        """Return whether values are in a list, or with `inside` false, are not."""
        if isinstance(value, Texts):
            texts = {f"{each:.15g}" if isinstance(each, float) else str(each) for each in wanted}
            chosen = self.compute_once((node, inside, *wanted), lambda: np.array(
                [(name in texts) == inside for name in value.names] + [False]
            ))  # fmt: skip
            return chosen[value.ids]
        try:  # types of some files are numbers, of others texts
            numbers = np.array([float(each) if isinstance(each, str) else each for each in wanted])
        except ValueError:
            raise self.wrong(
                f"'{_node_text(node)}' holds no texts; compare it with numbers"
            ) from None
        return np.isin(self.check(node, value), numbers, invert=not inside)

    def call_function(
        self, node: ast.Call, name: str, arguments: list[ast.expr], rows: slice
    ) -> Any:
        if node.keywords or any(isinstance(each, ast.Starred) for each in arguments):
            raise self.wrong(f"'{_node_text(node)}': give arguments without names")
        if name in _REDUCTIONS and len(arguments) == 1:
            return self.compute_once(
                node, lambda: self.reduce_values(_REDUCTIONS[name], arguments[0])
            )
        if name in self.calls:
            call, least, most = self.calls[name]
        elif name in _FUNCTIONS:
            call = _FUNCTIONS[name]
            least = getattr(call, "nin", 3)  # 3: clip
            most = len(arguments) if name in ("min", "max") else least
        else:
            known = [*_FUNCTIONS, *_REDUCTIONS, *self.calls, "every 10"]
            raise self.wrong(f"there is no function '{quote(name)}'; {suggest(name, known)}")
        if not least <= len(arguments) <= most:
            raise self.wrong(f"{name}() takes {pluralize(least, 'argument')}, not {len(arguments)}")
        if name in self.calls:
            return call(rows, *arguments)
        values = [self.numbers(each, rows) for each in arguments]
        return reduce(call, values) if least == 2 else call(*values)

    def reduce_values(self, function: Callable[..., Any], argument: ast.expr) -> float:
        """Reduce the finite numbers of all particles to one."""
        value = self.value(argument, slice(0, self.source.count))
        if function in (np.min, np.max) and _are_integers(value) and np.size(value):
            return int(function(value))
        numbers = np.asarray(self.check(argument, value), np.float64)
        every = np.broadcast_to(numbers, self.source.count)
        every = every[np.isfinite(every)]
        return float(function(every)) if every.size else 0.0

    def where(self, rows: slice, test: ast.expr, body: ast.expr, other: ast.expr) -> Any:
        condition = self.truth(test, rows)
        return np.where(condition, self.numbers(body, rows), self.numbers(other, rows))

    def norm(self, rows: slice, vector: ast.expr) -> Any:
        """Return the length of a vector."""
        value = self.value(vector, rows)
        if _value_kind(value) != "vector":
            raise self.wrong(f"'{_node_text(vector)}' is no vector")
        block = np.asarray(value, np.float64)
        return np.sqrt(np.einsum("ij,ij->i", block, block))

    def random(self, rows: slice, *arguments: ast.expr) -> Any:
        """Return whether a particle is in a random fraction, chosen by a hash of index and seed."""
        share, seed = [*(self.value(each, rows) for each in arguments), 0][:2]
        is_share = isinstance(share, (int, float)) and 0.0 <= share <= 1.0
        if not is_share or type(seed) is not int or not 0 <= seed < 2**32:
            raise self.wrong(
                "random() takes the fraction to keep, 0 to 1, and a whole number as the seed: "
                "random(0.1, 7)"
            )
        return _hash_to_unit(self.column("index", rows), seed) < share


def _are_integers(*values: Any) -> bool:
    """Whether values are whole numbers, one or one of each particle."""
    if any(isinstance(value, (str, list, Texts)) for value in values):
        return False
    arrays = list(map(np.asarray, values))
    return all(array.dtype.kind in "iu" and array.ndim < 2 for array in arrays)


def _add_exactly(operate: np.ufunc, left: Any, right: Any) -> NDArray[np.float64]:
    """Return the sum or difference of whole numbers, exact up to 2^53 also if they are larger, as
    those of ids are: float64 does not hold them."""
    rough = operate(np.asarray(left, np.float64), np.asarray(right, np.float64))
    parts = (np.asarray(each).astype(np.int64) for each in (left, right))
    exact = operate(*parts).astype(np.float64)  # modulo 2^64
    return np.asarray(np.where(np.abs(rough) < 2.0**62, exact, rough))


def _hash_to_unit(index: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each index: a hash (splitmix64), the same on all machines."""
    word = (index.astype(np.uint64) + np.uint64(1 + (seed << 31))) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = (word ^ (word >> np.uint64(31))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53
