"""How the same small programs fare from torch 2.4 to 2.15: measured, on CPU.

A probe is one idiom compiled and called a few times. Here are the probes whose outcome is not the same on every
release, and the names of those that break on all. Releases between two known ones were not measured.
"""

from __future__ import annotations

#: The releases that were measured, oldest first.
KNOWN_VERSIONS: tuple[str, ...] = (
    "2.4.1",
    "2.6.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
)

#: Probe -> the releases on which it breaks the graph in default mode (fullgraph=False).
BREAKS: dict[str, tuple[str, ...]] = {
    # x * random.random()
    "random.random()": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0"),
    # copy.deepcopy of a dict of lists
    "deepcopy(dict)": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # os.environ.get('ZZ', '1')
    "os.environ.get": ("2.4.1",),
    # os.getenv('ZZ', '1')
    "os.getenv": ("2.4.1",),
    # append to a list on the class and use its length, three calls
    "class-level list append": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # nn.Linear in {nn.Linear}
    "type in set": ("2.4.1", "2.6.0"),
    # weak_dict[module]
    "WeakKeyDictionary[mod]": ("2.4.1", "2.6.0"),
    # x.to_sparse() @ x
    "sparse to_sparse": ("2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
    # {}['a'] caught with except KeyError
    "except KeyError (no break)": ("2.4.1",),
    # len(vars(module))
    "vars(self)/__dict__": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # hash('a')
    "hash(str)": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1"),
    # os.environ.get, the variable changed between three calls
    "os.environ changed between calls": ("2.4.1",),
    # os.getenv, the variable changed between three calls
    "os.getenv changed between calls": ("2.4.1",),
    # an lru_cache function that reads os.environ, changed between three calls
    "lru_cache reads env (stale?)": ("2.4.1",),
}

#: Probe -> the releases on which fullgraph=True refuses it; default mode may break on others too (BREAKS_EVERYWHERE).
FULLGRAPH_REFUSES: dict[str, tuple[str, ...]] = {
    # x * x.max().item()
    ".item() arithmetic": ("2.4.1", "2.6.0", "2.9.1"),
    # int(x.max())
    "int(tensor)": ("2.4.1", "2.6.0", "2.9.1"),
    # float(x.max())
    "float(tensor)": ("2.4.1", "2.6.0", "2.9.1"),
    # torch._check_tensor_all(x < 100)
    "torch._check_tensor_all": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1"),
    # x[x > 0] as a value
    "bool mask x[x>0]": ("2.4.1", "2.6.0", "2.9.1"),
    # torch.nonzero(x > 0)
    "torch.nonzero": ("2.4.1", "2.6.0", "2.9.1"),
    # torch.where(x > 0) with one argument
    "torch.where(cond)": ("2.4.1", "2.6.0", "2.9.1"),
    # torch.unique(x)
    "torch.unique": ("2.4.1", "2.6.0", "2.9.1"),
    # torch.bincount(x)
    "bincount": ("2.4.1", "2.6.0", "2.9.1"),
    # x.repeat_interleave(counts, 0) with a tensor of counts
    "repeat_interleave(tensor)": ("2.4.1", "2.6.0", "2.9.1"),
    # float(np.mean(x.cpu().numpy()))
    ".cpu().numpy() + python": ("2.4.1", "2.6.0", "2.9.1"),
    # x * random.random()
    "random.random()": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0"),
    # copy.deepcopy of a dict of lists
    "deepcopy(dict)": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # os.environ.get('ZZ', '1')
    "os.environ.get": ("2.4.1",),
    # os.getenv('ZZ', '1')
    "os.getenv": ("2.4.1",),
    # append to a list on the class and use its length, three calls
    "class-level list append": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # nn.Linear in {nn.Linear}
    "type in set": ("2.4.1", "2.6.0"),
    # weak_dict[module]
    "WeakKeyDictionary[mod]": ("2.4.1", "2.6.0"),
    # x[:n] with a 0-d tensor n
    "x[:n] n tensor": ("2.4.1", "2.6.0", "2.9.1"),
    # x.to_sparse() @ x
    "sparse to_sparse": ("2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
    # {}['a'] caught with except KeyError
    "except KeyError (no break)": ("2.4.1",),
    # len(vars(module))
    "vars(self)/__dict__": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # hash('a')
    "hash(str)": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1"),
    # os.environ.get, the variable changed between three calls
    "os.environ changed between calls": ("2.4.1",),
    # os.getenv, the variable changed between three calls
    "os.getenv changed between calls": ("2.4.1",),
    # an lru_cache function that reads os.environ, changed between three calls
    "lru_cache reads env (stale?)": ("2.4.1",),
    # torch._check((x < 100).all().item())
    "torch._check(t.item())": ("2.4.1", "2.6.0", "2.9.1"),
}

#: Probe -> graphs compiled on each of KNOWN_VERSIONS, for probes that recompile more on some than on others.
GRAPHS_COMPILED: dict[str, tuple[int, ...]] = {
    # torch.compile(nn.ReLU()) of a new instance, five times
    "compile in loop: freshmod x5": (5, 1, 1, 1, 1, 1, 1, 1, 1),
    # torch.compile(Module().forward) of a new instance, five times
    "compile in loop: bound x5": (5, 1, 1, 1, 1, 1, 1, 1, 1),
    # x * s, a float argument with six values, backend aot_eager
    "float arg varies [aot_eager] x6": (6, 2, 2, 2, 2, 2, 2, 2, 2),
    # x * s, a float argument with six values, backend inductor
    "float arg varies [inductor] x6": (6, 2, 2, 2, 2, 2, 2, 2, 2),
    # a compiled optimizer step whose lr takes six values
    "opt.step lr float varies x6": (6, 2, 2, 2, 2, 2, 2, 2, 2),
    # self.step += 1 in forward, six calls, the value not used
    "self.step+=1 (unused)": (4, 2, 6, 6, 6, 6, 6, 6, 6),
    # self.step += 1 in forward, six calls, the output multiplied by it
    "self.step+=1 (used)": (4, 2, 6, 6, 6, 6, 6, 6, 6),
    # a float attribute that grows in forward, six calls
    "self.f+=0.5 (used)": (6, 2, 2, 2, 2, 2, 2, 2, 2),
    # x * s, a float argument with six values, backend eager
    "float arg varies": (6, 2, 2, 2, 2, 2, 2, 2, 2),
    # x * SomeClass.factor, the attribute changed between three calls
    "class attr mutated between calls": (1, 1, 1, 1, 1, 2, 2, 2, 2),
    # x * GLOBAL, a float changed between three calls
    "global mutated between calls": (3, 2, 2, 2, 2, 2, 2, 2, 2),
    # submodule.forward = lambda ... after the first call
    "submodule.forward patched after": (1, 2, 2, 2, 2, 2, 2, 2, 2),
    # a function argument: closures over five different ints
    "closure arg diff const": (5, 2, 2, 2, 2, 2, 2, 2, 2),
    # a function argument: partials with five different floats
    "functools.partial arg": (5, 2, 2, 2, 2, 2, 2, 2, 2),
}

#: Probe -> the releases on which the compiled output differs from eager, silently.
SILENTLY_WRONG: dict[str, tuple[str, ...]] = {
    # x * SomeClass.factor, the attribute changed between three calls
    "class attr mutated between calls": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # append to a list on the class and use its length, three calls
    "class-level list append": ("2.4.1", "2.6.0", "2.9.1", "2.10.0", "2.11.0"),
    # a forward hook registered on a submodule after the first call
    "fwd hook added after compile": ("2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
    # os.getenv, the variable changed between three calls
    "os.getenv changed between calls": ("2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
    # an lru_cache function that reads os.environ, changed between three calls
    "lru_cache reads env (stale?)": ("2.6.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
}

#: Probes that break in default mode on every known release.
BREAKS_EVERYWHERE: frozenset[str] = frozenset(
    {
        ".cpu().numpy() + python",
        ".item() arithmetic",
        ".tolist()",
        "autograd.grad inside",
        "bincount",
        "bool mask x[x>0]",
        "break in nested fn",
        "break inside for",
        "break inside no_grad",
        "break inside try",
        "break inside with",
        "calls compiler.disable fn",
        "class def inside",
        "data_ptr()",
        "datetime.now()",
        "deepcopy(tensor)",
        "f-string of tensor",
        "float(tensor)",
        "if not t.all(): raise",
        "if random.random()<p",
        "if tensor cond",
        "if torch.rand([])<p",
        "int(tensor)",
        "logger guarded isEnabledFor",
        "logger.warning",
        "loss.backward() inside",
        "manual_seed inside",
        "math.ceil(tensor)",
        "nn.LSTM",
        "np.random.rand()",
        "optimizer.zero_grad inside",
        "print()",
        "range(tensor)",
        "repeat_interleave(tensor)",
        "requires_grad_() in fn",
        "sorted(list of tensors)",
        "threading.Lock with",
        "time.perf_counter()",
        "time.time()",
        "torch.Generator arg",
        "torch._check(t.item())",
        "torch._check_tensor_all",
        "torch.nonzero",
        "torch.save",
        "torch.unique",
        "torch.where(cond)",
        "warnings.warn",
        "while tensor cond",
        "x.numpy().tolist",
        "x[:n] n tensor",
    }
)
