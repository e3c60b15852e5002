"""Models as modules of PyTorch."""

from typing import Any

from vanishing.checks import check_flag, install
from vanishing.export.models import computation_of


def to_torch(model: object, *, trainable: bool = False) -> Any:
    """Make a module of PyTorch that computes what a fitted model does.

    It evaluates generators, or a whole classifier with its scaling, and is differentiable by its
    input: a layer for networks. It needs nothing of the model it was made of.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        As `to_python` takes it.
    trainable : bool, default=False
        Whether the coefficients of generators and the weights of a classifier are parameters, which
        an optimiser changes; those that are zero stay zero. For constructions, `VanishingFeatures`,
        classifiers and pipelines of these.

    Returns
    -------
    module : torch.nn.Module
        Call it with rows, a tensor of shape (n_rows, n_features). It returns the values of the
        generators, (n_rows, n_generators); of a classifier or detector its decision values, as
        ``decision_function`` has them; of a law its prediction, or its residual. Its method
        ``values`` returns a dict with these and, where there are some, "probabilities". It has
        ``feature_names``, ``output_names`` and ``classes``.

    See Also
    --------
    to_python : Source of a Python module that needs NumPy alone.
    to_onnx : ONNX graph of standard operators.

    Notes
    -----
    The module is float64 on the CPU; ``module.to(device, dtype)`` makes it another one. In float32
    little is left of the value of a polynomial that nearly vanishes. Its numbers are saved by
    ``torch.save(module.state_dict(), path)`` and read again by ``load_state_dict`` of a module that
    was made of the same model; ``torch.save(module, path)`` saves all of it. It needs the package
    torch: install it with ``python -m pip install ".[gpu]"`` in the folder of vanishing.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI
    >>> from vanishing.export import to_torch
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=2, absolute=False).fit(X)
    >>> import torch  # doctest: +SKIP
    >>> layer = to_torch(model)  # doctest: +SKIP
    >>> x = torch.tensor([[1.0, 1.0]], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> layer(x).sum().backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([[2., 2.]], dtype=torch.float64)
    """
    check_flag("trainable", trainable)
    computation = computation_of(model)
    if trainable and computation.kind not in ("transformer", "classifier"):
        raise TypeError(
            "trainable=True is for generators and classifiers: the numbers of a "
            f"{computation.kind} mean what was fitted. Leave it out."
        )
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError(f"to_torch needs torch: install it with {install('gpu')}.") from None
    from vanishing.export.torch_module import ComputationModule

    return ComputationModule(computation, trainable)
