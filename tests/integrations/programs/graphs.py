"""CUDA graphs of PyTorch, as a program for a GPU writes them: what is captured is done by replays, and not before."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def added(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(out + at, mask=at < n) + tl.load(x + at, mask=at < n), mask=at < n)


def step(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    added[(1,)](x, total, 100, BLOCK=128)
    total.mul_(2)
    return (total + x.sum()).sqrt().reshape(10, 10).T @ torch.ones(10, 3, device="cuda")


x, total = torch.ones(100, device="cuda"), torch.zeros(100, device="cuda")
host = torch.zeros(1)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    capturing = torch.cuda.is_current_stream_capturing()
    out = step(x, total)
    noise = torch.rand(4, device="cuda")
    host += 1
print("captured", capturing, not torch.cuda.is_current_stream_capturing(), bool((total == 0).all()), float(host))

other = torch.zeros(100, device="cuda")
seen = []
for value in (1.0, 5.0, 7.0):
    x.fill_(value)
    graph.replay()
    wanted = step(x, other)
    seen.append(bool((total == other).all() and (out == wanted).all()))
    seen.append(noise.clone())
print("replayed", seen[0::2], float(host), bool((seen[1] != seen[3]).all()))

graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        total.sum().item()
except RuntimeError as error:
    print(error)

layer = torch.nn.Linear(8, 4).cuda()
given = torch.randn(3, 8, device="cuda")
plain = layer(given).sum()
plain.backward()
wanted = layer.weight.grad.clone()
layer.weight.grad = layer.bias.grad = None
called = torch.cuda.make_graphed_callables(layer, (torch.randn(3, 8, device="cuda"),))
called(given).sum().backward()
print("callable", bool(torch.allclose(layer.weight.grad, wanted)), layer.weight.grad.is_cuda)

print("timed", triton.testing.do_bench_cudagraph(lambda: added[(1,)](x, total, 100, BLOCK=128)) > 0)
