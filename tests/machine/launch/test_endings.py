"""A process that ends while a thread of it compiles: LLVM's state goes only once nothing is done with it."""

import subprocess
import sys

import pytest

# What `on_exit` received first is called last: when LLVM's state is gone, this process stays for some seconds, as its
# status says.
PROGRAM = """
import ctypes, sys, threading, time

libc = ctypes.CDLL(None)
libc.on_exit(libc.sleep, None)

from ptxloom.machine.native.llvm import compile_here

def text(functions):
    steps = (f"  %x{n} = mul i64 %{f'x{n - 1}' if n else 'a'}, %a" for n in range(200))
    body = "\\n".join(steps) + "\\n  ret i64 %x199\\n}\\n"
    return "".join(f"define i64 @f{n}(i64 %a) {{\\n{body}" for n in range(functions))

compile_here(text(1), 2)
long = text(800)
threading.Thread(target=compile_here, args=(long, 2), daemon=True).start()
time.sleep(0.5)
sys.exit(4)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="`on_exit` is Linux's")
def test_a_process_that_ends_while_a_thread_compiles_ends_as_it_says() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (4, "")
