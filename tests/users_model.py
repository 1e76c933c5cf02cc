"""A model file as a user writes it."""

from __future__ import annotations

from collections.abc import Callable

from pcbench.asking import Setting

Write = Callable[..., Setting]
"""Writes a model file with a body and a last line of its own, and gives a setting that measures it."""

HEAD = """
import os, signal, time
import torch
from torch import nn
from pcbench.models import Model

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(x)

def inputs():
    return (torch.ones(2, 4),), {}
"""
TAIL = "\nMODEL = Model(build=Net, inputs=inputs)\n"
