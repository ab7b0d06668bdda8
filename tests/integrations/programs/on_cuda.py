"""A program for a GPU, as it is: tensors on "cuda", a kernel with a gradient, modules, what it asks of the device."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x, out, factor, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, factor * tl.load(x + at, mask=at < n), mask=at < n)


def times(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    assert x.is_cuda
    assert out.device == x.device == torch.device("cuda", torch.cuda.current_device())
    scaled[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, factor, x.numel(), BLOCK=128)
    return out


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context: object, x: torch.Tensor) -> torch.Tensor:
        return times(x, 2.0)

    @staticmethod
    def backward(context: object, gradient: torch.Tensor) -> torch.Tensor:
        return times(gradient.contiguous(), 2.0) + torch.zeros(gradient.shape, device="cuda")


host = torch.arange(300.0)
x = host.to("cuda").requires_grad_()
assert host.device.type == "cpu"
print("moved", bool((times(host.cuda(), 3.0).cpu() == 3 * host).all()))

Doubled.apply(x).sum().backward()
print("gradient", x.grad.is_cuda, bool((x.grad == 2).all()))

moved = host.cuda()
moved.zero_()
print("a copy", bool(host.sum() > 0), moved.cpu().device.type)

@triton.jit
def gathered(addresses, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    source = tl.load(addresses + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * n + at, tl.load(source + at, mask=at < n), mask=at < n)


rows = [torch.full((50,), float(row), device="cuda") for row in range(3)]
addresses = torch.tensor([row.data_ptr() for row in rows], device="cuda")
out = torch.zeros(3, 50, device="cuda")
gathered[(3,)](addresses, out, 50, BLOCK=64)
print("addresses in memory", bool((out == torch.stack(rows)).all()))

layer = torch.nn.Linear(4, 2).to("cuda")
print("module", layer.weight.is_cuda, layer(torch.ones(3, 4, device="cuda")).device)

print("device", torch.cuda.is_available(), torch.cuda.get_device_capability(), torch.cuda.get_device_properties(0).name)
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
end.record()
torch.cuda.synchronize()
print("time", start.elapsed_time(end) > 0)
print("target", triton.runtime.driver.active.get_current_target().arch, triton.runtime.driver.active.get_active_torch_device())
