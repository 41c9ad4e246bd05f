"""Ways of calling the methods of Python's own types, written out: several for each, with the receiver made on the spot."""

from __future__ import annotations


def _methods(kind: str, receiver: str, ways: str) -> dict[str, list[str]]:
    """`append(3) | pop() | pop(0)`: the methods of a receiver, by key."""
    found: dict[str, list[str]] = {}
    for way in (each.strip() for each in ways.split("|")):
        found.setdefault(f"{kind}#{way.partition('(')[0]}", []).append(f"={receiver}.{way}")
    return found


def _operators(kind: str, ways: str) -> dict[str, list[str]]:
    """`__add__: a + b | __float__: float(a)`: what is asked without a method's name, by the method that answers."""
    found: dict[str, list[str]] = {}
    for way in (each.strip() for each in ways.split("|")):
        name, _, source = way.partition(":")
        found.setdefault(f"{kind}#{name}", []).append(f"={source.strip()}")
    return found


_HALF = "fractions.Fraction(1, 2)"
_PROXY = "types.MappingProxyType({'a': 1})"
_CHAIN = "collections.ChainMap({'a': 1}, {'b': 2})"
PYTHON: dict[str, list[str]] = {
    **_methods(
        "list",
        "[1, 2]",
        "append(3) | extend([4]) | extend((4, 5)) | insert(0, 5) | pop() | pop(0) | remove(1) | clear() | reverse() | sort() |"
        "sort(reverse=True) | sort(key=abs) | copy() | count(1) | index(2)",
    ),
    **_methods("tuple", "(1, 2)", "count(1) | index(2)"),
    **_methods(
        "dict",
        "{'a': 1}",
        "get('a') | get('z', 3) | setdefault('a', 3) | setdefault('z', 3) | update(b=2) | update({'b': 2}) | update([('b', 2)]) |"
        "update() | pop('a') | pop('z', None) | popitem() | clear() | copy() | keys() | values() | items()",
    ),
    "dict#fromkeys": ["=dict.fromkeys(['a', 'b'], 0)", "=dict.fromkeys('ab')", "=dict.fromkeys([1, 2])"],
    **_methods(
        "set",
        "{1, 2}",
        "add(3) | remove(1) | discard(9) | pop() | clear() | update([3]) | update({3}) | union({3}) | union([3]) | copy() |"
        "intersection({1}) | intersection([1]) | difference({1}) | difference([1]) | symmetric_difference({1}) | issubset({1, 2}) |"
        "issubset([1, 2]) | issuperset({1}) | issuperset([1]) | isdisjoint({9}) | isdisjoint([9]) | difference_update({1}) |"
        "intersection_update({1}) | symmetric_difference_update({1})",
    ),
    **_methods("range", "range(3)", "index(2) | count(1)"),
    **_methods("slice", "slice(0, 9)", "indices(4)"),
    **_methods(
        "collections.deque",
        "collections.deque([1, 2])",
        "append(3) | appendleft(3) | pop() | popleft() | extend([3]) | extendleft([3]) | rotate() | rotate(1) | clear() |"
        "insert(0, 3) | remove(1) | reverse() | count(1) | index(1) | copy()",
    ),
    **_methods(
        "collections.OrderedDict",
        "collections.OrderedDict(a=1, b=2)",
        "move_to_end('a') | move_to_end('b', last=False) | popitem() | popitem(last=False) | items() | keys() | values() | get('a') |"
        "get('z', 1) | pop('a') | pop('z', None) | update(c=3) | update({'c': 3}) | copy() | setdefault('a', 1) | setdefault('z', 1) |"
        "clear()",
    ),
    "collections.OrderedDict#fromkeys": ["=collections.OrderedDict.fromkeys('ab')"],
    **_methods(
        "collections.defaultdict",
        "collections.defaultdict(list)",
        "get('a') | get('z', 1) | items() | keys() | values() | update({'b': 2}) | update(b=2) | pop('z', None) | copy() |"
        "setdefault('z', 1) | clear()",
    ),
    "collections.defaultdict": [
        "=collections.defaultdict()",
        "=collections.defaultdict(int)",
        "=collections.defaultdict(lambda: 3)",
        "=collections.defaultdict(int, {'a': 1})",
        "=collections.defaultdict(int, a=1)",
    ],
    "collections.OrderedDict": [
        "=collections.OrderedDict()",
        "=collections.OrderedDict(a=1)",
        "=collections.OrderedDict({'a': 1})",
        "=collections.OrderedDict([('a', 1)])",
    ],
    "collections.deque": [
        "=collections.deque()",
        "=collections.deque([1, 2])",
        "=collections.deque([1], maxlen=3)",
        "=collections.deque(maxlen=3)",
    ],
    **_methods(
        "collections.Counter",
        "collections.Counter('aab')",
        "most_common(1) | most_common() | elements() | update('b') | update(['b']) | update({'b': 1}) | subtract('a') | total() |"
        "items() | keys() | values() | get('a') | get('z', 0) | pop('a') | copy() | clear()",
    ),
    "collections.Counter": [
        "=collections.Counter()",
        "=collections.Counter('aab')",
        "=collections.Counter([1, 2])",
        "=collections.Counter(a=2)",
    ],
    "collections.ChainMap": ["=collections.ChainMap({'a': 1})", "=collections.ChainMap({'a': 1}, {'b': 2})"],
    "collections.UserDict": [
        "=collections.UserDict()",
        "=collections.UserDict(a=1)",
        "=collections.UserDict({'a': 1})",
    ],
    "collections.UserList": ["=collections.UserList()", "=collections.UserList([1])"],
    "collections.UserString": ["=collections.UserString('ab')"],
    **_methods(
        "collections.ChainMap", _CHAIN, "get('a') | get('z', 1) | new_child() | new_child({'q': 1}) | items() | keys()"
    ),
    **_operators(
        "collections.ChainMap",
        f"__getitem__: {_CHAIN}['a'] | __contains__: 'a' in {_CHAIN} | __len__: len({_CHAIN})",
    ),
    "types.MappingProxyType": [f"={_PROXY}"],
    **_methods("types.MappingProxyType", _PROXY, "get('a') | get('z', 1) | items() | keys() | values() | copy()"),
    **_operators(
        "types.MappingProxyType",
        "__getitem__: mapping_proxy['a'] | __contains__: 'a' in mapping_proxy | __len__: len(mapping_proxy)",
    ),
    "weakref.ref": ["=weakref.ref(plain)"],
    "weakref.ReferenceType#__call__": ["=plain_reference()"],
    "weakref.WeakKeyDictionary#get": ["=weak_keys.get(linear)"],
    "weakref.WeakKeyDictionary#__contains__": ["=linear in weak_keys"],
    "weakref.WeakValueDictionary": ["=weakref.WeakValueDictionary()"],
    "weakref.WeakSet": ["=weakref.WeakSet()"],
    "fractions.Fraction": [f"={_HALF}", "=fractions.Fraction('0.5')", "=fractions.Fraction(1)"],
    **_operators(
        "fractions.Fraction",
        f"__add__: {_HALF} + 1 | __add__: {_HALF} + {_HALF} | __sub__: {_HALF} - 1 | __mul__: {_HALF} * {_HALF} | __mul__: {_HALF} * 2 |"
        f"__truediv__: {_HALF} / 2 | __float__: float({_HALF}) | __int__: int({_HALF}) | __lt__: {_HALF} < 1 | __eq__: {_HALF} == 1 |"
        f"__str__: str({_HALF}) | __round__: round({_HALF}) | __gt__: {_HALF} > 1 | __neg__: -{_HALF}",
    ),
    **_methods("fractions.Fraction", _HALF, "limit_denominator(2) | as_integer_ratio()"),
    "int#from_bytes": ["=int.from_bytes(b'ab', 'big')", "=int.from_bytes(b'ab', byteorder='big')"],
    **_methods("int", "(5)", "bit_length() | bit_count() | to_bytes(2, 'big') | conjugate() | as_integer_ratio()"),
    **_methods("float", "(2.5)", "is_integer() | as_integer_ratio() | hex() | conjugate()"),
    "float#fromhex": ["=float.fromhex('0x1p0')"],
    "bytes#fromhex": ["=bytes.fromhex('00ff')"],
    "str#maketrans": ["=str.maketrans('a', 'b')", "=str.maketrans({'a': 'b'})"],
    "torch.storage.UntypedStorage#nbytes": ["=x.untyped_storage().nbytes()"],
    "torch.storage.UntypedStorage#data_ptr": ["=x.untyped_storage().data_ptr()"],
    "torch.storage.UntypedStorage#size": ["=x.untyped_storage().size()"],
    "torch.storage.TypedStorage#size": ["=x.storage().size()"],
    "datetime.timedelta#total_seconds": ["=one_day.total_seconds()"],
    "datetime.timedelta@days": ["=one_day.days"],
    **_operators(
        "datetime.timedelta",
        "__add__: one_day + one_day | __sub__: one_day - one_day | __mul__: one_day * 2 | __truediv__: one_day / one_day |"
        "__truediv__: one_day / 2 | __floordiv__: one_day // one_day | __mod__: one_day % one_day | __neg__: -one_day |"
        "__lt__: one_day < one_day | __le__: one_day <= one_day | __gt__: one_day > one_day | __ge__: one_day >= one_day |"
        "__eq__: one_day == one_day | __str__: str(one_day) | __abs__: abs(one_day)",
    ),
    **_methods(
        "datetime.date",
        "some_date",
        "weekday() | isoweekday() | isoformat() | toordinal() | timetuple() | isocalendar() | replace(year=2021) | strftime('%Y') |"
        "ctime()",
    ),
    **_operators(
        "datetime.date",
        "__sub__: some_date - some_date | __sub__: some_date - one_day | __add__: some_date + one_day | __lt__: some_date < some_date |"
        "__le__: some_date <= some_date | __gt__: some_date > some_date | __ge__: some_date >= some_date |"
        "__eq__: some_date == some_date | __str__: str(some_date)",
    ),
    **{f"datetime.date@{part}": [f"=some_date.{part}"] for part in ("year", "month", "day")},
    **_operators(
        "datetime.datetime",
        "__sub__: clock - clock | __sub__: clock - one_day | __add__: clock + one_day | __lt__: clock < clock | __le__: clock <= clock |"
        "__gt__: clock > clock | __ge__: clock >= clock | __eq__: clock == clock | __str__: str(clock)",
    ),
    **_operators(
        "decimal.Decimal",
        "__lt__: one_half < one_half | __lt__: one_half < 1 | __le__: one_half <= one_half | __gt__: one_half > one_half |"
        "__gt__: one_half > 1 | __ge__: one_half >= one_half | __eq__: one_half == one_half | __ne__: one_half != one_half",
    ),
    **_methods("datetime.time", "some_time", "isoformat() | replace(hour=1) | strftime('%H')"),
    **{f"datetime.time@{part}": [f"=some_time.{part}"] for part in ("hour", "minute", "second")},
    "builtins.format": ["=format(3)", "=format(3, '03d')", "=format(2.5, '.2f')", "=format(2.5)", "=format('a', '>4')"],
    "module#add_module": ["=linear.add_module('added', torch.nn.ReLU())"],
    "module#register_module": ["=linear.register_module('added', torch.nn.ReLU())"],
    "torch.utils.data.default_collate": ["=torch.utils.data.default_collate([x, x])"],
    "builtins.enumerate": [
        "=enumerate([1, 2])",
        "=enumerate([1, 2], 1)",
        "=enumerate([1, 2], start=1)",
        "=enumerate(x.unbind(0), start=2)",
    ],
    "builtins.hasattr": ["=hasattr(x, 'shape')", "=hasattr(linear, 'weight')", "=hasattr(plain, 'none')"],
}
