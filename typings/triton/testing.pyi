from typing import Any

def do_bench(fn: Any, warmup: int = ..., rep: int = ..., **options: Any) -> Any: ...

do_bench_cudagraph: Any
