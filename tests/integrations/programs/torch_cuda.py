"""What programs ask of PyTorch's device besides tensors: `torch.cuda`, training, saved files, where tensors are made."""

from __future__ import annotations

import copy
import io
import threading

import torch
import triton  # noqa: F401 - which brings the device

cuda = torch.cuda


def fails(action: object, error: type[Exception]) -> bool:
    try:
        action()
    except error:
        return True
    return False


x = torch.randn(4, 4, device="cuda")
before = cuda.memory_allocated()
large = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
assert cuda.memory_allocated() == before + (1 << 20)
del large
assert cuda.memory_allocated() == before
assert cuda.max_memory_allocated() >= before + (1 << 20)
cuda.reset_peak_memory_stats()
assert cuda.max_memory_allocated() == cuda.memory_stats()["allocated_bytes.all.peak"] == before
free, total = cuda.mem_get_info(device=0)
assert free == total - before
assert "Allocated memory" in cuda.memory_summary()
print("memory")

stream = cuda.Stream()
with cuda.stream(stream):
    assert cuda.current_stream() is stream
assert cuda.current_stream() is cuda.default_stream()
stream.wait_stream(cuda.current_stream())
stream.record_event().synchronize()
assert not torch.accelerator.current_stream().is_capturing()
with cuda.nvtx.range("a range"), cuda.device(x.device):
    cuda.synchronize()
print("streams")

torch.set_default_device("cuda")
assert torch.ones(3).is_cuda
assert not torch.ones(3, device="cpu").is_cuda
torch.set_default_device(None)
with torch.device("cuda"):
    assert torch.zeros(2, 2).is_cuda
assert not torch.ones(3).is_cuda
assert torch.ones(3).to(0).is_cuda
assert torch.nn.Linear(4, 4).to(0).weight.is_cuda
assert torch.ones(2).type("torch.cuda.HalfTensor").is_cuda
assert x.type() == "torch.cuda.FloatTensor"
generator = torch.Generator(device="cuda").manual_seed(3)
assert torch.rand(3, device="cuda", generator=generator).is_cuda
pinned = torch.empty(3, pin_memory=True)
assert pinned.is_pinned()
assert torch.ones(3).pin_memory().is_pinned()
assert not torch.ones(3).is_pinned()
assert fails(x.numpy, TypeError)
assert fails(x.__array__, TypeError)
found = []
thread = threading.Thread(target=lambda: found.append(torch.ones(2, device="cuda").is_cuda))
thread.start()
thread.join()
assert found == [True]
print("places")

file = io.BytesIO()
torch.save({"x": x}, file)
for where, device in ((None, "cuda:0"), ("cpu", "cpu"), ("cuda", "cuda:0")):
    file.seek(0)
    read = torch.load(file, map_location=where)["x"]
    assert str(read.device) == device
    assert torch.equal(read.cpu(), x.cpu())
assert copy.deepcopy(x).is_cuda
print("saved")

layer = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.AdamW(layer.parameters(), 0.1)
scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
with torch.autocast("cuda"):
    assert torch.is_autocast_enabled("cuda")
    out = layer(x)
    assert out.dtype == torch.float16
    with torch.autocast("cuda", enabled=False):
        assert layer(x).dtype == torch.float32
with cuda.amp.autocast(dtype=torch.bfloat16):
    assert (x @ x).dtype == torch.bfloat16
assert (x @ x).dtype == torch.float32
scaler.scale(out.float().sum()).backward()
scaler.step(optimizer)
scaler.update()
assert layer.weight.grad.is_cuda
assert optimizer.state[layer.weight]["exp_avg"].is_cuda
assert torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).is_cuda
assert torch.compile(lambda one: one + 1)(x).is_cuda
print("training")


def error(function: object, *shapes: tuple[int, ...]) -> float:
    """By how many roundings of f16 results and gradients differ from those in f32."""
    torch.manual_seed(0)
    narrow = [torch.randn(shape, device="cuda", dtype=torch.float16) + 0.5 for shape in shapes]
    both = []
    for dtype in (torch.float16, torch.float32):
        given = [one.detach().to(dtype).requires_grad_() for one in narrow]
        out = function(*given)
        assert out.is_cuda
        assert out.dtype == dtype
        torch.manual_seed(1)
        out.backward(torch.randn(out.shape, device="cuda", dtype=torch.float16).to(dtype))
        both.append([out.detach(), *(one.grad for one in given)])
    return max(float(((a.float() - b).abs() / b.abs().clamp_min(b.abs().max() / 100)).max()) for a, b in zip(*both)) * 1024


functions = torch.nn.functional
assert error(lambda x, a, b: functions.layer_norm(x, (64,), a, b), (256, 64), (64,), (64,)) <= 0.6
assert error(lambda x, a, b: functions.group_norm(x, 4, weight=a, bias=b), (64, 16, 8), (16,), (16,)) <= 0.6
assert error(lambda *x: functions.scaled_dot_product_attention(*x), *[(1, 2, 32, 16)] * 3) <= 0.6
assert error(lambda x, w: functions.conv1d(x, w, padding=1), (2, 16, 64), (16, 16, 3)) <= 0.6
print("sums")

from triton._C.libtriton import nvidia  # noqa: E402 - as programs do

a, b, c = (torch.randn(shape, device="cuda", dtype=torch.float16) for shape in ((8, 16), (4, 16), (8, 4)))
blas = nvidia.cublas.CublasLt(torch.empty(1 << 10, device="cuda", dtype=torch.uint8))
blas.matmul(a, b, c)
assert torch.allclose(c, a @ b.T, atol=1e-2)
d = torch.empty_like(c)
blas.gemm(a, b, c, d, 2.0, 0.5)
assert torch.allclose(d, 2 * (a @ b.T) + 0.5 * c, atol=2e-2)
out = torch.empty(8, 4, device="cuda")
torch.addmm(out.fill_(1), a, b.T, out_dtype=torch.float32, out=out)
assert torch.equal(out, 1 + a.float() @ b.float().T)
wide = torch.mm(a, b.T, torch.float32)
assert wide.is_cuda
assert torch.equal(wide, a.float() @ b.float().T)
assert torch.mm(a, b.T).dtype == torch.float16
assert torch.bmm(a[None], b.T[None], out_dtype=torch.float32).dtype == torch.float32
print("products")
