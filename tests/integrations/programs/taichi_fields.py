"""Taichi: a field that is filled, and a sum by atomics."""

import taichi as ti

ti.init(arch=ti.cuda, device_memory_GB=0.25, log_level=ti.ERROR)
COUNT = 1000
values = ti.field(ti.f32, shape=COUNT)
total = ti.field(ti.f32, shape=())


@ti.kernel
def fill():
    for i in range(COUNT):
        values[i] = i * 2.0 + 1


@ti.kernel
def add():
    for i in range(COUNT):
        total[None] += values[i]


fill()
add()
print(ti.cfg.arch == ti.cuda, values[7] == 15, total[None] == 1_000_000)
