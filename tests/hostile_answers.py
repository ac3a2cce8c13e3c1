"""Answers to `top_p` that attack the grader, as a student would hand them in: name -> source.

Not one is right, so none may pass, earn a point, stop a run, or change what another answer gets.
"""

from __future__ import annotations

AT_LOADING = {
    "loops while it is loaded": "while True:\n    pass",
    "leaves Python while it is loaded": "import os\nos._exit(0)",
    "raises SystemExit while it is loaded": "raise SystemExit(0)",
    "kills itself while it is loaded": "import os\nos.kill(os.getpid(), 9)",
    "is nested without end": "keep_top_p = " + "(" * 5000,
    "has null bytes": "def keep_top_p(probs, top_p):\n    return probs\0",
    "is a class that makes itself": "class keep_top_p:\n    def __new__(cls, *args):\n        return keep_top_p(*args)",
}  # fmt: skip

BODIES = {
    "loops": "while True: pass",
    "loops and catches everything": """
        while True:
            try:
                while True: pass
            except BaseException: pass""",
    "loops with all signals ignored": """
        import signal
        for number in range(1, 60):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        signal.setitimer(signal.ITIMER_PROF, 0); signal.alarm(0)
        while True: pass""",
    "loops in C": "return sum(range(10**12))",
    "sleeps": "import time; time.sleep(1000)",
    "recurses": "return keep_top_p(probs, top_p)",
    "leaves Python": "import os; os._exit(0)",
    "crashes Python": "import ctypes; ctypes.string_at(0)",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "kills its parent": "import os; os.kill(os.getppid(), 9); return probs",
    "kills all that it may": "import os, signal\n    if os.getuid(): os.kill(-1, signal.SIGKILL)\n    return probs",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "forks without end": """
        import os
        while True: os.fork()""",
    "starts threads without end": """
        import threading, time
        while True: threading.Thread(target=time.sleep, args=(1000,)).start()""",
    "leaves a child behind": """
        import os, time
        if os.fork() == 0:
            time.sleep(1000)
        return probs""",
    "takes all memory": "return [0] * 10**11",
    "takes memory bit by bit": """
        kept = []
        while True: kept.append(bytearray(10**7))""",
    "makes a giant tensor": "import torch; return torch.zeros(10**12)",
    "returns far too much": "import torch; return torch.zeros(10**7)",
    "returns a number of many digits": "return 10**100_000",
    "returns a list in itself": "endless = []; endless.append(endless); return endless",
    "prints megabytes": """
        for _ in range(100): print("x" * 10**6)
        return probs""",
    "writes a large file": """
        import os, tempfile
        handle = os.open(os.path.join(tempfile.gettempdir(), f"full{os.getpid()}"), os.O_CREAT | os.O_WRONLY)
        try:
            while True: os.write(handle, b"x" * 10**6)
        finally: os.unlink(os.path.join(tempfile.gettempdir(), f"full{os.getpid()}"))""",
    "opens files without end": """
        kept = []
        while True: kept.append(open("/dev/null"))""",
    "closes every file": "import os; os.closerange(0, 65536); return probs",
    "forges replies": """
        import os, sys
        frame = sys._getframe()
        while frame and "replies" not in frame.f_locals: frame = frame.f_back
        for _ in range(60):
            os.write(frame.f_locals["replies"], b'{"kind": "answer", "value": null, "error": []}\\n')
        return probs""",
    "writes nonsense to every pipe": """
        import os
        for number in range(3, 64):
            try: os.write(number, b"\\xff\\xfe\\n" * 100)
            except OSError: pass
        return probs""",
    "says that all tensors are equal": """
        import torch
        torch.Tensor.__eq__ = torch.equal = torch.allclose = lambda *args, **kwargs: True
        return probs""",
    "replaces the grader's own tools": """
        from exercises.grader import codec
        from solutions.vocabulary import compare
        codec.encode = lambda value, depth=0: None
        compare.difference = compare.value_difference = lambda *args, **kwargs: None
        return probs""",
    "returns something equal to all": """
        import torch
        class Equal(torch.Tensor):
            def __eq__(self, other): return True
        return probs.as_subclass(Equal)""",
    "lies about its class": """
        class Liar:
            __class__ = property(lambda self: type(probs))
            def __getattr__(self, name): return getattr(probs, name)
        return Liar()""",
    "returns something that runs when it is unpickled": """
        class Bomb:
            def __reduce__(self): return (exec, ("raise SystemExit",))
        return Bomb()""",
    "raises what cannot be shown": """
        class Nasty(Exception):
            def __str__(self): raise KeyboardInterrupt
        raise Nasty""",
    "looks for the answer in memory": """
        import gc, sys
        for thing in gc.get_objects():
            if getattr(thing, "__module__", "") == "solutions.e05_top_p" and callable(thing): return thing(probs, top_p)
        for name, module in list(sys.modules.items()):
            if name.startswith("solutions.e05"): return module.keep_top_p(probs, top_p)
        return probs""",
    "goes up the stack": """
        import sys
        frame = sys._getframe()
        while frame:
            for value in frame.f_locals.values():
                if hasattr(value, "answers"): return value.answers[0].value
            frame = frame.f_back
        return probs""",
}  # fmt: skip

# These find the answer wherever the files can be read: only another user who cannot see them is stopped.
READING = {
    "imports the solution": "from solutions.e05_top_p import keep_top_p",
    "runs the solution's file": """
import pathlib, exercises
for path in pathlib.Path(exercises.__file__).parents[1].joinpath("solutions").glob("e05_top_p.py"):
    exec(path.read_text())
""",
    "takes the solution from the history": """
import pathlib, subprocess, exercises
root = pathlib.Path(exercises.__file__).parents[1]
command = ["git", "-C", str(root), "show", "HEAD:solutions/e05_top_p.py"]
exec(subprocess.run(command, capture_output=True, text=True).stdout)
""",
    "reads the memory of its parent": """
import os
pages = open(f"/proc/{os.getppid()}/maps").read().splitlines()
memory = open(f"/proc/{os.getppid()}/mem", "rb")
def keep_top_p(probs, top_p):
    return probs
""",
    "fetches the answer": """
import socket
def keep_top_p(probs, top_p):
    socket.create_connection(("127.0.0.1", 9), timeout=1)
    return probs
""",
}  # fmt: skip

HEAD = "def keep_top_p(probs, top_p):\n    "


def body(text: str) -> str:
    lines = text.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip()) if text.startswith("\n") else 0
    return HEAD + "\n    ".join(line[indent:] if line.startswith(" " * indent) else line for line in lines) + "\n"


HOSTILE = AT_LOADING | {name: body(text) for name, text in BODIES.items()}
