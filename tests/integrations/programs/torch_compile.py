"""`torch.compile` on PyTorch's device "cuda": its kernels are Triton's, and what it cannot compile runs as it is."""

from __future__ import annotations

import warnings

import torch
import triton

from ptxloom.machine.launch import watching

launched: list[str] = []


def told(what, got, wanted):
    kernels = {name.partition("_")[0] for name in launched}
    launched.clear()
    print(what, got.device, torch.allclose(got, wanted, atol=1e-4, rtol=1e-4), *kernels)


def summed(x, y):
    return torch.relu(x * 2 + y).sum(-1)


def named(x):
    return x + torch.arange(100, device="cuda")


def changed(x):
    x.add_(1)
    return {"twice": x * 2, "same": x}


assert triton
torch.manual_seed(0)
x, y = torch.randn(64, 100, device="cuda"), torch.randn(64, 100, device="cuda")
with watching.watching((), lambda name, result: launched.append(name)), warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    told("summed", torch.compile(summed)(x, y), summed(x, y))
    model = torch.nn.Sequential(torch.nn.Linear(100, 32), torch.nn.GELU(), torch.nn.LayerNorm(32)).cuda()
    compiled = torch.compile(model)
    told("module", compiled(x), model(x))
    compiled(x).square().mean().backward()
    gradients = [one.grad.clone() for one in model.parameters()]
    model.zero_grad()
    model(x).square().mean().backward()
    for gradient, one in zip(gradients, model.parameters(), strict=True):
        assert torch.allclose(gradient, one.grad, atol=1e-4)
        assert gradient.is_cuda
    launched.clear()

    one, other = x.clone(), x.clone()
    result = torch.compile(dynamic=False)(changed)(one)  # as a decorator
    told("changed", result["twice"], changed(other)["twice"])
    print("in place", torch.equal(one, other), result["same"] is one)
    said = [str(each.message) for each in heard if "ptxloom" in str(each.message)]
    told("named", torch.compile(named)(x), named(x))
    last = [str(each.message) for each in heard if "ptxloom" in str(each.message)][len(said) :]
    print(len(said), len(last), last[0].partition(",")[0])
