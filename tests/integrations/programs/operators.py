"""Operators that a program registers for CUDA: of its own, and in the place of PyTorch's."""

from __future__ import annotations

import gc
from threading import Thread

import torch
import triton
import triton.language as tl

calls: list[str] = []


@triton.jit
def sum_kernel(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def summed(x, y, *, alpha=1):
    assert x.is_cuda
    assert alpha == 1
    calls.append("add")
    out = torch.empty_like(x)
    sum_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), block=128)
    assert not torch.empty(1, device="cpu").is_cuda
    return out


def zeros(size, *, dtype=None, layout=None, device=None, pin_memory=None):
    calls.append("zeros")
    return torch.full(size, 0.0, device=device)


def called():
    found = " ".join(calls)
    calls.clear()
    return found or "nothing"


def replaced():
    """Operators of PyTorch's own, as FlagGems replaces them."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("add.Tensor", summed, "CUDA", allow_override=True)
    library.impl("zeros", zeros, "CUDA", allow_override=True)
    total = x + y
    print("replaced", called(), total.device, torch.equal(total.cpu(), x.cpu() + y.cpu()))
    _ = torch.ones(3) + torch.ones(3), torch.zeros(3)
    print("on the host", called())
    print("made", torch.zeros((2, 3), device="cuda").device, called())
    leaf = x.clone().requires_grad_()
    (leaf + y).sum().backward()
    print("gradient", called(), leaf.grad.device, float(leaf.grad.sum()))
    thread = Thread(target=lambda: calls.append(str((y + y).device)))
    thread.start()
    thread.join()
    print("thread", called())


def fragment():
    """As vLLM and sglang have theirs: defined, then registered for CUDA."""
    library = torch.library.Library("engine", "FRAGMENT")
    library.define("silu(Tensor x) -> Tensor")
    library.impl("silu", lambda x: (calls.append("silu"), x * torch.sigmoid(x))[1], "CUDA")
    library.define("scale_(Tensor(a!) x, float by) -> ()")
    library.impl("scale_", scale, dispatch_key="CUDA")
    library._register_fake("scale_", lambda *_: None)
    print("defined", torch.ops.engine.silu(y).device, called())
    there = y.clone()
    torch.ops.engine.scale_(there, 3.0)
    print("in place", called(), torch.equal(there, y * 3), there.device)
    inferred = torch.library.infer_schema(joined, mutates_args=())
    library.define("joined" + inferred)
    library.impl("joined", joined, dispatch_key="CUDA")
    print("inferred", torch.ops.engine.joined([x, y]).device, called())
    return library


def scale(x: torch.Tensor, by: float) -> None:
    calls.append("scale_")
    x.mul_(by)


def joined(parts: list[torch.Tensor]) -> torch.Tensor:
    calls.append("joined")
    return torch.cat(parts)


@torch.library.custom_op("program::twice", mutates_args=(), device_types="cuda")
def twice(x: torch.Tensor) -> torch.Tensor:
    calls.append("twice")
    out = torch.empty(x.shape, device="cuda")
    out.copy_(x * 2)
    return out


@twice.register_fake
def _(x):
    return torch.empty_like(x)


twice.register_autograd(lambda _context, gradient: (calls.append("backward"), gradient * 2)[1])


@torch.library.triton_op("program::sum", mutates_args=())
def sum_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(sum_kernel)[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), block=128)
    return out


@torch.library.custom_op("program::either", mutates_args=(), device_types="cpu")
def either(x: torch.Tensor) -> torch.Tensor:
    calls.append("host's")
    return x.clone()


@either.register_kernel("cuda")
def _(x):
    calls.append("device's")
    return x.clone()


x, y = torch.randn(300, device="cuda"), torch.randn(300, device="cuda")
replaced()
gc.collect()  # Triton's compiler holds what its kernels' module holds until then
_ = x + y
print("taken back", called())
kept = fragment()
leaf = y.clone().requires_grad_()
result = twice(leaf)
result.sum().backward()
print("custom", result.device, called(), leaf.grad.device, torch.equal(leaf.grad, torch.full_like(y, 2)))
print("triton", sum_op(x, y).device, torch.equal(sum_op(x, y), x + y))
either(x)
either(x.cpu())
print("either", called())
