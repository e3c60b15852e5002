"""Fitted models for other systems: Python, C, SQL, ONNX and PyTorch."""

from vanishing.export.c import to_c
from vanishing.export.onnx import to_onnx
from vanishing.export.python import to_python
from vanishing.export.sql import to_sql
from vanishing.export.torch import to_torch

__all__ = ["to_c", "to_onnx", "to_python", "to_sql", "to_torch"]
