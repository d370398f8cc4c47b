"""torch.distributed over gloo as a contestant; peer.h says what each step is for. usage: torch_gloo.py FOLDER RANK RANKS"""

import math
import os
import sys
import time

import torch
import torch.distributed as dist

ROOT = 0
FRESH = 1.0
IN_PARTS = ("allgather", "reducescatter", "gather", "scatter", "alltoall")
WRITES_ITS_INPUT = ("allreduce", "barrier")


def value(rank, index):
    return 2 + (index * 3 + rank * 2) % 5


class Case:
    """Tensors of one collective and size, and how torch is called."""

    def __init__(self, kind, size, rank, ranks):
        self.kind, self.rank, self.ranks = kind, rank, ranks
        count = size // 4
        if kind in IN_PARTS and count:
            count = max(ranks, count - count % ranks)
        self.count, self.part = count, count // ranks
        self.input = torch.zeros(self.part if kind in ("allgather", "gather") else count)
        out = self.part if kind in ("reducescatter", "scatter") else count
        self.output = self.input if kind in ("allreduce", "broadcast", "reduce", "barrier") else torch.zeros(out)
        whole = self.input if kind in ("reducescatter", "scatter", "alltoall") else self.output
        self.parts = list(whole.chunk(ranks)) if kind in IN_PARTS else []
        root = rank == ROOT
        self.call = {
            "allreduce": lambda: dist.all_reduce(self.input),
            "broadcast": lambda: dist.broadcast(self.input, ROOT),
            "reduce": lambda: dist.reduce(self.input, ROOT),
            "allgather": lambda: dist.all_gather(self.parts, self.input),
            "reducescatter": lambda: dist.reduce_scatter(self.output, self.parts),
            "gather": lambda: dist.gather(self.input, self.parts if root else None, ROOT),
            "scatter": lambda: dist.scatter(self.output, self.parts if root else None, ROOT),
            "alltoall": lambda: dist.all_to_all_single(self.output, self.input),
            "barrier": dist.barrier,
        }[kind]
        rooted = kind in ("broadcast", "scatter")
        self.rewrites = kind not in WRITES_ITS_INPUT and (root or not rooted)

    def run(self):
        if self.rewrites:
            self.input.fill_(FRESH)
        self.call()

    def expected(self):
        at = torch.arange(self.output.numel())
        mine = self.rank * self.part
        if self.kind == "broadcast":
            return value(ROOT, at)
        if self.kind in ("allgather", "gather"):
            return value(at // self.part, at % self.part)
        if self.kind == "scatter":
            return value(ROOT, mine + at)
        if self.kind == "alltoall":
            return value(at // self.part, mine + at % self.part)
        if self.kind == "reducescatter":
            at = at + mine
        return sum(value(rank, at) for rank in range(self.ranks))

    def wrong(self):
        self.input.copy_(value(self.rank, torch.arange(self.input.numel())))
        if self.output is not self.input:
            self.output.zero_()
        self.call()
        dist.barrier()
        if self.kind == "barrier" or (self.kind in ("reduce", "gather") and self.rank != ROOT):
            return 0
        return int((self.output != self.expected().float()).sum())


def slowest(values):
    tensor = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.tolist()


def block(case, calls):
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        case.run()
    return (time.perf_counter() - start) * 1e6


def warm_up(case, micros):
    spent, calls = 0.0, 1
    while True:
        batch = slowest([block(case, calls)])[0]
        spent += batch
        if spent >= micros:
            return max(1e-3, batch / calls)
        if batch < micros / 8:
            calls *= 2


def measure(kind, size, warm_up_micros, micros, check, rank, ranks):
    case = Case(kind, size, rank, ranks)
    wrong = slowest([float(case.wrong() if check else 0)])[0]
    case.input.zero_()
    per_call = warm_up(case, warm_up_micros)
    calls = int(max(1, min(1000, 4000 / per_call)))
    blocks = int(max(5, min(64, micros / (calls * per_call))))
    samples = sorted(slowest([block(case, calls) / calls for _ in range(blocks)]))
    return "%.4f %.4f %.4f %d" % (samples[0], samples[blocks // 2], samples[math.ceil(0.99 * blocks) - 1], wrong)


def main():
    folder, rank, ranks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + folder + "/store", rank=rank, world_size=ranks)
    commands = open(os.path.join(folder, "command.%d" % rank))
    answers = open(os.path.join(folder, "answer"), "w") if rank == ROOT else None

    def answer(line):
        if answers:
            print(line, file=answers, flush=True)

    dist.barrier()
    answer("ready")
    for line in iter(commands.readline, ""):
        words = line.split()
        if words == ["quit"]:
            break
        kind, size, _, warm, micros, check = words
        try:
            answer(measure(kind, int(size), float(warm), float(micros), check == "1", rank, ranks))
        except RuntimeError as unsupported:
            answer("cannot " + str(unsupported).splitlines()[0])
    os._exit(0)  # a rank that closes first makes the others log errors


main()
