"""Ways of calling for callables that nothing in the general lists satisfies: batches of matrices, windows, indices."""

from __future__ import annotations

SPECIAL: dict[str, list[str]] = {
    "torch.bmm": ["=torch.bmm(seq, seq.mT)"],
    "tensor#bmm": ["=seq.bmm(seq.mT)"],
    "torch.baddbmm": ["=torch.baddbmm(torch.ones(2, 3, 3), seq, seq.mT)"],
    "tensor#baddbmm": ["=torch.ones(2, 3, 3).baddbmm(seq, seq.mT)"],
    "torch.addbmm": ["=torch.addbmm(torch.ones(3, 3), seq, seq.mT)"],
    "tensor#addbmm": ["=torch.ones(3, 3).addbmm(seq, seq.mT)"],
    "torch.addmv": ["=torch.addmv(v, x, v)"],
    "torch.batch_norm": ["=torch.batch_norm(img, None, None, None, None, True, 0.1, 1e-5, False)"],
    "torch.bilinear": ["=torch.bilinear(x, x, torch.ones(2, 4, 4))"],
    "torch.dropout": ["=torch.dropout(x, 0.5, True)", "=torch.dropout(x, 0.5, False)"],
    "torch.alpha_dropout": ["=torch.alpha_dropout(x, 0.5, True)"],
    "torch.feature_dropout": ["=torch.feature_dropout(img, 0.5, True)"],
    "torch.instance_norm": ["=torch.instance_norm(img, None, None, None, None, True, 0.1, 1e-5, False)"],
    "torch.native_layer_norm": ["=torch.native_layer_norm(x, [4], None, None, 1e-5)"],
    "torch.convolution": [
        "=torch.convolution(img, torch.ones(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)"
    ],
    "torch.linspace": ["=torch.linspace(0, 1, 4)", "=torch.linspace(0.0, f, 4)", "=torch.linspace(0, 1, k)"],
    "torch.logspace": ["=torch.logspace(0, 1, 4)", "=torch.logspace(0, 1, k)"],
    "torch.grid_sampler": ["=torch.grid_sampler(img, torch.zeros(1, 2, 2, 2), 0, 0, False)"],
    "torch.index_put": ["=torch.index_put(x, (iv, iv), v)", "=torch.index_put(x, (b,), s)"],
    "torch.index_put_": ["=torch.index_put_(x, (iv, iv), v)"],
    "tensor#index_put": ["=x.index_put((iv, iv), v)", "=x.index_put((b,), s)"],
    "tensor#index_put_": ["=x.index_put_((iv, iv), v)", "=x.index_put_((b,), s)"],
    "torch.index_reduce": ["=torch.index_reduce(x, 0, iv, x, 'prod')"],
    "tensor#index_reduce": ["=x.index_reduce(0, iv, x, 'prod')"],
    "torch.scatter_reduce": ["=torch.scatter_reduce(x, 0, n, x, 'sum')"],
    "tensor#scatter_reduce": ["=x.scatter_reduce(0, n, x, 'sum')"],
    "tensor#scatter_reduce_": ["=x.scatter_reduce_(0, n, x, 'amax')"],
    "tensor#scatter_add_": ["=x.scatter_add_(0, n, torch.ones(4, 4))"],
    "tensor#scatter_": ["=x.scatter_(0, n, torch.ones(4, 4))", "=x.scatter_(0, n, 1.0)"],
    "torch.select_scatter": ["=torch.select_scatter(x, v, 0, 1)"],
    "tensor#select_scatter": ["=x.select_scatter(v, 0, 1)"],
    "torch.stft": ["=torch.stft(torch.ones(64), 16, return_complex=True)"],
    "tensor#stft": ["=torch.ones(64).stft(16, return_complex=True)"],
    "torch.istft": ["=torch.istft(torch.ones(9, 17, dtype=torch.complex64), 16, window=torch.ones(16))"],
    "torch.renorm": ["=torch.renorm(x, 2, 0, 1.0)"],
    "tensor#renorm": ["=x.renorm(2, 0, 1.0)"],
    "tensor#new_full": ["=x.new_full((2, 2), 1.0)", "=x.new_full((2,), f)", "=n.new_full((2,), k)"],
    "tensor#new_tensor": ["=x.new_tensor([1.0, 2.0])", "=n.new_tensor([1, 2])", "=x.new_tensor(f)", "=x.new_tensor(v)"],
    "tensor#new_zeros": ["=x.new_zeros(2, 3)", "=x.new_zeros((2, 3))", "=x.new_zeros(k)", "=x.new_zeros(x.shape)"],
    "tensor#bincount": ["=iv.bincount()", "=iv.bincount(minlength=8)"],
    "tensor#cross": ["=x[:, :3].cross(x[:, :3], dim=-1)"],
    "torch.linalg.cross": ["=torch.linalg.cross(x[:, :3], x[:, :3])"],
    "torch.linalg.solve_triangular": ["=torch.linalg.solve_triangular(sq, x, upper=True)"],
    "tensor#coalesce": ["=x.to_sparse().coalesce()"],
    "tensor#indices": ["=x.to_sparse().coalesce().indices()"],
    "tensor#values": ["=x.to_sparse().coalesce().values()"],
    "tensor#put_": ["=x.put_(iv, v)"],
    "torch.nonzero_static": ["=torch.nonzero_static(b, size=4)"],
    "tensor#nonzero_static": ["=b.nonzero_static(size=4)"],
    "torch.polygamma": ["=torch.polygamma(1, x)"],
    "torch.special.polygamma": ["=torch.special.polygamma(1, x)"],
    "torch.poisson_nll_loss": ["=torch.poisson_nll_loss(x, x, True, False, 1e-8, 1)"],
    "torch.view_as_complex": ["=torch.view_as_complex(x.view(2, 4, 2))", "=torch.view_as_complex(torch.ones(3, 2))"],
    "torch.frombuffer": ["=torch.frombuffer(bytearray(8), dtype=torch.uint8)"],
    "torch.lu_solve": ["=torch.lu_solve(x, *torch.linalg.lu_factor(sq))"],
    "torch.lu_unpack": ["=torch.lu_unpack(*torch.linalg.lu_factor(sq))"],
    "tensor#retain_grad": ["=(w * 2).retain_grad()", "=w.retain_grad()"],
    "tensor#to_padded_tensor": ["=torch.nested.nested_tensor([x, x]).to_padded_tensor(0.0)"],
    "torch.nn.functional.affine_grid": [
        "=torch.nn.functional.affine_grid(torch.ones(1, 2, 3), [1, 3, 8, 8], align_corners=False)"
    ],
    "torch.nn.functional.fold": ["=torch.nn.functional.fold(torch.ones(1, 12, 16), (8, 8), (2, 2), stride=2)"],
    "torch.nn.functional.lp_pool2d": ["=torch.nn.functional.lp_pool2d(img, 2.0, 2)"],
    "torch.nn.functional.max_unpool2d": [
        "=torch.nn.functional.max_unpool2d(*torch.nn.functional.max_pool2d(img, 2, return_indices=True), 2)"
    ],
    "torch.nn.functional.fractional_max_pool2d": [
        "=torch.nn.functional.fractional_max_pool2d(img, 2, output_size=(4, 4))"
    ],
    "torch.nn.functional._in_projection_packed": [
        "=torch.nn.functional._in_projection_packed(seq, seq, seq, torch.ones(24, 8))"
    ],
    "torch.nn.functional._in_projection": [
        "=torch.nn.functional._in_projection(seq, seq, seq, torch.ones(8, 8), torch.ones(8, 8), torch.ones(8, 8))"
    ],
    "torch.nn.functional._canonical_mask": [
        "=torch.nn.functional._canonical_mask(b, 'mask', None, 'other', torch.float32)",
        "=torch.nn.functional._canonical_mask(None, 'mask', None, 'other', torch.float32)",
    ],
    "torch.nn.functional._none_or_dtype": [
        "=torch.nn.functional._none_or_dtype(x)",
        "=torch.nn.functional._none_or_dtype(None)",
    ],
    "torch.nn.init.calculate_gain": ["=torch.nn.init.calculate_gain('relu')"],
    "torch.nn.utils.clip_grad_value_": ["=torch.nn.utils.clip_grad_value_([w], 1.0)"],
    "torch.nn.utils.rnn.unpack_sequence": ["=torch.nn.utils.rnn.unpack_sequence(packed)"],
    "torch.nn.utils.weight_norm": ["=torch.nn.utils.weight_norm(torch.nn.Linear(4, 4))"],
    "torch.nn.utils.spectral_norm": ["=torch.nn.utils.spectral_norm(torch.nn.Linear(4, 4))"],
    "torch.nn.utils.parametrizations.weight_norm": [
        "=torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 4))"
    ],
    "torch.nn.utils.parametrizations.spectral_norm": [
        "=torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(4, 4))"
    ],
    "torch.nn.utils.stateless.functional_call": ["=torch.nn.utils.stateless.functional_call(linear, {}, (x,))"],
    "torch.nn.Transformer#__call__": ["=transformer(seq, seq)"],
    "torch.nn.CTCLoss#__call__": [
        "=ctc(torch.ones(5, 2, 4).log_softmax(2), iv[:2].clamp(min=1)[:, None], (5, 5), (1, 1))"
    ],
    "torch.distributions.Uniform": ["=torch.distributions.Uniform(0.0, 1.0)", "=torch.distributions.Uniform(x, x + 1)"],
    "torch.distributions.Gamma": ["=torch.distributions.Gamma(x, x)"],
    "torch.distributions.Dirichlet": ["=torch.distributions.Dirichlet(x)"],
    "torch.distributions.MultivariateNormal": ["=torch.distributions.MultivariateNormal(v, sq)"],
    "torch.distributions.Independent": ["=torch.distributions.Independent(torch.distributions.Normal(x, x), 1)"],
    "torch.distributions.MixtureSameFamily": [
        "=torch.distributions.MixtureSameFamily(torch.distributions.Categorical(v), torch.distributions.Normal(v, v))"
    ],
    "torch.distributions.TransformedDistribution": [
        "=torch.distributions.TransformedDistribution(torch.distributions.Normal(x, x), [torch.distributions.transforms.TanhTransform()])"
    ],
    "torch.sparse.mm": ["=torch.sparse.mm(x.to_sparse(), x)"],
    "torch.sparse.sum": ["=torch.sparse.sum(x.to_sparse())"],
    "numpy.random.weibull": ["=numpy.random.weibull(1.0)"],
    "numpy.random.triangular": ["=numpy.random.triangular(0.0, 0.5, 1.0)"],
    "numpy.random.standard_gamma": ["=numpy.random.standard_gamma(1.0)"],
    "numpy.random.standard_exponential": ["=numpy.random.standard_exponential(2)"],
    "numpy.random.multivariate_normal": ["=numpy.random.multivariate_normal([0.0, 0.0], numpy.eye(2))"],
    "numpy.random.Generator": ["=numpy.random.Generator(numpy.random.PCG64(0))"],
    "numpy.random._generator.Generator#multinomial": ["=rng.multinomial(2, [0.5, 0.5])"],
    "numpy.random._generator.Generator#multivariate_normal": ["=rng.multivariate_normal([0.0, 0.0], numpy.eye(2))"],
    "numpy.take_along_axis": ["=numpy.take_along_axis(g, numpy.zeros((4, 1), dtype=int), 1)"],
    "numpy.apply_along_axis": ["=numpy.apply_along_axis(numpy.sum, 0, g)"],
    "numpy.issubdtype": ["=numpy.issubdtype(g.dtype, numpy.floating)"],
    "numpy.promote_types": ["=numpy.promote_types('f4', 'f8')"],
    "numpy.can_cast": ["=numpy.can_cast('f4', 'f8')"],
    "numpy.fromiter": ["=numpy.fromiter([1, 2], dtype=int)"],
    "numpy.fromfunction": ["=numpy.fromfunction(lambda i, j: i + j, (2, 2))"],
    "numpy.linalg.cholesky": ["=numpy.linalg.cholesky(numpy.eye(2))"],
    "numpy.linalg.cond": ["=numpy.linalg.cond(numpy.eye(2))"],
    "functools.singledispatch": ["=functools.singledispatch(helper)"],
}
